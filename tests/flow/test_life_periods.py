"""What was true when, and what was known when: periods, negations, restatements and history that is filled in."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from langchain_tiered_memory import ExtractedFact, InvalidInput, Memory
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.testing import FakeExtractor
from tests.conftest import FakeClock
from tests.flow.systems import House


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def employ(memory: Engine, value: str, since: int, words: str | None = None, *, negated: bool = False) -> Memory:
    about: dict[str, Any] = {"value": value} | ({"negated": True} if negated else {})
    text = words or f"I work at {value}"
    return memory.remember("ada", text, "fact", slot="employer", observed_at=year(since), metadata=about)


def asked(memory: Engine, **how: Any) -> list[str]:
    """Return the contents that a recall for the employer finds, without a touch, sorted."""
    return sorted(hit.content for hit in memory.recall("ada", "employer", k=9, touch=False, **how))


def chain(memory: Engine) -> list[tuple[str, int, int | None]]:
    """Return content, first and last year of every value, in order of time."""
    found = memory.list("ada", filter={"slot": "employer"}, include_superseded=True)
    ordered = sorted(found, key=lambda one: one.observed_at)
    ends = [None if one.valid_to is None else one.valid_to.year for one in ordered]
    return [(one.content, one.observed_at.year, end) for one, end in zip(ordered, ends, strict=True)]


# -- what is said again ------------------------------------------------------------------------------------------------


def test_the_same_value_in_other_words_reinforces(sync: Engine) -> None:
    """The wording that stands stays; the history says by what and when."""
    first = employ(sync, "acme", 2018)
    again = employ(sync, " ACME ", 2024, "I still work at Acme")
    assert (again.id, again.content) == (first.id, "I work at acme")
    events = sync.history("ada", first.id)
    assert [(event.kind, event.by) for event in events] == [("created", "remember"), ("reinforced", "remember")]
    assert sync.list("ada", filter={"metadata.value": "acme"}) == (again,)


def test_history_that_is_filled_in_goes_where_it_belongs(sync: Engine) -> None:
    """Acme 2018, restated 2024, then Globex of 2020 arrives."""
    first = employ(sync, "acme", 2018)
    employ(sync, "acme", 2024, "I still work at Acme")
    between = employ(sync, "globex", 2020)
    assert chain(sync) == [
        ("I work at acme", 2018, 2020),
        ("I work at globex", 2020, 2024),
        ("I still work at Acme", 2024, None),
    ]
    assert asked(sync) == ["I still work at Acme"]
    assert [(e.kind, e.by) for e in sync.history("ada", first.id)][-1] == ("superseded", between.id)
    (again,) = sync.list("ada")
    assert [(e.kind, e.by) for e in sync.history("ada", again.id)] == [("created", "remember")]
    assert not between.current


def test_what_holds_again_is_embedded_by_and_by(sync: Engine) -> None:
    employ(sync, "acme", 2018)
    employ(sync, "acme", 2024)
    employ(sync, "globex", 2020)
    sync.maintain("ada")
    assert sync.status("ada").pending == 0


def test_an_older_telling_of_the_present_value_leads_up_to_it(sync: Engine) -> None:
    """Acme is known since 2020; now it is told of 2018. Together the two tell the whole period."""
    employ(sync, "acme", 2020)
    employ(sync, "acme", 2018)
    assert chain(sync) == [("I work at acme", 2018, 2020), ("I work at acme", 2020, None)]
    for at in (2018, 2019, 2021):
        assert asked(sync, as_of=year(at)) == ["I work at acme"]
    assert asked(sync, as_of=year(2017)) == []


# -- negations and ends ------------------------------------------------------------------------------------------------


def test_a_negation_ends_its_value_and_says_what_is_true_now(sync: Engine) -> None:
    employ(sync, "acme", 2018)
    gone = employ(sync, "acme", 2020, "I no longer work at Acme", negated=True)
    assert asked(sync) == ["I no longer work at Acme"]
    assert asked(sync, as_of=year(2019)) == ["I work at acme"]
    employ(sync, "globex", 2022)
    assert asked(sync) == ["I work at globex"]
    assert asked(sync, as_of=year(2021)) == ["I no longer work at Acme"]
    sync.forget("ada", gone.id)
    assert asked(sync, as_of=year(2021)) == ["I work at acme"]


def test_a_negation_of_the_past_leaves_the_present_alone(sync: Engine) -> None:
    employ(sync, "globex", 2020)
    employ(sync, "acme", 2024, "I no longer work at Acme", negated=True)
    assert asked(sync) == ["I work at globex"]
    assert asked(sync, as_of=year(2025)) == ["I work at globex"]
    assert len(asked(sync, include_superseded=True)) == 2


@pytest.mark.parametrize("name", ["Bob", None])
def test_what_another_speaker_denies_retires_nothing(sync: Engine, name: str | None) -> None:
    said = sync.remember("ada", "I work at Acme", "fact", slot="employer", metadata={"value": "acme"}, name="Ada")
    about = {"value": "acme", "negated": True}
    sync.remember("ada", "I do not work at Acme", "fact", slot="employer", metadata=about, name=name)
    assert sync.get("ada", said.id).current


def drawn(house: House, script: Mapping[str, Sequence[ExtractedFact]], **options: Any) -> Engine:
    return house.open(extractor=FakeExtractor(script), **options)


def fact(content: str, value: str | None = None, **fields: Any) -> ExtractedFact:
    return ExtractedFact(content=content, slot="employer", value=value, source_ids=(), **fields)


WORKED = "I worked at Acme from 2015 to 2018."


def test_a_fact_is_stored_with_all_that_it_says(house: House, clock: FakeClock) -> None:
    found = fact(
        "I worked at Acme", "acme", observed_at=year(2015), valid_to=year(2018), spans={"m": (0, 16), "x": (0, 1)}
    )
    memory = drawn(house, {WORKED: [found]})
    memory.remember("ada", WORKED, id="m", importance=0.9, name="Ada")
    assert memory.consolidate("ada").facts == 1
    (one,) = memory.list("ada", memory_types=["fact"], include_superseded=True)
    assert (one.observed_at, one.valid_to, one.superseded_by) == (year(2015), year(2018), None)
    assert (dict(one.metadata), one.name) == ({"value": "acme", "spans": {"m": [0, 16]}}, "Ada")
    assert one.last_accessed == clock.now
    assert memory.list("ada", memory_types=["fact"]) == ()
    assert [hit.content for hit in memory.recall("ada", "Acme", as_of=year(2016))] == ["I worked at Acme"]
    assert [hit.content for hit in memory.recall("ada", "Acme", memory_types=["fact"])] == []


def test_a_value_whose_end_lies_ahead_holds_until_then(house: House, clock: FakeClock) -> None:
    until = clock.now + timedelta(days=7)
    memory = drawn(house, {"temping": [fact("I work at Acme until Friday", "acme", valid_to=until)]})
    memory.remember("ada", "temping", importance=0.9)
    memory.consolidate("ada")
    assert len(memory.list("ada", memory_types=["fact"])) == 1
    clock.advance(days=7)
    assert memory.list("ada", memory_types=["fact"]) == ()


def test_an_end_without_a_beginning_ends_what_was_known(house: House) -> None:
    memory = drawn(house, {"left": [fact("I worked at Acme until 2018", "acme", valid_to=year(2018))]})
    employ(memory, "acme", 2015)
    memory.remember("ada", "left", importance=0.9)
    memory.consolidate("ada")
    assert chain(memory) == [("I work at acme", 2015, 2018), ("I worked at Acme until 2018", 2018, 2018)]


def test_what_is_told_of_long_ago_is_told_of_today_too(house: House, clock: FakeClock) -> None:
    """ "Since 2018" outlasts what is filled in between."""
    memory = drawn(house, {"since": [fact("I have been at Acme since 2018", "acme", observed_at=year(2018))]})
    clock.now = year(2024)
    memory.remember("ada", "since", id="s", importance=0.9)
    memory.consolidate("ada")
    employ(memory, "globex", 2020)
    words = "I have been at Acme since 2018"
    assert chain(memory) == [(words, 2018, 2020), ("I work at globex", 2020, 2024), (words, 2024, None)]
    memory.forget("ada", "s")
    assert chain(memory) == [("I work at globex", 2020, None)]


@pytest.mark.parametrize(
    "odd",
    [
        {"spans": None},
        {"spans": {"m": None}},
        {"spans": {"m": (3, 2)}},
        {"spans": {"m": (0, 99)}},
        {"spans": {"m": "ab"}},
    ],
)
def test_places_that_cannot_be_are_left_out(house: House, odd: dict[str, Any]) -> None:
    memory = drawn(house, {"hello": [fact("I work at Acme", "acme", **odd)]})
    memory.remember("ada", "hello", id="m", importance=0.9)
    memory.consolidate("ada")
    (one,) = memory.list("ada", memory_types=["fact"])
    assert dict(one.metadata) == {"value": "acme"}


@pytest.mark.parametrize("odd", [{"value": 5}, {"value": " "}, {"observed_at": "2018"}, {"valid_to": 2018}])
def test_a_fact_that_no_door_would_let_in_is_left_out(house: House, odd: dict[str, Any]) -> None:
    memory = drawn(house, {"hello": [fact("I work at Acme", **odd), fact("I work at Globex", "globex")]})
    memory.remember("ada", "hello", id="m", importance=0.9)
    report = memory.consolidate("ada")
    assert (report.facts, report.failed) == (1, 0)


def test_forgetting_a_source_takes_what_rested_on_it(house: House) -> None:
    """The fact stays as others told it, in their words and from when they did."""
    script = {
        "one": [fact("I work at Acme with Bob", "acme", spans={"s1": (0, 3)})],
        "two": [fact("I still work at Acme", "acme", spans={"s2": (0, 3)})],
    }
    memory = drawn(house, script)
    memory.remember("ada", "one", id="s1", observed_at=year(2018), importance=0.9)
    memory.remember("ada", "two", id="s2", observed_at=year(2024), importance=0.9)
    assert memory.consolidate("ada").merged == 1
    (one,) = memory.list("ada", memory_types=["fact"])
    assert (set(one.source_ids), set(one.metadata["spans"])) == ({"s1", "s2"}, {"s1", "s2"})
    memory.forget("ada", "s1")
    (left,) = memory.list("ada", memory_types=["fact"])
    assert (left.content, left.source_ids, left.observed_at) == ("I still work at Acme", ("s2",), year(2024))
    assert dict(left.metadata) == {"value": "acme", "spans": {"s2": [0, 3]}}
    assert "Bob" not in "".join(_export(memory))


# -- the two times -----------------------------------------------------------------------------------------------------


def test_known_at_before_and_after_history_is_filled_in(sync: Engine, clock: FakeClock) -> None:
    """What was known does not change by what is told later."""
    clock.now = year(2018)
    employ(sync, "acme", 2018)
    clock.now = year(2024)
    employ(sync, "acme", 2024, "I still work at Acme")
    clock.now = year(2025)
    employ(sync, "globex", 2020)
    seen = {
        (known, at): asked(sync, known_at=year(known), **({} if at is None else {"as_of": year(at)}))
        for known in (2017, 2019, 2024, 2026)
        for at in (2019, 2021, None)
    }
    nothing: list[str] = []
    acme, globex, again = ["I work at acme"], ["I work at globex"], ["I still work at Acme"]
    expected = {2017: (nothing, nothing, nothing), 2019: (acme, acme, acme), 2024: (acme, acme, acme)}
    expected |= {2026: (acme, globex, again)}
    assert {known: tuple(seen[known, at] for at in (2019, 2021, None)) for known in expected} == expected


def test_a_negation_that_was_not_known_yet_ended_nothing(sync: Engine, clock: FakeClock) -> None:
    """What ended a value for those who knew less, ended it for them."""
    clock.now = year(2019)
    employ(sync, "acme", 2018)
    clock.now = year(2023)
    employ(sync, "acme", 2022, "I no longer work at Acme", negated=True)
    clock.now = year(2025)
    employ(sync, "globex", 2020)
    assert chain(sync)[-1] == ("I no longer work at Acme", 2022, 2022)
    assert asked(sync, known_at=year(2021)) == ["I work at acme"]
    assert asked(sync, known_at=year(2024)) == ["I no longer work at Acme"]
    assert asked(sync, known_at=year(2024), as_of=year(2021)) == ["I work at acme"]
    assert asked(sync, known_at=year(2026)) == ["I work at globex"]


def test_as_of_on_periods_apart(sync: Engine) -> None:
    """A fact that was true twice has both periods, and between them nothing was."""
    employ(sync, "acme", 2010)
    employ(sync, "acme", 2012, "I left Acme", negated=True)
    employ(sync, "acme", 2020, "I am back at Acme")
    found = [asked(sync, as_of=year(at)) for at in (2009, 2010, 2011, 2012, 2019, 2020, 2030)]
    there, left, back = ["I work at acme"], ["I left Acme"], ["I am back at Acme"]
    assert found == [[], there, there, left, left, back, back]


TOKYO, LIMA, KATHMANDU = ZoneInfo("Asia/Tokyo"), ZoneInfo("America/Lima"), ZoneInfo("Asia/Kathmandu")


def test_instants_of_three_time_zones_are_compared_as_instants(sync: Engine) -> None:
    """The clocks on the wall say the opposite: the last value began when it was earliest there."""
    begun = {
        "acme": datetime(2025, 5, 1, 9, tzinfo=TOKYO),  # 00:00 UTC
        "globex": datetime(2025, 5, 1, 6, 45, tzinfo=KATHMANDU),  # 01:00 UTC
        "hooli": datetime(2025, 4, 30, 21, tzinfo=LIMA),  # 02:00 UTC
    }
    for value in ("hooli", "acme", "globex"):
        sync.remember("ada", value, "fact", slot="employer", observed_at=begun[value], metadata={"value": value})
    assert asked(sync) == ["hooli"]
    for zone in (TOKYO, LIMA, KATHMANDU, UTC, timezone(timedelta(hours=-12))):
        for value, at in begun.items():
            assert asked(sync, as_of=at.astimezone(zone)) == [value]
        assert asked(sync, as_of=(begun["globex"] - timedelta(microseconds=1)).astimezone(zone)) == ["acme"]
        assert asked(sync, as_of=(begun["acme"] - timedelta(microseconds=1)).astimezone(zone)) == []


BERLIN = ZoneInfo("Europe/Berlin")


def test_an_hour_that_the_clocks_show_twice_is_two_hours(sync: Engine) -> None:
    """On 26 October 2025 Berlin has 02:30 twice; `fold` tells which."""
    first = datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN)
    second = first.replace(fold=1)
    sync.remember("ada", "late", "fact", slot="employer", observed_at=second)
    sync.remember("ada", "early", "fact", slot="employer", observed_at=first)
    assert asked(sync) == ["late"]
    assert asked(sync, as_of=first) == ["early"]
    assert asked(sync, as_of=second) == ["late"]
    assert asked(sync, as_of=datetime(2025, 10, 26, 2, 59, tzinfo=BERLIN)) == ["early"]
    assert asked(sync, as_of=datetime(2025, 10, 26, 1, 0, tzinfo=UTC)) == ["early"]
    (found,) = sync.list("ada")
    assert found.observed_at == datetime(2025, 10, 26, 1, 30, tzinfo=UTC)


def test_an_hour_that_the_clocks_leave_out_is_the_one_after_it(sync: Engine) -> None:
    """On 30 March 2025 Berlin has no 02:30: whoever says so means an hour after 01:30, which is 03:30."""
    missing = datetime(2025, 3, 30, 2, 30, tzinfo=BERLIN)
    sync.remember("ada", "before", "fact", slot="employer", observed_at=datetime(2025, 3, 30, 1, 59, tzinfo=BERLIN))
    sync.remember("ada", "missing", "fact", slot="employer", observed_at=missing)
    assert asked(sync, as_of=datetime(2025, 3, 30, 3, 29, tzinfo=BERLIN)) == ["before"]
    assert asked(sync, as_of=datetime(2025, 3, 30, 3, 30, tzinfo=BERLIN)) == ["missing"]
    assert asked(sync, as_of=missing) == ["missing"]


# -- doing it twice ----------------------------------------------------------------------------------------------------


def _export(memory: Engine, user: str = "ada") -> list[str]:
    file = io.StringIO()
    memory.export_user(user, file)
    return file.getvalue().splitlines()


def test_an_export_imported_twice_is_what_it_was(sync: Engine) -> None:
    """Stated ends, negations, and what holds again: all come back as they were."""
    employ(sync, "acme", 2018)
    employ(sync, "acme", 2024, "I still work at Acme")
    employ(sync, "globex", 2020)
    employ(sync, "acme", 2025, "I left Acme", negated=True)
    employ(sync, "hooli", 2021, "I work at Hooli")
    closed = {
        "kind": "memory",
        "id": "c",
        "content": "I worked at Pied Piper",
        "memory_type": "fact",
        "slot": "employer",
    }
    times = {name: year(2012).isoformat() for name in ("created_at", "last_accessed", "observed_at")}
    line = str({**closed, **times, "importance": 0.5, "valid_to": year(2014).isoformat()}).replace("'", '"')
    sync.import_user("ada", io.StringIO(line))
    lines = _export(sync)
    for _ in range(2):
        sync.import_user("eve", io.StringIO("\n".join(lines)))
        assert [one.replace('"user_id": "eve"', '"user_id": "ada"') for one in _export(sync, "eve")] == lines
    sync.import_user("ada", io.StringIO("\n".join(lines)))
    assert _export(sync) == lines


def test_consolidating_twice_changes_nothing(house: House) -> None:
    script = {
        "one": [fact("I work at Acme", "acme")],
        "two": [fact("I still work at Acme", "acme")],
        "three": [fact("I no longer work at Acme", "acme", negated=True)],
        "four": [fact("I was at Globex", "globex", observed_at=year(2001), valid_to=year(2003))],
    }
    memory = drawn(house, script)
    for number, text in enumerate(script):
        memory.remember("ada", text, observed_at=year(2010 + number), importance=0.9)
    report = memory.consolidate("ada")
    assert (report.facts, report.merged, report.superseded) == (3, 1, 1)
    before = _export(memory)
    memory.consolidate("ada", everything=True)
    assert _export(memory) == before


# -- the door ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "about",
    [
        {"value": 5},
        {"value": ""},
        {"value": " \n"},
        {"value": None},
        {"value": "x" * 513},
        {"negated": "yes"},
        {"negated": 1},
        {"spans": [0, 1]},
        {"spans": {"m": [1]}},
        {"spans": {"m": [2, 1]}},
        {"spans": {"m": [0, True]}},
        {"confirmed": ["2024"]},
        {"confirmed": {"yesterday": {}}},
        {"confirmed": {"2024-01-01T00:00:00": {}}},
        {"confirmed": {"2024-01-01T00:00:00+00:00": ["m"]}},
        {"confirmed": {"2024-01-01T00:00:00+00:00": {"m": 3}}},
    ],
)
def test_what_a_value_cannot_state_is_refused_and_leaves_no_trace(sync: Engine, about: dict[str, Any]) -> None:
    (key,) = about
    with pytest.raises(InvalidInput, match=rf"metadata\.{key}"):
        sync.remember("ada", "Acme", "fact", slot="employer", metadata=about)
    assert sync.list("ada") == ()
    free = sync.remember("ada", "Acme", "fact", metadata=about, importance=0.9)
    assert dict(free.metadata) == about
    value = employ(sync, "acme", 2018)
    with pytest.raises(InvalidInput, match=rf"metadata\.{key}"):
        sync.update("ada", value.id, metadata=about)
    assert sync.get("ada", value.id) == value
