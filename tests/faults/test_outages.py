"""A server hangs, is slow, refuses, or dies and comes back: recall goes on with the rest and says what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import BackendUnavailable
from tests.faults.ledger import Ledger
from tests.faults.machines import LIMITS, SETTINGS, Machine, Place

OUTAGES: dict[str, Callable[[Machine], None]] = {
    "hangs": lambda machine: setattr(machine.proxy, "frozen", True),
    "refuses": lambda machine: machine.proxy.refuse(),
}
MINUTE = timedelta(minutes=1)
MISSING = {"redis": ("short_term",), "postgres": ("long_term",), "chroma": ()}
LEFT = {"redis": {"long"}, "postgres": {"short"}, "chroma": {"short", "long"}}


def told(engine: Engine, user: str) -> None:
    """Tell a memory of each tier, and let everything catch up."""
    engine.remember(user, "the garden gate is green", importance=0.1, id="short")
    engine.remember(user, "the kitchen gate is blue", importance=0.9, id="long")
    assert engine.maintain(user).failed == ()
    assert {hit.id for hit in engine.recall(user, "gate")} == {"short", "long"}


def over(machine: Machine, place: Place) -> None:
    """End an outage."""
    if machine.proxy.refusing:
        machine.proxy.accept()
    place.heal()


@pytest.mark.parametrize("outage", OUTAGES)
@pytest.mark.parametrize("name", MISSING)
def test_recall_goes_on_without_a_server_and_says_so(place: Place, user: str, name: str, outage: str) -> None:
    memory, other = place.system().sync, place.system().sync
    told(memory, user)
    machine = place.machines()[name]
    OUTAGES[outage](machine)
    for _ in range(2):
        result = memory.recall(user, "gate")
        assert ({hit.id for hit in result}, result.failed) == (LEFT[name], MISSING[name])
    over(machine, place)
    other.remember(user, "the cellar gate is grey", importance=0.1, id="new")
    other.update(user, "long", content="the kitchen gate is white")
    result = memory.recall(user, "gate")
    assert {hit.id: hit.content for hit in result} == {
        "short": "the garden gate is green",
        "long": "the kitchen gate is white",
        "new": "the cellar gate is grey",
    }
    assert result.failed == ()


def test_a_frozen_redis_costs_a_recall_its_deadline_once_and_then_nothing(place: Place, user: str) -> None:
    """The driver by itself would wait for many seconds. How often it was asked is what counts, not this machine."""
    memory = place.system().sync
    told(memory, user)
    place.redis.proxy.frozen = True
    began = time.monotonic()
    for _ in range(4):
        assert memory.recall(user, "gate").failed == ("short_term",)
    assert time.monotonic() - began < 3
    with pytest.raises(BackendUnavailable):
        memory.remember(user, "the roof is red", importance=0.1, id="lost")
    over(place.redis, place)
    incidents = memory.status(user).incidents
    assert incidents["redis_unavailable"] >= 1
    assert incidents["redis_not_asked"] >= 1
    assert {one.id for one in memory.list(user)} == {"short", "long"}


@pytest.mark.parametrize("moment", ["before", "while the hits are counted"])
def test_a_frozen_postgres_costs_a_recall_its_deadline_once_and_then_nothing(
    place: Place, user: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who write wait for much longer: they may be waiting for another writer."""
    limits = replace(LIMITS, sql_deadline=timedelta(seconds=0.5), sql_timeout=timedelta(seconds=20), pause=MINUTE)
    memory = place.system(settings=replace(SETTINGS, servers=limits)).sync
    told(memory, user)
    records = memory._opening.rooms().parts.records
    touch = records.touch

    def freezing(*args: Any) -> Any:
        place.postgres.proxy.frozen = True
        return touch(*args)

    if moment == "before":
        place.postgres.proxy.frozen = True
    else:
        monkeypatch.setattr(records, "touch", freezing)
    costs = []
    for _ in range(4):
        began = time.monotonic()
        result = memory.recall(user, "gate")
        costs.append(time.monotonic() - began)
    assert (result.failed, {hit.id for hit in result}) == (("long_term",), {"short"})
    assert sum(costs) < 4
    began = time.monotonic()
    with pytest.raises(BackendUnavailable, match="not asked"):
        memory.remember(user, "the roof is red", importance=0.9, id="lost")
    assert time.monotonic() - began < 2
    incidents = memory._opening.rooms().parts.incidents()
    assert incidents["postgres_unavailable"] == (1 if moment == "before" else 2)
    over(place.postgres, place)
    other = place.system().sync
    assert {one.id for one in other.list(user)} == {"short", "long"}


