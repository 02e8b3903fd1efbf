"""An embedder that tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.ports import Embedder

_AT_ONCE = 16
"""Texts that are embedded between two movements of a progress bar."""


class Watched:
    """An embedder that tells how far it is; vectors and identity are those of the one inside."""

    def __init__(self, inside: Embedder, tick: Callable[[int], object]) -> None:
        self._inside = inside
        self._tick = tick

    @property
    def model_id(self) -> str:
        """Identity of the model inside."""
        return self._inside.model_id

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, a few at a time, and tell of each few."""
        rows = []
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            rows.append(self._inside.embed_documents(some))
            self._tick(len(some))
        return np.concatenate(rows) if rows else self._inside.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question."""
        return self._inside.embed_query(text)
