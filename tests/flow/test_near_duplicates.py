"""Statements in other words become one memory with all their sources; what only looks alike stays two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Tier
from tests.unit.test_paraphrases import APART, SAME


@pytest.fixture(params=["ram", "folder"])
def sync(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A memory with the default embedder, which knows what is close together."""
    with MemorySystem.open(":memory:" if request.param == "ram" else tmp_path / "memory").sync as memory:
        yield memory


LONG = [group for group in SAME if len(group) >= 3]


@pytest.mark.parametrize("group", LONG, ids=lambda group: group[0])
def test_statements_in_other_words_become_one_memory_with_all_sources(sync: Engine, group: list[str]) -> None:
    told = [sync.remember("ada", said, "fact", importance=0.6, id=f"m{at}") for at, said in enumerate(group)]
    report = sync.consolidate("ada", everything=True)

    (one,) = sync.list("ada")
    assert one.content == group[0]
    assert {one.id, *one.source_ids} == {memory.id for memory in told}
    assert report.merged == len(group) - 1


def test_one_that_comes_later_joins_what_stands(sync: Engine) -> None:
    sync.remember("ada", "I am allergic to peanuts", "fact", importance=0.6, id="first")
    sync.consolidate("ada", everything=True)
    sync.remember("ada", "I have a peanut allergy", "fact", importance=0.6, id="second")
    sync.consolidate("ada", everything=True)

    (one,) = sync.list("ada")
    assert (one.id, one.source_ids) == ("first", ("second",))
    assert [event.kind for event in sync.history("ada", "first")][-1] == "reinforced"


def test_a_second_consolidation_changes_nothing(sync: Engine) -> None:
    for at, said in enumerate(LONG[0]):
        sync.remember("ada", said, "fact", importance=0.6, id=f"m{at}")
    sync.consolidate("ada", everything=True)
    before = sync.list("ada")

    assert sync.consolidate("ada", everything=True).merged == 0
    assert sync.list("ada") == before


def test_what_only_looks_alike_stays_two(sync: Engine) -> None:
    for at, pair in enumerate(APART):
        for said in pair:
            sync.remember(f"user {at}", said, "fact", importance=0.6)
        sync.consolidate(f"user {at}", everything=True)

    left = [tuple(sorted(one.content for one in sync.list(f"user {at}"))) for at in range(len(APART))]
    assert left == [tuple(sorted(pair)) for pair in APART]


def test_each_speaker_and_each_agent_has_its_own(sync: Engine) -> None:
    for name, agent in (("Ada", None), ("Bob", None), ("Ada", "waiter")):
        for said in ("I am allergic to peanuts", "I have a peanut allergy"):
            sync.remember("ada", said, "fact", importance=0.6, name=name, agent_id=agent)
    sync.consolidate("ada", everything=True)

    assert {(one.name, one.agent_id) for one in sync.list("ada")} == {("Ada", None), ("Bob", None), ("Ada", "waiter")}
    assert all(one.tier is Tier.LONG_TERM for one in sync.list("ada"))


def test_a_preference_does_not_become_part_of_a_fact(sync: Engine) -> None:
    sync.remember("ada", "I love sushi", "fact", importance=0.6)
    sync.remember("ada", "I really love sushi", "preference", importance=0.6)
    sync.consolidate("ada", everything=True)

    assert [str(one.memory_type) for one in sync.list("ada")] == ["preference", "fact"]


def test_a_crash_before_the_joined_item_is_removed_doubles_nothing(
    sync: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The item is still there beside what it became part of; the next run joins it once more and removes it."""
    for at, said in enumerate(LONG[0]):
        sync.remember("ada", said, "fact", importance=0.6, id=f"m{at}")
    items = sync._opening.rooms().parts.items
    with monkeypatch.context() as dying:
        dying.setattr(type(items), "remove", _die)
        with pytest.raises(KeyboardInterrupt):
            sync.consolidate("ada", everything=True)
    assert len(sync.list("ada")) == len(LONG[0])

    sync.consolidate("ada", everything=True)

    (one,) = sync.list("ada")
    assert sorted((one.id, *one.source_ids)) == [f"m{at}" for at in range(len(LONG[0]))]


def _die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
