"""Joining statements beside everything else: what happens between reading and writing is neither undone nor doubled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import BackendUnavailable, EmbeddingError
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Change, Placed, RecordStore
from langchain_tiered_memory.testing import Call, Crash, Fault, Plan, counting
from tests.flow.racing import ADA, at_once
from tests.flow.words import Words
from tests.flow.world import EVERYTHING, START, World, assert_settled, in_memory
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

CHESS = ("Ada plays chess", "Ada really plays chess", "really Ada plays chess", "Ada plays really chess")


class Meanwhile:
    """A record store before whose first joining something else happens."""

    def __init__(self, store: RecordStore, act: Callable[[], object]) -> None:
        self._store = store
        self._act = act
        self.happened = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, user_id: str, change: Change) -> tuple[Placed, ...]:
        if change.joined and not self.happened:
            self.happened = 1
            self._act()
        return self._store.apply(user_id, change)


def told(world: World, many: int = 3) -> Engine:
    """Return an engine over a world in which something was said in other words, an hour apart."""
    engine = world.engine()
    for at in range(many):
        engine.remember(ADA, CHESS[at], "fact", id=f"m{at}", importance=0.9)
        world.clock.advance(hours=1)
    return engine


def consolidated(world: World, act: Callable[[], object]) -> int:
    """Consolidate while something else happens; return how many statements became part of another."""
    parts = world.parts()
    records = Meanwhile(parts.records, act)
    engine = Engine(lambda: replace(parts, records=cast("RecordStore", records)), world.settings)
    merged = engine.consolidate(ADA).merged
    assert records.happened
    return merged


def every(world: World) -> dict[str, Memory]:
    found = world.engine().list(ADA, include_superseded=True, limit=EVERYTHING)
    assert len({one.id for one in found}) == len(found)
    return {one.id: one for one in found}


def current(world: World) -> dict[str, set[str]]:
    """Return id to sources of what holds."""
    return {one.id: set(one.source_ids) for one in every(world).values() if one.current}


@pytest.mark.parametrize(("gone", "left"), [("m0", {"m1": {"m2"}}), ("m1", {"m0": {"m2"}})])
def test_what_is_forgotten_meanwhile_stays_so(make_world: MakeWorld, gone: str, left: dict[str, set[str]]) -> None:
    world = make_world(embedder=Words())
    engine = told(world)

    assert consolidated(world, lambda: engine.forget(ADA, gone)) == 1

    assert current(world) == left
    assert gone not in every(world)


def test_what_is_reworded_meanwhile_stays_by_itself(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    engine = told(world)

    assert consolidated(world, lambda: engine.update(ADA, "m1", content="Ada plays the cello")) == 1

    assert current(world) == {"m0": {"m2"}, "m1": set()}


def test_what_is_said_again_and_read_meanwhile_counts(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    engine = told(world)

    def act() -> None:
        assert engine.remember(ADA, CHESS[1].upper(), "fact", id="again").id == "m1"
        assert [hit.id for hit in engine.recall(ADA, CHESS[1], filter={"id": "m1"})] == ["m1"]

    assert consolidated(world, act) == 2

    assert current(world) == {"m0": {"m1", "m2", "again"}}
    assert every(world)["m0"].access_count == 1


def test_what_is_pinned_or_told_of_meanwhile_stays_so(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    engine = told(world)

    assert consolidated(world, lambda: engine.update(ADA, "m1", pinned=True, metadata={"seen": 1})) == 2

    found = every(world)
    assert (found["m0"].pinned, dict(found["m1"].metadata)) == (True, {"seen": 1})


def test_what_is_remembered_meanwhile_is_looked_at_next_time(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    engine = told(world)

    assert consolidated(world, lambda: engine.remember(ADA, CHESS[3], "fact", id="m3", importance=0.9)) == 2

    assert current(world) == {"m0": {"m1", "m2"}, "m3": set()}
    assert engine.consolidate(ADA).merged == 1
    assert current(world) == {"m0": {"m1", "m2", "m3"}}


def test_a_user_who_is_erased_meanwhile_stays_erased(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    told(world)

    assert consolidated(world, lambda: world.engine().forget_user(ADA)) == 0

    assert every(world) == {}
    assert (world.items.version(ADA), world.records.version(ADA)) == (0, 0)
    assert ADA not in (*world.items.users(), *world.records.users(), *world.transcripts.users())


def test_of_two_runs_at_once_one_joins(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    engine = told(world)
    engine.recall(ADA, "chess", 9)
    others: list[int] = []

    assert consolidated(world, lambda: others.append(world.engine().consolidate(ADA).merged)) == 0

    assert others == [2]
    assert current(world) == {"m0": {"m1", "m2"}}
    assert every(world)["m0"].access_count == 3


def test_many_runs_at_once_join_once(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    told(world, 4).recall(ADA, "chess", 9)
    engines = [world.engine() for _ in range(4)]

    reports = at_once(lambda n: engines[n].consolidate(ADA), 4)

    assert (sum(one.merged for one in reports), sum(one.waiting for one in reports)) == (3, 0)
    assert current(world) == {"m0": {"m1", "m2", "m3"}}
    assert every(world)["m0"].access_count == 4
    assert [event.kind for event in world.engine().history(ADA, "m0")] == ["created", *["reinforced"] * 3]
    world.engine().maintain(ADA)
    assert_settled(world, [ADA])


# -- what fails, and what is spared --------------------------------------------------------------------------------


def test_a_crash_or_a_failure_at_any_call_loses_and_doubles_nothing(make_world: MakeWorld) -> None:
    whole = make_world(embedder=Words())
    told(whole).recall(ADA, "chess", 9)
    plan = Plan()
    whole.engine(plan).consolidate(ADA)
    expected = timeless(every(whole))
    assert [len(one.source_ids) for one in expected.values() if one.current] == [2]
    assert len(plan.calls) > 5
    faults = [Fault(at, "before", error) for at in range(1, len(plan.calls) + 1) for error in (Crash, SILENT)]
    faults += [Fault(at, "after", Crash) for at in range(1, len(plan.calls) + 1)]
    for fault in faults:
        world = make_world(embedder=Words())
        told(world).recall(ADA, "chess", 9)
        with suppress(Crash, BackendUnavailable):
            world.engine(Plan(fault)).consolidate(ADA)

        world.engine().consolidate(ADA)
        assert timeless(every(world)) == expected, (plan.calls[fault.at - 1], fault.when)


SILENT = BackendUnavailable("the store", "be asked", "nothing was done")


def timeless(found: dict[str, Memory]) -> dict[str, Memory]:
    """Return memories without their times: on servers each world has a clock of its own."""
    same: dict[str, Any] = dict.fromkeys(("created_at", "last_accessed", "observed_at"), START)
    return {one.id: replace(one, metadata={}, valid_to=one.valid_to and START, **same) for one in found.values()}


def test_a_vector_index_that_is_silent_lets_statements_wait(make_world: MakeWorld) -> None:
    world = make_world(embedder=Words())
    told(world).maintain(ADA)

    report = world.engine(Plan(Fault(1, "before", SILENT, method="query", times=9))).consolidate(ADA)
    assert (report.merged, report.waiting, len(current(world))) == (0, 3, 3)

    report = world.engine().consolidate(ADA)
    assert (report.merged, report.waiting) == (2, 0)


class Sometimes(Words):
    """An embedder that may be out of order."""

    broken = False

    def embed_documents(self, texts: Any) -> NDArray[np.float32]:
        if self.broken:
            raise EmbeddingError("out of order")
        return super().embed_documents(texts)


def test_what_cannot_be_embedded_now_waits_and_is_looked_at_when_it_can(make_world: MakeWorld) -> None:
    embedder = Sometimes()
    world = make_world(embedder=embedder)
    embedder.broken = True
    engine = told(world)

    report = engine.consolidate(ADA)
    assert (report.merged, report.waiting, len(current(world))) == (0, 3, 3)

    embedder.broken = False
    report = engine.consolidate(ADA)
    assert (report.merged, report.waiting) == (2, 0)
    assert current(world) == {"m0": {"m1", "m2"}}


def test_a_run_with_nothing_new_reads_the_ledger_and_no_more() -> None:
    world = in_memory(embedder=Words())
    told(world).consolidate(ADA)
    calls: list[Call] = []
    parts = world.parts()
    engine = Engine(lambda: replace(parts, records=counting(parts.records, calls)), world.settings)
    engine.recall(ADA, "", touch=False)
    del calls[:]

    engine.consolidate(ADA)

    assert {call.method for call in calls} <= {"version", "changes", "consumed", "tombstones", "read_meta", "intents"}
