"""An embedder without a model: texts that share spellings share a direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.errors import ConfigError

__all__ = ["HashedEmbedder"]

GRAM: Final = 4
"""Bytes of a window; shorter ones are shared by texts that have nothing in common."""

_FACTORS: Final = np.array([1, 2_654_435_761, 2_246_822_519, 3_266_489_917], np.uint32)


class HashedEmbedder:
    """Counts the hashed four-letter windows of a text, case and spacing aside.

    Deterministic over processes and machines, about 20 µs a text, no download and no meaning:
    made for tests, benchmarks and machines on which no model may run.
    """

    def __init__(self, dimensions: int = 256) -> None:
        """Choose the length of the vectors, at least 8.

        Raises:
            ConfigError: `dimensions` is below 8.
        """
        if dimensions < 8:  # noqa: PLR2004 - said in the docstring
            raise ConfigError(f"dimensions={dimensions}: at least 8 are needed")
        self._dimensions = dimensions

    @property
    def model_id(self) -> str:
        """Name the scheme and the length of the vectors."""
        return f"hashed-{GRAM}-grams/{self._dimensions}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts whole, however long."""
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question as a text; a blank one gives zeros."""
        words = " ".join(text.casefold().split())
        if not words:
            return np.zeros(self._dimensions, np.float32)
        data = np.frombuffer(f"  {words}  ".encode("utf-8", "surrogatepass"), np.uint8).astype(np.uint32)
        hashes = np.zeros(len(data) - GRAM + 1, np.uint32)
        for offset, factor in enumerate(_FACTORS):
            hashes += data[offset : offset + len(hashes)] * factor
        hashes ^= hashes >> 15
        hashes *= _FACTORS[2]
        hashes ^= hashes >> 13
        signs = np.where(hashes >> 31, 1.0, -1.0)
        vector = np.bincount(hashes % self._dimensions, signs, self._dimensions)
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / (length or 1.0), np.float32)
