"""A forget that was interrupted: whatever happens before it is finished, nothing comes back and nothing new goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.testing import Crash, Fault, Plan
from tests.flow.script import ADA, BAKES, BOB, MOVED, extractor, message
from tests.flow.world import World, assert_settled, in_memory, shown

FORGOTTEN = frozenset({BAKES, "Ada bakes bread", "likes baking"})
NEW = "Ada plays chess"


def told() -> World:
    """Return a world in which Ada said two things, one of them in both tiers' reach, and Bob one."""
    world = in_memory(extractor=extractor())
    engine = world.engine()
    engine.session(ADA, "chat").add(message("m2", MOVED), message("m3", "hello", "assistant"))
    engine.remember(ADA, BAKES, id="e1", importance=0.3, session_id="chat")
    engine.remember(ADA, "a fact", "fact", id="f1", importance=0.9)
    engine.remember(BOB, BAKES, id="e1", importance=0.9)
    engine.maintain()
    return world


def consolidated() -> World:
    """Return the same, consolidated."""
    world = told()
    world.engine().consolidate(ADA, everything=True)
    world.engine().maintain()
    return world


def forget(engine: Engine) -> None:
    engine.forget(ADA, "e1")


def forget_user(engine: Engine) -> None:
    engine.forget_user(ADA)


def interrupted(make: Callable[[], World], act: Callable[[Engine], None]) -> list[World]:
    """Return one world per call of the act, with a crash after that call; only those in which the truth is gone."""
    plan = Plan()
    act(make().engine(plan))
    worlds = []
    erased = next(n for n, call in enumerate(plan.calls, 1) if (call.store, call.method) in _TRUTH)
    for number in range(erased, len(plan.calls)):
        world = make()
        with pytest.raises(Crash):
            act(world.engine(Plan(Fault(number, "after"))))
        worlds.append(world)
    return worlds


_TRUTH = {("InMemoryRecordStore", "forget"), ("InMemoryRecordStore", "erase")}


def works(user_id: str) -> Sequence[Callable[[Engine], object]]:
    """Return what others may do before the interrupted call is repeated or finished."""
    return (
        lambda engine: engine.consolidate(user_id, everything=True),
        lambda engine: engine.maintain(user_id),
        lambda engine: engine.reindex(user_id),
        lambda engine: engine.recall(user_id, "bread", touch=True),
    )


@pytest.mark.parametrize("make", [told, consolidated])
@pytest.mark.parametrize("work", range(4))
def test_work_between_does_not_bring_a_memory_back(make: Callable[[], World], work: int) -> None:
    for world in interrupted(make, forget):
        works(ADA)[work](world.engine())
        world.engine().maintain()
        assert FORGOTTEN.isdisjoint(shown(world, ADA).memories)
        assert {MOVED, "a fact"} <= set(shown(world, ADA).memories)
        assert BAKES in shown(world, BOB).memories
        assert_settled(world, [ADA, BOB])


@pytest.mark.parametrize("make", [told, consolidated])
@pytest.mark.parametrize("work", range(4))
def test_work_between_does_not_bring_a_user_back(make: Callable[[], World], work: int) -> None:
    for world in interrupted(make, forget_user):
        works(ADA)[work](world.engine())
        world.engine().maintain()
        assert ADA not in (*world.items.users(), *world.records.users(), *world.transcripts.users())
        assert BAKES in shown(world, BOB).memories
        assert_settled(world, [ADA, BOB])


@pytest.mark.parametrize("importance", [0.2, 0.9])
def test_what_an_erased_user_tells_anew_stays(importance: float) -> None:
    """The erasure is finished before the new is written, not by the next maintenance after it."""
    for world in interrupted(consolidated, forget_user):
        world.engine().remember(ADA, NEW, id="n1", importance=importance)
        world.engine().session(ADA, "chat").add(message("m9", "I am back", "user"))
        world.engine().maintain()
        assert set(shown(world, ADA).memories) == {NEW, "I am back"}
        assert [one.content for one in shown(world, ADA).transcripts["chat"]] == ["I am back"]
        assert_settled(world, [ADA, BOB])


def test_a_user_whose_erasure_cannot_be_finished_is_not_written_to() -> None:
    world = consolidated()
    down = Plan(Fault(1, error=BackendUnavailable("chroma", "drop", "down"), method="drop", times=100))
    assert world.engine(down).forget_user(ADA).pending == ("vector_index",)
    with pytest.raises(BackendUnavailable):
        world.engine(down).remember(ADA, NEW, id="n1")
    with pytest.raises(BackendUnavailable):
        world.engine(down).session(ADA, "chat").add(message("m9", "I am back"))
    world.engine().remember(ADA, NEW, id="n1")
    assert set(shown(world, ADA).memories) == {NEW}
    assert_settled(world, [ADA, BOB])


def test_a_memory_that_only_redis_still_has_is_not_shown() -> None:
    """The receipt says that short-term memory did not answer; when it does, what was forgotten stays unseen."""
    world = told()
    down = Plan(Fault(1, error=BackendUnavailable("redis", "remove", "down"), method="remove", times=100))
    assert world.engine(down).forget(ADA, "e1").pending == ("short_term",)
    engine = world.engine()
    assert FORGOTTEN.isdisjoint(one.content for one in engine.recall(ADA, "bread on Sundays", 10))
    assert FORGOTTEN.isdisjoint(one.content for one in engine.list(ADA))
    world.engine().maintain()
    assert_settled(world, [ADA, BOB])
