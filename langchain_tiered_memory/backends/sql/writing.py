"""Writing the rows of one store of memories. But for `touch`, the caller holds the transaction and the counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, case, delete, func, insert, select, update

from langchain_tiered_memory.backends.sql.codec import (
    Values,
    digest,
    escaped,
    plain,
    to_entry,
    to_instant,
    to_json,
    to_vector,
)
from langchain_tiered_memory.backends.sql.counter import upsert
from langchain_tiered_memory.backends.sql.draft import Draft
from langchain_tiered_memory.backends.sql.shelf import Shelf, chunks
from langchain_tiered_memory.backends.sql.tables import Gone, table_of
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Entry, PassageVector, Touched, vector_ref
from langchain_tiered_memory.core.text import escape

_GONE = table_of(Gone)
_USER: BindParameter[str] = bindparam("user")
_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)

_GONE_KEPT = 10_000
"""Removed ids remembered per user; a reader that is further behind starts anew."""

_CHANGING = ("access_count", "last_accessed", "valid_to", "superseded_by", "source_ids", "attached")
"""What a draft may change in a row that stands, beside its version."""

_REWRITTEN = ("importance", "pinned", "passages", "duplicate_digest", "duplicate_key", "terms", "attached", "content")
"""What an update replaces, beside the version."""


class Writer:
    """The writing half of a store of memories."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._store = str(shelf.tier)
        rows, vectors = shelf.rows, shelf.vectors
        of_row = rows.c.user_key == _USER
        some = (of_row, rows.c.id.in_(_IDS))
        one = (of_row, rows.c.id == bindparam("row"))
        now: BindParameter[int] = bindparam("now")
        later = case((rows.c.last_accessed < now, now), else_=rows.c.last_accessed)
        counted = {"access_count": rows.c.access_count + 1, "last_accessed": later}
        self._insert = insert(rows)
        self._touch = update(rows).where(*some).values(version=bindparam("at"), **counted).returning(rows.c.id)
        self._stamp = update(rows).where(*some).values(version=bindparam("at"))
        self._change = update(rows).where(*one).values({name: bindparam(name) for name in ("version", *_CHANGING)})
        self._rewrite = update(rows).where(*one).values({name: bindparam(name) for name in ("version", *_REWRITTEN)})
        self._there = select(rows.c.id, rows.c.version).where(*some)
        self._delete = delete(rows).where(*some)
        self._refs = select(vectors.c.id, vectors.c.passage).where(vectors.c.user_key == _USER, vectors.c.id.in_(_IDS))
        self._delete_vectors = delete(vectors).where(vectors.c.user_key == _USER, vectors.c.id.in_(_IDS))
        put = upsert(shelf.link)(vectors)
        replaced = {c.name: put.excluded[c.name] for c in vectors.c if not c.primary_key}
        self._put_vectors = put.on_conflict_do_update(index_elements=["user_key", "id", "passage"], set_=replaced)
        gone = upsert(shelf.link)(_GONE)
        self._put_gone = gone.on_conflict_do_update(
            index_elements=["user_key", "store", "id"], set_={"version": gone.excluded.version}
        )

    def touch(self, user_id: str, ids: Iterable[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        user, wanted = digest(user_id), dict.fromkeys(map(escape, ids))
        with self._shelf.link.write("count an access") as connection:
            version = self._shelf.counter.bump(connection, user)
            if version is None:
                return Touched(0)
            values = {"user": user, "at": version, "now": to_instant(now)}
            there = set[str]()
            for chunk in chunks(wanted):
                there.update(map(plain, connection.execute(self._touch, {**values, "ids": chunk}).scalars()))
            if there:
                return Touched(version, frozenset(there))
            connection.rollback()
            return Touched(version - 1)

    def save(self, connection: Connection, user_id: str, draft: Draft, version: int) -> bool:
        """Store what the draft adds and changes; return whether that is anything."""
        user = digest(user_id)
        added = [draft[memory_id] for memory_id in draft.added]
        changed = [draft[memory_id].memory for memory_id in draft.changed]
        if added:
            connection.execute(self._insert, [to_entry(user, entry, version) for entry in added])
            self._add_vectors(connection, user, {entry.memory.id: entry.vectors for entry in added})
        if changed:
            connection.execute(self._change, [{"user": user, "version": version, **_changing(m)} for m in changed])
        return bool(added or changed)

    def _add_vectors(self, connection: Connection, user: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        values = [to_vector(user, memory_id, one) for memory_id, made in vectors.items() for one in made]
        if values:
            connection.execute(self._put_vectors, values)

    def rewrite(self, connection: Connection, user_id: str, row: Entry, version: int) -> list[str]:
        """Store an updated row and its vectors instead of the old ones; return the references that are no more."""
        user = digest(user_id)
        values = to_entry(user, row, version)
        names = ("version", *_REWRITTEN)
        connection.execute(self._rewrite, {"user": user, "row": values["id"]} | {name: values[name] for name in names})
        before = self._drop_vectors(connection, user, [values["id"]])
        self._add_vectors(connection, user, {row.memory.id: row.vectors})
        after = {vector_ref(row.memory.id, one.passage) for one in row.vectors}
        return [ref for ref in before if ref not in after]

    def embed(
        self, connection: Connection, user_id: str, vectors: Mapping[str, Sequence[PassageVector]], version: int
    ) -> list[str]:
        """Add or replace vectors of the rows that are still there; return the references that were written."""
        user = digest(user_id)
        there = self.versions(connection, user_id, (memory_id for memory_id, made in vectors.items() if made))
        kept = {memory_id: vectors[memory_id] for memory_id in there}
        self._add_vectors(connection, user, kept)
        for chunk in chunks(map(escape, there)):
            connection.execute(self._stamp, {"user": user, "ids": chunk, "at": version})
        return [vector_ref(memory_id, one.passage) for memory_id, made in kept.items() for one in made]

    def versions(self, connection: Connection, user_id: str, ids: Iterable[str]) -> dict[str, int]:
        """Return the rows there are of these ids, and the version of each."""
        user, found = digest(user_id), dict[str, int]()
        for chunk in chunks(map(escape, ids)):
            rows = connection.execute(self._there, {"user": user, "ids": chunk})
            found |= {plain(memory_id): version for memory_id, version in rows}
        return found

    def remove(self, connection: Connection, user_id: str, ids: Sequence[str], version: int) -> list[str]:
        """Remove rows and note that they are gone; return the references of their vectors."""
        user, refs = digest(user_id), list[str]()
        for chunk in chunks(map(escape, ids)):
            refs += self._drop_vectors(connection, user, chunk)
            connection.execute(self._delete, {"user": user, "ids": chunk})
            gone = [{"user_key": user, "store": self._store, "id": one, "version": version} for one in chunk]
            connection.execute(self._put_gone, gone)
        if ids:
            self._forget_oldest(connection, user)
        return refs

    def _drop_vectors(self, connection: Connection, user: str, ids: list[str]) -> list[str]:
        rows = connection.execute(self._refs, {"user": user, "ids": ids}).all()
        if rows:
            connection.execute(self._delete_vectors, {"user": user, "ids": ids})
        return [vector_ref(plain(row[0]), row[1]) for row in rows]

    def _forget_oldest(self, connection: Connection, user: str) -> None:
        """Bound what is known of removed ids."""
        mine = (_GONE.c.user_key == user, _GONE.c.store == self._store)
        newest_first = select(_GONE.c.version).where(*mine).order_by(_GONE.c.version.desc())
        last = connection.execute(newest_first.offset(_GONE_KEPT).limit(1)).scalar()
        if last is not None:
            connection.execute(delete(_GONE).where(*mine, _GONE.c.version <= last))
            self._shelf.counter.set_floor(connection, user, last)

    def erase(self, connection: Connection, user_id: str) -> tuple[int, int]:
        """Remove everything of the user in this store, the counter included; return how many rows and vectors went."""
        user = digest(user_id)
        rows, vectors = self._shelf.rows, self._shelf.vectors
        self._shelf.counter.hold(connection, user)
        counted = connection.execute(
            select(func.count()).select_from(vectors).where(vectors.c.user_key == user)
        ).scalar_one()
        connection.execute(delete(vectors).where(vectors.c.user_key == user))
        removed = connection.execute(delete(rows).where(rows.c.user_key == user)).rowcount
        connection.execute(delete(_GONE).where(_GONE.c.user_key == user, _GONE.c.store == self._store))
        self._shelf.counter.forget(connection, user)
        return removed, int(counted)

    def leave(self, connection: Connection, user_id: str) -> None:
        """Remove the counter of a user without a row in this store."""
        user, rows = digest(user_id), self._shelf.rows
        self._shelf.counter.hold(connection, user)
        if connection.execute(select(rows.c.id).where(rows.c.user_key == user).limit(1)).first() is None:
            self._shelf.counter.forget(connection, user)


def _changing(memory: Memory) -> Values:
    return {
        "row": escape(memory.id),
        "access_count": memory.access_count,
        "last_accessed": to_instant(memory.last_accessed),
        "valid_to": None if memory.valid_to is None else to_instant(memory.valid_to),
        "superseded_by": escaped(memory.superseded_by),
        "source_ids": to_json(memory.source_ids),
        "attached": to_json(dict(memory.metadata)),
    }
