"""More of the faults of real servers than fit into every run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from langchain_tiered_memory.core.errors import BackendUnavailable
from tests.faults.conftest import ledger, place, servers_of_faults, user
from tests.faults.kills import killed_again_and_again
from tests.faults.ledger import Ledger
from tests.faults.machines import Place

__all__ = ["ledger", "place", "servers_of_faults", "user"]


def test_two_hundred_kills(place: Place, ledger: Ledger, user: str) -> None:
    killed_again_and_again(place, ledger, user, kills=200, looks=10)


@pytest.mark.parametrize("name", ["redis", "postgres"])
@pytest.mark.parametrize("answers", [False, True])
def test_a_cut_after_every_few_bytes(place: Place, ledger: Ledger, user: str, name: str, answers: bool) -> None:  # noqa: FBT001
    memory = place.system().sync
    machine, importance = place.machines()[name], 0.3 if name == "redis" else 0.9
    for number, after in enumerate(offsets()):
        machine.proxy.break_connections()
        machine.proxy.cut(after, answers=answers)
        while ledger.remember(memory, user, str(number), importance=importance) is None:
            place.heal()
    machine.proxy.cut_nothing()
    place.heal()
    ledger.check(place.system().sync, [user])
    assert len(memory.list(user, limit=1_000)) == len(ledger.acknowledged(user))


def offsets() -> Iterator[int]:
    """Iterate over places to cut at, close together at first."""
    after = 0
    while after < 6_000:
        yield after
        after += 1 + after // 6


def test_every_server_is_killed_in_turn_many_times(place: Place, ledger: Ledger, user: str) -> None:
    memory = place.system().sync
    for turn in range(10):
        for name, machine in place.machines().items():
            machine.kill()
            for n in range(3):
                ledger.remember(memory, user, f"{turn}-{name}-{n}", importance=0.9 if n % 2 else 0.3)
            machine.start()
            place.heal()
            with suppress(BackendUnavailable):
                memory.consolidate(user, everything=True)
    assert memory.maintain(user).failed == ()
    ledger.check(memory, [user])
