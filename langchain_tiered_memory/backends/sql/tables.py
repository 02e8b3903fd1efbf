"""The tables, declared with SQLModel in a registry of their own: a host's `SQLModel.metadata` never sees them.

`user_key` is the digest of a user id and begins every key, so no query of one user can meet a row of another. Instants
and durations are integers of microseconds, because that is exact, ordered and fast on every database. Texts are
escaped, mappings are JSON (`codec.py`). Ids are keys as they are: at most 512 characters fit an index of PostgreSQL.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, ColumnElement, Index, Integer, MetaData, Table, UniqueConstraint, false, true
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

SERIAL = BigInteger().with_variant(Integer(), "sqlite")
"""Counts up by itself; SQLite does that for the type INTEGER only."""


class _Table(SQLModel, registry=registry(metadata=MetaData())):
    """Root of our tables."""


class _Row(_Table):
    """A memory and what was derived from it: what short-term and long-term rows have in common.

    Long texts come last: SQLite reads a row from its front, and a head has no content.
    """

    seq: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    user_key: str
    id: str
    version: int = Field(sa_type=BigInteger)
    ordinal: int = Field(sa_type=BigInteger)
    memory_type: str
    importance: float
    created_at: int = Field(sa_type=BigInteger)
    last_accessed: int = Field(sa_type=BigInteger)
    access_count: int = Field(sa_type=BigInteger)
    observed_at: int = Field(sa_type=BigInteger)
    valid_to: int | None = Field(default=None, sa_type=BigInteger)
    superseded_by: str | None = None
    pinned: int
    passages: int
    expires_at: int | None = Field(default=None, sa_type=BigInteger)
    duplicate_within: int | None = Field(default=None, sa_type=BigInteger)
    duplicate_digest: str | None = None
    chain_digest: str | None = None
    slot: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    role: str | None = None
    name: str | None = None
    origin: str | None = None
    source_ids: str
    duplicate_key: str | None = None
    terms: str
    attached: str
    content: str


class _Vector(_Table):
    """The vector of one passage: `dimension` float32 numbers, little-endian."""

    user_key: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    passage: int = Field(primary_key=True, sa_type=Integer)
    indexed: bool
    dimension: int
    model_id: str
    text_hash: str
    vector: bytes


def _row_keys(name: str) -> tuple[UniqueConstraint | Index, ...]:
    return (
        UniqueConstraint("user_key", "id"),
        Index(f"{name}_version", "user_key", "version"),
        Index(f"{name}_duplicate", "user_key", "duplicate_digest", "created_at"),
        Index(f"{name}_chain", "user_key", "chain_digest"),
    )


class ItemRow(_Row, table=True):
    """A short-term item."""

    __tablename__ = "ltm_items"
    __table_args__ = _row_keys("ltm_items")


class ItemVector(_Vector, table=True):
    """A vector of a short-term item."""

    __tablename__ = "ltm_item_vectors"


class RecordRow(_Row, table=True):
    """A long-term record."""

    __tablename__ = "ltm_records"
    __table_args__ = _row_keys("ltm_records")


class RecordVector(_Vector, table=True):
    """A vector of a long-term record; its index makes the few that wait for the vector index cheap to find."""

    __tablename__ = "ltm_record_vectors"


class State(_Table, table=True):
    """What is known of a user in one store: the name, the change counter, and the first version it can tell from."""

    __tablename__ = "ltm_state"
    user_key: str = Field(primary_key=True)
    store: str = Field(primary_key=True)
    version: int = Field(sa_type=BigInteger)
    floor: int = Field(sa_type=BigInteger)
    user_id: str


class Gone(_Table, table=True):
    """An id that was removed, and when by the change counter."""

    __tablename__ = "ltm_gone"
    __table_args__ = (Index("ltm_gone_version", "user_key", "store", "version"),)
    user_key: str = Field(primary_key=True)
    store: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    version: int = Field(sa_type=BigInteger)


class Consumed(_Table, table=True):
    """The ledger: a source that was consolidated."""

    __tablename__ = "ltm_ledger"
    user_key: str = Field(primary_key=True)
    id: str = Field(primary_key=True)


class Event(_Table, table=True):
    """One thing that happened to a record; `memory` is the record after it, without once it is forgotten."""

    __tablename__ = "ltm_history"
    __table_args__ = (Index("ltm_history_record", "user_key", "memory_id"),)
    seq: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    user_key: str
    memory_id: str
    at: int = Field(sa_type=BigInteger)
    kind: str
    cause: str
    memory: str | None = None


class Tombstone(_Table, table=True):
    """An id that was forgotten and must not come back."""

    __tablename__ = "ltm_tombstones"
    user_key: str = Field(primary_key=True)
    id: str = Field(primary_key=True)


class Intent(_Table, table=True):
    """An id still to be cleared from the other places; `whole` for everything of the user, with an empty id."""

    __tablename__ = "ltm_intents"
    user_key: str = Field(primary_key=True)
    whole: int = Field(primary_key=True, sa_type=Integer)
    id: str = Field(primary_key=True)
    user_id: str


class Removal(_Table, table=True):
    """A reference to remove from the vector index."""

    __tablename__ = "ltm_removals"
    user_key: str = Field(primary_key=True)
    ref: str = Field(primary_key=True)


class Due(_Table, table=True):
    """A user there is something to do for, or will be: see `core.agenda.Agenda`.

    `lease` is until when nobody may claim the row: somebody works on it, or failed; without end: until it is retried.
    Who died while working leaves a lease that runs out, so what counts is the lease where there is one, else `due`.
    """

    __tablename__ = "ltm_due"
    __table_args__ = (Index("ltm_due_claim", "lease", "due"),)
    user_key: str = Field(primary_key=True)
    user_id: str
    due: int | None = Field(default=None, sa_type=BigInteger)
    lease: int | None = Field(default=None, sa_type=BigInteger)
    attempts: int
    error: str | None = None


class Meta(_Table, table=True):
    """A value of the whole store."""

    __tablename__ = "ltm_meta"
    key: str = Field(primary_key=True)
    value: str


class Schema(_Table, table=True):
    """The version of these tables, in one row."""

    __tablename__ = "ltm_schema"
    version: int = Field(primary_key=True, sa_type=Integer)


class MessageRow(_Table, table=True):
    """A message of a transcript. Ids are long and the key has two of them, so digests stand in for them."""

    __tablename__ = "ltm_messages"
    __table_args__ = (UniqueConstraint("user_key", "session_key", "message_key"),)
    user_key: str = Field(primary_key=True)
    session_key: str = Field(primary_key=True)
    position: int = Field(primary_key=True, sa_type=BigInteger)
    message_key: str
    placed: bool
    system: bool
    created_at: int | None = Field(default=None, sa_type=BigInteger)
    tokens: int = Field(sa_type=BigInteger)
    counter: str
    role: str
    session_id: str
    agent_id: str | None = None
    body: str
    text: str | None = None


def table_of(model: type[SQLModel]) -> Table:
    """Return the table that a class declares, for SQLAlchemy Core."""
    return _Table.metadata.tables[str(model.__tablename__)]


def _index_few(name: str, model: type[SQLModel], where: ColumnElement[bool], *columns: str) -> None:
    """Index only the rows for which a condition holds: they are few, and asked for often."""
    table = table_of(model)
    Index(name, *(table.c[column] for column in columns), sqlite_where=where, postgresql_where=where)


_VECTORS, _MESSAGES = table_of(RecordVector).c, table_of(MessageRow).c
_index_few("ltm_record_vectors_unindexed", RecordVector, _VECTORS.indexed == false(), "user_key", "id")
_index_few("ltm_messages_unplaced", MessageRow, _MESSAGES.placed == false(), "user_key", "session_key", "position")
_index_few("ltm_messages_system", MessageRow, _MESSAGES.system == true(), "user_key", "session_key", "position")

METADATA = _Table.metadata
