"""What a process holds of one user, patched forward row by row, and the signals computed on it.

Bodies are not in it: a row is a head, its vectors, its terms and a few numbers. Every signal lies in [0, 1] and does
not depend on which other memories are asked about.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.columns import NONE, Column, Labels
from langchain_tiered_memory.core.errors import EmbeddingError
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.outdated import Outdated
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Touched, Vector
from langchain_tiered_memory.core.postings import Postings, Scores
from langchain_tiered_memory.core.speakers import Speakers
from langchain_tiered_memory.core.times import tells_when
from langchain_tiered_memory.core.turns import Turns
from langchain_tiered_memory.core.vectors import Vectors
from langchain_tiered_memory.core.waiting import Waiting

_HEAD_BYTES = 1_500
_DEAD_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a head without terms and vectors, and what was made of them."""

    entry: Entry
    text_key: int
    vectors: tuple[tuple[int, str], ...]


class Snapshot:
    """One user's memories as arrays. All methods expect `lock` to be held."""

    def __init__(self, user_id: str, model_id: str) -> None:
        self.user_id = user_id
        self.lock = threading.RLock()
        self.versions: dict[Tier, int] = {Tier.SHORT_TERM: 0, Tier.LONG_TERM: 0}
        self.partial = False
        """Whether vectors in the vector index are left out of this snapshot."""
        self._model_id = model_id
        self._rows: list[Row] = []
        self._row_of: dict[Tier, dict[str, int]] = {Tier.SHORT_TERM: {}, Tier.LONG_TERM: {}}
        self.postings = Postings()
        self._alive: Column[np.bool_] = Column(np.bool_)
        self._turns = Turns()
        self.speakers = Speakers()
        """Who said each row."""
        self._roles = Labels()
        self._timed: Column[np.bool_] = Column(np.bool_)
        self._numbers: dict[str, Column[np.float64]] = {
            name: Column(np.float64) for name in ("importance", "last_accessed", "access_count")
        }
        self._vectors = Vectors()
        self._duplicates: dict[str, int] = {}
        self._waiting = Waiting(model_id)
        self.outdated = Outdated()
        """Superseded values, what is current instead, and their sources."""

    # -- reading ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of rows, dead ones included: the length of every signal."""
        return len(self._rows)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which rows stand for a memory; of an item that is in both tiers, the record does."""
        return self._alive.values

    def entry(self, row: int) -> Entry:
        """Return the head of a row."""
        return self._rows[row].entry

    def row_of(self, memory_id: str) -> int | None:
        """Return the row that stands for a memory, or None."""
        for tier in (Tier.LONG_TERM, Tier.SHORT_TERM):
            row = self._row_of[tier].get(memory_id)
            if row is not None:
                return row
        return None

    def find(self, memory_id: str) -> tuple[int, Memory] | None:
        """Return the row that stands for a memory, and its head; None when there is none."""
        row = self.row_of(memory_id)
        return None if row is None else (row, self._rows[row].entry.memory)

    def ids(self, tier: Tier) -> frozenset[str]:
        """Return the ids of a tier's rows, also of items whose record stands already."""
        return frozenset(self._row_of[tier])

    def in_both(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids that are in both tiers: items on their way, or left by a crash."""
        return frozenset(one for one in ids if all(one in rows for rows in self._row_of.values()))

    def entries(self, tier: Tier | None = None) -> Iterator[Entry]:
        """Iterate over the heads of living rows, of one tier or of both."""
        for row in np.flatnonzero(self.alive):
            entry = self._rows[row].entry
            if tier is None or entry.memory.tier == tier:
                yield entry

    def duplicate(self, key: str | None) -> Entry | None:
        """Return the living head with this duplicate key, or None."""
        row = None if key is None else self._duplicates.get(key)
        if row is None or not self.alive[row]:
            return None
        head = self._rows[row].entry
        return head if head.memory.current and head.duplicate_key == key else None

    @property
    def has_pending(self) -> bool:
        """Whether a living head lacks a vector of the model in use."""
        with self.lock:
            return any(True for _ in self.pending())

    def pending(self) -> Iterator[tuple[Entry, tuple[int, ...]]]:
        """Iterate over living heads that lack vectors of the model in use, with the passages that are missing.

        The latest come first: they are what is asked about next.
        """
        for row in self._waiting.rows():
            held = self._rows[row]
            if self.alive[row]:
                yield held.entry, self._waiting.missing(held.entry, held.vectors)

    def neighbours(self, row: int, reach: int) -> list[int]:
        """Return up to `reach` rows before and after this one in its session, nearest first."""
        return self._turns.beside(row, reach)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return "importance", "access_count" or "last_accessed" (seconds since 1970) of every row."""
        return self._numbers[name].values

    def demand_dimension(self, vector: Vector) -> None:
        """Make sure that a vector can be compared with those held.

        Raises:
            EmbeddingError: It has another dimension: another model goes by the same name.
        """
        if self._vectors.dimension not in {None, len(vector)}:
            raise EmbeddingError(
                f"the embedder gives {len(vector)} numbers, this user's vectors have {self._vectors.dimension}: it is "
                f"another model under the name {self._model_id!r}; name it with as_embedder(…, model_id=…)"
            )

    @property
    def vector_count(self) -> int:
        """How many vectors are held."""
        return len(self._vectors)

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are dead that reading everything anew is cheaper than carrying them."""
        return len(self) > 2 * int(self.alive.sum()) + _DEAD_ROWS

    def vector(self, row: int) -> Vector | None:
        """Return the first vector that is held of a row."""
        return self._vectors.first(row)

    @property
    def nbytes(self) -> int:
        """A fair estimate of the bytes held."""
        return self._vectors.nbytes + self.postings.nbytes + _HEAD_BYTES * len(self._rows)

    # -- signals ---------------------------------------------------------------------------------------------------

    def cosines(
        self, query: Vector | None, beside: Mapping[int, Sequence[PassageVector]] | None = None
    ) -> tuple[Scores, Scores]:
        """Return the cosine of every row's nearest passage, clipped to [0, 1]; 0 for rows without a vector here.

        Twice: as it is, and as the meaning of the row, to which later passages add less (`vectors.LATER`).

        Args:
            query: The query's vector, or None when there is none.
            beside: Vectors of rows that this snapshot does not hold (they are in the vector index).
        """
        if query is None:
            return np.zeros(len(self), np.float32), np.zeros(len(self), np.float32)
        return self._vectors.best(query, len(self), beside or {})

    def keywords(self, terms: Iterable[str]) -> Scores:
        """Return the normalised BM25 score of every row and its surroundings in the session."""
        return self.postings.scores(terms, *self._turns.links())

    def session_keywords(self, terms: Iterable[str]) -> Scores:
        """Return the normalised BM25 score of every row's whole session."""
        return self.postings.group_scores(terms, self._turns.sessions, self.alive)

    def session_best(self, values: Scores) -> Scores:
        """Return for every row the largest value in its session; 0 where it has none."""
        return self._turns.best_of_session(values)

    @property
    def tells_when(self) -> NDArray[np.bool_]:
        """Which rows tell a time."""
        return self._timed.values

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which rows belong to no session's turns."""
        alone: NDArray[np.bool_] = self._turns.sessions == NONE
        return alone

    def said_by(self, role: str) -> NDArray[np.bool_]:
        """Return which rows were said by this role."""
        return self._roles.among([role])

    def best_beside(self, values: Scores) -> Scores:
        """Return for every row the larger value of its two neighbours, as far as it leans on them; 0 without any."""
        return self._turns.best_beside(values) * self.postings.leaning()

    # -- patching --------------------------------------------------------------------------------------------------

    def apply(self, tier: Tier, changes: Changes) -> None:
        """Take over what changed in one tier. Rows keep their number unless their text changed."""
        if changes.whole:
            for memory_id in list(self._row_of[tier]):
                self._drop(tier, memory_id)
        for memory_id in changes.gone:
            self._drop(tier, memory_id)
        for entry in changes.entries:
            self._place(tier, entry)
        self.versions[tier] = changes.version

    def touch(self, tier: Tier, touched: Touched, now: datetime) -> None:
        """Take over a touch of our own, if nothing else happened before it."""
        if touched.version != self.versions[tier] + 1:
            return
        for memory_id in touched.ids:
            row = self._row_of[tier].get(memory_id)
            if row is not None:
                memory = self._rows[row].entry.memory
                later = max(memory.last_accessed, now)
                counted = replace(memory, last_accessed=later, access_count=memory.access_count + 1)
                self._renew(row, replace(self._rows[row].entry, memory=counted, version=touched.version))
        self.versions[tier] = touched.version

    def forget(self, ids: Iterable[str]) -> None:
        """Drop memories from both tiers at once, ahead of what the stores will report."""
        for memory_id in ids:
            for tier in self._row_of:
                self._drop(tier, memory_id)

    def _place(self, tier: Tier, entry: Entry) -> None:
        memory_id = entry.memory.id
        key = hash(frozenset(entry.terms.items()))
        vectors = tuple((v.passage, v.text_hash) for v in entry.vectors if v.model_id == self._model_id)
        row = self._row_of[tier].get(memory_id)
        head = replace(entry, terms={}, vectors=())
        if row is not None and self._rows[row].text_key == key:
            if self._rows[row].vectors != vectors:
                self._vectors.drop(row)
                self._add_vectors(row, entry.vectors)
            self._rows[row] = Row(head, key, vectors)
            self._renew(row, head)
            self._waiting.note(row, head, vectors)
            return
        if row is not None:
            self._drop(tier, memory_id)
        row = self.postings.add(entry.terms)
        self._rows.append(Row(head, key, vectors))
        self._alive.append(True)
        self._row_of[tier][memory_id] = row
        memory = entry.memory
        in_session = memory.session_id if memory.memory_type is MemoryType.EPISODE else None
        self._turns.add(in_session, memory.observed_at, entry.order)
        self.speakers.append(memory.name)
        self._roles.append(memory.role)
        self._timed.append(tells_when(entry.terms, memory.observed_at))
        for column in self._numbers.values():
            column.append(0)
        self.outdated.moved(row)
        self._renew(row, head)
        self._add_vectors(row, entry.vectors)
        self._waiting.note(row, head, vectors)
        self._shade(memory_id)

    def _shade(self, memory_id: str) -> None:
        """Of an item that is in both tiers only the record counts: the crash between two deletes leaves such pairs."""
        short = self._row_of[Tier.SHORT_TERM].get(memory_id)
        long = self._row_of[Tier.LONG_TERM].get(memory_id)
        if short is not None and long is not None and self._alive.values[short]:
            self._bury(short)
            self._renew(long, self._rows[long].entry)

    def _renew(self, row: int, entry: Entry) -> None:
        held = self._rows[row]
        self._rows[row] = Row(entry, held.text_key, held.vectors)
        memory = entry.memory
        self._numbers["importance"].values[row] = memory.importance
        self._numbers["access_count"].values[row] = memory.access_count
        self._numbers["last_accessed"].values[row] = memory.last_accessed.timestamp()
        self.outdated.note(row, memory)
        if entry.duplicate_key is not None and memory.current and self._alive.values[row]:
            self._duplicates[entry.duplicate_key] = row

    def _add_vectors(self, row: int, vectors: Iterable[PassageVector]) -> None:
        for one in vectors:
            if one.model_id == self._model_id:
                self._vectors.add(row, one.passage, one.vector)

    def _drop(self, tier: Tier, memory_id: str) -> None:
        if tier is Tier.LONG_TERM and memory_id in self._row_of[Tier.SHORT_TERM]:
            self.versions[Tier.SHORT_TERM] = 0  # an item in the record's shade: its terms and vectors are read again
        row = self._row_of[tier].pop(memory_id, None)
        if row is not None and self._alive.values[row]:
            self._bury(row)

    def _bury(self, row: int) -> None:
        self._alive.values[row] = False
        self._waiting.discard(row)
        self.outdated.moved(row)
        self.postings.drop(row)
        self._vectors.drop(row)
        self._turns.drop(row)
