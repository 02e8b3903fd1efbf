"""Reading the rows of one store of memories."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import (
    BindParameter,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    literal_column,
    select,
    true,
)

from langchain_tiered_memory.backends.sql import codec
from langchain_tiered_memory.backends.sql.codec import digest, plain, plain_or_none, to_instant, to_micros
from langchain_tiered_memory.backends.sql.forgetting import Tie
from langchain_tiered_memory.backends.sql.shelf import Shelf, chunks
from langchain_tiered_memory.backends.sql.tables import Gone, State, table_of
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector
from langchain_tiered_memory.core.slots import chain_key
from langchain_tiered_memory.core.stated import founders
from langchain_tiered_memory.core.text import escape

logger = logging.getLogger("langchain_tiered_memory.sql")

T = TypeVar("T")
Columns = Sequence[Any]
Fetched = Sequence[Columns]

_EVER = 2**63 - 1
"""Microseconds beyond every instant; the largest number of a column."""

_DAMAGED = (ValueError, TypeError, KeyError, OverflowError)
_GONE, _STATE = table_of(Gone), table_of(State)
_USER: BindParameter[str] = bindparam("user")


class Reader:
    """The reading half of a store of memories."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        rows = shelf.rows.c
        self._memory_columns = [rows[name] for name in codec.MEMORY_COLUMNS]
        self._derived_columns = [rows[name] for name in codec.DERIVED_COLUMNS]
        some = (rows.user_key == _USER, rows.id.in_(_expanding("ids")))
        self._get = select(*self._memory_columns).where(*some)
        self._there = select(rows.id).where(*some)
        tied = (rows.source_ids != codec.to_json(())) | rows.superseded_by.is_not(None)
        ties = (rows.id, rows.origin, rows.source_ids, rows.superseded_by, rows.valid_to, rows.slot, rows.attached)
        self._ties = select(*ties).where(rows.user_key == _USER, tied)
        self._load = {name: self._select_rows(name) for name in ("id", "duplicate_digest", "chain_digest")}
        of = shelf.vectors.c
        self._vector_columns = (of.id, of.passage, of.model_id, of.text_hash, of.dimension, of.vector)
        self._some_vectors = select(*self._vector_columns).where(of.user_key == _USER, of.id.in_(_expanding("ids")))
        self._heads = {whole: self._select_heads(whole) for whole in (True, False)}
        self._vectors = {
            (whole, every): self._select_vectors(whole, every) for whole in (True, False) for every in (True, False)
        }
        self._left_out = {whole: self._select_left_out(whole) for whole in (True, False)}
        here = exists().where(rows.user_key == _GONE.c.user_key, rows.id == _GONE.c.id)
        mine = (_GONE.c.user_key == _USER, _GONE.c.store == shelf.tier, _GONE.c.version > bindparam("since"))
        self._gone = select(_GONE.c.id).where(*mine, ~here)
        self._with_rows = exists().where(rows.user_key == _STATE.c.user_key)

    def _select_heads(self, whole: bool) -> Select[Any]:  # noqa: FBT001 - a key of the table of statements
        rows = self._shelf.rows.c
        columns = [literal_column("''"), *self._memory_columns[1:], *self._derived_columns]
        heads = select(*columns).where(rows.user_key == _USER)
        return heads if whole else heads.where(rows.version > bindparam("since"))

    def _select_rows(self, column: str) -> Select[Any]:
        rows = self._shelf.rows.c
        every = select(*self._memory_columns, *self._derived_columns, rows.seq)
        chosen = every.where(rows.user_key == _USER, rows[column].in_(_expanding("values")))
        if column != "duplicate_digest":
            return chosen
        return chosen.where(rows.created_at.between(bindparam("earliest"), bindparam("latest")))

    def _select_vectors(self, whole: bool, every: bool) -> Select[Any]:  # noqa: FBT001
        of = self._shelf.vectors.c
        chosen = self._of_changed(select(*self._vector_columns), whole)
        return chosen if every else chosen.where(of.indexed == false())

    def _select_left_out(self, whole: bool) -> Select[Any]:  # noqa: FBT001
        of = self._shelf.vectors.c
        return self._of_changed(select(of.id, of.passage, of.model_id), whole).where(of.indexed == true())

    def _of_changed(self, chosen: Select[Any], whole: bool) -> Select[Any]:  # noqa: FBT001
        of, rows = self._shelf.vectors.c, self._shelf.rows.c
        if whole:
            return chosen.where(of.user_key == _USER)
        together = (of.user_key == rows.user_key) & (of.id == rows.id)
        changed = (rows.user_key == _USER, rows.version > bindparam("since"))
        return chosen.select_from(self._shelf.rows.join(self._shelf.vectors, together)).where(*changed)

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        with self._shelf.link.glance("read a version") as connection:
            state = self._shelf.counter.read(connection, digest(user_id))
        return 0 if state is None else state[0]

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool) -> Changes:
        """See `MemoryStore.changes`."""
        user: dict[str, Any] = {"user": digest(user_id)}
        left_out: Fetched = ()
        gone: Fetched = ()
        with self._shelf.link.read("read what changed") as connection:
            state = self._shelf.counter.read(connection, user["user"])
            if state is None:
                return Changes(0, whole=True)
            version, floor = state
            whole = since <= 0 or since > version or since < floor
            if since == version:
                return Changes(version)
            if not whole:
                user["since"] = since
                gone = connection.execute(self._gone, user).all()
            heads = connection.execute(self._heads[whole], user).all()
            vectors = connection.execute(self._vectors[whole, indexed_vectors], user).all()
            if not indexed_vectors:
                left_out = connection.execute(self._left_out[whole], user).all()
        entries = self._entries(user_id, heads, _grouped(vectors), _omitted(left_out))
        return Changes(version, tuple(entries), tuple(plain(row[0]) for row in gone), whole)

    def _entries(
        self,
        user_id: str,
        heads: Fetched,
        vectors: dict[str, tuple[PassageVector, ...]],
        left_out: dict[str, tuple[tuple[int, str], ...]],
    ) -> list[Entry]:
        at, tier = codec.MEMORY_COLUMNS.index("id"), self._shelf.tier

        def head(row: Columns) -> Entry:
            return codec.from_entry(row, user_id, tier, vectors.get(row[at], ()), left_out.get(row[at], ()))

        return readable(heads, head)

    def get(self, user_id: str, ids: Iterable[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        asked, found, user = list(ids), dict[str, Memory](), digest(user_id)
        with self._shelf.link.glance("read memories") as connection:
            for chunk in chunks(dict.fromkeys(map(escape, asked))):
                rows = connection.execute(self._get, {"user": user, "ids": chunk}).all()
                found |= {
                    m.id: m for m in readable(rows, lambda row: codec.from_memory(row, user_id, self._shelf.tier))
                }
        return tuple(found[memory_id] for memory_id in asked if memory_id in found)

    def users(self, prefix: str = "") -> tuple[str, ...]:
        """See `RecordStore.users`."""
        begins = escape(prefix)
        so = and_(func.substr(_STATE.c.user_id, 1, len(begins)) == begins, self._with_rows)
        with self._shelf.link.glance("list its users") as connection:
            return tuple(self._shelf.counter.names(connection, so if prefix else self._with_rows).values())

    def related(self, connection: Connection, user_id: str, entries: Sequence[Entry]) -> list[Entry]:
        """Return the rows that decide on writing these entries, in the order of writing, without vectors.

        They have the same id, the same duplicate key, or are in the same chain.
        """
        chains = {json.dumps(key) for entry in entries if (key := chain_key(entry.memory)) is not None}
        found = self.load(connection, user_id, "id", [escape(entry.memory.id) for entry in entries])
        found |= self.load(connection, user_id, "chain_digest", map(digest, chains))
        keyed = [entry for entry in entries if entry.duplicate_key is not None]
        found |= self._alike(connection, user_id, [entry for entry in keyed if entry.duplicate_within is None])
        found |= self._alike(connection, user_id, [entry for entry in keyed if entry.duplicate_within is not None])
        return [entry for _, entry in sorted(found.items(), key=lambda item: (item[1].order, item[0]))]

    def with_chains(self, connection: Connection, user_id: str, ids: Iterable[str]) -> list[Entry]:
        """Return the rows with these ids and all of their chains, in the order of writing, without vectors."""
        found = self.load(connection, user_id, "id", dict.fromkeys(map(escape, ids)))
        keys = {key for row in found.values() if (key := chain_key(row.memory)) is not None}
        found |= self.load(connection, user_id, "chain_digest", [digest(json.dumps(key)) for key in keys])
        return [entry for _, entry in sorted(found.items(), key=lambda item: (item[1].order, item[0]))]

    def _alike(self, connection: Connection, user_id: str, entries: Sequence[Entry]) -> dict[int, Entry]:
        """Return the rows with the same duplicate keys, of entries that are all limited in time, or all are not.

        Of what was said a thousand times over the years, only the few within the time are read.
        """
        times = [to_instant(entry.memory.created_at) for entry in entries if entry.duplicate_within is not None]
        within = [to_micros(entry.duplicate_within) for entry in entries if entry.duplicate_within is not None]
        earliest, latest = (min(times) - max(within), max(times) + max(within)) if times else (-_EVER, _EVER)
        keys = {digest(entry.duplicate_key) for entry in entries if entry.duplicate_key is not None}
        span = {"earliest": max(earliest, -_EVER), "latest": min(latest, _EVER)}
        return self.load(connection, user_id, "duplicate_digest", keys, span)

    def load(
        self,
        connection: Connection,
        user_id: str,
        column: str,
        values: Iterable[str],
        span: Mapping[str, int] | None = None,
    ) -> dict[int, Entry]:
        """Return rows, without vectors, by their place in the order of writing to this store."""
        user, found = digest(user_id), dict[int, Entry]()
        for chunk in chunks(values):
            fetched = connection.execute(self._load[column], {"user": user, "values": chunk, **(span or {})}).all()
            entries = readable(fetched, lambda row: (row[-1], codec.from_entry(row, user_id, self._shelf.tier)))
            found.update(entries)
        return found

    def ties(self, connection: Connection, user_id: str) -> dict[str, Tie]:
        """Return what ties records to others, of those that rest on some or are superseded."""
        rows = connection.execute(self._ties, {"user": digest(user_id)}).all()
        return dict(readable(rows, _tie))

    def vectors(self, connection: Connection, user_id: str, ids: Iterable[str]) -> dict[str, tuple[PassageVector, ...]]:
        """Return the vectors of the rows with these ids; an empty tuple for a row without."""
        user, found = digest(user_id), dict[str, tuple[PassageVector, ...]]()
        for chunk in chunks(dict.fromkeys(map(escape, ids))):
            asked = {"user": user, "ids": chunk}
            vectors = _grouped(connection.execute(self._some_vectors, asked).all())
            found |= {plain(row[0]): vectors.get(row[0], ()) for row in connection.execute(self._there, asked)}
        return found


def readable(rows: Iterable[T], decode: Callable[[T], Any]) -> list[Any]:
    """Decode rows; one that is damaged hides itself only, and is logged."""
    kept = list(rows)
    try:
        return [decode(row) for row in kept]
    except _DAMAGED:
        return [decoded for row in kept for decoded in _attempt(row, decode)]


def _attempt(row: T, decode: Callable[[T], Any]) -> tuple[Any, ...]:
    try:
        return (decode(row),)
    except _DAMAGED as exc:
        logger.warning("a damaged row is passed over: %s", type(exc).__name__)
        return ()


def _tie(row: Columns) -> tuple[str, Tie]:
    memory_id, origin, source_ids, superseded_by, valid_to, slot, attached = row
    sources = tuple(codec.from_json(source_ids))
    founding = sources if slot is None or attached == "{}" else founders(sources, codec.from_json(attached))
    tie = Tie(plain_or_none(origin), sources, founding, plain_or_none(superseded_by), codec.instant_or_none(valid_to))
    return plain(memory_id), tie


def _grouped(rows: Fetched) -> dict[str, tuple[PassageVector, ...]]:
    """Return stored id to vectors in the order of their passages."""
    numbers = codec.from_vectors([row[4] for row in rows], [row[5] for row in rows])
    groups: defaultdict[str, list[PassageVector]] = defaultdict(list)
    for (memory_id, passage, model_id, text_hash, *_), vector in zip(rows, numbers, strict=True):
        if vector is not None:
            groups[memory_id].append(PassageVector(passage, plain(model_id), plain(text_hash), vector))
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda one: one.passage)
    return {memory_id: tuple(group) for memory_id, group in groups.items()}


def _omitted(rows: Fetched) -> dict[str, tuple[tuple[int, str], ...]]:
    groups: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for memory_id, passage, model_id in rows:
        groups[memory_id].append((passage, plain(model_id)))
    return {memory_id: tuple(sorted(group)) for memory_id, group in groups.items()}


def _expanding(name: str) -> Any:
    return bindparam(name, expanding=True)
