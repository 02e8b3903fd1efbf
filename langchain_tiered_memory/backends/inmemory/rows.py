"""The rows of both stores of memories: owned copies, stamped with a change counter. Callers hold the lock."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import MEMORY_FIELDS, Memory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Touched, vector_ref
from langchain_tiered_memory.core.stated import grown, reworded

_GONE_LIMIT = 10_000
"""Removed ids remembered per user; a reader that is further behind starts anew."""


def own_memory(memory: Memory, **changed: object) -> Memory:
    """Return a plain `Memory` that shares nothing with the one given."""
    fields = {name: getattr(memory, name) for name in MEMORY_FIELDS} | changed
    fields["source_ids"] = tuple(memory.source_ids)
    fields["metadata"] = copy.deepcopy(dict(memory.metadata))
    return Memory(**fields)


def own_vectors(vectors: Iterable[PassageVector]) -> tuple[PassageVector, ...]:
    """Return copies, in the order of their passages; the later one of two for a passage."""
    copies = {v.passage: replace(v, vector=np.array(v.vector, dtype=np.float32)) for v in vectors}
    return tuple(copies[passage] for passage in sorted(copies))


def own(entry: Entry, **changed: object) -> Entry:
    """Return an entry that shares nothing with the one given; `changed` are fields of its memory."""
    memory = own_memory(entry.memory, **changed)
    return replace(entry, memory=memory, terms=dict(entry.terms), vectors=own_vectors(entry.vectors), left_out=())


def updated(row: Entry, new: Entry) -> Entry:
    """Return the row with everything that follows from its text, and what people set on it, taken from `new`."""
    memory = replace(
        row.memory,
        content=new.memory.content,
        importance=new.memory.importance,
        pinned=new.memory.pinned,
        metadata=reworded(row.memory, new.memory),
    )
    return replace(
        row,
        memory=memory,
        terms=new.terms,
        passages=new.passages,
        vectors=new.vectors,
        duplicate_key=new.duplicate_key,
        duplicate_within=new.duplicate_within,
    )


def resting_on(row: Entry, other: Entry) -> Entry:
    """Return the row with its sources grown by what the other lends it."""
    return replace(row, memory=grown(row.memory, other.memory))


def refuse_other_contents(rows: Mapping[str, Entry], entries: Sequence[Entry]) -> None:
    """Raise Conflict when an id stands for another content, in the rows or earlier among the entries."""
    contents: dict[str, str] = {}
    for entry in entries:
        memory = entry.memory
        known = rows[memory.id].memory.content if memory.id in rows else contents.get(memory.id, memory.content)
        if known != memory.content:
            raise Conflict(f"memory {shown(memory.id)} exists with another content; give this one an id of its own")
        contents[memory.id] = memory.content


def same_statement(rows: Mapping[str, Entry], entry: Entry) -> Entry | None:
    """Return the newest active row that says the same as the entry, as `Entry.duplicate_key` defines it."""
    if entry.duplicate_key is None:
        return None
    alike = [row for row in rows.values() if row.duplicate_key == entry.duplicate_key and _repeats(row, entry)]
    return max(alike, key=lambda row: row.memory.created_at, default=None)


def _repeats(row: Entry, entry: Entry) -> bool:
    at, within = entry.memory.created_at, entry.duplicate_within
    if not row.memory.current or (row.expires_at is not None and row.expires_at <= at):
        return False
    return within is None or abs(row.memory.created_at - at) <= within


@dataclass
class UserRows:
    """One user's rows, in the order of writing.

    Attributes:
        version: The change counter.
        rows: Id to row.
        gone: Removed id to the version of its removal, oldest first.
        floor: The counter's start, or the last removal that is no longer remembered: nobody can go on from before it.
    """

    version: int
    rows: dict[str, Entry] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    floor: int = 0

    def write(self, row: Entry, stamp: int) -> None:
        """Add or replace a row."""
        self.rows[row.memory.id] = replace(row, version=stamp)
        self.gone.pop(row.memory.id, None)
        self.version = stamp

    def drop(self, memory_id: str, stamp: int) -> Entry:
        """Remove a row and return it."""
        row = self.rows.pop(memory_id)
        self.gone[memory_id] = self.version = stamp
        while len(self.gone) > _GONE_LIMIT:
            oldest = next(iter(self.gone))
            self.floor = self.gone.pop(oldest)
        return row


class Table:
    """The rows of all users of one store."""

    def __init__(self) -> None:
        self._users: dict[str, UserRows] = {}
        self._highest = 0

    def user(self, user_id: str) -> UserRows | None:
        """Return the user's rows, or None when nothing was ever written."""
        return self._users.get(user_id)

    def rows(self, user_id: str) -> Mapping[str, Entry]:
        """Return the user's rows by id; not a copy."""
        user = self._users.get(user_id)
        return {} if user is None else user.rows

    def opened(self, user_id: str) -> UserRows:
        """Return the user's rows to write to; a new counter starts at the wall clock, and never at a used value."""
        if user_id not in self._users:
            start = max(time.time_ns() // 1000, self._highest + 1)
            self._users[user_id] = UserRows(version=start, floor=start)
        return self._users[user_id]

    def forget(self, user_id: str) -> tuple[Entry, ...]:
        """Remove the user and return the rows there were."""
        user = self._users.pop(user_id, None)
        if user is None:
            return ()
        self._highest = max(self._highest, user.version)
        return tuple(user.rows.values())

    def users(self, prefix: str = "") -> tuple[str, ...]:
        """Return the users with a row whose ids begin so."""
        return tuple(user_id for user_id, user in self._users.items() if user.rows and user_id.startswith(prefix))

    def version(self, user_id: str) -> int:
        """Return the user's change counter."""
        user = self._users.get(user_id)
        return 0 if user is None else user.version

    def changes(self, user_id: str, since: int, head: Callable[[Entry], Entry]) -> Changes:
        """Return what changed after `since`, each row as `head` makes it."""
        user = self._users.get(user_id)
        if user is None:
            return Changes(0, whole=True)
        whole = since <= 0 or since > user.version or since < user.floor
        seen = 0 if whole else since
        entries = tuple(head(row) for row in user.rows.values() if row.version > seen)
        gone = () if whole else tuple(i for i, version in user.gone.items() if version > since)
        return Changes(user.version, entries, gone, whole)

    def get(self, user_id: str, ids: Iterable[str]) -> tuple[Memory, ...]:
        """Return copies of the memories with these ids, in the order asked."""
        rows = self.rows(user_id)
        return tuple(own_memory(rows[memory_id].memory) for memory_id in ids if memory_id in rows)

    def touch(self, user_id: str, ids: Iterable[str], now: datetime) -> Touched:
        """Count one access of each id that is there."""
        user = self._users.get(user_id)
        if user is None:
            return Touched(0)
        stamp, there = user.version + 1, set[str]()
        for memory_id in dict.fromkeys(ids):
            row = user.rows.get(memory_id)
            if row is not None:
                there.add(memory_id)
                memory = row.memory
                later = max(memory.last_accessed, now)
                touched = replace(memory, last_accessed=later, access_count=memory.access_count + 1)
                user.write(replace(row, memory=touched), stamp)
        return Touched(user.version, frozenset(there))


def head_of(row: Entry, left_out: Collection[str] = ()) -> Entry:
    """Return a copy of the row without its content and without the vectors with these references, which it names."""
    kept = [one for one in row.vectors if vector_ref(row.memory.id, one.passage) not in left_out]
    omitted = tuple((one.passage, one.model_id) for one in row.vectors if one not in kept) if left_out else ()
    return replace(own(replace(row, vectors=tuple(kept)), content=""), left_out=omitted)
