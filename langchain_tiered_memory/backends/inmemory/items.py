"""Short-term memory in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from langchain_tiered_memory.backends.inmemory.rows import (
    Table,
    UserRows,
    head_of,
    own,
    own_memory,
    own_vectors,
    refuse_other_contents,
    resting_on,
    same_statement,
    updated,
)
from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Placed, Touched, refuse_changed


class InMemoryItemStore:
    """An `ItemStore` in this process's memory; it is lost with the object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._table = Table()

    @property
    def name(self) -> str:
        """What serves it."""
        return "memory"

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        with self._lock:
            return self._table.version(user_id)

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:  # noqa: ARG002 - items are in no index
        """See `MemoryStore.changes`."""
        with self._lock:
            return self._table.changes(user_id, since, head_of)

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        with self._lock:
            return self._table.get(user_id, ids)

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        with self._lock:
            return self._table.touch(user_id, ids, now)

    def put(self, user_id: str, entries: Sequence[Entry]) -> tuple[Placed, ...]:
        """See `ItemStore.put`."""
        mine = [own(entry, user_id=user_id) for entry in entries]
        with self._lock:
            refuse_other_contents(self._table.rows(user_id), mine)
            if not mine:
                return ()
            user = self._table.opened(user_id)
            stamp = user.version + 1
            return tuple(_place(user, entry, stamp) for entry in mine)

    def update(
        self,
        user_id: str,
        entry: Entry,
        now: datetime,  # noqa: ARG002 - items have no history
        *,
        version: int | None = None,
    ) -> Memory:
        """See `MemoryStore.update`."""
        mine = own(entry)
        with self._lock:
            user = self._table.user(user_id)
            if user is None or mine.memory.id not in user.rows:
                raise NotFound(mine.memory.id)
            refuse_changed(user.rows[mine.memory.id], version)
            row = updated(user.rows[mine.memory.id], mine)
            user.write(row, user.version + 1)
            return own_memory(row.memory)

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """See `MemoryStore.embed`."""
        mine = {memory_id: own_vectors(given) for memory_id, given in vectors.items()}
        with self._lock:
            user = self._table.user(user_id)
            if user is None:
                return
            stamp = user.version + 1
            for memory_id, given in mine.items():
                row = user.rows.get(memory_id)
                if row is not None and given:
                    user.write(replace(row, vectors=own_vectors((*row.vectors, *given))), stamp)

    def remove(self, user_id: str, versions: Mapping[str, int | None]) -> tuple[str, ...]:
        """See `ItemStore.remove`."""
        asked = dict(versions)
        with self._lock:
            user = self._table.user(user_id)
            if user is None:
                return ()
            rows = user.rows
            found = [i for i, version in asked.items() if i in rows and version in {None, rows[i].version}]
            stamp = user.version + 1
            for memory_id in found:
                user.drop(memory_id, stamp)
            return tuple(found)

    def forget(self, user_id: str) -> int:
        """See `ItemStore.forget`."""
        with self._lock:
            return len(self._table.forget(user_id))

    def users(self) -> tuple[str, ...]:
        """See `MemoryStore.users`."""
        with self._lock:
            return self._table.users()

    def close(self) -> None:
        """Keep everything: there is nothing to release."""


def _place(user: UserRows, entry: Entry, stamp: int) -> Placed:
    known = user.rows.get(entry.memory.id)
    if known is not None:
        return Placed(own_memory(known.memory), "existing")
    alike = same_statement(user.rows, entry)
    if alike is None:
        user.write(entry, stamp)
        return Placed(own_memory(entry.memory), "created")
    if entry.duplicate_within is not None:
        return Placed(own_memory(alike.memory), "repeated")
    grown = resting_on(alike, entry)
    if grown != alike:
        user.write(grown, stamp)
    return Placed(own_memory(grown.memory), "reinforced")
