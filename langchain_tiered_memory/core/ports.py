"""The seams: what the core asks of stores, models and clocks. Each docstring is the specification of its port.

The ports of the stores stand in `core/stores.py`, what passes through in `core/entries.py`; all are importable here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.agenda import Agenda
from langchain_tiered_memory.core.entries import (
    FROM_CONSOLIDATION,
    Change,
    Changes,
    Entry,
    ExtractedFact,
    Forgotten,
    PassageVector,
    Placed,
    StoredMessage,
    Touched,
    Vector,
    lent_sources,
    ref_memory_id,
    refuse_changed,
    refuse_reworded,
    vector_ref,
)
from langchain_tiered_memory.core.model import Memory, MemoryType, Message, ScoredMemory
from langchain_tiered_memory.core.stores import (
    ItemStore,
    MemoryStore,
    RecordStore,
    TranscriptStore,
    VectorIndex,
)

__all__ = [
    "FROM_CONSOLIDATION",
    "Agenda",
    "Change",
    "Changes",
    "Clock",
    "Embedder",
    "Entry",
    "ExtractedFact",
    "FactExtractor",
    "Forgotten",
    "ImportanceScorer",
    "ItemStore",
    "Judgement",
    "MemoryStore",
    "PassageVector",
    "Placed",
    "RecordStore",
    "Reranker",
    "StoredMessage",
    "Summarizer",
    "TokenCounter",
    "Touched",
    "TranscriptStore",
    "Vector",
    "VectorIndex",
    "lent_sources",
    "ref_memory_id",
    "refuse_changed",
    "refuse_reworded",
    "vector_ref",
]


class Embedder(Protocol):
    """Turns texts into vectors of one fixed dimension and length 1 (or all zeros for a text without meaning).

    Raises:
        EmbeddingError: The model failed, or its answer cannot be used.
    """

    @property
    def model_id(self) -> str:
        """Identity of model, weights and pooling: equal ids mean comparable vectors, over processes and years."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, shape `(len(texts), dim)`, in order."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, shape `(dim,)`."""


class ImportanceScorer(Protocol):
    """Says how much a text is worth keeping, in [0, 1], absolutely: whatever else is stored."""

    def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
        """Return the importance of the text as a memory of this type, said by this role."""


class FactExtractor(Protocol):
    """Finds durable statements in memories. Never called with none, never inside a transaction or a lock.

    One whose calls cost something has `begin()` as well (see `core/extracting.py`): consolidation asks that.

    Raises:
        ExtractionError: It failed; the sources are left for the next time.
    """

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return the facts found, in the order of their sources; source ids outside `memories` are dropped."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reranker says of one hit.

    Attributes:
        place: The place of the hit among those it was given, from 0.
        relevance: Its relevance in [0, 1]; None when the reranker tells nothing but the order.
    """

    place: int
    relevance: float | None = None


class Reranker(Protocol):
    """Orders the best of a recall anew, with more effort than a search could spend on all memories.

    Raises:
        TieredMemoryError: It failed; the order of the search stands.
    """

    def rerank(self, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
        """Return a judgement of each hit that is to stay, most relevant first; the others are not recalled."""


class Summarizer(Protocol):
    """Writes down what was said in a conversation, in short. Never called with nothing, nor inside a lock.

    Raises:
        ExtractionError: It failed; the summary so far stands, and it is asked again later.
    """

    def summarize(self, earlier: str, messages: Sequence[Message], max_tokens: int) -> str:
        """Return a summary of the summary so far, "" when there is none, and of the messages that came after it.

        What is longer than `max_tokens` is cut.
        """


class TokenCounter(Protocol):
    """Counts exactly what messages cost a model. Special tokens in text are text."""

    @property
    def name(self) -> str:
        """Identity of vocabulary and formula; counts of equal names are comparable."""

    def text(self, text: str) -> int:
        """Return the number of tokens of a bare text."""

    def message(self, message: Message) -> int:
        """Return what the message costs inside a prompt, format included."""

    def head(self, text: str, tokens: int) -> str:
        """Return the longest beginning of the text that costs at most so many tokens."""

    def tail(self, text: str, tokens: int) -> str:
        """Return the longest end of the text that costs at most so many tokens."""


class Clock(Protocol):
    """Tells the present."""

    def __call__(self) -> datetime:
        """Return the present as an aware datetime."""
