"""Statements that went straight to long-term memory: told in other words, they become one with all their sources."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import MemorySystem, NewMemory
from langchain_tiered_memory.bench.updates_data import unrelated
from langchain_tiered_memory.core import near_duplicates
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.paraphrases import same_statement
from langchain_tiered_memory.testing import FakeClock
from tests.flow.test_near_duplicates import sync
from tests.unit.test_paraphrases import APART

__all__ = ["sync"]

TOLD = (
    "I am allergic to peanuts",
    "I have a peanut allergy",
    "I'm allergic to peanuts, really",
    "Peanuts are something I am allergic to",
    "I've got an allergy to peanuts",
)
IDS = tuple(f"m{at}" for at in range(len(TOLD)))
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def timed(clock: FakeClock) -> Iterator[Engine]:
    """A memory with the default embedder and a clock."""
    with MemorySystem.open(":memory:", clock=clock).sync as memory:
        yield memory


def tell(memory: Engine, *told: str, user: str = "ada", kind: str = "fact") -> list[Memory]:
    """Remember statements as anybody would; they are found important."""
    return [memory.remember(user, said, kind, id=f"m{at}") for at, said in enumerate(told)]


def told_again(memory: Engine, user: str = "ada") -> dict[str, tuple[str, ...]]:
    """Return content to sources of what holds."""
    return {one.content: one.source_ids for one in memory.list(user)}


@pytest.mark.parametrize("kind", ["fact", "preference"])
def test_five_ways_to_tell_of_an_allergy_become_one_with_five_sources(sync: Engine, kind: str) -> None:
    tell(sync, *TOLD, kind=kind)
    assert {str(one.tier) for one in sync.list("ada")} == {"long_term"}

    report = sync.consolidate("ada")

    assert (report.merged, report.superseded, report.waiting) == (4, 0, 0)
    (one,) = sync.list("ada")
    assert (one.content, one.id, set(one.source_ids)) == (TOLD[0], IDS[0], set(IDS[1:]))
    for said in TOLD:
        assert [hit.id for hit in sync.recall("ada", said, touch=False)] == [IDS[0]]


def test_what_became_part_of_another_is_there_for_who_asks(sync: Engine) -> None:
    tell(sync, *TOLD)
    sync.consolidate("ada")

    every = {one.id: one for one in sync.list("ada", include_superseded=True)}
    assert {one.id: one.content for one in every.values()} == dict(zip(IDS, TOLD, strict=True))
    assert {one.superseded_by for one in every.values() if not one.current} == {IDS[0]}
    assert [(event.kind, event.by) for event in sync.history("ada", IDS[1])] == [
        ("created", "remember"),
        ("superseded", IDS[0]),
    ]
    kinds = [event.kind for event in sync.history("ada", IDS[0])]
    assert kinds == ["created", *["reinforced"] * 4]
    assert sync.explain("ada", TOLD[1], IDS[1]).reason.count("another memory says the same") == 1
    assert len(sync.recall("ada", TOLD[1], 9, include_superseded=True)) == len(TOLD)


def test_reads_importance_and_pins_of_all_count(timed: Engine, clock: FakeClock) -> None:
    timed.remember("ada", TOLD[0], "fact", importance=0.85, id="one")
    timed.remember("ada", TOLD[1], "fact", importance=0.95, id="two", pinned=True)
    clock.advance(hours=1)
    for _ in range(2):
        timed.recall("ada", "allergy", filter={"pinned": True})
    timed.recall("ada", "allergy")

    timed.consolidate("ada")

    (one,) = timed.list("ada")
    assert (one.id, one.importance, one.pinned, one.access_count) == ("one", 0.95, True, 4)
    assert one.last_accessed == clock()


@pytest.mark.parametrize("way", ["remember_many", "tier", "import"])
def test_however_they_came_to_long_term_memory(sync: Engine, way: str) -> None:
    if way == "remember_many":
        sync.remember_many("ada", [NewMemory(said, "fact", importance=0.9) for said in TOLD])
    elif way == "tier":
        for said in TOLD:
            sync.remember("ada", said, "fact", importance=0.2, tier="long_term")
    else:
        with MemorySystem.open(":memory:").sync as other:
            tell(other, *TOLD, user="bob")
            file = io.StringIO()
            other.export_user("bob", file)
        file.seek(0)
        sync.import_user("ada", file)
    sync.consolidate("ada")

    assert {content: len(sources) for content, sources in told_again(sync).items()} == {TOLD[0]: 4}


def test_what_is_carried_elsewhere_stays_one(sync: Engine) -> None:
    tell(sync, *TOLD)
    sync.consolidate("ada")
    file = io.StringIO()
    sync.export_user("ada", file)
    for _ in range(2):
        file.seek(0)
        sync.import_user("bob", file)
        sync.consolidate("bob")

    assert told_again(sync, "bob") == told_again(sync, "ada")
    assert len(sync.list("bob", include_superseded=True)) == len(TOLD)


def test_what_is_said_over_the_years_is_one(timed: Engine, clock: FakeClock) -> None:
    """The vector of a statement bears its day."""
    for said in TOLD:
        timed.remember("ada", said, "fact", importance=0.9)
        timed.consolidate("ada")
        clock.advance(days=193)

    assert {content: len(sources) for content, sources in told_again(timed).items()} == {TOLD[0]: 4}


def test_the_oldest_is_the_one_whenever_it_was_told(timed: Engine, clock: FakeClock) -> None:
    timed.remember("ada", TOLD[0], "fact", importance=0.9, id="new")
    timed.remember("ada", TOLD[1], "fact", importance=0.9, id="newer")
    timed.consolidate("ada")
    told_in = datetime(2019, 5, 1, tzinfo=UTC)
    known = clock()
    clock.advance(days=1)
    timed.remember("ada", TOLD[4], "fact", importance=0.9, id="old", observed_at=told_in)
    timed.consolidate("ada")

    (one,) = timed.list("ada")
    assert (one.id, set(one.source_ids)) == ("old", {"new", "newer"})

    def asked(**when: Any) -> list[str]:
        return [hit.id for hit in timed.recall("ada", "allergy", touch=False, **when)]

    assert asked(as_of=told_in + DAY) == asked(as_of=clock()) == ["old"]
    assert asked(as_of=told_in - DAY) == []
    assert asked(known_at=known) == asked(known_at=known, as_of=known) == ["new"]


# -- what stays two ------------------------------------------------------------------------------------------------


def test_what_only_looks_alike_stays_two(sync: Engine) -> None:
    for at, pair in enumerate(APART):
        tell(sync, *pair, user=f"user {at}")
        sync.consolidate(f"user {at}")

    left = [{one.content for one in sync.list(f"user {at}")} for at in range(len(APART))]
    assert left == [set(pair) for pair in APART]


def test_love_and_hate_never_meet(sync: Engine) -> None:
    tell(sync, "I love sushi", "I hate sushi", "I really love sushi", "I really hate sushi")
    sync.consolidate("ada")

    assert told_again(sync) == {"I love sushi": ("m2",), "I hate sushi": ("m3",)}


def test_a_hundred_unrelated_facts_all_stay(sync: Engine) -> None:
    facts = [said.text for said in unrelated()[::10]]
    assert len(facts) == 100
    sync.remember_many("ada", [NewMemory(said, "fact", importance=0.9) for said in facts])
    report = sync.consolidate("ada")

    assert report.merged == 0
    assert {one.content for one in sync.list("ada", limit=200)} == set(facts)


def test_episodes_stay_as_they_were_said(sync: Engine) -> None:
    tell(sync, *TOLD, kind="episode")
    sync.consolidate("ada")

    assert {one.content for one in sync.list("ada", memory_types=["episode"])} == set(TOLD)


def test_values_of_slots_are_left_to_their_chains(sync: Engine) -> None:
    for at, said in enumerate(TOLD):
        sync.remember("ada", said, "fact", slot=f"slot {at}")

    assert sync.consolidate("ada").merged == 0
    assert len(sync.list("ada")) == len(TOLD)


def test_each_voice_has_its_own(sync: Engine) -> None:
    voices: list[dict[str, Any]] = [{}, {"name": "Ada"}, {"name": "Bob"}, {"agent_id": "waiter"}]
    for voice in voices:
        for said in TOLD[:2]:
            sync.remember("ada", said, "fact", importance=0.9, **voice)
    sync.remember("ada", TOLD[2], "preference", importance=0.9)
    sync.remember("ada", TOLD[3], "fact", importance=0.9, role="assistant")
    sync.consolidate("ada")

    found = [(one.name, one.agent_id, str(one.memory_type), one.role) for one in sync.list("ada")]
    assert len(found) == len(set(found)) == len(voices) + 2


# -- one look at each ----------------------------------------------------------------------------------------------


def test_a_second_run_changes_nothing(sync: Engine) -> None:
    tell(sync, *TOLD, "I live near the harbour")
    sync.consolidate("ada")
    before = sync.list("ada", include_superseded=True), sync._opening.rooms().parts.records.version("ada")

    assert sync.consolidate("ada").merged == 0
    assert (sync.list("ada", include_superseded=True), sync._opening.rooms().parts.records.version("ada")) == before


def test_a_run_looks_at_so_many_and_the_next_goes_on(sync: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MOST", 2)
    tell(sync, "I collect stamps", *TOLD)

    assert [(report.merged, report.waiting) for report in (sync.consolidate("ada") for _ in range(3))] == [
        (4, 4),  # the others that say the same are found, though they are not looked at
        (0, 0),
        (0, 0),
    ]
    assert told_again(sync).keys() == {"I collect stamps", TOLD[0]}


def test_many_batches_are_one_run(timed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "_BATCH", 2)
    tell(timed, "I collect stamps", TOLD[0], "I live near the harbour", TOLD[1], "I have two sons", *TOLD[2:])
    assert timed.consolidate("ada").merged == 4

    found = told_again(timed)
    assert {content: len(sources) for content, sources in found.items() if sources} == {TOLD[0]: 4}
    assert len(found) == 4


def test_what_is_reworded_is_looked_at_again(sync: Engine) -> None:
    tell(sync, TOLD[0], "I have a pollen allergy")
    assert sync.consolidate("ada").merged == 0

    sync.update("ada", "m1", content=TOLD[1])
    assert sync.consolidate("ada").merged == 1
    assert told_again(sync) == {TOLD[0]: ("m1",)}

    sync.update("ada", "m1", content="I have a pollen allergy")
    assert told_again(sync) == {TOLD[0]: (), "I have a pollen allergy": ()}


def test_what_is_said_again_in_the_words_of_a_part_is_returned_and_joins_later(sync: Engine) -> None:
    tell(sync, *TOLD[:2])
    sync.consolidate("ada")

    again = sync.remember("ada", TOLD[1], "fact", id="again")
    assert (again.content, again.current) == (TOLD[1], True)
    assert sync.remember("ada", TOLD[1], "fact", id="m1").id == "m1"
    sync.consolidate("ada")

    assert told_again(sync) == {TOLD[0]: ("m1", "again")}


# -- forgetting ----------------------------------------------------------------------------------------------------


def test_when_the_one_is_forgotten_the_others_hold_again_and_become_one(sync: Engine) -> None:
    tell(sync, *TOLD)
    sync.consolidate("ada")
    sync.forget("ada", "m0")
    assert {one.content for one in sync.list("ada")} == set(TOLD[1:])

    sync.consolidate("ada")

    assert told_again(sync) == {TOLD[1]: ("m2", "m3", "m4")}


def test_a_forgotten_source_is_none_any_more(sync: Engine) -> None:
    tell(sync, *TOLD)
    sync.consolidate("ada")
    sync.forget("ada", "m3")

    assert told_again(sync) == {TOLD[0]: ("m1", "m2", "m4")}
    sync.forget("ada", *(f"m{at}" for at in (0, 1, 2, 4)))
    assert sync.list("ada", include_superseded=True) == ()


def test_every_pair_that_became_one_says_the_same(sync: Engine) -> None:
    """Whatever is told, in whatever order: what is part of another says the same in other words."""
    facts = [said.text for said in unrelated()[:200]] + [said for pair in APART for said in pair] + [*TOLD]
    told = dict.fromkeys(facts)
    sync.remember_many("ada", [NewMemory(said, "fact", importance=0.9) for said in told])
    sync.consolidate("ada")

    every = {one.id: one for one in sync.list("ada", include_superseded=True, limit=999)}
    parts = [one for one in every.values() if one.superseded_by]
    assert len(every) == len(told)
    assert len(parts) >= 4
    assert all(same_statement(one.content, every[one.superseded_by or ""].content) for one in parts)


def test_on_disk_it_is_one_for_the_next_process(tmp_path: Path) -> None:
    with MemorySystem.open(tmp_path / "memory").sync as memory:
        tell(memory, *TOLD)
        memory.consolidate("ada")
    with MemorySystem.open(tmp_path / "memory").sync as memory:
        assert told_again(memory) == {TOLD[0]: IDS[1:]}
        assert memory.consolidate("ada").merged == 0
