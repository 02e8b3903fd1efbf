"""Short-term memory in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Engine

from langchain_tiered_memory.backends.sql.agenda import SqlAgenda
from langchain_tiered_memory.backends.sql.codec import digest
from langchain_tiered_memory.backends.sql.draft import Draft, latest, own, rewritten
from langchain_tiered_memory.backends.sql.reading import Reader
from langchain_tiered_memory.backends.sql.shelf import Shelf
from langchain_tiered_memory.backends.sql.tallying import tally
from langchain_tiered_memory.backends.sql.writing import Writer
from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Placed, Touched, refuse_changed
from langchain_tiered_memory.core.tallies import Tally
from langchain_tiered_memory.core.text import escape


class SqlItemStore:
    """An `ItemStore` in SQLite or PostgreSQL. Items stay past their `expires_at` until they are removed."""

    def __init__(self, engine: Engine, agenda: SqlAgenda | None = None) -> None:
        """Use an engine whose tables are prepared (`schema.prepare`); it stays the caller's.

        With an agenda in the same database who is written to is noted there.
        """
        self._shelf = Shelf.of_items(engine, agenda)
        self._reader = Reader(self._shelf)
        self._writer = Writer(self._shelf)

    @property
    def name(self) -> str:
        """What serves it."""
        return self._shelf.link.name

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        return self._reader.version(user_id)

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:  # noqa: ARG002 - items are in no index
        """See `MemoryStore.changes`."""
        return self._reader.changes(user_id, since, indexed_vectors=True)

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        return self._reader.get(user_id, ids)

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        return self._writer.touch(user_id, ids, now)

    def put(self, user_id: str, entries: Sequence[Entry]) -> tuple[Placed, ...]:
        """See `ItemStore.put`."""
        mine = [own(entry, user_id, self._shelf.tier) for entry in entries]
        if not mine:
            return ()
        with self._shelf.link.write("store items") as connection:
            version = self._shelf.counter.open(connection, user_id)
            draft = Draft(self._reader.related(connection, user_id, mine))
            draft.refuse_other_contents(mine)
            outcomes = [_place(draft, entry) for entry in mine]
            if not self._writer.save(connection, user_id, draft, version):
                connection.rollback()
        return tuple(Placed(draft[memory_id].memory, outcome) for memory_id, outcome in outcomes)

    def update(
        self,
        user_id: str,
        entry: Entry,
        now: datetime,  # noqa: ARG002 - items have no history
        *,
        version: int | None = None,
    ) -> Memory:
        """See `MemoryStore.update`."""
        mine = own(entry, user_id, self._shelf.tier)
        with self._shelf.link.write("update an item") as connection:
            stamp = self._shelf.counter.bump(connection, digest(user_id))
            found = self._reader.load(connection, user_id, "id", [escape(mine.memory.id)])
            if stamp is None or not found:
                raise NotFound(mine.memory.id)
            (old,) = found.values()
            refuse_changed(old, version)
            row = rewritten(old, mine)
            self._writer.rewrite(connection, user_id, row, stamp)
        return row.memory

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """See `MemoryStore.embed`."""
        mine = {memory_id: latest(made) for memory_id, made in vectors.items()}
        with self._shelf.link.write("store vectors") as connection:
            version = self._shelf.counter.bump(connection, digest(user_id))
            if version is None or not self._writer.embed(connection, user_id, mine, version):
                connection.rollback()

    def remove(self, user_id: str, versions: Mapping[str, int | None]) -> tuple[str, ...]:
        """See `ItemStore.remove`."""
        asked = dict(versions)
        with self._shelf.link.write("remove items") as connection:
            version = self._shelf.counter.bump(connection, digest(user_id))
            there = self._writer.versions(connection, user_id, asked)
            found = [
                memory_id for memory_id, at in asked.items() if memory_id in there and at in {None, there[memory_id]}
            ]
            if version is None or not found:
                connection.rollback()
                return ()
            self._writer.remove(connection, user_id, found, version)
        return tuple(found)

    def forget(self, user_id: str) -> int:
        """See `ItemStore.forget`."""
        with self._shelf.link.write("forget a user's items") as connection:
            removed, _ = self._writer.erase(connection, user_id)
        return removed

    def users(self) -> tuple[str, ...]:
        """See `MemoryStore.users`."""
        return self._reader.users()

    def tallies(self, model_id: str) -> Iterator[Tally]:
        """See `core.tallies.tallies`. An agenda, where there is one, is in the database of long-term memory."""
        return tally(self._shelf, model_id, beside=self._shelf.counter.noting)

    def close(self) -> None:
        """Leave the engine open: it was given."""


def _place(draft: Draft, entry: Entry) -> tuple[str, str]:
    """Return the id of the row that now stands for the entry, and the outcome."""
    memory_id = entry.memory.id
    if memory_id in draft:
        return memory_id, "existing"
    alike = draft.alike(entry)
    if alike is None:
        draft.add(entry)
        return memory_id, "created"
    if entry.duplicate_within is not None:
        return alike.id, "repeated"
    draft.reinforce(alike, entry)
    return alike.id, "reinforced"
