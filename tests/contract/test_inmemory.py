"""The stores in memory keep the contracts of their ports."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_tiered_memory.backends.inmemory import (
    InMemoryAgenda,
    InMemoryItemStore,
    InMemoryRecordStore,
    InMemoryTranscriptStore,
    InMemoryVectorIndex,
)
from langchain_tiered_memory.core.ports import Agenda, ItemStore, RecordStore, TranscriptStore, VectorIndex
from langchain_tiered_memory.testing.contracts import (
    AgendaContract,
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


class TestAgenda(AgendaContract):
    @pytest.fixture
    def agenda(self) -> Agenda:
        return InMemoryAgenda()


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
