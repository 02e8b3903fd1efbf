"""The stores in memory keep the contracts of their ports."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_tiered_memory.backends.inmemory import (
    InMemoryItemStore,
    InMemoryRecordStore,
    InMemoryTranscriptStore,
    InMemoryVectorIndex,
)
from langchain_tiered_memory.core.ports import ItemStore, RecordStore, TranscriptStore, VectorIndex
from langchain_tiered_memory.testing.contracts import (
    ItemStoreContract,
    RecordStoreContract,
    TranscriptStoreContract,
    VectorIndexContract,
)


class TestItems(ItemStoreContract):
    @pytest.fixture
    def store(self) -> ItemStore:
        return InMemoryItemStore()

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        users = store._table._users
        return set(users[user_id].rows) if user_id in users else set()


class TestRecords(RecordStoreContract):
    @pytest.fixture
    def store(self) -> RecordStore:
        return InMemoryRecordStore()

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        users = store._table._users
        return set(users[user_id].rows) if user_id in users else set()


class TestTranscripts(TranscriptStoreContract):
    @pytest.fixture
    def store(self) -> TranscriptStore:
        return InMemoryTranscriptStore()

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        sessions = store._users.get(user_id, {}).values()
        return {one.message.id for session in sessions for one in session.messages.values()}


class TestVectors(VectorIndexContract):
    @pytest.fixture
    def index(self) -> VectorIndex:
        return InMemoryVectorIndex()

    def raw_ids(self, index: Any, user_id: str) -> set[str]:
        return set(index._spaces.get(user_id, ()))
