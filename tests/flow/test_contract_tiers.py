"""The tiers are public and usable alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from langchain_tiered_memory import (
    ConfigError,
    InvalidInput,
    LongTermMemory,
    Memory,
    MemorySystem,
    MemoryType,
    Message,
    ShortTermMemory,
    Tier,
    WorkingMemory,
)
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.tiers import SyncTier
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.systems import QUIET

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def note(text: str, **fields: Any) -> Memory:
    return Memory(text, MemoryType.FACT, 0.5, NOW, NOW, **fields)


# -- working memory ----------------------------------------------------------------------------------------------------


def test_working_memory_is_a_budget_by_itself() -> None:
    """`WorkingMemory(max_tokens=4000)` (`add`, `get_context`, `tokens`)."""
    working = WorkingMemory(max_tokens=60)
    assert (working.get_context(), working.tokens()) == ((), 0)
    working.add({"role": "system", "content": "be kind"})
    for number in range(30):
        working.add(Message("user", f"turn {number}"), {"role": "assistant", "content": "ok"})
    context = working.get_context()
    assert (context[0].text, context[1].role, context[-1].text) == ("be kind", "user", "ok")
    assert 40 < working.tokens() <= 60
    assert WorkingMemory()._max_tokens == 4000


def test_a_system_message_outlives_the_overflow() -> None:
    """System message …, overflow 50×, system text still first in the context."""
    working = WorkingMemory(max_tokens=100)
    working.add({"role": "system", "content": "You are a pirate."})
    for number in range(500):
        working.add({"role": "user", "content": f"message number {number}"})
        assert working.get_context()[0].text == "You are a pirate."
        assert working.tokens() <= 100


# -- stored tiers ------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["short_term", "long_term"])
def tier(request: pytest.FixtureRequest, sync: Engine) -> SyncTier:
    found: SyncTier = getattr(sync, request.param)
    return found


def test_a_tier_stores_what_it_is_given_as_it_is(tier: SyncTier, sync: Engine) -> None:
    """`store(user_id, memory)`: in this tier as it is, times and counts included, and returns it with its id."""
    given = note("the gate is green", access_count=2, name="Ada", metadata={"a": 1}, pinned=True)
    stored = tier.store("ada", given)
    assert stored.id
    assert (stored.user_id, stored.tier) == ("ada", tier.tier)
    for field in ("content", "memory_type", "importance", "created_at", "last_accessed", "access_count", "name"):
        assert getattr(stored, field) == getattr(given, field)
    assert sync.get("ada", stored.id) == stored
    assert tier.store("ada", given) == stored
    assert tier.store("ada", stored) == stored
    assert len(sync.list("ada")) == 1


def test_a_tier_searches_itself_alone(tier: SyncTier, sync: Engine) -> None:
    """`search(user_id, query, k)`: there and nowhere else; the access counts."""
    for one in ("short_term", "long_term"):
        sync.remember("ada", f"the gate of {one}", tier=one)
    hits = tier.search("ada", "gate")
    assert [(hit.content, hit.access_count) for hit in hits] == [(f"the gate of {tier.tier}", 1)]
    assert tier.search("ada", "gate", 1)[0].access_count == 2
    assert tier.search("bob", "gate") == []


def test_a_tier_finds_what_is_read_often(tier: SyncTier) -> None:
    """`get_high_access(user_id, min_count=3)`: the most read first."""
    for text, reads in (("once", 1), ("thrice", 3), ("ten times", 10), ("twice", 2)):
        tier.store("ada", note(text, access_count=reads))
    assert [one.content for one in tier.get_high_access("ada")] == ["ten times", "thrice"]
    assert [one.content for one in tier.get_high_access("ada", 1)] == ["ten times", "thrice", "twice", "once"]
    assert tier.get_high_access("bob", 0) == ()


def test_a_tier_deletes_for_good(tier: SyncTier, sync: Engine) -> None:
    """`delete(user_id, id)`."""
    stored = tier.store("ada", note("the gate is green"))
    other = sync.short_term if tier.tier is Tier.LONG_TERM else sync.long_term
    assert not other.delete("ada", stored.id)
    assert not tier.delete("bob", stored.id)
    assert tier.delete("ada", stored.id)
    assert not tier.delete("ada", stored.id)
    assert sync.list("ada") == ()


@pytest.mark.parametrize(
    "field",
    [
        {"content": " "},
        {"content": 5},
        {"importance": 1.5},
        {"importance": float("nan")},
        {"importance": "high"},
        {"created_at": "today"},
        {"created_at": None},
        {"last_accessed": 5},
        {"access_count": -1},
        {"access_count": 2**63},
        {"access_count": 1.5},
        {"id": 5},
        {"id": "x" * 513},
        {"valid_to": "never"},
        {"slot": ""},
        {"name": 5},
        {"source_ids": "abc"},
        {"source_ids": (5,)},
        {"metadata": {"a": ...}},
        {"pinned": 1},
    ],
    ids=str,
)
def test_a_tier_refuses_a_memory_that_is_none(tier: SyncTier, sync: Engine, field: dict[str, Any]) -> None:
    """Bad input, each with its own typed error and nothing written."""
    plain: dict[str, Any] = {"content": "x", "memory_type": "fact", "importance": 0.5, "created_at": NOW}
    with pytest.raises(InvalidInput, match=next(iter(field))):
        tier.store("ada", Memory(**{**plain, "last_accessed": NOW, "observed_at": NOW, **field}))
    assert sync.list("ada") == ()


def test_a_tier_refuses_what_is_no_memory(tier: SyncTier) -> None:
    """Bad input: its own typed error."""
    for other in ("text", None, {"content": "x"}):
        with pytest.raises(InvalidInput, match="memory"):
            tier.store("ada", other)  # type: ignore[arg-type] # the point
    with pytest.raises(InvalidInput, match="user_id"):
        tier.store("", note("x"))


def test_naive_times_are_read_as_local(tier: SyncTier) -> None:
    """Naive datetimes are read as local time, Python's own rule, and everything is stored and returned as aware UTC."""
    naive = datetime(2026, 1, 1, 11, 30)  # noqa: DTZ001 - the point
    stored = tier.store("ada", Memory("x", MemoryType.FACT, 0.5, naive, naive))
    for instant in (stored.created_at, stored.last_accessed, stored.observed_at):
        assert instant == naive.astimezone(UTC)
        assert instant.tzinfo is UTC


