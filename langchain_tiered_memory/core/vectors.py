"""The vectors of a snapshot: one matrix of passages, each owned by a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.columns import NONE, Column
from langchain_tiered_memory.core.entries import PassageVector, Vector
from langchain_tiered_memory.core.postings import Scores

_BLOCK_ROWS = 1_000
"""Rows of one matrix product. OpenBLAS keeps a product of this size on one thread; with two, a busy machine of two
cores takes 50 times as long."""

LATER = 0.9
"""What a passage counts for the meaning of a text that does not begin with it: a text begins with what it is about."""


class Vectors:
    """Passages' vectors of one dimension, that of the first. Not thread-safe."""

    def __init__(self) -> None:
        self._matrix: Column[np.float32] | None = None
        self._owner: Column[np.int32] = Column(np.int32)
        self._later: Column[np.bool_] = Column(np.bool_)

    def __len__(self) -> int:
        """Return how many vectors were added, those of dropped rows included."""
        return len(self._owner)

    @property
    def dimension(self) -> int | None:
        """The dimension of the vectors; None when there are none."""
        return None if self._matrix is None else int(self._matrix.values.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return 0 if self._matrix is None else self._matrix.nbytes

    def add(self, row: int, passage: int, vector: Vector) -> None:
        """Add a passage of a row; one of another dimension can be compared with nothing here and is left out."""
        if self._matrix is None:
            self._matrix = Column(np.float32, len(vector))
        if len(vector) == self.dimension:
            self._matrix.append(vector)
            self._owner.append(row)
            self._later.append(passage > 0)

    def first(self, row: int) -> Vector | None:
        """Return the first vector held of a row; None when there is none."""
        held = np.flatnonzero(self._owner.values == row)
        return None if self._matrix is None or not len(held) else np.array(self._matrix.values[held[0]])

    def drop(self, row: int) -> None:
        """Leave out a row's passages from now on."""
        owner = self._owner.values
        owner[owner == row] = NONE

    def best(self, query: Vector, rows: int, beside: Mapping[int, Sequence[PassageVector]]) -> tuple[Scores, Scores]:
        """Return the dot product of the query and every row's nearest passage, clipped to [0, 1], shape `(rows,)`.

        Twice: as it is, and with every passage but a row's first taken times `LATER`.

        Args:
            query: The query's vector.
            rows: How many rows there are.
            beside: Vectors of rows that are not held here.
        """
        nearest, weighed = (np.clip(scores, 0, 1) for scores in self._held(query, rows))
        for row, vectors in beside.items():
            for one in vectors:
                dot = min(float(one.vector @ query), 1.0)
                nearest[row] = max(nearest[row], dot)
                weighed[row] = max(weighed[row], dot * (LATER if one.passage else 1))
        return nearest, weighed

    def _held(self, query: Vector, rows: int) -> tuple[Scores, Scores]:
        scores = np.zeros(rows, np.float32)
        if self._matrix is None or self._matrix.values.shape[1:] != query.shape:
            return scores, scores
        matrix, owner = self._matrix.values, self._owner.values
        dots = np.empty(len(matrix), np.float32)
        for start in range(0, len(matrix), _BLOCK_ROWS):
            np.dot(matrix[start : start + _BLOCK_ROWS], query, out=dots[start : start + _BLOCK_ROWS])
        nearest = _best(dots, owner, scores)
        if not self._later.values.any():
            return nearest, nearest
        dots[self._later.values] *= np.float32(LATER)
        return nearest, _best(dots, owner, np.zeros(rows, np.float32))


def _best(dots: Scores, owner: NDArray[np.int32], scores: Scores) -> Scores:
    """Raise every row's score to the best of its passages."""
    better = (owner != NONE) & (dots > 0)
    while better.any():  # nearly every row has one passage: once for those, again for the rows with more
        scores[owner[better]] = dots[better]
        better &= dots > scores[owner]
    return scores
