"""Reads: each is counted once, shown at once, kept for good, and three of them earn a place in long-term memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from langchain_tiered_memory import MemorySystem, ShortTermSettings, Tier
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import House, with_settings

TIERS = ["short_term", "long_term"]


@pytest.mark.parametrize("tier", TIERS)
def test_one_recall_counts_one_access_in_the_hit_and_in_a_reopened_store(
    folder_house: House, clock: FakeClock, tier: str
) -> None:
    """After one recall the returned hits and a reopened store both say `access_count == 1` and a later
    `last_accessed`, in either tier."""
    memory = folder_house.open()
    stored = memory.remember("ada", "the garden gate is green", tier=tier)
    assert (stored.access_count, stored.last_accessed) == (0, stored.observed_at)
    clock.advance(hours=2)

    (hit,) = memory.recall("ada", "garden gate")
    assert hit.access_count == 1
    assert hit.last_accessed == clock.now > stored.last_accessed

    memory.close()
    again = folder_house.open().get("ada", stored.id)
    assert (again.access_count, again.last_accessed, again.tier) == (1, clock.now, tier)


@pytest.mark.parametrize("tier", TIERS)
def test_reads_add_up(sync: Engine, clock: FakeClock, tier: str) -> None:
    """The hits show the access they caused (`access_count` already counted)."""
    sync.remember("ada", "the garden gate is green", tier=tier)
    for expected in (1, 2, 3, 4):
        clock.advance(minutes=1)
        (hit,) = sync.recall("ada", "gate")
        assert hit.access_count == expected
        assert sync.get("ada", hit.id).access_count == expected
        assert sync.get("ada", hit.id).last_accessed == clock.now


def test_a_read_counts_only_for_what_is_returned(sync: Engine) -> None:
    """A read counts once per recall that returns the item."""
    sync.remember("ada", "the garden gate is green")
    sync.remember("ada", "the kitchen door is blue")
    (hit,) = sync.recall("ada", "garden gate", k=1)
    others = [one for one in sync.list("ada") if one.id != hit.id]
    assert [one.access_count for one in others] == [0]


def test_looking_without_touching_counts_nothing(sync: Engine) -> None:
    """`touch=False`: whether to count the access."""
    stored = sync.remember("ada", "the garden gate is green")
    (hit,) = sync.recall("ada", "gate", touch=False)
    sync.explain("ada", "gate", stored.id)
    sync.get("ada", stored.id)
    sync.list("ada")
    sync.history("ada", stored.id)
    assert hit.access_count == 0
    assert sync.get("ada", stored.id) == stored


@pytest.mark.parametrize("tier", TIERS)
def test_no_read_is_lost_between_threads(sync: Engine, tier: str) -> None:
    """Counters are exact under concurrent callers."""
    stored = sync.remember("ada", "the garden gate is green", tier=tier)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sync.recall("ada", "gate"), range(80)))
    assert sync.get("ada", stored.id).access_count == 80


def test_a_read_of_the_past_does_not_turn_the_clock_back(sync: Engine, clock: FakeClock) -> None:
    """`last_accessed` is moved forward, never back."""
    stored = sync.remember("ada", "the trip to Rome", observed_at=clock.now + timedelta(days=30))
    (hit,) = sync.recall("ada", "Rome")
    assert hit.last_accessed == stored.last_accessed == sync.get("ada", stored.id).last_accessed
    assert hit.access_count == 1


def test_three_reads_make_a_candidate_of_consolidate_and_two_do_not(memory: MemorySystem) -> None:
    """Read 3 times → `consolidate` promotes; three recalls make a candidate of `consolidate`, two do not."""
    sync = memory.sync
    sync.remember("ada", "the garden gate is green", id="thrice", importance=0.1)
    sync.remember("ada", "where the spare keys hang", id="twice", importance=0.1)
    for query, reads in (("garden gate", 3), ("spare keys", 2)):
        for _ in range(reads):
            sync.recall("ada", query, k=1)
    assert [one.id for one in sync.short_term.get_high_access("ada")] == ["thrice"]

    report = sync.consolidate("ada")
    assert (report.promoted, report.kept, report.expired) == (1, 1, 0)
    assert sync.get("ada", "thrice").tier is Tier.LONG_TERM
    assert sync.get("ada", "twice").tier is Tier.SHORT_TERM


def test_maintain_does_not_promote_for_reads(sync: Engine) -> None:
    """Read 3 times → `consolidate` promotes, and nothing else before the end of the item's life."""
    sync.remember("ada", "the garden gate is green", importance=0.1)
    for _ in range(5):
        sync.recall("ada", "gate")
    assert sync.maintain("ada").promoted == 0


def test_the_number_of_reads_is_a_setting(house: House) -> None:
    """All of these numbers are settings."""
    memory = house.open(settings=with_settings(short_term=ShortTermSettings(promote_after_reads=1)))
    memory.remember("ada", "the garden gate is green", importance=0.1)
    memory.recall("ada", "gate")
    assert memory.consolidate("ada").promoted == 1


def test_reading_while_consolidating_doubles_no_read(sync: Engine) -> None:
    """Promotion moves the item with its counts, those included that were added meanwhile. A read that meets the very
    moment between the two tiers may go uncounted; none counts twice."""
    stored = sync.remember("ada", "we painted the garden gate green", importance=0.1)
    sync.recall("ada", "gate")
    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(sync.recall, "ada", "gate") for _ in range(40)]
        moves = [pool.submit(sync.consolidate, "ada", everything=True) for _ in range(4)]
        hits = 1 + sum(len(one.result()) for one in reads)
        assert sum(one.result().failed for one in moves) == 0
    found = sync.list("ada")
    assert [one.id for one in found] == [stored.id]
    assert hits - 4 <= found[0].access_count <= hits == 41


def test_whoever_looks_while_a_snapshot_follows_a_move_sees_what_is_moved(
    sync: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other threads read the snapshot between the two tiers' changes: an item leaves it only after its record came."""
    stored = sync.remember("ada", "we painted the garden gate green", importance=0.1)
    sync.recall("ada", "gate")
    rooms = sync._opening.rooms()
    (snapshot, _), changes, seen = rooms.snapshots.get("ada"), rooms.parts.records.changes, list[bool]()

    def looked(*asked: Any, **how: Any) -> Any:
        seen.append(snapshot.row_of(stored.id) is not None)
        return changes(*asked, **how)

    rooms.snapshots._held.pop("ada")  # what moves it follows a snapshot of its own
    sync.consolidate("ada", everything=True)
    rooms.snapshots._held["ada"] = snapshot
    monkeypatch.setattr(type(rooms.parts.records), "changes", lambda _, *asked, **how: looked(*asked, **how))
    rooms.snapshots.get("ada")

    assert seen == [True]
    assert snapshot.entry(snapshot.row_of(stored.id) or 0).memory.tier is Tier.LONG_TERM
