"""A vector index in this process: every query is a dot product with everything."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.ports import Vector


class InMemoryVectorIndex:
    """A `VectorIndex` that compares with every row. Those of another dimension than the query's are not found."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._spaces: dict[str, dict[str, Vector]] = {}
        self._stacked: dict[tuple[str, int], tuple[list[str], NDArray[np.float32]]] = {}

    @property
    def name(self) -> str:
        """What serves it."""
        return "memory"

    def upsert(self, user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        """See `VectorIndex.upsert`."""
        mine = {ref: np.array(vector, dtype=np.float32) for ref, vector in rows}
        if not mine:
            return
        with self._lock:
            self._spaces.setdefault(user_id, {}).update(mine)
            self._changed(user_id)

    def delete(self, user_id: str, refs: Sequence[str]) -> None:
        """See `VectorIndex.delete`."""
        with self._lock:
            space = self._spaces.get(user_id, {})
            for ref in refs:
                space.pop(ref, None)
            self._changed(user_id)

    def drop(self, user_id: str) -> None:
        """See `VectorIndex.drop`."""
        with self._lock:
            self._spaces.pop(user_id, None)
            self._changed(user_id)

    def query(self, user_id: str, vector: Vector, k: int) -> tuple[str, ...]:
        """See `VectorIndex.query`; of two equally near, the one written first."""
        with self._lock:
            refs, matrix = self._stack(user_id, len(vector))
        nearest = np.argsort(-(matrix @ vector), kind="stable")[:k]
        return tuple(refs[i] for i in nearest)

    def ids(self, user_id: str) -> frozenset[str]:
        """See `VectorIndex.ids`."""
        with self._lock:
            return frozenset(self._spaces.get(user_id, ()))

    def close(self) -> None:
        """Keep everything: there is nothing to release."""

    def _stack(self, user_id: str, dim: int) -> tuple[list[str], NDArray[np.float32]]:
        """Return the rows of this dimension as a matrix, made once per change."""
        key = (user_id, dim)
        if key not in self._stacked:
            fitting = [(ref, row) for ref, row in self._spaces.get(user_id, {}).items() if len(row) == dim]
            matrix = np.array([row for _, row in fitting], np.float32).reshape(len(fitting), dim)
            if not fitting:
                return [], matrix
            self._stacked[key] = ([ref for ref, _ in fitting], matrix)
        return self._stacked[key]

    def _changed(self, user_id: str) -> None:
        for key in [key for key in self._stacked if key[0] == user_id]:
            del self._stacked[key]
