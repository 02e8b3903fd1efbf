"""A memory for every test of LangChain's adapters, in RAM unless the test is about a restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.langchain import TieredMemoryStore
from tests.conftest import FakeClock
from tests.flow.systems import House, folder_house

__all__ = ["folder_house", "memory", "store"]


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[MemorySystem]:
    """An empty memory in RAM."""
    house = House(clock, ":memory:")
    yield house.system()
    house.close()


@pytest.fixture
def store(memory: MemorySystem) -> TieredMemoryStore:
    """An empty store."""
    return TieredMemoryStore(memory)
