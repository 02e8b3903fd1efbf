"""Everything a memory is made of, behind its ports: what wiring hands to the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from langchain_tiered_memory.core.agenda import SERVED
from langchain_tiered_memory.core.config import RankingWeights, Settings
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import (
    Agenda,
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
        agenda: Where it is noted who there is something to do for; None: nowhere.
        noting: The tiers whose stores note that themselves, in the transaction that writes.
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
    agenda: Agenda | None = None
    noting: frozenset[Tier] = frozenset()
    counter: TokenCounter
    clock: Clock
    settings: Settings
    weights: RankingWeights
    compact: Callable[[], None]
    close: Callable[[], None]
    incidents: Callable[[], Mapping[str, int]] = dict

    def drop(self, user_id: str) -> None:
        """Forget what is noted of a user who was erased, where the stores do not."""
        if self.agenda is not None and Tier.LONG_TERM not in self.noting:
            self.agenda.drop(user_id)

    def note(self, user_id: str, tier: Tier) -> None:
        """Note that there will be something to do for a user whose tier is written to, where its store does not."""
        if self.agenda is not None and tier not in self.noting and SERVED.get() != user_id:
            self.agenda.note([user_id], self.clock() + self.settings.maintenance.every)
