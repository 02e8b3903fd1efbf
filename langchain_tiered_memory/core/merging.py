"""Near-duplicates: a statement that says in other words what one of long-term memory says becomes part of that one.

Vectors name those that may say the same, and words decide (`paraphrases.same_statement`), so that "I love X" and "I
hate X", which lie close together, stay two. Values of a slot are not looked at here: their chain knows what is equal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from langchain_tiered_memory.core.diversity import least_alike
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import MemoryType, Tier
from langchain_tiered_memory.core.paraphrases import same_statement
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Entry, Vector, ref_memory_id
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots

logger = logging.getLogger("langchain_tiered_memory.consolidation")

_NEAREST = 20
"""So many of the nearest statements are read and compared."""


class Merging:
    """Finds the statement that another one is part of."""

    def __init__(self, parts: Parts, snapshots: Snapshots) -> None:
        self._parts = parts
        self._snapshots = snapshots

    def joined(self, user_id: str, entries: Sequence[Entry]) -> list[Entry]:
        """Return entries on their way to long-term memory, those that are to become part of another under its key.

        The other is a current statement of long-term memory, or one earlier among the entries. Whoever writes the
        entries finds it by the key, unless it has gone meanwhile: then the entry stands for itself.
        """
        made: list[Entry] = []
        for entry in entries:
            made.append(self._joined(user_id, entry, made) if _is_statement(entry) else entry)
        return made

    def _joined(self, user_id: str, entry: Entry, before: Sequence[Entry]) -> Entry:
        vector = next((v.vector for v in entry.vectors if v.model_id == self._parts.embedder.model_id), None)
        if vector is None:
            return entry
        said = entry.memory.content
        alike = least_alike(self._parts.embedder.model_id)
        for other in filter(_is_statement, before):
            close = _same_voice(other, entry) and _cosine(other, vector) >= alike
            if close and same_statement(other.memory.content, said):
                return replace(entry, duplicate_key=other.duplicate_key)
        snapshot = self._snapshots.strict(user_id)
        heads = {head.memory.id: head for head in self._near(snapshot, entry, vector, alike)}
        bodies = {body.id: body for body in self._parts.records.get(user_id, list(heads))} if heads else {}
        for name, head in heads.items():
            if name in bodies and same_statement(bodies[name].content, said):
                return replace(entry, duplicate_key=head.duplicate_key)
        return entry

    def _near(self, snapshot: Snapshot, entry: Entry, vector: Vector, alike: float) -> Iterable[Entry]:
        """Return heads of current statements of the same speaker that lie close to an entry, nearest first."""
        with snapshot.lock:
            cosines = np.where(snapshot.alive, snapshot.cosines(vector)[0], np.float32(0))
            nearest = np.argsort(-cosines, kind="stable")[:_NEAREST]
            rows = [int(row) for row in nearest if cosines[row] >= alike]
            if snapshot.partial:
                rows += self._from_index(snapshot, vector)
            heads = [snapshot.entry(row) for row in dict.fromkeys(rows)]
        return [
            head
            for head in heads
            if head.memory.tier is Tier.LONG_TERM
            and head.memory.current
            and head.memory.id != entry.memory.id
            and _is_statement(head)
            and _same_voice(head, entry)
        ]

    def _from_index(self, snapshot: Snapshot, vector: Vector) -> list[int]:
        """Return the rows that the index names; none when it does not answer: then the statement stays by itself."""
        if self._parts.index is None:
            return []
        try:
            refs = self._parts.index.query(snapshot.user_id, vector, _NEAREST)
        except BackendUnavailable:
            logger.warning("the vector index does not answer: statements in other words are not joined")
            return []
        rows = (snapshot.row_of(ref_memory_id(ref)) for ref in refs)
        return [row for row in rows if row is not None]


def _cosine(entry: Entry, vector: Vector) -> float:
    near = (v.vector for v in entry.vectors if len(v.vector) == len(vector))
    return max((float(one @ vector) for one in near), default=0.0)


def _is_statement(entry: Entry) -> bool:
    return (
        entry.memory.memory_type is not MemoryType.EPISODE
        and entry.memory.slot is None
        and entry.duplicate_key is not None
    )


def _same_voice(one: Entry, other: Entry) -> bool:
    """Say whether two are of one speaker, agent and type: a preference does not become part of a fact."""
    mine, theirs = one.memory, other.memory
    return (mine.name, mine.agent_id, mine.memory_type) == (theirs.name, theirs.agent_id, theirs.memory_type)
