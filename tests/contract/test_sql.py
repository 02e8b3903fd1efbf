"""The SQL stores keep the contracts of their ports, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from langchain_tiered_memory.backends.sql import (
    SqlAgenda,
    SqlItemStore,
    SqlRecordStore,
    SqlTranscriptStore,
    codec,
    connect,
    prepare,
)
from langchain_tiered_memory.backends.sql.codec import digest, plain
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.ports import Agenda, ItemStore, RecordStore, TranscriptStore
from langchain_tiered_memory.testing.contracts import (
    AgendaContract,
    ItemStoreContract,
    RecordStoreContract,
    TranscriptStoreContract,
)


@pytest.fixture(scope="session", params=["file", "memory", "postgres"])
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine on a database with our tables; making them for every test would take longer than the test."""
    sources = {"file": tmp_path_factory.mktemp("sql") / "memory.db", "memory": ":memory:"}
    made, _ = connect(sources.get(request.param) or request.getfixturevalue("postgres_url"))
    prepare(made)
    yield made
    made.dispose()


@pytest.fixture
def engine(prepared: Engine) -> Engine:
    """An engine on a database with our tables, and nothing in them."""
    with prepared.begin() as connection:
        for table in METADATA.sorted_tables:
            if table.name != "ltm_schema":
                connection.execute(table.delete())
    return prepared


def ids_in(engine: Engine, table: str, user_id: str) -> set[str]:
    """Read ids with a statement of our own."""
    with engine.connect() as connection:
        statement = f"SELECT id FROM {table} WHERE user_key = :user"  # noqa: S608 - the table's name is written below
        rows = connection.execute(text(statement), {"user": digest(user_id)})
        return {plain(memory_id) for memory_id in rows.scalars()}


class TestItems(ItemStoreContract):
    @pytest.fixture
    def store(self, engine: Engine) -> ItemStore:
        return SqlItemStore(engine)

    def reopened(self, store: Any) -> ItemStore:
        return SqlItemStore(store._shelf.link.engine)

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        return ids_in(store._shelf.link.engine, "ltm_items", user_id)


class TestRecords(RecordStoreContract):
    @pytest.fixture
    def store(self, engine: Engine) -> RecordStore:
        return SqlRecordStore(engine)

    def reopened(self, store: Any) -> RecordStore:
        return SqlRecordStore(store._shelf.link.engine)

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        return ids_in(store._shelf.link.engine, "ltm_records", user_id)


class TestAgenda(AgendaContract):
    @pytest.fixture
    def agenda(self, engine: Engine) -> Agenda:
        return SqlAgenda(engine)

    def reopened(self, agenda: Any) -> Agenda:
        return SqlAgenda(agenda._link.engine)


class TestTranscripts(TranscriptStoreContract):
    @pytest.fixture
    def store(self, engine: Engine) -> TranscriptStore:
        return SqlTranscriptStore(engine)

    def reopened(self, store: Any) -> TranscriptStore:
        return SqlTranscriptStore(store._link.engine)

    def raw_ids(self, store: Any, user_id: str) -> set[str]:
        with store._link.engine.connect() as connection:
            chosen = text("SELECT body FROM ltm_messages WHERE user_key = :user")
            bodies = connection.execute(chosen, {"user": digest(user_id)}).scalars()
            return {codec.from_json(body)["id"] for body in bodies}