def test_a_value_of_a_slot_has_no_place_in_short_term(sync: Engine) -> None:
    """Slots: long-term."""
    with pytest.raises(InvalidInput, match="slot"):
        sync.short_term.store("ada", note("Acme", slot="employer"))
    sync.long_term.store("ada", note("Acme", slot="employer"))
    assert sync.list("ada")[0].current


# -- alone -------------------------------------------------------------------------------------------------------------


async def test_short_term_memory_alone(clock: FakeClock) -> None:
    """`ShortTermMemory(redis, ttl_hours=24)` (`store`, `search`, `get_high_access`, `delete`)."""
    short = ShortTermMemory(None, ttl_hours=2, embedder=HashedEmbedder(), clock=clock, settings=QUIET)
    stored = await short.store("ada", note("the gate is green"))
    assert stored.tier is Tier.SHORT_TERM
    assert [hit.content for hit in await short.search("ada", "gate", 3)] == ["the gate is green"]
    assert [one.id for one in await short.get_high_access("ada", 1)] == [stored.id]
    clock.advance(hours=2)
    assert await short.search("ada", "gate") == []
    assert await short.delete("ada", stored.id)
    await short.aclose()
    await short.aclose()


async def test_long_term_memory_alone(clock: FakeClock) -> None:
    """`LongTermMemory(vector_db, postgres)` (`store`, `search`, `get_high_access`, `delete`)."""
    index = InMemoryVectorIndex()
    long = LongTermMemory(index, None, embedder=HashedEmbedder(), clock=clock)
    stored = await long.store("ada", note("the gate is green"))
    assert stored.tier is Tier.LONG_TERM
    clock.advance(days=400)
    assert [hit.content for hit in long.sync.search("ada", "gate")] == ["the gate is green"]
    assert [one.id for one in await long.get_high_access("ada", 1)] == [stored.id]
    assert await long.delete("ada", stored.id)
    await long.aclose()


@pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf"), "24", True, None, 1e9])
def test_a_life_that_is_none_is_refused(hours: Any) -> None:
    """`ttl_hours=24`: a positive number of hours."""
    with pytest.raises(ConfigError, match="ttl_hours"):
        ShortTermMemory(None, hours)


async def test_the_tiers_of_a_system_are_these(memory: MemorySystem) -> None:
    """`memory.short_term`, `memory.long_term` and their blocking twins are these."""
    for tier, name in ((memory.short_term, "short_term"), (memory.long_term, "long_term")):
        stored = await tier.store("ada", note(f"the gate of {name}"))
        assert stored.tier == name
        assert (await tier.search("ada", "gate", 1))[0].id == stored.id
        assert tier.sync.search("ada", "gate", 1)[0].access_count == 2
        assert [one.id for one in await tier.get_high_access("ada", 2)] == [stored.id]
    assert len(await memory.recall("ada", "gate")) == 2
    for tier in (memory.short_term, memory.long_term):
        for hit in await tier.search("ada", "gate"):
            assert await tier.delete("ada", hit.id)
    assert await memory.list("ada") == ()
