"""Everything a memory is made of, behind its ports: what wiring hands to the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from langchain_tiered_memory.core.config import RankingWeights, Settings
from langchain_tiered_memory.core.ports import (
    Clock,
    Embedder,
    FactExtractor,
    ImportanceScorer,
    ItemStore,
    RecordStore,
    Reranker,
    Summarizer,
    TokenCounter,
    TranscriptStore,
    VectorIndex,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The open stores and models of one memory system.

    Attributes:
        index: The vector index, or None when every search is exact.
        index_always: Whether the index is asked whatever the number of vectors.
        reranker: Orders the best hits anew, or None when the order of the search stands.
        summarizer: Sums up what left a session's window, or None when rules do.
        compact: Gives freed space back where a store can.
        incidents: Tells what went wrong on servers, by name.
        close: Closes what was opened for this system, and nothing that was given to it.
    """

    items: ItemStore
    records: RecordStore
    transcripts: TranscriptStore
    index: VectorIndex | None
    index_always: bool
    embedder: Embedder
    scorer: ImportanceScorer
    extractor: FactExtractor
    reranker: Reranker | None = None
    summarizer: Summarizer | None = None
    counter: TokenCounter
    clock: Clock
    settings: Settings
    weights: RankingWeights
    compact: Callable[[], None]
    close: Callable[[], None]
    incidents: Callable[[], Mapping[str, int]] = dict
