"""A store that fails at any one call, before or after it did its work: the process goes on, and so do its memories."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.testing import Call, Fault, Plan
from tests.flow.crash import PAUSE, READS, STEPS, Golden, assert_same, consumed, everything_shown, golden
from tests.flow.script import BOB, USERS, extractor
from tests.flow.world import START, World, assert_settled, in_memory


def fresh() -> World:
    return in_memory(extractor=extractor())


@pytest.fixture(scope="module")
def expected() -> Golden:
    return golden(fresh())


def faults(calls: list[Call]) -> Iterator[Fault]:
    """Iterate over one failure before each call, and one after each that writes."""
    for number, call in enumerate(calls, 1):
        error = BackendUnavailable(call.store, call.method, "told to fail")
        yield Fault(number, "before", error)
        if call.method not in READS:
            yield Fault(number, "after", error)


def tell(world: World, plan: Plan) -> int:
    """Tell the script to one engine; repeat a step that failed. Return how often that was.

    What the engine did without, such as the episodes of messages, it makes up for in the background.
    """
    engine = world.engine(plan)
    repeated = struck = 0
    for step in STEPS:
        tries = 0
        while True:
            world.clock.set(START + timedelta(hours=step.hours) + PAUSE * tries)
            try:
                step.act(engine)
                break
            except BackendUnavailable:
                tries += 1
        repeated += tries
        if len(plan.fired) > struck:
            struck += 1
            for user in step.users:
                engine.maintain(user)
    world.engine().maintain()  # what failed in the script's last maintenance is done by the next
    return repeated


def test_one_failure_anywhere(expected: Golden) -> None:
    """Nothing is lost, doubled or brought back; a read that could not be counted is the only thing missing."""
    plan = Plan()
    tell(fresh(), plan)
    raised = 0
    for fault in faults(plan.calls):
        world = fresh()
        repeated = tell(world, Plan(fault))
        last = everything_shown(world)
        try:
            for user in USERS:
                assert_same(last[user], expected.after[-1][user], repeated, missed=1)
            assert consumed(world) == expected.consumed
            assert_settled(world, USERS)
            assert {BOB}.isdisjoint((*world.items.users(), *world.records.users(), *world.transcripts.users()))
        except AssertionError as error:
            error.add_note(f"after a failure {fault.when} call {fault.at}, {plan.calls[fault.at - 1]}")
            raise
        assert repeated <= 1
        raised += repeated
    assert raised > 100
