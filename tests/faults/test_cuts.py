"""The network is cut inside a command or inside its answer: repeated, the write is there once."""

from __future__ import annotations

import pytest

from langchain_tiered_memory import BackendUnavailable, Message
from langchain_tiered_memory.core.engine import Engine
from tests.faults.ledger import Ledger
from tests.faults.machines import Machine, Place

INSIDE = {
    "redis": {False: (0, 40, 2_500, 5_400), True: (0, 3, 20)},
    "postgres": {False: (0, 20, 500, 1_500), True: (0, 5, 80)},
}
"""Bytes after which to cut, of commands and of answers: in the first, and in later ones."""
CASES = [
    (name, answers, after) for name, ways in INSIDE.items() for answers, all_of in ways.items() for after in all_of
]


def until_cut(machine: Machine, after: int, *, answers: bool) -> None:
    """Let the next connection that so many bytes pass break there."""
    machine.proxy.break_connections()
    machine.proxy.cut(after, answers=answers)


@pytest.mark.parametrize("case", CASES)
def test_a_write_that_was_cut_off_is_there_once_when_it_is_repeated(
    place: Place, ledger: Ledger, user: str, case: tuple[str, bool, int]
) -> None:
    name, answers, after = case
    memory = place.system().sync
    importance = 0.3 if name == "redis" else 0.9
    ledger.remember(memory, user, "first", importance=importance)
    until_cut(place.machines()[name], after, answers=answers)
    for _ in range(8):
        if ledger.remember(memory, user, "second", importance=importance) is not None:
            break
        place.heal()
    else:
        pytest.fail("the write was never acknowledged")
    place.machines()[name].proxy.cut_nothing()
    ledger.check(memory, [user])
    ledger.check(place.system().sync, [user])
    assert len(memory.list(user)) == 2


def test_reads_are_counted_at_most_as_often_as_they_were_and_at_least_as_often_as_it_was_told(
    place: Place, user: str
) -> None:
    """A touch whose answer is lost is not repeated: it would count twice."""
    memory = place.system().sync
    memory.remember(user, "the gate is green", importance=0.3, id="gate")
    shown = 0
    for number in range(12):
        until_cut(place.redis, 700 * number, answers=bool(number % 2))
        hits = memory.recall(user, "gate", 1)
        shown = max([shown, *(hit.access_count for hit in hits)])
        if memory.recall(user, "gate", 1).failed:
            place.heal()
    place.redis.proxy.cut_nothing()
    place.heal()
    counted = memory.get(user, "gate").access_count
    assert shown <= counted <= 24


def test_a_message_whose_write_was_cut_off_is_in_the_transcript_once(place: Place, user: str) -> None:
    memory = place.system().sync
    chat = memory.session(user, "chat")
    chat.add(Message("user", "good morning", id="m0"))
    for number in range(4):
        until_cut(place.postgres, 300 * number, answers=bool(number % 2))
        added(memory, user, place, f"m{number + 1}")
    place.postgres.proxy.cut_nothing()
    place.heal()
    assert [message.id for message in chat.transcript()] == [f"m{number}" for number in range(5)]
    memory.maintain(user)
    assert len(memory.list(user)) == 5


def added(memory: Engine, user: str, place: Place, message_id: str) -> None:
    """Add a message, again and again until it is acknowledged."""
    for _ in range(8):
        try:
            memory.session(user, "chat").add(Message("user", f"this is {message_id}", id=message_id))
        except BackendUnavailable:
            place.heal()
        else:
            return
    pytest.fail("the message was never acknowledged")
