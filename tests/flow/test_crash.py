"""A crash before or after any call of any store loses nothing, doubles nothing, and brings nothing back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.core.ports import VectorIndex
from langchain_tiered_memory.testing import Fault
from tests.flow.crash import Golden, Telling, crashed_right, described, golden, points, tell
from tests.flow.script import ADA, USERS, extractor
from tests.flow.world import World, empty, in_memory, opened, over_sql

PAIRS = 200
"""Pairs of crashes out of some 9,000; `tests/full` tries all."""


def fresh() -> World:
    return in_memory(extractor=extractor())


@pytest.fixture(scope="module")
def expected() -> Golden:
    return golden(fresh())


@pytest.fixture(scope="module")
def telling() -> Telling:
    return tell(fresh(), [])


class Disks:
    """Makes one world after the other on one SQLite file and one vector index."""

    def __init__(self, folder: Path, index: VectorIndex) -> None:
        self._index = index
        self._database = opened(folder / "memory.db")

    def __call__(self) -> World:
        empty(self._database)
        for user in USERS:
            self._index.drop(user)
        return over_sql(self._database, self._index, extractor=extractor())

    def close(self) -> None:
        self._database.dispose()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Disks]:
    disks = Disks(tmp_path, InMemoryVectorIndex())
    yield disks
    disks.close()


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[Disks]:
    index = ChromaVectorIndex.embedded(tmp_path / "chroma")
    disks = Disks(tmp_path, index)
    yield disks
    disks.close()
    index.close()


def crash_at_each(
    world: Callable[[], World],
    telling: Telling,
    faults: Iterable[Fault],
    expected: Golden,
    *,
    maintained: bool = False,
) -> int:
    """Tell the script once per fault; return how many there were."""
    tried = 0
    for fault in faults:
        try:
            crashed_right(world(), [fault], expected, maintained=maintained)
        except AssertionError as error:
            error.add_note(f"after a crash {described(telling, fault)}")
            raise
        tried += 1
    return tried


def test_the_script_does_what_it_says(expected: Golden) -> None:
    """Without this, two tellings could be equal because neither did anything."""
    ada, bob = (expected.after[-1][user] for user in USERS)
    assert set(bob.memories) == set(bob.transcripts) == set()
    assert {content for content, memory in ada.memories.items() if memory.current and memory.slot} == {
        "Ada lives in Porto",
        "Globex",
    }
    chain = ("Hooli", "Acme", "Aviato", "still at Acme", "Initech", "Globex")
    assert [ada.memories[one].superseded_by for one in chain] == [*chain[1:], None]
    assert ada.memories["Ada left Initech"].superseded_by == "Globex"
    assert "Ada lived in Rome" in expected.after[-7][ADA].memories
    gone = {"I bake bread on Sundays.", "Ada bakes bread", "likes baking", "Ada lived in Rome", "a fly in the soup"}
    assert gone.isdisjoint(ada.memories)
    assert {"nothing to see here", "Good night"}.isdisjoint(ada.memories)
    assert ada.memories["tea, not coffee"].source_ids == ("p2",)
    assert ada.memories["Ada plays the viola"].access_count == ada.memories["tea, not coffee"].access_count == 3
    assert {name: len(messages) for name, messages in ada.transcripts.items()} == {"chat": 6, "old": 1}
    assert "a message of long ago" not in ada.memories
    assert "I moved to Porto last week." in expected.consumed


def test_one_crash_anywhere(telling: Telling, expected: Golden) -> None:
    tried = crash_at_each(fresh, telling, points(telling), expected)
    assert tried > 100


def test_one_crash_anywhere_and_maintenance_before_the_client_comes_back(telling: Telling, expected: Golden) -> None:
    crash_at_each(fresh, telling, points(telling), expected, maintained=True)


def test_one_crash_anywhere_on_sqlite(sqlite: Disks) -> None:
    telling = tell(sqlite(), [])
    crash_at_each(sqlite, telling, points(telling), golden(sqlite()))


def test_one_crash_around_each_call_of_chroma(chroma: Disks) -> None:
    """Before and after what changes the index, and after what says in SQL that it was changed."""
    telling = tell(chroma(), [])
    about = {"upsert", "delete", "drop", "mark", "mark_unindexed", "erase", "forget"}
    faults = [fault for fault in points(telling) if telling.calls[fault.at - 1].method in about]
    tried = crash_at_each(chroma, telling, faults, golden(chroma()))
    assert tried > 20


def test_two_crashes(telling: Telling, expected: Golden) -> None:
    """The second one strikes while the first one's call is repeated, or anywhere later."""
    draw = random.Random(7)
    first = list(points(telling))
    for _ in range(PAIRS):
        one = draw.choice(first)
        again = tell(fresh(), [one])
        soon = again.first[min(2, len(again.first) - 1)]
        rest = list(points(again))
        near = [fault for fault in rest if fault.at < soon]
        two = draw.choice(near if near and draw.random() < 0.7 else rest)
        try:
            crashed_right(fresh(), [one, two], expected)
        except AssertionError as error:
            error.add_note(f"after a crash {described(telling, one)}, then {described(again, two)}")
            raise


def test_a_call_that_reads_tells_nothing_apart(telling: Telling) -> None:
    """What `points` leaves out: no call counted as a reading one changes what is stored."""
    kinds = {call.method for call in telling.calls}
    writing = {telling.calls[fault.at - 1].method for fault in points(telling) if fault.when == "after"}
    assert kinds >= writing
    assert writing == {
        *("append", "mark_placed", "clear", "put", "touch", "update", "remove", "begin", "apply", "embed", "forget"),
        *("erase", "close_intents", "mark", "mark_unindexed", "write_meta", "upsert", "delete", "drop"),
    }
