"""A server or a disk has no room left: whole writes are refused, reads go on, and what eviction took is no phantom."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis

from langchain_tiered_memory import BackendUnavailable, MemorySystem, NewMemory
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.faults.ledger import Ledger
from tests.faults.machines import SETTINGS, Machine, Place, postgres_machine
from tests.faults.worker import Worker, fill

LITTLE = 20_000_000
"""Bytes that a file may have: PostgreSQL needs 16 MiB for a piece of its log."""


@contextmanager
def memory_of(place: Place, policy: str, more: int) -> Iterator[redis.Redis]:
    """Give Redis so many bytes more than it uses, and a policy for when they are used up."""
    with redis.Redis.from_url(place.redis.url) as client:
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory-policy", policy)
        client.config_set("maxmemory", used + more)
        try:
            yield client
        finally:
            client.config_set("maxmemory", 0)
            client.config_resetstat()


def test_a_redis_that_is_full_refuses_whole_writes_and_goes_on_reading(place: Place, ledger: Ledger, user: str) -> None:
    memory = place.system().sync
    for n in range(3):
        ledger.remember(memory, user, f"before-{n}", importance=0.3)
    with memory_of(place, "noeviction", -1):
        for n in range(3):
            assert ledger.remember(memory, user, f"low-{n}", importance=0.3) is None
            assert ledger.remember(memory, user, f"high-{n}", importance=0.9) is not None
        result = memory.recall(user, "number before", 50)
        assert result.failed == ()
        assert {hit.id for hit in result} == set(ledger.acknowledged(user))
        assert memory.status(user).incidents["redis_unavailable"] == 0  # it answers, if only to refuse
        memory.consolidate(user, everything=True)
        assert memory.status(user).short_term == 0
    ledger.check(memory, [user])
    assert ledger.remember(memory, user, "low-0", importance=0.3) is not None
    ledger.check(place.system().sync, [user])


def test_what_redis_evicted_is_no_phantom_and_is_counted(place: Place, user: str) -> None:
    memory = place.system().sync
    memory.remember(user, "number of records", importance=0.9, id="record")
    with memory_of(place, "allkeys-lru", 600_000):
        for start in range(0, 400, 40):
            noise = {n: random.Random(n).randbytes(800).hex() for n in range(start, start + 40)}
            items = [NewMemory(f"number {n} {text}", importance=0.3, id=f"i{n}") for n, text in noise.items()]
            with suppress(BackendUnavailable):  # eviction may lag behind what is written
                memory.remember_many(user, items)
        left = {hit.id for hit in memory.recall(user, "number", 1_000)}
    assert "record" in left
    left = {hit.id for hit in memory.recall(user, "number", 1_000)}
    assert len(left) < 400
    for engine in (memory, place.system().sync):
        assert {one.id for one in engine.list(user, limit=1_000)} == left
        status = engine.status(user)
        assert status.short_term + status.long_term == len(left)
    incidents = memory.status(user).incidents
    assert sum(n for name, n in incidents.items() if "lost" in name or "emptied" in name) > 0, incidents
    memory.consolidate(user, everything=True)
    assert {one.id for one in memory.list(user, limit=1_000) if one.origin != "consolidation"} == left


@pytest.mark.parametrize("loss", ["flushed", "restarted without its data", "deleted by hand"])
def test_what_redis_lost_is_no_phantom_and_is_counted(place: Place, user: str, loss: str) -> None:
    memory = place.system().sync
    for n in range(3):
        memory.remember(user, f"number {n}", importance=0.3, id=f"i{n}")
    memory.remember(user, "number of records", importance=0.9, id="record")
    assert len(memory.recall(user, "number")) == 4
    lose(place.redis, loss)
    place.heal()
    other = place.system().sync
    for engine in (memory, other, memory):
        assert {hit.id for hit in engine.recall(user, "number")} == {"record"}
        assert [one.id for one in engine.list(user)] == ["record"]
    incidents = memory.status(user).incidents
    assert incidents["redis_items_lost" if loss == "deleted by hand" else "redis_emptied"] > 0
    memory.remember(user, "number 0", importance=0.3, id="i0")
    assert {hit.id for hit in other.recall(user, "number")} == {"record", "i0"}


def lose(machine: Machine, loss: str) -> None:
    """Make Redis lose what it has."""
    with redis.Redis.from_url(machine.url) as client:
        if loss == "deleted by hand":
            client.delete(*client.scan_iter("ltm:*:item:*"))
        else:
            client.flushall()
    if loss == "restarted without its data":
        machine.kill()
        machine.start()


def test_a_postgres_without_room_refuses_whole_writes_and_keeps_what_it_acknowledged(
    place: Place, ledger: Ledger, user: str
) -> None:
    """No file of it may grow beyond a limit: the nearest to a full disk that needs no disk of its own."""
    noise = random.Random(1)
    with postgres_machine(LITTLE) as machine:
        little = Place(place.redis, machine, place.chroma)
        memory = little.system().sync
        for n in range(60):
            memory_id, content = f"{user}-{n}", f"number {n}"
            bulk = {"noise": noise.randbytes(400_000).hex()}
            ledger.told(user, memory_id, content, acknowledged=False)
            try:
                memory.remember(user, content, importance=0.9, metadata=bulk, id=memory_id)
            except BackendUnavailable:
                break
            ledger.told(user, memory_id, content, acknowledged=True)
        assert 3 < len(ledger.acknowledged(user)) < 59
        assert len(memory.recall(user, "number", 3)) == 3
        machine.stop()
        machine.make_room()
        machine.start()
        little.heal()
        ledger.check(memory, [user])
        assert ledger.remember(memory, user, "after", importance=0.9) is not None
        ledger.check(little.system().sync, [user])
        little.close()


def test_an_embedded_memory_without_room_keeps_what_it_acknowledged(tmp_path: Path, ledger: Ledger, user: str) -> None:
    """In a process of its own, none of whose files may grow beyond a megabyte."""
    worker = Worker(fill, str(tmp_path), user, 1_000_000)
    for acknowledged, number, content in worker.everything_told():
        ledger.told(user, f"{user}-{number}", content, acknowledged=acknowledged)
    memory = embedded(tmp_path)
    assert len(ledger.acknowledged(user)) > 10
    ledger.check(memory, [user])
    assert ledger.remember(memory, user, "after", importance=0.9) is not None
    ledger.check(memory, [user])
    memory.close()


def embedded(folder: Path) -> Engine:
    """Return a memory in a folder."""
    return MemorySystem(path=folder, vector_db="exact", embedder=HashedEmbedder(32), settings=SETTINGS).sync
