"""The same calls on Redis, Chroma and PostgreSQL: the essential lines of the contract on real servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from sqlalchemy import create_engine, text

from langchain_tiered_memory import ForgetReceipt, LongTermMemory, Memory, Message, NewMemory, ShortTermMemory, Tier
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.testing import FakeExtractor
from langchain_tiered_memory.testing.samples import HOSTILE, odd_json
from tests.conftest import FakeClock
from tests.flow.systems import QUIET, House

CANARY = "canaryxq7"


@pytest.fixture
def sync(server_house: House) -> Engine:
    return server_house.open()


def test_the_servers_serve(sync: Engine) -> None:
    """It runs …, with the same calls, on Redis, PostgreSQL and a Chroma server; `status()` says which path serves."""
    sync.remember("ada", "the gate is green", importance=0.9)
    sync.maintain()
    status = sync.status("ada")
    assert status.backends == {
        "short_term": "redis",
        "long_term": "postgresql",
        "transcripts": "postgresql",
        "vector_index": "chroma",
    }
    assert (status.search, status.unindexed) == ("chroma", 0)


def test_placement_and_reads_in_both_tiers(server_house: House, clock: FakeClock) -> None:
    """0.8 goes to short-term and 0.8000001 to long-term; after one recall the returned hits and a reopened store both
    say `access_count == 1` and a later `last_accessed`, in either tier."""
    memory = server_house.open()
    low = memory.remember("ada", "the garden gate is green", importance=0.8)
    high = memory.remember("ada", "the kitchen gate is blue", importance=0.8000001)
    assert (low.tier, high.tier) == (Tier.SHORT_TERM, Tier.LONG_TERM)
    clock.advance(hours=1)
    hits = memory.recall("ada", "gate")
    assert {hit.id: hit.access_count for hit in hits} == {low.id: 1, high.id: 1}
    memory.close()
    again = server_house.open()
    for stored in (low, high):
        found = again.get("ada", stored.id)
        assert (found.access_count, found.last_accessed) == (1, clock.now)


def test_a_life_from_three_reads_to_the_second_consolidation(server_house: House, clock: FakeClock) -> None:
    """Three recalls make a candidate of `consolidate`, two do not; a second `consolidate` does nothing; a preference
    stays a preference."""
    memory = server_house.open(extractor=FakeExtractor({"I moved to Oslo": ["lives in Oslo"]}))
    memory.remember("ada", "I moved to Oslo", importance=0.1, id="thrice")
    memory.remember("ada", "I like green tea", "preference", importance=0.1, id="twice")
    for query, reads in (("Oslo", 3), ("green tea", 2)):
        for _ in range(reads):
            memory.recall("ada", query, 1)
    report = memory.consolidate("ada")
    assert (report.promoted, report.facts, report.kept) == (1, 1, 1)
    assert memory.consolidate("ada").facts == 0
    (fact,) = memory.list("ada", memory_types=["fact"])
    assert (fact.content, fact.source_ids, fact.access_count) == ("lives in Oslo", ("thrice",), 0)
    assert memory.get("ada", "thrice").access_count == 3
    memory.consolidate("ada", everything=True)
    found = memory.get("ada", "twice")
    assert (found.memory_type, found.tier, found.access_count) == ("preference", Tier.LONG_TERM, 2)


def test_the_end_of_a_short_life(sync: Engine, clock: FakeClock) -> None:
    """At expiry: importance ≥ 0.5 or pinned → promoted, the rest is let go and counted."""
    for name, importance, pinned in (("low", 0.49, False), ("half", 0.5, False), ("pinned", 0.0, True)):
        sync.remember("ada", f"the {name} note", id=name, importance=importance, pinned=pinned)
    clock.advance(hours=24)
    assert {hit.id for hit in sync.recall("ada", "note")} == {"half", "pinned"}
    report = sync.maintain("ada")
    assert (report.promoted, report.expired) == (2, 1)
    assert {one.id for one in sync.list("ada", tier="long_term")} == {"half", "pinned"}


def test_slots_and_identity(sync: Engine) -> None:
    """A newer value supersedes the older; an active fact with the same normalised content is returned."""
    for year, name in ((2022, "Initech"), (2018, "Acme"), (2020, "Globex")):
        sync.remember("ada", name, "fact", slot="employer", observed_at=datetime(year, 1, 1, tzinfo=UTC))
    assert [hit.content for hit in sync.recall("ada", "employer")] == ["Initech"]
    assert [hit.content for hit in sync.recall("ada", "x", as_of=datetime(2021, 1, 1, tzinfo=UTC))] == ["Globex"]
    first = sync.remember("ada", "I love tea.", "preference", importance=0.2)
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda _: sync.remember("ada", "i love TEA", "preference", importance=0.9), range(20)))
    assert {one.id for one in again} == {first.id}


def test_sessions_on_a_server(server_house: House) -> None:
    """Two short turns in one session are recalled from a new one; the same id once; equal messages twice."""
    memory = server_house.open()
    chat = memory.session("ada", "monday")
    chat.add(Message("user", "My sister Ruth is allergic to peanuts", id="1"), Message("assistant", "Noted."))
    chat.add(Message("user", "yes"), Message("user", "yes"), Message("user", "other words", id="1"))
    memory.close()
    memory = server_house.open()
    assert [one.text for one in memory.session("ada", "monday").transcript()][1:] == ["Noted.", "yes", "yes"]
    context = memory.session("ada", "tuesday").context("what is my sister Ruth allergic to?")
    assert context.memories[0].content == "My sister Ruth is allergic to peanuts"


def test_hostile_text_on_servers(server_house: House) -> None:
    """Hostile text … is kept to the last byte and found again, and hostile users are apart."""
    memory = server_house.open()
    stored = {}
    for name, value in HOSTILE.items():
        label = value[-512:]
        labels: dict[str, Any] = dict.fromkeys(("session_id", "agent_id", "role", "name", "origin", "id"), label)
        for tier in ("short_term", "long_term"):
            labels["id"] = f"{tier[:1]}{label[-500:]}"
            stored[name, tier] = memory.remember(
                value, f"x{value}{tier}", tier=tier, metadata={"text": value, label: odd_json()}, **labels
            )
        memory.session(value, label).add(Message("user", value, extra={"text": value}))
    memory.maintain()
    memory.close()
    memory = server_house.open()
    for (name, _), one in stored.items():
        assert memory.get(one.user_id, one.id) == one, name
        assert {hit.user_id for hit in memory.recall(one.user_id, one.content, touch=False)} == {one.user_id}
    for value in HOSTILE.values():
        assert [one.content for one in memory.session(value, value[-512:]).transcript()] == [value]
        assert len(memory.list(value)) == 3


def test_many_threads_count_every_read(sync: Engine) -> None:
    """Counters are exact under concurrent callers."""
    for tier in ("short_term", "long_term"):
        sync.remember("ada", f"the gate of {tier}", tier=tier)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sync.recall("ada", "gate"), range(40)))
    assert [one.access_count for one in sync.list("ada")] == [40, 40]


def test_what_one_process_writes_another_finds_at_once(server_house: House) -> None:
    """A snapshot that is behind reads the rows with a higher counter and patches itself."""
    one, other = server_house.open(), server_house.open()
    for number in range(4):
        writer, reader = (one, other) if number % 2 else (other, one)
        stored = writer.remember("ada", f"note number {number}", importance=0.9 if number < 2 else 0.1)
        assert stored.id in {hit.id for hit in reader.recall("ada", "note number", 9)}
    other.forget("ada", stored.id)
    assert stored.id not in {hit.id for hit in one.recall("ada", "note number", 9)}
    one.consolidate("ada", everything=True)
    assert other.status("ada").short_term == 0
    assert len(other.recall("ada", "note number", 9)) == 3


def test_what_one_process_erased_and_told_anew_another_finds(server_house: House) -> None:
    """A complete erasure of the user (a new counter starts …), and the same ids used again in the other tier."""
    one, other = server_house.open(), server_house.open()
    one.remember("ada", "the gate is green", id="gate", importance=0.9)
    assert [hit.content for hit in other.recall("ada", "gate")] == ["the gate is green"]
    one.forget_user("ada")
    one.remember("ada", "the gate is blue", id="gate", importance=0.1)
    assert [hit.content for hit in other.recall("ada", "gate")] == ["the gate is blue"]
    one.forget_user("ada")
    assert other.recall("ada", "gate") == []


@pytest.fixture
def dumps(redis_url: str, postgres_url: str) -> Iterator[Any]:
    """Give what lies in Redis and PostgreSQL, every key and every row."""
    engine = create_engine(postgres_url)

    def dump() -> str:
        told = []
        with redis.Redis.from_url(redis_url) as client:
            told += [f"{key!r} {client.dump(key)!r}" for key in client.scan_iter()]
        with engine.connect() as connection:
            tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE tablename LIKE 'ltm_%'"))
            for table in tables.scalars().all():
                told += map(str, connection.execute(text(f"SELECT t::text FROM {table} t")).scalars())  # noqa: S608 - ours
        return "\n".join(told)

    yield dump
    engine.dispose()


def test_nothing_of_a_forgotten_user_is_left_on_a_server(server_house: House, dumps: Any, clock: FakeClock) -> None:
    """Canary string grep over … PostgreSQL, Redis after `forget_user`."""
    memory = server_house.open()
    user = f"user {CANARY}"
    labels: dict[str, Any] = dict.fromkeys(("session_id", "agent_id", "role", "name", "origin"), CANARY)
    for tier in ("short_term", "long_term"):
        memory.remember(user, f"{CANARY} {tier}", tier=tier, id=f"{CANARY} {tier}", metadata={CANARY: CANARY}, **labels)
    memory.remember(user, CANARY, "fact", slot=CANARY)
    memory.session(user, CANARY).add(Message("user", CANARY))
    memory.maintain(user)
    memory.forget(user, f"{CANARY} short_term")
    memory.remember("bob", "a rose", importance=0.1)
    assert CANARY in dumps()
    receipt = memory.forget_user(user)
    assert (receipt.long_term, receipt.messages, receipt.pending) == (2, 1, ())
    clock.advance(minutes=20)
    memory.maintain()
    assert CANARY not in dumps()
    assert "a rose" in dumps()
    assert memory.forget_user("nobody") == ForgetReceipt()


def test_one_object_serves_loops_in_a_row_and_at_once(server_house: House) -> None:
    """Client bound to a dead loop: the same object used in two successive `asyncio.run`."""
    memory = server_house.system()

    async def live(number: int) -> int:
        await asyncio.gather(*[memory.remember("ada", f"note {number} {n}") for n in range(5)])
        return len(await memory.recall("ada", "note", 99))

    assert [asyncio.run(live(number)) for number in range(3)] == [5, 10, 15]
    asyncio.run(memory.aclose())


async def test_the_tiers_alone_on_servers(
    server_house: House, redis_url: str, chroma_url: str, postgres_url: str, clock: FakeClock
) -> None:
    """`ShortTermMemory(redis, ttl_hours=24)` and `LongTermMemory(vector_db, postgres)`."""
    options: dict[str, Any] = {"embedder": HashedEmbedder(), "clock": clock, "settings": QUIET}
    client = redis.Redis.from_url(redis_url)
    short = ShortTermMemory(client, ttl_hours=1, **options)
    long = LongTermMemory(chroma_url, postgres_url, **options)
    for tier in (short, long):
        given = Memory("the gate is green", "fact", 0.5, clock.now, clock.now)  # type: ignore[arg-type] # a plain word
        stored = await tier.store("ada", given)
        assert (await tier.search("ada", "gate"))[0].access_count == 1
        assert [one.id for one in await tier.get_high_access("ada", 1)] == [stored.id]
    clock.advance(hours=1)
    assert await short.search("ada", "gate") == []
    await short.aclose()
    await long.aclose()
    assert client.ping()  # we close only what we opened
    client.close()


def test_a_batch_larger_than_any_page(sync: Engine) -> None:
    """`remember_many` … far cheaper than one by one."""
    items = [NewMemory(f"note number {n}", importance=n % 2) for n in range(700)]
    stored = sync.remember_many("ada", items)
    assert [one.content for one in stored] == [item.content for item in items]
    sync.maintain()
    assert sync.recall("ada", "note number 421", 1)[0].content == "note number 421"
    assert len(sync.list("ada", limit=1000)) == 700
