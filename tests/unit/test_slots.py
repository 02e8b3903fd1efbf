"""Chains of a single-valued attribute: which value holds when, whatever the order in which it came to be known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.slots import chain_key, file_in_chain, linked

START = datetime(2020, 1, 1, tzinfo=UTC)


def value(number: int, content: str, day: int) -> Memory:
    at = START + timedelta(days=day)
    return Memory(content, MemoryType.FACT, 0.5, START, at, id=f"m{number}", observed_at=at, slot="employer")


def same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def told(values: list[tuple[str, int]]) -> list[Memory]:
    """File the values one by one, as a store does."""
    chain: dict[str, Memory] = {}
    for number, (content, day) in enumerate(values):
        filing = file_in_chain(list(chain.values()), value(number, content, day), same)
        if filing.reinforces is not None:
            assert filing.reinforces in chain
            assert filing.changed == ()
            continue
        chain[filing.new.id] = filing.new
        for changed in filing.changed:
            assert chain[changed.id] != changed
            chain[changed.id] = changed
    return list(chain.values())


statements = st.lists(st.tuples(st.sampled_from("ABCa"), st.integers(0, 6)), max_size=9)


@given(statements)
def test_a_chain_has_one_current_value_and_no_gap(values: list[tuple[str, int]]) -> None:
    """A newer value supersedes the older; each ends when its successor begins."""
    chain = sorted(told(values), key=lambda one: one.observed_at)
    assert sum(one.current for one in chain) == min(len(values), 1)
    for one in chain[:-1]:
        successor = next(other for other in chain if other.id == one.superseded_by)
        assert one.valid_to == successor.observed_at >= one.observed_at
    if chain:
        assert all(one.observed_at <= current.observed_at for current in chain if current.current for one in chain)


@given(statements)
def test_links_follow_from_the_order_alone(values: list[tuple[str, int]]) -> None:
    """What filing one by one leaves is what linking everything at once gives."""
    chain = told(values)
    assert {one.id: one for one in linked(chain)} == {one.id: one for one in chain}


@given(st.permutations([("A", 0), ("B", 1), ("C", 2), ("D", 3), ("E", 4)]))
def test_any_order_of_telling_ends_in_the_same_chain(values: list[tuple[str, int]]) -> None:
    """An older `observed_at` is filed behind."""
    chain = sorted(told(values), key=lambda one: one.observed_at)
    assert [one.content for one in chain] == ["A", "B", "C", "D", "E"]
    assert [one.superseded_by for one in chain] == [*(one.id for one in chain[1:]), None]


def test_the_same_value_in_another_period_is_a_record_of_its_own() -> None:
    """The same value in another period is a record of its own, whether told last or between."""
    for values in ([("A", 0), ("B", 1), ("A", 2)], [("B", 1), ("A", 2), ("A", 0)], [("B", 1), ("A", 0), ("A", 2)]):
        chain = sorted(told(values), key=lambda one: one.observed_at)
        assert [one.content for one in chain] == ["A", "B", "A"]
        assert chain[-1].current


def test_the_value_that_covers_the_instant_is_reinforced() -> None:
    """The same value as the current one reinforces it, and so does the value of an older period."""
    chain = told([("A", 0), ("B", 10)])
    assert file_in_chain(chain, value(7, "b", 20), same).reinforces == "m1"
    assert file_in_chain(chain, value(7, "A", 5), same).reinforces == "m0"
    assert file_in_chain(chain, value(7, "A", 15), same).reinforces is None
    assert file_in_chain(chain, value(7, "B", 5), same).reinforces is None
    assert file_in_chain([], value(7, "B", 5), same).reinforces is None


def test_of_equal_instants_the_later_written_is_the_newer() -> None:
    """Order: `observed_at`, then as given."""
    chain = told([("A", 0), ("B", 0)])
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
