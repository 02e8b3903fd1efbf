"""The vectors of a snapshot: one matrix of passages, each owned by a row."""

from __future__ import annotations

import numpy as np

from langchain_tiered_memory.core.columns import NONE, Column
from langchain_tiered_memory.core.entries import Vector
from langchain_tiered_memory.core.postings import Scores

_BLOCK_ROWS = 1_000
"""Rows of one matrix product. OpenBLAS keeps a product of this size on one thread; with two, a busy machine of two
cores takes 50 times as long."""


class Vectors:
    """Passages' vectors of one dimension, that of the first. Not thread-safe."""

    def __init__(self) -> None:
        self._matrix: Column[np.float32] | None = None
        self._owner: Column[np.int32] = Column(np.int32)

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

    def add(self, row: int, vector: Vector) -> None:
        """Add a passage of a row; one of another dimension can be compared with nothing here and is left out."""
        if self._matrix is None:
            self._matrix = Column(np.float32, len(vector))
        if len(vector) == self.dimension:
            self._matrix.append(vector)
            self._owner.append(row)

    def drop(self, row: int) -> None:
        """Leave out a row's passages from now on."""
        owner = self._owner.values
        owner[owner == row] = NONE

    def best(self, query: Vector, rows: int) -> Scores:
        """Return the dot product of the query and every row's nearest passage, shape `(rows,)`; 0 where less."""
        scores = np.zeros(rows, np.float32)
        if self._matrix is None or self._matrix.values.shape[1:] != query.shape:
            return scores
        matrix, owner = self._matrix.values, self._owner.values
        dots = np.empty(len(matrix), np.float32)
        for start in range(0, len(matrix), _BLOCK_ROWS):
            np.dot(matrix[start : start + _BLOCK_ROWS], query, out=dots[start : start + _BLOCK_ROWS])
        better = (owner != NONE) & (dots > 0)
        while better.any():  # nearly every row has one passage: once for those, again for the rows with more
            scores[owner[better]] = dots[better]
            better &= dots > scores[owner]
        return scores