def test_a_context_is_built_without_redis_too(place: Place, user: str) -> None:
    memory = place.system().sync
    told(memory, user)
    chat = memory.session(user, "chat")
    place.redis.proxy.frozen = True
    began = time.monotonic()
    chat.add({"role": "user", "content": "which gate is blue?"})
    context = chat.context()
    assert time.monotonic() - began < 4
    assert [one.id for one in context.memories] == ["long"]
    assert [message.text for message in context.messages][-1] == "which gate is blue?"
    over(place.redis, place)
    assert memory.maintain(user).placed == 1
    assert {one.id for one in chat.context("gate").memories} >= {"short", "long"}


def test_a_slow_redis_costs_a_recall_no_more_than_the_deadline_in_all(place: Place, user: str) -> None:
    memory = place.system().sync
    told(memory, user)
    place.redis.proxy.delay = 0.15
    began = time.monotonic()
    result = memory.recall(user, "gate")
    assert time.monotonic() - began < 2
    assert "long" in {hit.id for hit in result}
    assert ("short" in {hit.id for hit in result}) == (result.failed == ())
    over(place.redis, place)
    assert {hit.id for hit in memory.recall(user, "gate")} == {"short", "long"}


@pytest.mark.parametrize("name", MISSING)
def test_a_server_is_killed_and_started_again_under_load(place: Place, ledger: Ledger, user: str, name: str) -> None:
    engines = [place.system().sync for _ in range(2)]
    machine = place.machines()[name]
    users = [f"{user} {n}" for n in range(2)]

    def write(count: int, step: str) -> None:
        for n in range(count):
            for who, engine in zip(users, engines, strict=True):
                ledger.remember(engine, who, f"{step}-{n}", importance=0.9 if n % 2 else 0.3)
                ledger.check_hits(who, engine.recall(who, f"number {step}-{n}", 3))
        for who, engine in zip(users, engines, strict=True):
            with suppress(BackendUnavailable):
                engine.consolidate(who, everything=True)
                engine.maintain(who)

    write(4, "before")
    machine.kill()
    write(4, "without")
    machine.start()
    place.heal()
    write(4, "after")
    assert all(len(ledger.acknowledged(who)) >= 8 for who in users)
    for engine in engines:
        ledger.check(engine, users)
    for who in users:
        assert engines[0].maintain(who).failed == ()
        assert engines[0].status(who).unindexed == 0


def test_a_system_opens_without_redis_and_without_chroma(place: Place, user: str) -> None:
    told(place.system().sync, user)
    for machine in (place.redis, place.chroma):
        machine.proxy.refuse()
    fresh = place.system().sync
    assert [hit.id for hit in fresh.recall(user, "gate")] == ["long"]
    assert fresh.remember(user, "the attic gate is red", importance=0.9, id="high").id == "high"
    for machine in (place.redis, place.chroma):
        machine.proxy.accept()
    place.heal()
    assert {hit.id for hit in fresh.recall(user, "gate")} == {"short", "long", "high"}
    assert fresh.maintain(user).failed == ()


def test_a_user_whom_somebody_dropped_from_chroma_is_found_and_rebuilt(place: Place, user: str) -> None:
    memory = place.system().sync
    told(memory, user)
    index = memory._opening.rooms().parts.index
    assert index is not None
    place.system().sync._opening.rooms().parts.index.drop(user)  # type: ignore[union-attr] # as above
    for one in (memory, place.system().sync):
        assert {hit.id for hit in one.recall(user, "gate")} == {"short", "long"}
    assert index.ids(user) == frozenset()
    assert memory.reindex(user).indexed == 1
    assert index.ids(user) == {"long#0"}
