"""What becomes of entries that are written, decided on values before anything is stored. Knows no database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from langchain_tiered_memory.backends.sql.codec import from_json, to_json
from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import MEMORY_FIELDS, Memory, Tier
from langchain_tiered_memory.core.ports import Entry, PassageVector
from langchain_tiered_memory.core.slots import chain_key
from langchain_tiered_memory.core.stated import grown, reworded


def own(entry: Entry, user_id: str, tier: Tier) -> Entry:
    """Return the entry as this store will give it back, sharing nothing that can change with the one given."""
    fields = {name: getattr(entry.memory, name) for name in MEMORY_FIELDS}
    fields |= {"user_id": user_id, "tier": tier, "source_ids": tuple(entry.memory.source_ids)}
    fields["metadata"] = from_json(to_json(dict(entry.memory.metadata))) if entry.memory.metadata else {}
    return replace(entry, memory=Memory(**fields), terms=dict(entry.terms), vectors=latest(entry.vectors))


def latest(vectors: Iterable[PassageVector]) -> tuple[PassageVector, ...]:
    """Return one vector per passage, in their order; of two for the same the later one."""
    by_passage = {one.passage: one for one in vectors}
    return tuple(by_passage[passage] for passage in sorted(by_passage))


def rewritten(row: Entry, new: Entry) -> Entry:
    """Return the row with what people set on it, and everything that follows from its text, taken from `new`."""
    given = new.memory
    memory = replace(
        row.memory,
        content=given.content,
        importance=given.importance,
        pinned=given.pinned,
        metadata=reworded(row.memory, given),
    )
    return replace(
        new, memory=memory, expires_at=row.expires_at, duplicate_within=row.duplicate_within, order=row.order
    )


class Draft:
    """A user's rows as one transaction sees them: those it read, as it changes them, and those it adds.

    Attributes:
        added: Ids of the rows to add, in order.
        changed: Ids of the rows to write again.
    """

    def __init__(self, rows: Iterable[Entry]) -> None:
        """Start from the rows that decide, in the order of writing."""
        self._rows: dict[str, Entry] = {}
        self._alike: defaultdict[str | None, list[str]] = defaultdict(list)
        self._chains: defaultdict[tuple[str, str, str] | None, list[str]] = defaultdict(list)
        self.added: dict[str, None] = {}
        self.changed: dict[str, None] = {}
        for row in rows:
            self._take(row)

    def _take(self, row: Entry) -> None:
        memory = row.memory
        self._rows[memory.id] = row
        self._alike[row.duplicate_key].append(memory.id)
        self._chains[chain_key(memory)].append(memory.id)

    def __contains__(self, memory_id: object) -> bool:
        """Say whether there is a row with this id."""
        return memory_id in self._rows

    def __getitem__(self, memory_id: str) -> Entry:
        """Return the row as it stands."""
        return self._rows[memory_id]

    def add(self, entry: Entry) -> None:
        """Add a row."""
        self._take(entry)
        self.added[entry.memory.id] = None

    def change(self, memory: Memory) -> bool:
        """Let the row stand with this memory, and say whether that changes anything."""
        row = self._rows[memory.id]
        if memory == row.memory:
            return False
        self._rows[memory.id] = replace(row, memory=memory)
        if memory.id not in self.added:
            self.changed[memory.id] = None
        return True

    def chain(self, key: tuple[str, str, str] | None, gone: Collection[str] = ()) -> list[Memory]:
        """Return the values of a slot that stay, in the order of writing."""
        return [self._rows[one].memory for one in self._chains[key] if one not in gone]

    def last_order(self, key: tuple[str, str, str] | None) -> int:
        """Return the last place in the order of writing of a slot's values."""
        return max((self._rows[one].order for one in self._chains[key]), default=0)

    def alike(self, entry: Entry) -> Memory | None:
        """Return the newest active row that says the same, as `Entry.duplicate_key` defines it."""
        if entry.duplicate_key is None:
            return None
        rows = (self._rows[memory_id] for memory_id in self._alike[entry.duplicate_key])
        repeated = [row.memory for row in rows if _repeats(row, entry)]
        return max(repeated, key=lambda memory: memory.created_at, default=None)

    def reinforce(self, memory: Memory, entry: Entry) -> bool:
        """Let the memory rest on what the entry lends it as well; say whether that is new."""
        return self.change(grown(memory, entry.memory))

    def refuse_other_contents(self, entries: Sequence[Entry]) -> None:
        """Raise Conflict when an id stands for another content, in the rows or earlier among the entries."""
        contents: dict[str, str] = {}
        for entry in entries:
            memory = entry.memory
            known = self._rows[memory.id].memory if memory.id in self._rows else None
            stands = contents.get(memory.id, memory.content) if known is None else known.content
            if stands != memory.content:
                raise Conflict(f"memory {shown(memory.id)} exists with another content: give this one its own id")
            contents[memory.id] = memory.content


def _repeats(row: Entry, entry: Entry) -> bool:
    at, within = entry.memory.created_at, entry.duplicate_within
    if not row.memory.current or (row.expires_at is not None and row.expires_at <= at):
        return False
    return within is None or abs(row.memory.created_at - at) <= within
