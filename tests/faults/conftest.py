"""Three servers for all tests of faults, each reached through a proxy; a user of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.conftest import need
from tests.faults.ledger import Ledger
from tests.faults.machines import Place, chroma_machine, postgres_machine, redis_machine


@pytest.fixture(scope="session")
def servers_of_faults() -> Iterator[Place]:
    with ExitStack() as stack:
        yield Place(need(stack, redis_machine), need(stack, postgres_machine), need(stack, chroma_machine))


@pytest.fixture
def place(servers_of_faults: Place) -> Iterator[Place]:
    """The servers, as healthy in the end as in the beginning."""
    made = Place(servers_of_faults.redis, servers_of_faults.postgres, servers_of_faults.chroma)
    yield made
    for machine in made.machines().values():
        machine.proxy.frozen, machine.proxy.delay = False, 0
        machine.proxy.cut_nothing()
    made.close()
    for machine in made.machines().values():
        machine.proxy.break_connections()


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user whom no other test knows."""
    return f"user of {request.node.name}"
