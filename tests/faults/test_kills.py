"""A process is killed under load on servers, again and again: what it had acknowledged is there, once."""

from __future__ import annotations

from tests.faults.kills import killed_again_and_again
from tests.faults.ledger import Ledger
from tests.faults.machines import Place


def test_what_killed_processes_acknowledged_is_there_exactly_once(place: Place, ledger: Ledger, user: str) -> None:
    killed_again_and_again(place, ledger, user, kills=20, looks=4)
