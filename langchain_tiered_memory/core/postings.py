"""Keyword search of one user: postings and BM25 over the user's own statistics.

Formula: Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", with the non-negative
idf `ln(1 + (N - n + 0.5)/(n + 0.5))`; `k1 = 1.2`, `b = 0.3`. A score is divided by the most that the query's known
terms could give, so that it lies in [0, 1] whatever else is stored.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.columns import Column
from langchain_tiered_memory.core.synonyms import others
from langchain_tiered_memory.core.turns import Links

K1 = 1.2
B = 0.3

FADE = 2 / 3
"""What a term counts one turn away from where it stands; the square of it two turns away, and so on."""
OTHER_WORD = 0.5
"""What a word counts that may stand for the term asked for."""
SHORT = 20
"""A row of at most so many terms leans fully on the turns around it."""
HALF_LEANING = 40
"""With so many terms more, a row leans half as much on them."""
HALF_GROUPS = 5
"""With so many groups, the score of a row's group counts half."""
REACH = 3
"""How many turns away a term still counts."""

Scores = NDArray[np.float32]


def spread(rows: NDArray[Any], values: Scores, links: tuple[Links, ...], fading: Sequence[Scores], out: Scores) -> None:
    """Add to `out` the larger of what a term gives a row itself and what it gives from nearby.

    Args:
        rows: The rows that hold the term.
        values: What it gives each of them.
        links: For each direction, the next row of every row, -1 at the end.
        fading: What it counts for every row from one turn away, two turns away, and so on.
        out: The scores to add to.
    """
    best = np.zeros(len(out), np.float32)
    best[rows] = values
    for link in links:
        at, given = rows, values
        for share in fading:
            at = link[at]
            inside = at >= 0
            at, given = at[inside], given[inside]
            best[at] = np.maximum(best[at], given * share[at])  # no two rows have the same next one
    out += best


class _Posting:
    """Rows that hold one term, and how often; rows that were dropped stay until the next rebuild."""

    __slots__ = ("counts", "live", "rows")

    def __init__(self) -> None:
        self.rows = array("i")
        self.counts = array("i")
        self.live = 0


@dataclass(frozen=True, slots=True)
class _Holders:
    """The rows that hold a term or a word that may stand for it, dropped ones included.

    Attributes:
        rows: Each once.
        counts: How often each holds it; other words count `OTHER_WORD`.
        live: How many of the rows are still there.
    """

    rows: NDArray[Any]
    counts: Scores
    live: int


