"""Long-term memory in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from langchain_tiered_memory.backends.inmemory.rows import Table, head_of, own, own_memory, own_vectors
from langchain_tiered_memory.backends.inmemory.shelf import Shelf
from langchain_tiered_memory.backends.inmemory.writing import as_chosen, embed, erased_counts, forget, update, write
from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.model import HistoryEvent, Memory
from langchain_tiered_memory.core.ports import (
    Change,
    Changes,
    Entry,
    Forgotten,
    PassageVector,
    Placed,
    Touched,
    Vector,
    refuse_reworded,
)


class InMemoryRecordStore:
    """A `RecordStore` in this process's memory; it is lost with the object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._table = Table()
        self._shelves: dict[str, Shelf] = {}
        self._intents: dict[str, dict[str, None] | None] = {}
        self._meta: dict[str, str] = {}

    @property
    def name(self) -> str:
        """What serves it."""
        return "memory"

    # -- what all stores of memories do ----------------------------------------------------------------------------

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        with self._lock:
            return self._table.version(user_id)

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:
        """See `MemoryStore.changes`."""
        with self._lock:
            left_out = frozenset() if indexed_vectors else self._shelf(user_id).indexed
            return self._table.changes(user_id, since, lambda row: head_of(row, left_out))

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        with self._lock:
            return self._table.get(user_id, ids)

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        with self._lock:
            return self._table.touch(user_id, ids, now)

    def update(self, user_id: str, entry: Entry, now: datetime, *, version: int | None = None) -> Memory:
        """See `MemoryStore.update`."""
        mine = own(entry)
        with self._lock:
            return update(self._table.user(user_id), self._shelf(user_id), mine, now, version)

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """See `MemoryStore.embed`."""
        mine = {memory_id: own_vectors(given) for memory_id, given in vectors.items()}
        with self._lock:
            user = self._table.user(user_id)
            if user is not None:
                embed(user, self._shelf(user_id), mine)

    def users(self, prefix: str = "") -> tuple[str, ...]:
        """See `RecordStore.users`."""
        with self._lock:
            return self._table.users(prefix)

    def close(self) -> None:
        """Keep everything: there is nothing to release."""

    # -- writing and its ledger ------------------------------------------------------------------------------------

    def apply(self, user_id: str, change: Change) -> tuple[Placed, ...]:
        """See `RecordStore.apply`."""
        mine = [own(entry, user_id=user_id) for entry in change.entries]
        consumed = tuple(change.consumed)
        with self._lock:
            shelf = self._shelf(user_id)
            self._refuse_erased(user_id, change)
            shelf.refuse_consumed(consumed)
            refuse_reworded(self._table.rows(user_id).values(), change.as_read)
            written = write(self._table, user_id, shelf, change, mine)
            shelf.ledger.update(consumed)
            if mine or consumed:
                self._shelves[user_id] = shelf
            return written

    def begin(self, user_id: str) -> int:
        """See `RecordStore.begin`."""
        with self._lock:
            return self._table.opened(user_id).version

    def _refuse_erased(self, user_id: str, change: Change) -> None:
        if change.since is None:
            return
        user = self._table.user(user_id)
        if user is None or user.floor > change.since or self._intents.get(user_id, {}) is None:
            raise Conflict("the user was erased; read again before writing")

    def consumed(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """See `RecordStore.consumed`."""
        with self._lock:
            return frozenset(ids) & self._shelf(user_id).ledger

    def tombstones(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """See `RecordStore.tombstones`."""
        with self._lock:
            return frozenset(ids) & self._shelf(user_id).tombstones

    def history(self, user_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
        """See `RecordStore.history`."""
        with self._lock:
            events = self._shelf(user_id).history.get(memory_id, ())
            return tuple(HistoryEvent(e.at, e.kind, e.memory and own_memory(e.memory), e.by) for e in events)

    # -- forgetting ------------------------------------------------------------------------------------------------

    def forget(
        self,
        user_id: str,
        ids: Sequence[str],
        now: datetime,
        *,
        by: str = "forget",
        versions: Mapping[str, int] | None = None,
    ) -> Forgotten:
        """See `RecordStore.forget`."""
        asked = tuple(dict.fromkeys(ids))
        with self._lock:
            if versions is not None:
                asked = as_chosen(self._table.rows(user_id), asked, versions)
            if not asked:
                return Forgotten()
            shelf = self._shelves.setdefault(user_id, Shelf())
            open_ids = self._intents.setdefault(user_id, {})
            if open_ids is not None:
                open_ids.update(dict.fromkeys(asked))
            return forget(self._table.user(user_id), shelf, asked, now, by)

    def erase(self, user_id: str, now: datetime) -> Mapping[str, int]:  # noqa: ARG002 - an intent needs no date here
        """See `RecordStore.erase`."""
        with self._lock:
            self._shelves.pop(user_id, None)
            self._intents[user_id] = None
            return erased_counts(self._table.forget(user_id))

    def intents(self) -> Mapping[str, tuple[str, ...] | None]:
        """See `RecordStore.intents`."""
        with self._lock:
            return {user: None if ids is None else tuple(ids) for user, ids in self._intents.items()}

    def close_intents(self, user_id: str, ids: Sequence[str] | None) -> None:
        """See `RecordStore.close_intents`."""
        with self._lock:
            if ids is None:
                self._intents.pop(user_id, None)
                if not self._table.rows(user_id):
                    self._table.forget(user_id)
                return
            open_ids = self._intents.get(user_id)
            if open_ids is None:
                return
            for memory_id in ids:
                open_ids.pop(memory_id, None)
            if not open_ids:
                del self._intents[user_id]

    # -- vectors and their index -----------------------------------------------------------------------------------

    def vectors(self, user_id: str, ids: Sequence[str]) -> Mapping[str, tuple[PassageVector, ...]]:
        """See `RecordStore.vectors`."""
        with self._lock:
            rows = self._table.rows(user_id)
            return {memory_id: own_vectors(rows[memory_id].vectors) for memory_id in ids if memory_id in rows}

    def vector_count(self, user_id: str) -> int:
        """See `RecordStore.vector_count`."""
        with self._lock:
            return sum(len(row.vectors) for row in self._table.rows(user_id).values())

    def unindexed(self, user_id: str | None, limit: int) -> Mapping[str, tuple[tuple[str, Vector], ...]]:
        """See `RecordStore.unindexed`."""
        found: dict[str, tuple[tuple[str, Vector], ...]] = {}
        with self._lock:
            for user in self._table.users() if user_id is None else (user_id,):
                waiting = self._shelf(user).unindexed(self._table.rows(user).values(), limit)
                if waiting:
                    found[user] = waiting
                    limit -= len(waiting)
        return found

    def removals(self, user_id: str | None, limit: int) -> Mapping[str, tuple[str, ...]]:
        """See `RecordStore.removals`."""
        found: dict[str, tuple[str, ...]] = {}
        with self._lock:
            for user in tuple(self._shelves) if user_id is None else (user_id,):
                waiting = tuple(self._shelf(user).removals)[: max(limit, 0)]
                if waiting:
                    found[user] = waiting
                    limit -= len(waiting)
        return found

    def mark(
        self, user_id: str, *, indexed: Iterable[tuple[str, Vector]] = (), removed: Iterable[str] = ()
    ) -> frozenset[str]:
        """See `RecordStore.mark`."""
        reached, left = tuple(indexed), tuple(removed)
        with self._lock:
            return self._shelf(user_id).mark(self._table.rows(user_id), reached, left)

    def mark_unindexed(self, user_id: str) -> None:
        """See `RecordStore.mark_unindexed`; readers that left the vectors to the index are told to read them."""
        with self._lock:
            user = self._table.user(user_id)
            if user is None:
                return
            self._shelf(user_id).indexed.clear()
            stamp = user.version + 1
            for row in [row for row in user.rows.values() if row.vectors]:
                user.write(row, stamp)

    def read_meta(self, key: str) -> str | None:
        """See `RecordStore.read_meta`."""
        with self._lock:
            return self._meta.get(key)

    def write_meta(self, key: str, value: str) -> None:
        """See `RecordStore.write_meta`."""
        with self._lock:
            self._meta[key] = value

    def _shelf(self, user_id: str) -> Shelf:
        """Return what is kept beside the user's rows; an empty one that is not kept when there is nothing."""
        return self._shelves.get(user_id) or Shelf()
