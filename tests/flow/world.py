"""Stores that outlive the engines over them, as a disk outlives a process; and a plain reading of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine as Database

from langchain_tiered_memory.backends import sql
from langchain_tiered_memory.backends.inmemory import (
    InMemoryItemStore,
    InMemoryRecordStore,
    InMemoryTranscriptStore,
    InMemoryVectorIndex,
)
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.config import MaintenanceSettings, RankingWeights, ServerSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.importance import RuleScorer
from langchain_tiered_memory.core.model import Memory, Message
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import (
    Embedder,
    Entry,
    FactExtractor,
    ItemStore,
    RecordStore,
    TranscriptStore,
    VectorIndex,
    vector_ref,
)
from langchain_tiered_memory.embedding.hashed import HashedEmbedder
from langchain_tiered_memory.extraction import RuleExtractor
from langchain_tiered_memory.testing import FakeClock, Plan, faulty
from langchain_tiered_memory.tokens import TiktokenCounter

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
EVERYTHING = 1_000_000
COUNTER = TiktokenCounter("o200k_base")
PATIENT = ServerSettings(redis_deadline=timedelta(minutes=1))
"""A server answers or not; how busy the machine is has no say in it."""
QUIET = Settings(maintenance=MaintenanceSettings(automatic=False), servers=PATIENT)
"""Nothing happens but what the test calls."""


@dataclass
class World:
    """The stores, the clock and the models that engines are built over, again and again."""

    items: ItemStore
    records: RecordStore
    transcripts: TranscriptStore
    index: VectorIndex | None
    clock: FakeClock
    extractor: FactExtractor
    embedder: Embedder
    settings: Settings = QUIET
    index_always: bool = True

    def engine(self, plan: Plan | None = None) -> Engine:
        """Return a new engine over the stores, as a process has that was just started; its calls fail as planned."""
        return Engine(lambda: self.parts(plan), self.settings)

    def parts(self, plan: Plan | None = None) -> Parts:
        """Return the stores, wrapped so that they fail as planned."""
        wrapped: dict[str, Any] = {
            "items": self.items,
            "records": self.records,
            "transcripts": self.transcripts,
            "index": self.index,
        }
        if plan is not None:
            wrapped = {name: store if store is None else faulty(store, plan) for name, store in wrapped.items()}
        return Parts(
            **wrapped,
            index_always=self.index_always and self.index is not None,
            embedder=self.embedder,
            scorer=RuleScorer(),
            extractor=self.extractor,
            counter=COUNTER,
            clock=self.clock,
            settings=self.settings,
            weights=RankingWeights.DEFAULT,
            compact=lambda: None,
            close=lambda: None,
        )


def in_memory(**options: Any) -> World:
    """Return a world without a disk."""
    return _world(
        InMemoryItemStore(), InMemoryRecordStore(), InMemoryTranscriptStore(), InMemoryVectorIndex(), **options
    )


def opened(source: object) -> Database:
    """Return a database with our tables; dispose of it in the end."""
    database, _ = sql.connect(source)
    sql.prepare(database)
    return database


def empty(database: Database) -> None:
    """Remove every row: quicker than a new database, whose statements all have to be compiled again."""
    with database.begin() as connection:
        for table in METADATA.sorted_tables:
            if table.name != "ltm_schema":
                connection.execute(table.delete())


def over_sql(database: Database, index: VectorIndex | None, *, items: ItemStore | None = None, **options: Any) -> World:
    """Return a world on a database; with short-term memory elsewhere if it is given."""
    return _world(
        items or sql.SqlItemStore(database),
        sql.SqlRecordStore(database),
        sql.SqlTranscriptStore(database),
        index,
        **options,
    )


def _world(
    items: ItemStore,
    records: RecordStore,
    transcripts: TranscriptStore,
    index: VectorIndex | None,
    *,
    extractor: FactExtractor | None = None,
    settings: Settings = QUIET,
    embedder: Embedder | None = None,
    clock: FakeClock | None = None,
    index_always: bool = True,
) -> World:
    return World(
        items,
        records,
        transcripts,
        index,
        clock=clock or FakeClock(START),
        extractor=extractor or RuleExtractor(),
        embedder=embedder or HashedEmbedder(32),
        settings=settings,
        index_always=index_always,
    )


@dataclass(frozen=True)
class Shown:
    """What the public calls show of one user.

    Attributes:
        memories: Content to memory; `source_ids` and `superseded_by` name contents where the id stands for one.
        transcripts: Session to its messages.
    """

    memories: Mapping[str, Memory]
    transcripts: Mapping[str, tuple[Message, ...]]


def shown(world: World, user_id: str) -> Shown:
    """Read a user's memories and transcripts as a new process would; every content must stand once."""
    engine = world.engine()
    listed = engine.list(user_id, include_superseded=True, limit=EVERYTHING)
    recalled = engine.recall(user_id, "", EVERYTHING, include_superseded=True, touch=False)
    assert sorted(one.id for one in listed) == sorted(one.id for one in recalled)
    assert {one.user_id for one in listed} <= {user_id}
    content_of = {one.id: one.content for one in listed}
    assert len(set(content_of.values())) == len(listed), f"doubled: {sorted(one.content for one in listed)}"
    sessions = world.transcripts.sessions(user_id)
    return Shown(
        {one.content: _named(one, content_of) for one in listed},
        {name: engine.session(user_id, name).transcript() for name in sessions},
    )