class Postings:
    """Term to rows, with the statistics that BM25 needs, kept up to date row by row. Not thread-safe.

    Groups are what a row belongs to (its session): the same postings also score whole groups as documents.
    """

    def __init__(self) -> None:
        self._postings: dict[str, _Posting] = {}
        self._terms_of: list[tuple[str, ...]] = []
        self._lengths: Column[np.float32] = Column(np.float32)
        self._there: Column[np.bool_] = Column(np.bool_)
        self._live = 0
        self._total = 0.0
        self.nbytes = 0

    def add(self, terms: Mapping[str, int]) -> int:
        """Add a row with these terms and counts; return its number, counting from 0."""
        row = len(self._lengths)
        for term, times in terms.items():
            name = sys.intern(term)
            posting = self._postings.get(name)
            if posting is None:
                posting = self._postings[name] = _Posting()
                self.nbytes += 250
            posting.rows.append(row)
            posting.counts.append(times)
            posting.live += 1
        length = sum(terms.values())
        self._terms_of.append(tuple(map(sys.intern, terms)))
        self._lengths.append(length)
        self._there.append(True)
        self._live += 1
        self._total += length
        self.nbytes += 16 * len(terms) + 100
        return row

    def drop(self, row: int) -> None:
        """Take a row out of the statistics; its scores mean nothing any more."""
        for term in self._terms_of[row]:
            self._postings[term].live -= 1
        self._terms_of[row] = ()
        self._there.values[row] = False
        self._live -= 1
        self._total -= float(self._lengths.values[row])

    def terms(self, row: int, besides: Mapping[str, int]) -> frozenset[str]:
        """Return the terms that a row holds more often than is told; none of one that was dropped."""
        return frozenset(
            term for term in self._terms_of[row] if term not in besides or self._count(term, row) > besides[term]
        )

    def _count(self, term: str, row: int) -> int:
        posting = self._postings[term]
        return posting.counts[bisect_left(posting.rows, row)]

    def scores(self, terms: Iterable[str], previous: Links, following: Links) -> Scores:
        """Return the BM25 score of every row and its surroundings in [0, 1], shape `(rows,)`.

        Each term counts in a row once: fully where it stands there, and by `FADE` times how much the row leans on
        others, to the power of the distance, where it stands up to `REACH` turns away in the session.

        Args:
            terms: The query's terms.
            previous: The row before each row in its session, -1 for none.
            following: The row after it.
        """
        scores = np.zeros(len(self._lengths), np.float32)
        if self._live == 0:
            return scores
        scale = K1 * (1 - B + B * self._lengths.values / max(self._total / self._live, 1.0))
        step = np.float32(FADE) * self.leaning()
        fading = [step**distance for distance in range(1, REACH + 1)]
        most = 0.0
        for held in self._known(terms):
            idf = float(np.log1p((self._live - held.live + 0.5) / (held.live + 0.5)))
            values = idf * (K1 + 1) * held.counts / (held.counts + scale[held.rows])
            spread(held.rows, values, (previous, following), fading, scores)
            most += idf * (K1 + 1)
        return scores / np.float32(most) if most else scores

    def leaning(self) -> Scores:
        """Return how much each row leans on the turns around it, in (0, 1]: a long text stands for itself."""
        leaning: Scores = HALF_LEANING / (HALF_LEANING + np.maximum(self._lengths.values - np.float32(SHORT), 0))
        return leaning

    def group_scores(self, terms: Iterable[str], groups: NDArray[np.int32], alive: NDArray[np.bool_]) -> Scores:
        """Return the BM25 score of every row's whole group in [0, 1], shape `(rows,)`; 0 for rows without a group.

        The fewer groups there are, the less it tells which one a row is in: the scores are taken times
        `groups/(groups + HALF_GROUPS)`.

        Args:
            terms: The query's terms.
            groups: Group number per row, -1 for none.
            alive: Which rows count.
        """
        member = alive & (groups >= 0)
        size = int(groups.max(initial=-1)) + 1
        if size == 0 or not member.any():
            return np.zeros(len(groups), np.float32)
        lengths = np.bincount(groups[member], self._lengths.values[member], size)
        documents = max(int((lengths > 0).sum()), 1)
        scale = K1 * (1 - B + B * lengths / max(lengths.sum() / documents, 1.0))
        scores = np.zeros(size)
        most = 0.0
        for held in self._known(terms):
            kept = member[held.rows]
            counts = np.bincount(groups[held.rows[kept]], held.counts[kept], size)
            holding = int((counts > 0).sum())
            idf = float(np.log1p((documents - holding + 0.5) / (holding + 0.5)))
            scores += idf * (K1 + 1) * counts / (counts + scale)
            most += idf * (K1 + 1)
        by_row = np.where(member, scores[groups], 0.0) / (most or 1.0) * documents / (documents + HALF_GROUPS)
        return by_row.astype(np.float32)

    def _known(self, terms: Iterable[str]) -> list[_Holders]:
        found = (self._holders(term) for term in dict.fromkeys(terms))
        return [held for held in found if held is not None]

    def _holders(self, term: str) -> _Holders | None:
        """Return who holds a term, or a word that may stand for it; None when nobody does."""
        named = [(term, 1.0), *((other, OTHER_WORD) for other in others(term))]
        told = [(posting, share) for name, share in named if (posting := self._postings.get(name)) and posting.live > 0]
        if not told:
            return None
        if len(told) == 1:
            ((posting, share),) = told
            return _Holders(
                np.array(posting.rows), np.array(posting.counts, np.float32) * np.float32(share), posting.live
            )
        counts = np.zeros(len(self._lengths), np.float32)
        for posting, share in told:
            counts[np.array(posting.rows)] += np.array(posting.counts, np.float32) * np.float32(share)
        rows = np.flatnonzero(counts)
        return _Holders(rows, counts[rows], int(self._there.values[rows].sum()))
