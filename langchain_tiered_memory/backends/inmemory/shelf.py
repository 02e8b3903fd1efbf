"""What long-term memory keeps of a user beside the rows: ledger, tombstones, history, marks of the vector index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import HistoryEvent, Memory
from langchain_tiered_memory.core.ports import Entry, Vector, ref_memory_id, vector_ref


@dataclass
class Shelf:
    """One user's shelf.

    Attributes:
        ledger: Ids of consumed sources.
        tombstones: Ids that were forgotten.
        history: Id to its events, oldest first.
        indexed: References known to be in the vector index.
        removals: References to remove from it, oldest first.
    """

    ledger: set[str] = field(default_factory=set)
    tombstones: set[str] = field(default_factory=set)
    history: dict[str, list[HistoryEvent]] = field(default_factory=dict)
    indexed: set[str] = field(default_factory=set)
    removals: dict[str, None] = field(default_factory=dict)

    def refuse_consumed(self, ids: Iterable[str]) -> None:
        """Raise Conflict when one of the ids is in the ledger, or was forgotten."""
        for memory_id in ids:
            if memory_id in self.ledger or memory_id in self.tombstones:
                raise Conflict(f"memory {shown(memory_id)} was consumed or forgotten; read again before consolidating")

    def note(self, at: datetime, kind: str, memory: Memory, by: str) -> None:
        """Add an event to the history of a memory."""
        self.history.setdefault(memory.id, []).append(HistoryEvent(at, kind, memory, by))

    def empty_history(self, memory_id: str, at: datetime, by: str) -> None:
        """Take all content out of the history of a memory, and end it."""
        events = [replace(event, memory=None) for event in self.history.get(memory_id, ())]
        self.history[memory_id] = [*events, HistoryEvent(at, "forgotten", None, by)]

    def replaced(self, old: Entry | None, new: Entry | None) -> None:
        """Note which vectors wait for the index, and which for their removal, now that `new` stands for `old`.

        A vector that was never marked may be in the index all the same: the process may have died before the mark.
        """
        before = references(old)
        after = references(new)
        for ref in [ref for ref in before if ref not in after]:
            self.removals[ref] = None
            self.indexed.discard(ref)
        for ref, vector in after.items():
            if before.get(ref) is not vector:
                self.indexed.discard(ref)
                self.removals.pop(ref, None)

    def unindexed(self, rows: Iterable[Entry], limit: int) -> tuple[tuple[str, Vector], ...]:
        """Return copies of vectors that are not in the index, at most `limit`."""
        waiting = [
            (ref, np.array(vector, np.float32))
            for row in rows
            for ref, vector in references(row).items()
            if ref not in self.indexed
        ]
        return tuple(waiting[: max(limit, 0)])

    def mark(
        self, rows: Mapping[str, Entry], reached: Sequence[tuple[str, Vector]], left: Sequence[str]
    ) -> frozenset[str]:
        """Note what reached and what left the index, and return what reached it and is in no row."""
        stray = set[str]()
        for ref, vector in reached:
            standing = references(rows.get(ref_memory_id(ref))).get(ref)
            if standing is None:
                stray.add(ref)
            elif standing.tobytes() == np.asarray(vector, np.float32).tobytes():
                self.indexed.add(ref)
            else:
                self.indexed.discard(ref)
        for ref in left:
            self.removals.pop(ref, None)
            self.indexed.discard(ref)
        return frozenset(stray)


def references(row: Entry | None) -> dict[str, Vector]:
    """Return reference to vector of a row."""
    return {} if row is None else {vector_ref(row.memory.id, one.passage): one.vector for one in row.vectors}