def _named(memory: Memory, content_of: Mapping[str, str]) -> Memory:
    successor = memory.superseded_by
    return replace(
        memory,
        id="",
        source_ids=tuple(sorted(content_of.get(one, one) for one in memory.source_ids)),
        superseded_by=None if successor is None else content_of.get(successor, successor),
        metadata=dict(memory.metadata),
    )


def heads(store: ItemStore | RecordStore, user_id: str) -> tuple[Entry, ...]:
    """Return every row of a user as the store has it."""
    return store.changes(user_id, 0).entries


def references(world: World, user_id: str) -> frozenset[str]:
    """Return what the vector index has to hold."""
    return frozenset(
        vector_ref(entry.memory.id, vector.passage)
        for entry in heads(world.records, user_id)
        for vector in entry.vectors
    )


def assert_settled(world: World, users: Iterable[str]) -> None:
    """Nothing is left half done: index equals truth, no row in both tiers, nothing open, nothing waiting."""
    for user in users:
        items = {entry.memory.id for entry in heads(world.items, user)}
        records = {entry.memory.id for entry in heads(world.records, user)}
        assert not items & records
        assert not [e for e in heads(world.records, user) if len(e.vectors) < e.passages]
        assert not [e for e in heads(world.items, user) if len(e.vectors) < e.passages]
        assert world.transcripts.unplaced(user, None, EVERYTHING) == ()
        assert not world.records.tombstones(user, sorted(items | records))
        assert user not in world.records.intents()
        if world.index is not None:
            assert world.index.ids(user) == references(world, user)
            assert dict(world.records.removals(user, EVERYTHING)) == {}
            assert dict(world.records.unindexed(user, EVERYTHING)) == {}


def assert_alike(one: Memory, other: Memory, *, reads: int, delay: timedelta, missed: int = 0) -> None:
    """The same memory, but for reads that a client repeated and the time that this took, and reads not counted."""
    assert -missed <= one.access_count - other.access_count <= reads, one.content
    for name in ("created_at", "last_accessed", "observed_at"):
        assert abs(getattr(one, name) - getattr(other, name)) <= delay, (name, one.content)
    assert (one.valid_to is None) == (other.valid_to is None), one.content
    fields = ("created_at", "last_accessed", "observed_at", "valid_to", "access_count")
    same = {name: getattr(other, name) for name in fields}
    assert replace(one, **same) == other
