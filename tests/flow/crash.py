"""Telling the script to an engine that crashes, restarting it, and comparing with a telling without a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.testing import Call, Crash, Fault, Plan
from tests.flow.script import ADA, BOB, USERS, Step, script
from tests.flow.world import (
    START,
    Shown,
    World,
    assert_alike,
    assert_settled,
    heads,
    shown,
)

PAUSE = timedelta(seconds=7)
"""How long a client waits before it repeats what was not acknowledged."""
BETWEEN_READS = timedelta(minutes=1)
"""How far apart the script's reads are."""
READS = frozenset(
    "version changes get consumed tombstones history intents vectors vector_count unindexed removals read_meta tail "
    "system unplaced sessions users query ids".split()
)
STEPS = script()


@dataclass(frozen=True)
class Telling:
    """One telling of the script.

    Attributes:
        calls: The calls of the engine that was running at the end.
        first: For each step that this engine took, the number of its first call.
        struck: The steps in which it crashed.
    """

    calls: Sequence[Call]
    first: Sequence[int]
    struck: Sequence[int]


@dataclass(frozen=True)
class Golden:
    """What a telling without a crash shows after each step; at 0 before the first."""

    after: Sequence[Mapping[str, Shown]]
    consumed: frozenset[str]


def everything_shown(world: World) -> Mapping[str, Shown]:
    """Read both users."""
    return {user: shown(world, user) for user in USERS}


def golden(world: World) -> Golden:
    """Tell the script without a crash."""
    after = [everything_shown(world)]
    engine = world.engine()
    for step in STEPS:
        world.clock.set(START + timedelta(hours=step.hours))
        step.act(engine)
        after.append(everything_shown(world))
    return Golden(after, consumed(world))


def consumed(world: World) -> frozenset[str]:
    """Return the contents of Ada's memories that are in the ledger."""
    contents = {entry.memory.id: "" for entry in heads(world.records, ADA)}
    done = world.records.consumed(ADA, list(contents))
    return frozenset(memory.content for memory in world.records.get(ADA, list(done)))


def tell(world: World, faults: Sequence[Fault], check: Callable[[int], None] | None = None) -> Telling:
    """Tell the script; at each crash start a new engine, which has the next fault, and repeat the step.

    Args:
        world: The stores, empty.
        faults: One per engine, in order; the last engine has none.
        check: Called after each crash with the number of the step that it struck.
    """
    waiting = list(faults)
    struck: list[int] = []
    first: list[int] = []
    at = 0

    def start() -> Plan:
        first.clear()
        return Plan(*waiting[:1])

    plan = start()
    engine = world.engine(plan)
    while at < len(STEPS):
        world.clock.set(START + timedelta(hours=STEPS[at].hours) + PAUSE * struck.count(at))
        first.append(len(plan.calls) + 1)
        try:
            STEPS[at].act(engine)
        except Crash:
            struck.append(at)
            del waiting[:1]
            plan = start()
            engine = world.engine(plan)
            if check is not None:
                check(at)
        else:
            at += 1
    return Telling(tuple(plan.calls), tuple(first), tuple(struck))


def points(telling: Telling) -> Iterator[Fault]:
    """Iterate over the crashes that stores can tell apart.

    They are one after each call that writes, and one before the first call of each step, when the step before is
    acknowledged. A crash before or after a call that reads leaves what the call before it left.
    """
    for number, call in enumerate(telling.calls, 1):
        if number in telling.first:
            yield Fault(number, "before")
        if call.method not in READS:
            yield Fault(number, "after")


def crashed_right(world: World, faults: Sequence[Fault], expected: Golden, *, maintained: bool = False) -> Telling:
    """Tell the script with these crashes, and check what they leave, at once and in the end.

    Args:
        world: The stores, empty.
        faults: One per engine.
        expected: What a telling without a crash shows.
        maintained: Whether somebody maintains the users before the client repeats its call.
    """
    struck = dict.fromkeys(USERS, 0)

    def check(at: int) -> None:
        for user in STEPS[at].users:
            struck[user] += 1
        compare(at)
        if maintained:
            for user in STEPS[at].users:
                world.engine().maintain(user)
            assert_settled(world, STEPS[at].users)
            compare(at)

    def compare(at: int) -> None:
        now = everything_shown(world)
        for user in USERS:
            before, after = expected.after[at][user], expected.after[at + 1][user]
            _between(now[user], before, after, touched=user in STEPS[at].users, crashes=struck[user])

    telling = tell(world, faults, check)
    last = everything_shown(world)
    for user in USERS:
        assert_same(last[user], expected.after[-1][user], struck[user])
    assert consumed(world) == expected.consumed
    assert_settled(world, USERS)
    assert {BOB}.isdisjoint((*world.items.users(), *world.records.users(), *world.transcripts.users()))
    return telling


def _between(now: Shown, before: Shown, after: Shown, *, touched: bool, crashes: int) -> None:
    """What was acknowledged before the step that crashed is there, what the step does may be there, else nothing."""
    if not touched:
        assert_same(now, before, crashes)
        return
    old, new = set(before.memories), set(after.memories)
    assert old & new <= set(now.memories) <= old | new
    for name in set(before.transcripts) & set(after.transcripts):
        whole = _said(now.transcripts[name])
        assert whole in (_said(before.transcripts[name]), _said(after.transcripts[name]))
    assert set(now.transcripts) <= set(before.transcripts) | set(after.transcripts)


def assert_same(now: Shown, expected: Shown, crashes: int, *, missed: int = 0) -> None:
    """Everything is there, once, as it should be, but for reads that were repeated, or that could not be counted."""
    assert set(now.memories) == set(expected.memories)
    delay = PAUSE * crashes + BETWEEN_READS * missed
    for content, memory in now.memories.items():
        assert_alike(memory, expected.memories[content], reads=crashes, delay=delay, missed=missed)
    assert set(now.transcripts) == set(expected.transcripts)
    for name, messages in now.transcripts.items():
        assert _said(messages) == _said(expected.transcripts[name])


def _said(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without their times: a client that repeats them does so later."""
    return [replace(one, created_at=None) for one in messages]


def described(telling: Telling, fault: Fault) -> str:
    """Say where a fault strikes, for the report of a failure."""
    step = sum(first <= fault.at for first in telling.first) - 1
    call = telling.calls[fault.at - 1]
    offset = len(STEPS) - len(telling.first)
    names: Sequence[Step] = STEPS[offset:]
    return f"{fault.when} call {fault.at}, {call.store}.{call.method} of {names[step].name!r}"
