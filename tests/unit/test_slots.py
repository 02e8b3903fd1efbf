"""Chains of a single-valued attribute: which value holds when, whatever the order in which it came to be known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.slots import chain_key, file_in_chain, linked
from langchain_tiered_memory.core.stated import confirmations, grown, is_closed, is_negated

START = datetime(2020, 1, 1, tzinfo=UTC)


def on(day: int) -> datetime:
    return START + timedelta(days=day)


def value(number: int, content: str, day: int, **fields: Any) -> Memory:
    """Return a value; its `value` is the content without "not ", which negates it."""
    about = {"value": content.removeprefix("not ")} | ({"negated": True} if content.startswith("not ") else {})
    given = {"metadata": about if content != content.lower() or "negated" in about else {}} | fields
    return Memory(
        content,
        MemoryType.FACT,
        0.5,
        START + timedelta(days=1_000 + number),
        on(day),
        id=f"m{number}",
        observed_at=on(day),
        slot="employer",
        **given,
    )


@dataclass
class Told:
    """A chain as a store keeps it."""

    chain: dict[str, Memory]

    def file(self, new: Memory) -> str:
        """File one value and return the id of what stands for it."""
        filing = file_in_chain(list(self.chain.values()), new)
        if filing.reinforces is None:
            self.chain[filing.new.id] = filing.new
        for changed in filing.changed:
            assert self.chain[changed.id] != changed
            self.chain[changed.id] = changed
        for again in filing.again:
            assert again.memory.id not in self.chain
            assert again.of in self.chain
            self.chain[again.memory.id] = again.memory
        return filing.reinforces or new.id


def told(*values: tuple[str, int] | Memory) -> list[Memory]:
    """File the values one by one, and return the chain in the order of writing."""
    found = Told({})
    for number, one in enumerate(values):
        found.file(one if isinstance(one, Memory) else value(number, *one))
    return list(found.chain.values())


def periods(chain: list[Memory]) -> list[tuple[str, int, int | None]]:
    """Return contents with the day each begins and ends, in order of time."""
    ordered = sorted(chain, key=lambda one: one.observed_at)
    ends = [None if one.valid_to is None else (one.valid_to - START).days for one in ordered]
    return [(one.content, (one.observed_at - START).days, end) for one, end in zip(ordered, ends, strict=True)]


statements = st.lists(st.tuples(st.sampled_from("ABCa"), st.integers(0, 6)), max_size=9)


@given(statements)
def test_a_chain_of_values_has_one_current_and_no_gap(values: list[tuple[str, int]]) -> None:
    """A newer value supersedes the older; each ends when its successor begins."""
    chain = sorted(told(*values), key=lambda one: one.observed_at)
    assert sum(one.current for one in chain) == min(len(values), 1)
    for one in chain:
        successor = next((other for other in chain if other.id == one.superseded_by), None)
        assert one.current if successor is None else one.valid_to == successor.observed_at >= one.observed_at
    if chain:
        assert all(one.observed_at <= current.observed_at for current in chain if current.current for one in chain)


kinds = st.lists(
    st.tuples(st.sampled_from(["A", "B", "not A", "not B", "not C"]), st.integers(0, 9), st.sampled_from([0, 0, 2, 4])),
    max_size=9,
)


def mixed(values: list[tuple[str, int, int]]) -> list[Memory]:
    """File values, negations and, for a length that is not 0, values with an end of their own."""
    given = [
        value(n, content, day, **({"valid_to": on(day + days)} if days else {}))
        for n, (content, day, days) in enumerate(values)
    ]
    return told(*given)


@given(kinds)
def test_links_follow_from_the_statements_alone(values: list[tuple[str, int, int]]) -> None:
    """What filing one by one leaves is what linking everything at once gives."""
    chain = mixed(values)
    assert {one.id: one for one in linked(chain)} == {one.id: one for one in chain}


@given(kinds)
def test_at_most_one_value_is_current_and_a_stated_end_stays(values: list[tuple[str, int, int]]) -> None:
    chain = mixed(values)
    current = [one for one in chain if one.current and not is_negated(one)]
    assert len(current) <= 1
    for one in chain:
        assert one.valid_to is None or one.valid_to >= one.observed_at
        assert (one.superseded_by is None) == (one.current or is_closed(one))
    for number, (_, day, days) in enumerate(values):
        stands = next((one for one in chain if one.id == f"m{number}"), None)
        if days and stands is not None:
            assert (stands.valid_to, stands.superseded_by) == (on(day + days), None)


@given(kinds)
def test_no_value_that_holds_is_denied_by_a_negation_said_since(values: list[tuple[str, int, int]]) -> None:
    """A negation ends its value, wherever the two are filed."""
    for one in (chain := mixed(values)):
        if one.current and not is_negated(one):
            denied = [other for other in chain if is_negated(other) and not is_closed(other)]
            mine = [other for other in denied if other.metadata["value"] == one.metadata["value"]]
            said = max([one.observed_at, *confirmations(one)])
            assert all(other.observed_at <= said for other in mine)


@given(st.data(), kinds)
def test_what_was_true_when_does_not_depend_on_the_order_of_telling(
    data: st.DataObject, values: list[tuple[str, int, int]]
) -> None:
    """Of statements of different instants: of one instant, the later told holds."""
    apart = list({day: (content, day, days) for content, day, days in values}.values())
    again = data.draw(st.permutations(apart))
    assert [true_on(mixed(apart), day) for day in range(15)] == [true_on(mixed(again), day) for day in range(15)]


def true_on(chain: list[Memory], day: int) -> set[str]:
    return {
        one.content for one in chain if one.observed_at <= on(day) and (one.valid_to is None or on(day) < one.valid_to)
    }


@given(kinds, st.data())
def test_telling_it_all_again_changes_nothing(values: list[tuple[str, int, int]], data: st.DataObject) -> None:
    """Said again by the same sources, in any order."""
    found = Told({one.id: one for one in mixed(values)})
    before = dict(found.chain)
    for number in data.draw(st.permutations(range(len(values)))):
        content, day, days = values[number]
        if f"m{number}" not in found.chain:  # it reinforced another one, and has no row
            found.file(value(number, content, day, **({"valid_to": on(day + days)} if days else {})))
    extra = {i: one for i, one in found.chain.items() if i not in before}
    assert all(found.chain[i].source_ids == before[i].source_ids for i in before)
    assert not extra or len(before) < len(values)


@given(st.permutations([("A", 0), ("B", 1), ("C", 2), ("D", 3), ("E", 4)]))
def test_any_order_of_telling_ends_in_the_same_chain(values: list[tuple[str, int]]) -> None:
    """An older `observed_at` is filed behind."""
    chain = sorted(told(*values), key=lambda one: one.observed_at)
    assert [one.content for one in chain] == ["A", "B", "C", "D", "E"]
    assert [one.superseded_by for one in chain] == [*(one.id for one in chain[1:]), None]


def test_the_same_value_in_another_period_is_a_record_of_its_own() -> None:
    """The same value in another period is a record of its own, whether told last or between."""
    for values in ([("A", 0), ("B", 1), ("A", 2)], [("B", 1), ("A", 2), ("A", 0)], [("B", 1), ("A", 0), ("A", 2)]):
        chain = sorted(told(*values), key=lambda one: one.observed_at)
        assert [one.content for one in chain] == ["A", "B", "A"]
        assert chain[-1].current


def test_the_value_that_covers_the_instant_is_reinforced() -> None:
    """The same value as the current one reinforces it, and so does the value of an older period."""
    chain = told(("A", 0), ("B", 10))
    assert file_in_chain(chain, value(7, "b", 20)).reinforces == "m1"
    assert file_in_chain(chain, value(7, "A", 5)).reinforces == "m0"
    assert file_in_chain(chain, value(7, "A", 15)).reinforces is None
    assert file_in_chain(chain, value(7, "B", 5)).reinforces is None
    assert file_in_chain([], value(7, "B", 5)).reinforces is None


def test_of_equal_instants_the_later_written_is_the_newer() -> None:
    """Order: `observed_at`, then as given."""
    chain = told(("A", 0), ("B", 0))
    assert [(one.content, one.current) for one in chain] == [("A", False), ("B", True)]
    for one, other in pairwise(chain):
        assert one.superseded_by == other.id


def test_a_chain_is_of_a_slot_a_speaker_and_an_agent() -> None:
    """What makes two records values of one attribute: slot, speaker, agent; None without a slot."""
    plain = value(1, "A", 0)
    assert chain_key(plain) == ("employer", "", "")
    keys = {
        chain_key(Memory("x", MemoryType.FACT, 0, START, START, slot=slot, name=name, agent_id=agent))
        for slot in ("employer", "home")
        for name in (None, "Ada")
        for agent in (None, "x")
    }
    assert len(keys) == 8
    assert chain_key(Memory("x", MemoryType.FACT, 0, START, START)) is None


# -- what was said again -----------------------------------------------------------------------------------------------


def test_a_value_said_again_holds_again_after_what_is_filled_in() -> None:
    """Acme 2018, restated 2024, then Globex of 2020 arrives."""
    chain = told(("A", 0), ("A", 40), ("B", 20))
    assert periods(chain) == [("A", 0, 20), ("B", 20, 40), ("A", 40, None)]
    first, between, again = sorted(chain, key=lambda one: one.observed_at)
    assert (first.source_ids, again.source_ids) == ((), ("m1",))
    assert (first.superseded_by, between.superseded_by) == (between.id, again.id)
    assert again.created_at == between.created_at
    assert again.metadata == {"value": "A"}
    assert (again.origin, again.access_count, again.last_accessed) == ("consolidation", 0, on(40))


def test_the_order_of_telling_makes_no_difference_to_the_periods() -> None:
    for values in permutations([("A", 0), ("A", 40), ("B", 20), ("not A", 60), ("C", 80)]):
        expected = [("A", 0, 20), ("B", 20, 40), ("A", 40, 60), ("not A", 60, 80), ("C", 80, None)]
        assert periods(told(*values)) == expected, values


def test_the_words_and_sources_of_each_period_are_its_own() -> None:
    """ "I work at A" and "still at A" have one value; each keeps its words when they are parted."""
    said = [("I work at A", 0), ("still at A", 20), ("again at A", 40)]
    first, *later = [
        value(n, text, day, metadata={"value": "a", "spans": {f"m{n}": [0, 5]}}) for n, (text, day) in enumerate(said)
    ]
    chain = told(first, *later, value(9, "B", 10))
    assert [(one.content, one.source_ids, set(one.metadata.get("spans", ()))) for one in chain] == [
        ("I work at A", (), {"m0"}),
        ("B", (), set()),
        ("still at A", ("m1", "m2"), {"m1", "m2"}),
    ]
    assert confirmations(chain[2]) == {on(40): {"m2": "again at A"}}


def test_a_value_told_late_of_long_ago_outlasts_what_is_filled_in() -> None:
    """ "Since 2018", said in 2024, is said of 2024 as well."""
    since = value(0, "A", 0, metadata={"value": "A", "confirmed": {on(40).isoformat(): {"s": None}}}, source_ids=("s",))
    for values in permutations([since, value(1, "B", 20)]):
        chain = told(*values)
        assert periods(chain) == [("A", 0, 20), ("B", 20, 40), ("A", 40, None)]
        assert [one.source_ids for one in chain if one.content == "A"] == [("s",), ("s",)]


def test_the_instants_that_are_kept_are_bounded() -> None:
    memory = value(0, "A", 0)
    for day in range(1, 100):
        memory = grown(memory, value(day, "still A", day, metadata={"value": "a"}))
    kept = confirmations(memory)
    assert len(kept) == 32
    assert (min(kept), max(kept)) == (on(1), on(99))
    assert len(memory.source_ids) == sum(map(len, kept.values())) == 99
    assert grown(memory, value(50, "still A", 50)) == memory


def test_an_older_telling_of_the_present_value_leads_up_to_it() -> None:
    """It is a record of its own, so that what was known at which time stays apart."""
    assert periods(told(("A", 20), ("A", 0))) == [("A", 0, 20), ("A", 20, None)]


# -- negations ---------------------------------------------------------------------------------------------------------


def test_a_negation_ends_the_value_that_it_denies() -> None:
    for values in permutations([("A", 0), ("not A", 10)]):
        chain = told(*values)
        assert periods(chain) == [("A", 0, 10), ("not A", 10, None)]
        assert next(one for one in chain if one.content == "A").superseded_by == f"m{values.index(('not A', 10))}"


def test_a_negation_leaves_another_value_alone_and_is_filed_behind_it() -> None:
    for values in permutations([("A", 0), ("B", 10), ("not A", 20)]):
        assert periods(told(*values)) == [("A", 0, 10), ("B", 10, None), ("not A", 20, 20)]


def test_a_later_value_supersedes_every_negation() -> None:
    for values in permutations([("not A", 0), ("not B", 1), ("C", 2)]):
        assert periods(told(*values)) == [("not A", 0, 2), ("not B", 1, 2), ("C", 2, None)]


def test_two_negations_hold_together() -> None:
    assert periods(told(("not A", 0), ("not B", 1))) == [("not A", 0, None), ("not B", 1, None)]


def test_a_negation_said_again_reinforces() -> None:
    assert periods(told(("A", 0), ("not A", 10), ("not A", 20))) == [("A", 0, 10), ("not A", 10, None)]
    assert len(told(("B", 0), ("not A", 10), ("not A", 20))) == 2


def test_a_value_said_again_after_it_was_denied_holds_again() -> None:
    assert periods(told(("A", 0), ("A", 40), ("not A", 20))) == [("A", 0, 20), ("not A", 20, 40), ("A", 40, None)]
    chain = told(("not A", 0), ("not A", 40), ("A", 20))
    assert periods(chain) == [("not A", 0, 20), ("A", 20, 40), ("not A", 40, None)]


def test_a_denial_of_nothing_in_particular_ends_nothing() -> None:
    vague = value(1, "I am between jobs", 10, metadata={"negated": True})
    assert periods(told(value(0, "A", 0), vague)) == [("A", 0, None), ("I am between jobs", 10, 10)]


# -- values with an end of their own -----------------------------------------------------------------------------------


def closed(number: int, content: str, day: int, end: int) -> Memory:
    return value(number, content, day, valid_to=on(end))


def test_a_closed_value_is_never_current_and_ends_no_other() -> None:
    for values in permutations([closed(0, "A", 0, 10), value(1, "B", 5)]):
        chain = told(*values)
        assert periods(chain) == [("A", 0, 10), ("B", 5, None)]
        assert all(one.superseded_by is None for one in chain)


def test_the_same_value_without_an_end_ends_with_it() -> None:
    """ "I work at A" of long ago, and "I worked at A until then"."""
    for values in permutations([closed(0, "A", 0, 10), value(1, "A", -5)]):
        chain = told(*values)
        assert periods(chain) == [("A", -5, 10), ("A", 0, 10)]
        assert not any(one.current for one in chain)


def test_a_value_that_is_said_again_after_its_end_holds_again() -> None:
    """It was true twice, and has both periods."""
    for values in permutations([closed(0, "A", 0, 10), value(1, "A", 20)]):
        assert periods(told(*values)) == [("A", 0, 10), ("A", 20, None)]
    chain = told(value(0, "A", -5), value(1, "A", 20), closed(2, "A", 0, 10))
    assert periods(chain) == [("A", -5, 10), ("A", 0, 10), ("A", 20, None)]


def test_what_was_said_within_a_closed_period_reinforces_it() -> None:
    chain = told(closed(0, "A", 0, 10), value(1, "a", 5), closed(2, "A", 0, 10), closed(3, "A", 0, 11))
    assert [(one.id, one.source_ids) for one in chain] == [("m0", ("m1", "m2")), ("m3", ())]


def test_an_end_alone_ends_the_value() -> None:
    """ "Until then" tells no beginning: the period is empty, and the same value ends there."""
    assert periods(told(value(0, "A", 0), closed(1, "A", 10, 10))) == [("A", 0, 10), ("A", 10, 10)]


def test_a_family_has_a_chain_for_each_of_its_members() -> None:
    """Likes and dislikes are values like others."""

    def taste(number: int, thing: str, verdict: str, day: int) -> Memory:
        return replace(value(number, f"I {verdict} {thing}", day, metadata={"value": verdict}), slot=f"taste:{thing}")

    chain = told(taste(0, "sushi", "like", 0), taste(1, "sushi", "dislike", 10), taste(2, "sushi", "like", 20))
    assert periods(chain) == [("I like sushi", 0, 10), ("I dislike sushi", 10, 20), ("I like sushi", 20, None)]
    assert chain_key(taste(0, "sushi", "like", 0)) != chain_key(taste(0, "ramen", "like", 0))


def test_what_one_calls_a_value_holds_of_the_record_that_it_reinforces() -> None:
    """Else the words in which it was said again would be of no value that is known."""
    plain = value(0, "acme", 0)
    chain = told(plain, value(1, "still at Acme", 40, metadata={"value": "acme"}), value(2, "B", 20))
    assert periods(chain) == [("acme", 0, 20), ("B", 20, 40), ("still at Acme", 40, None)]
    assert [one.metadata.get("value") for one in chain if one.content != "B"] == ["acme", "acme"]
