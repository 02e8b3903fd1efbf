"""Lives that end in the middle of a consolidation, and systems whose clocks are minutes apart."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import redis

from langchain_tiered_memory.testing import FakeClock
from tests.faults.ledger import Ledger
from tests.faults.machines import Place
from tests.flow.racing import SlowExtractor

MINUTES = timedelta(minutes=5)


def present() -> FakeClock:
    """Return a clock that begins at the present, as Redis's own does."""
    return FakeClock(datetime.now(UTC).replace(microsecond=0))


@pytest.mark.parametrize("meanwhile", ["another maintains", "redis lets go"])
@pytest.mark.parametrize("importance", [0.3, 0.6])
def test_a_life_that_ends_while_a_model_is_thinking_loses_and_doubles_nothing(
    place: Place, ledger: Ledger, user: str, meanwhile: str, importance: float
) -> None:
    clock, slow = present(), SlowExtractor()
    memory, other = place.system(clock=clock, extractor=slow).sync, place.system(clock=clock).sync
    for n in range(3):
        ledger.remember(memory, user, str(n), importance=importance)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(memory.consolidate, user, everything=True)
        assert slow.asked.wait(60)
        clock.advance(hours=25)
        if meanwhile == "another maintains":
            other.maintain(user)
        else:
            drop_items(place.redis.url)
        slow.go.set()
        running.result(60)
    for engine in (memory, other):
        engine.maintain(user)
        ledger.check(engine, [user])
        assert engine.status(user).short_term == 0
    facts = [one.content for one in memory.list(user) if one.origin == "consolidation"]
    assert sorted(facts) == sorted(f"fact of {content}" for content in ledger.acknowledged(user).values())


def drop_items(url: str) -> None:
    """Let the keys of all items expire now."""
    with redis.Redis.from_url(url) as client:
        for key in list(client.scan_iter("ltm:*:item:*")):
            client.pexpire(key, 1)
        while list(client.scan_iter("ltm:*:item:*")):
            time.sleep(0.001)


def test_a_read_does_not_revive_what_is_past_its_life(place: Place, user: str) -> None:
    clock = present()
    memory = place.system(clock=clock).sync
    memory.remember(user, "the gate is green", importance=0.3, id="gate")
    with redis.Redis.from_url(place.redis.url) as client:
        (key,) = client.scan_iter("ltm:*:item:gate")
        before = client.pexpiretime(key)
        assert [hit.id for hit in memory.recall(user, "gate")] == ["gate"]
        assert client.pexpiretime(key) == before
        clock.advance(hours=25)
        assert memory.recall(user, "gate") == []
        assert memory.maintain(user).expired == 1
        assert not client.exists(key)


def test_systems_whose_clocks_are_five_minutes_apart_lose_and_double_nothing(
    place: Place, ledger: Ledger, user: str
) -> None:
    ahead = present()
    behind = FakeClock(ahead() - MINUTES)
    one, other = place.system(clock=ahead).sync, place.system(clock=behind).sync
    for n in range(6):
        writer, reader = (one, other) if n % 2 else (other, one)
        ledger.remember(writer, user, str(n), importance=0.3 if n < 4 else 0.9)
        hits = reader.recall(user, f"number {n}", 10)
        assert {hit.id for hit in hits} == set(ledger.acknowledged(user))
        assert all(0 <= hit.score <= 1 for hit in hits)
    one.remember(user, "I live in Oslo", "fact", slot="home")
    other.remember(user, "I live in Rome", "fact", slot="home")
    current = [hit.content for hit in one.recall(user, "where do I live", 20) if hit.slot == "home"]
    assert current == ["I live in Oslo"]  # by the clocks it was said later, and nobody knows better
    assert current == [hit.content for hit in other.recall(user, "where do I live", 20) if hit.slot == "home"]
    for engine in (one, other, one):
        engine.consolidate(user, everything=True)
        engine.maintain(user)
    for engine in (one, other):
        found = engine.list(user, include_superseded=True, filter={"slot": "home"})
        assert sorted(memory.content for memory in found) == ["I live in Oslo", "I live in Rome"]
        assert engine.status(user).short_term == 0
        held = [memory for memory in engine.list(user, limit=99) if memory.origin != "consolidation"]
        assert {memory.id for memory in held if memory.slot is None} == set(ledger.acknowledged(user))
