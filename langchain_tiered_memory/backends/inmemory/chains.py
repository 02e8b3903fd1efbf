"""Chains of slots among a user's rows: what changes in them, and what the history says of it. Callers hold the lock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.backends.inmemory.rows import UserRows, own
from langchain_tiered_memory.backends.inmemory.shelf import Shelf
from langchain_tiered_memory.core.derive import said_again
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.slots import Again, chain_key, settled

Key = tuple[str, str, str] | None


def chain_of(rows: Mapping[str, Entry], key: Key, gone: Collection[str] = ()) -> list[Memory]:
    """Return the values of a slot that stay, in the order of writing."""
    return [row.memory for one, row in rows.items() if chain_key(row.memory) == key and one not in gone]


def write_row(user: UserRows, shelf: Shelf, row: Entry, stamp: int) -> None:
    """Add or replace a row."""
    shelf.replaced(user.rows.get(row.memory.id), row)
    user.write(row, stamp)


@dataclass(frozen=True, slots=True)
class Chains:
    """A user's chains as one transaction changes them, at an instant, by some cause."""

    user: UserRows
    shelf: Shelf
    at: datetime
    stamp: int
    by: str

    def stand(self, records: Iterable[Memory], *, but: str | None = None) -> None:
        """Let records stand as they are given, and tell the history; not of the one that is told of otherwise."""
        for memory in records:
            row = self.user.rows[memory.id]
            write_row(self.user, self.shelf, replace(row, memory=memory), self.stamp)
            if memory.superseded_by not in {None, row.memory.superseded_by}:
                self.shelf.note(self.at, "superseded", memory, memory.superseded_by or self.by)
            elif memory.id != but:
                self.shelf.note(self.at, "updated", memory, self.by)

    def begin(self, again: Iterable[Again]) -> None:
        """Add what was parted from records of a chain, and tell the history."""
        for one in again:
            rows, key = self.user.rows, chain_key(one.memory)
            last = max(row.order for row in rows.values() if chain_key(row.memory) == key)
            row = own(said_again(rows[one.of], one.memory, last))
            write_row(self.user, self.shelf, row, self.stamp)
            self.shelf.note(self.at, "created", row.memory, self.by)

    def settle(self, key: Key, gone: Collection[str] = ()) -> None:
        """Settle a chain of which a record was changed, or goes."""
        chain = chain_of(self.user.rows, key, gone)
        before = {memory.id: memory for memory in chain}
        found = settled(chain, self.at)
        self.stand(m for m in found.records if m.id in before and m != before[m.id])
        self.begin(found.again)
