"""What a current value of a slot takes over from those it superseded: their relevance, and the place of their sources.

"Where does she work?" is asked in the words of "I work at Acme", and answered by "first week at Globex". Ranking alone
puts the outdated statement first. So where a fact was superseded, its successor is as relevant as it was, and a source
that is met by what it says of it steps back and tells by what it was superseded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.stated import says_same

STEPS_BACK = 0.5
"""What the relevance of a source counts where it is met by what is no longer so."""
MET_BY = 0.6
"""A source is met by a statement in it that has at least this share of its relevance."""

Rows = NDArray[np.intp]
Find = Callable[[str], tuple[int, Memory] | None]
"""Gives the row and the head that stand for an id."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a superseded value.

    Attributes:
        by: The head of what is current instead.
        at: When the value itself ended, which may be long before what is current began.
    """

    by: Memory
    at: datetime


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Relevance after what is current took over.

    Attributes:
        relevance: In [0, 1], shape `(rows,)`.
        taken_over: What each row took over from a value that it superseded, in [0, 1].
        superseded: 1 for the rows that stepped back.
    """

    relevance: NDArray[np.float64]
    taken_over: NDArray[np.float64]
    superseded: NDArray[np.float64]
    _met: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    _endings: Sequence[Ending] = ()

    def ending(self, row: int) -> Ending | None:
        """Return what became of the value that a row is met by; None where that still holds."""
        return self._endings[self._met[row]] if self.superseded[row] else None


@dataclass(slots=True)
class Outdated:
    """The superseded rows of a snapshot, whose lock is held by whoever asks."""

    _rows: dict[int, Memory] = field(default_factory=dict)
    _links: tuple[Rows, Rows, Rows] | None = None
    _endings: Sequence[Ending] = ()

    def note(self, row: int, memory: Memory) -> None:
        """Take over a row as it now stands."""
        if memory.superseded_by is None and row not in self._rows:
            return
        known = self._rows.get(row)
        if known is None or _ties(known) != _ties(memory):
            self._links = None
        if memory.superseded_by is None:
            del self._rows[row]
        else:
            self._rows[row] = memory

    def moved(self, row: int) -> None:
        """Say that a row came or went: successors and sources are looked up anew."""
        self._links = None
        self._rows.pop(row, None)

    def adjusted(self, relevance: NDArray[np.float64], find: Find) -> Adjusted:
        """Let current values take over the relevance of those they superseded, and sources step back."""
        taken_over, superseded = np.zeros_like(relevance), np.zeros_like(relevance)
        if not self._rows:
            return Adjusted(relevance, taken_over, superseded)
        old, new, sources = self._linked(find)
        np.maximum.at(taken_over, new, relevance[old])
        links = np.flatnonzero(sources >= 0)
        links = links[relevance[old[links]] >= MET_BY * relevance[sources[links]]]
        superseded[sources[links]] = 1.0
        met = np.full(len(relevance), -1, np.intp)
        links = links[np.argsort(relevance[old[links]], kind="stable")]
        met[sources[links]] = links  # of several values that a source tells, the most relevant one
        counted = np.maximum(relevance, taken_over) * np.where(superseded > 0, STEPS_BACK, 1.0)
        return Adjusted(counted, taken_over, superseded, met, self._endings)

    def _linked(self, find: Find) -> tuple[Rows, Rows, Rows]:
        """Return rows of superseded values, of what is current instead, and of the sources of the former, or -1."""
        if self._links is None:
            found = [link for row in self._rows for link in self._of(row, find)]
            rows = np.array([link[:3] for link in found], np.intp).reshape(-1, 3)
            self._links = rows[:, 0], rows[:, 1], rows[:, 2]
            self._endings = tuple(link[3] for link in found)
        return self._links

    def _of(self, row: int, find: Find) -> list[tuple[int, int, int, Ending]]:
        memory = self._rows[row]
        current = _current(memory, find)
        if current is None or says_same(memory, current[1]):
            return []
        place, successor = current
        ending = Ending(successor, memory.valid_to or successor.observed_at)
        told = [find(source) for source in memory.source_ids if source not in successor.source_ids]
        sources = [one[0] for one in told if one is not None]
        return [(row, place, source, ending) for source in sources or [-1]]


def _ties(memory: Memory) -> tuple[object, ...]:
    return memory.superseded_by, memory.valid_to, memory.source_ids


def _current(memory: Memory, find: Find) -> tuple[int, Memory] | None:
    """Return the row and head at the end of a memory's chain; None when it has no end that is current."""
    seen = {memory.id}
    while memory.superseded_by is not None and memory.superseded_by not in seen:
        seen.add(memory.superseded_by)
        found = find(memory.superseded_by)
        if found is None:
            return None
        place, memory = found
        if memory.current:
            return place, memory
    return None
