"""Worlds on every backend, for tests that hold on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.backends.redis import RedisItemStore
from langchain_tiered_memory.testing import FakeClock
from tests.flow import systems
from tests.flow.systems import PATIENT
from tests.flow.world import World, empty, in_memory, opened, over_sql

BACKENDS = ("memory", "sqlite", "servers")
MakeWorld = Callable[..., World]


@pytest.fixture(params=BACKENDS)
def make_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeWorld]:
    """A function that makes a world without anybody in it; takes the options of `in_memory`."""
    with ExitStack() as stack:
        if request.param == "memory":
            yield in_memory
        elif request.param == "sqlite":
            yield _on_sqlite(tmp_path, stack)
        else:
            yield _on_servers(*(request.getfixturevalue(f"{name}_url") for name in _SERVERS), stack=stack)


_SERVERS = ("redis", "postgres", "chroma")


def _on_sqlite(folder: Path, stack: ExitStack) -> MakeWorld:
    database = opened(folder / "memory.db")
    stack.callback(database.dispose)

    def make(**options: Any) -> World:
        empty(database)
        return over_sql(database, InMemoryVectorIndex(), **options)

    return make


def _on_servers(redis_url: str, postgres_url: str, chroma_url: str, *, stack: ExitStack) -> MakeWorld:
    items = RedisItemStore(redis_url, timeout=PATIENT.redis_timeout)
    stack.callback(items.close)
    index = ChromaVectorIndex.from_url(chroma_url)
    stack.callback(index.close)

    def make(**options: Any) -> World:
        systems.empty(redis_url, chroma_url, postgres_url)
        database = opened(postgres_url)
        stack.callback(database.dispose)
        present = FakeClock(datetime.now(UTC).replace(microsecond=0))  # Redis lets go of items by a clock of its own
        return over_sql(database, index, items=items, **{"clock": present, **options})

    return make
