"""An embedder that looks at words alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.embedding import HashedEmbedder


class Words(HashedEmbedder):
    """To it the day on which something was told, and "really", mean next to nothing."""

    @property
    def model_id(self) -> str:
        return f"words of {super().model_id}"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        told = text.partition("] ")[2] if text.startswith("[") else text
        whole = super().embed_query(told)
        vector = super().embed_query(told.replace("really ", "")) + np.float32(0.1) * whole
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / (length or 1.0), np.float32)
