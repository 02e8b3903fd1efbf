"""What long-term memory keeps of a user beside the records: history, ledger, tombstones and intents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Table, bindparam, delete, insert, select, update

from langchain_tiered_memory.backends.sql.applying import Note
from langchain_tiered_memory.backends.sql.codec import (
    digest,
    from_instant,
    from_snapshot,
    plain,
    to_instant,
    to_snapshot,
)
from langchain_tiered_memory.backends.sql.counter import upsert
from langchain_tiered_memory.backends.sql.link import Link
from langchain_tiered_memory.backends.sql.reading import readable
from langchain_tiered_memory.backends.sql.shelf import chunks
from langchain_tiered_memory.backends.sql.tables import Consumed, Event, Intent, Tombstone, table_of
from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import HistoryEvent, Tier
from langchain_tiered_memory.core.text import escape

_LEDGER, _TOMBSTONES = table_of(Consumed), table_of(Tombstone)
_HISTORY, _INTENTS = table_of(Event), table_of(Intent)
_USER: BindParameter[str] = bindparam("user")
_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)


class Ids:
    """A table of a user's ids: the ledger, or the tombstones."""

    def __init__(self, link: Link, table: Table) -> None:
        self._table = table
        self._some = select(table.c.id).where(table.c.user_key == _USER, table.c.id.in_(_IDS))
        self._add = upsert(link)(table).on_conflict_do_nothing()

    def among(self, connection: Connection, user_id: str, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids that are in the table."""
        user, found = digest(user_id), set[str]()
        for chunk in chunks(dict.fromkeys(map(escape, ids))):
            found.update(map(plain, connection.execute(self._some, {"user": user, "ids": chunk}).scalars()))
        return frozenset(found)

    def add(self, connection: Connection, user_id: str, ids: Iterable[str]) -> None:
        """Add ids; those that are there stay."""
        user = digest(user_id)
        values = [{"user_key": user, "id": escape(memory_id)} for memory_id in dict.fromkeys(ids)]
        if values:
            connection.execute(self._add, values)

    def remove(self, connection: Connection, user_id: str, memory_id: str) -> None:
        """Remove one id; one that is not there is fine."""
        mine = self._table.c.user_key == digest(user_id), self._table.c.id == escape(memory_id)
        connection.execute(delete(self._table).where(*mine))

    def erase(self, connection: Connection, user_id: str) -> None:
        """Remove every id of the user."""
        connection.execute(delete(self._table).where(self._table.c.user_key == digest(user_id)))


class Annals:
    """The tables beside the records; each method is part of its caller's transaction."""

    def __init__(self, link: Link) -> None:
        self.ledger = Ids(link, _LEDGER)
        self.tombstones = Ids(link, _TOMBSTONES)
        self._insert = insert(_HISTORY)
        self._open = upsert(link)(_INTENTS).on_conflict_do_nothing()
        self._whole = select(_INTENTS.c.whole).where(_INTENTS.c.user_key == _USER, _INTENTS.c.whole == 1)
        some = (_HISTORY.c.user_key == _USER, _HISTORY.c.memory_id.in_(_IDS))
        self._empty = update(_HISTORY).where(*some).values(memory=None)
        self._read = (
            select(_HISTORY.c.at, _HISTORY.c.kind, _HISTORY.c.memory, _HISTORY.c.cause)
            .where(_HISTORY.c.user_key == _USER, _HISTORY.c.memory_id == bindparam("memory"))
            .order_by(_HISTORY.c.seq)
        )

    def consume(self, connection: Connection, user_id: str, ids: Sequence[str]) -> None:
        """Enter sources in the ledger, or raise Conflict when one is there already, or was forgotten."""
        there = self.ledger.among(connection, user_id, ids) | self.tombstones.among(connection, user_id, ids)
        for memory_id in ids:
            if memory_id in there:
                raise Conflict(f"memory {shown(memory_id)} was consumed or forgotten: read again before consolidating")
        self.ledger.add(connection, user_id, ids)

    def note(self, connection: Connection, user_id: str, notes: Iterable[Note], at: datetime) -> None:
        """Add lines to the history."""
        common = {"user_key": digest(user_id), "at": to_instant(at)}
        values = [
            {
                **common,
                "memory_id": escape(note.memory.id),
                "kind": note.kind,
                "cause": escape(note.by),
                "memory": to_snapshot(note.memory),
            }
            for note in notes
        ]
        if values:
            connection.execute(self._insert, values)

    def history(self, connection: Connection, user_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
        """Return what happened to a record, oldest first."""
        asked = {"user": digest(user_id), "memory": escape(memory_id)}
        return tuple(readable(connection.execute(self._read, asked), lambda row: _event(row, user_id)))

    def end(self, connection: Connection, user_id: str, ids: Sequence[str], at: datetime, by: str) -> None:
        """Take all content out of the history of records, and end it."""
        user, instant = digest(user_id), to_instant(at)
        for chunk in chunks(map(escape, ids)):
            connection.execute(self._empty, {"user": user, "ids": chunk})
            last = {"user_key": user, "at": instant, "kind": "forgotten", "cause": by, "memory": None}
            connection.execute(self._insert, [{**last, "memory_id": memory_id} for memory_id in chunk])

    def erase(self, connection: Connection, user_id: str) -> None:
        """Remove everything of the user, and leave one intent that names only who it was."""
        user = digest(user_id)
        self.ledger.erase(connection, user_id)
        self.tombstones.erase(connection, user_id)
        for table in (_HISTORY, _INTENTS):
            connection.execute(delete(table).where(table.c.user_key == user))
        connection.execute(self._open, [{"user_key": user, "whole": 1, "id": "", "user_id": escape(user_id)}])

    def intend(self, connection: Connection, user_id: str, ids: Iterable[str]) -> None:
        """Leave an open intent for each id."""
        common = {"user_key": digest(user_id), "whole": 0, "user_id": escape(user_id)}
        connection.execute(self._open, [{**common, "id": escape(memory_id)} for memory_id in ids])

    def intents(self, connection: Connection) -> dict[str, tuple[str, ...] | None]:
        """Return users with an open intent: their ids, or None for the whole user."""
        columns = (_INTENTS.c.user_id, _INTENTS.c.whole, _INTENTS.c.id)
        found: dict[str, list[str] | None] = {}
        for name, whole, memory_id in connection.execute(select(*columns).order_by(_INTENTS.c.whole)):
            user_id = plain(name)
            ids = found.setdefault(user_id, [])
            if whole:
                found[user_id] = None
            elif ids is not None:
                ids.append(plain(memory_id))
        return {user_id: None if ids is None else tuple(ids) for user_id, ids in found.items()}

    def erasing(self, connection: Connection, user_id: str) -> bool:
        """Say whether the erasure of the whole user is still open."""
        return connection.execute(self._whole, {"user": digest(user_id)}).first() is not None

    def close(self, connection: Connection, user_id: str, ids: Iterable[str] | None) -> None:
        """Close the intents for these ids, or all of the user."""
        mine = _INTENTS.c.user_key == digest(user_id)
        if ids is None:
            connection.execute(delete(_INTENTS).where(mine))
            return
        for chunk in chunks(map(escape, ids)):
            connection.execute(delete(_INTENTS).where(mine, _INTENTS.c.whole == 0, _INTENTS.c.id.in_(chunk)))


def _event(row: Sequence[Any], user_id: str) -> HistoryEvent:
    at, kind, memory, cause = row
    after = None if memory is None else from_snapshot(memory, user_id, Tier.LONG_TERM)
    return HistoryEvent(from_instant(at), kind, after, plain(cause))
