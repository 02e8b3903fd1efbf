"""What turns texts into vectors: the default model, adapters for others, and a free one for tests.

Importing this package loads no model and no driver; the default model is read at its first text.
"""

from __future__ import annotations

from functools import cache

from langchain_tiered_memory.core.ports import Embedder
from langchain_tiered_memory.embedding.adapt import as_embedder
from langchain_tiered_memory.embedding.hashed import HashedEmbedder
from langchain_tiered_memory.embedding.minilm import MiniLMEmbedder
from langchain_tiered_memory.embedding.multilingual import MultilingualEmbedder

__all__ = ["HashedEmbedder", "MiniLMEmbedder", "MultilingualEmbedder", "as_embedder", "default_embedder"]


@cache
def default_embedder() -> Embedder:
    """Return the embedder used when none is given; one for the process, for a model takes memory.

    It works offline. Nothing is read before its first text.
    """
    return MiniLMEmbedder()
