"""What a suite for a store of memories needs to know of the port and of the backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import pytest

from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.ports import Entry, MemoryStore, Placed
from langchain_tiered_memory.testing.samples import entry_of

S = TypeVar("S", bound=MemoryStore)
ADA, BOB = "user:1", "user:10"


class StoreSuite(ABC, Generic[S]):
    """What a suite needs to know of the port and the backend."""

    tier: Tier

    @pytest.fixture
    def store(self) -> Any:
        """Return an empty store; a test class for a backend overrides this."""
        pytest.fail("a contract's subclass has to give a fixture `store`")

    @abstractmethod
    def raw_ids(self, store: S, user_id: str) -> set[str]:
        """Return the ids that physically lie in the backend for the user, read without the store's own API."""

    def reopened(self, store: S) -> S:
        """Return another object on the same data; a store that lives in its object returns itself."""
        return store

    @abstractmethod
    def write(self, store: S, user_id: str, *entries: Entry) -> tuple[Placed, ...]:
        """Write entries in one call."""

    @abstractmethod
    def wipe(self, store: S, user_id: str) -> None:
        """Remove everything of the user."""

    def entry(self, memory_id: str, content: str | None = None, **fields: Any) -> Entry:
        """Return an entry for this tier."""
        return entry_of(memory_id, content, **{"tier": self.tier} | fields)

    def one(self, store: S, user_id: str, memory_id: str) -> Memory:
        """Return one memory."""
        (memory,) = store.get(user_id, [memory_id])
        return memory

    def head(self, store: S, user_id: str, memory_id: str) -> Entry:
        """Return one row as `changes` reports it."""
        return next(e for e in store.changes(user_id, 0).entries if e.memory.id == memory_id)
