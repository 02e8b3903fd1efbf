"""Frozen settings, one class per room. A value out of range raises ConfigError where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import ClassVar

from langchain_tiered_memory.core.checking import LONGEST, check_types, demand, is_share
from langchain_tiered_memory.core.retention import ForgettingRule, ForgettingSettings

__all__ = [
    "LEAST_SUMMARY_TOKENS",
    "LEAST_WINDOW_TOKENS",
    "LONGEST",
    "ExtractionSettings",
    "ForgettingRule",
    "ForgettingSettings",
    "MaintenanceSettings",
    "PlacementSettings",
    "RankingWeights",
    "SearchSettings",
    "ServerSettings",
    "Settings",
    "ShortTermSettings",
    "WorkingSettings",
]

LEAST_WINDOW_TOKENS = 16
"""A budget below this has no room for a message and the mark of a cut."""
LEAST_SUMMARY_TOKENS = 100
"""A summary below this would hold little but its frame."""
_ROUNDING = 1e-6
_LEAST_BATCH = 256
_AROUND_TOKENS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSettings:
    """Working memory: how a session is shown to the model."""

    max_tokens: int = 4000
    """Budget of a window or context in tokens, at least 16."""
    encoding: str = "o200k_base"
    """tiktoken's vocabulary: "o200k_base" or "cl100k_base"."""
    system_share: float = 0.5
    """Most of the budget that system messages may take between them, in [0, 1]."""
    memory_share: float = 0.4
    """Most of the budget that memories may take in a context, recalled and standing ones together, in [0, 1]."""
    standing_share: float = 0.1
    """Most of the budget that the user's standing preferences may take of that, whatever is asked, in [0, 1]."""
    summary_tokens: int = 0
    """Most tokens that a context spends on a summary of what left the session's window, at least 100; 0: there is none.
    It is never more than a quarter of the budget."""
    summary_calls: int = 8
    """Most questions that one `maintain` puts to the language model, where there is one, for summaries of a user."""
    transcript_ttl: timedelta | None = None
    """How long a session without a new message is kept; None keeps it until it is cleared."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "working")
        least = LEAST_WINDOW_TOKENS
        demand(self.max_tokens >= least, "working.max_tokens", self.max_tokens, f"at least {least} tokens")
        demand(is_share(self.system_share), "working.system_share", self.system_share, "a share in [0, 1]")
        demand(is_share(self.memory_share), "working.memory_share", self.memory_share, "a share in [0, 1]")
        demand(is_share(self.standing_share), "working.standing_share", self.standing_share, "a share in [0, 1]")
        most = self.summary_tokens
        allowed = f"at least {LEAST_SUMMARY_TOKENS} tokens, or 0 for no summary"
        demand(most == 0 or most >= LEAST_SUMMARY_TOKENS, "working.summary_tokens", most, allowed)
        demand(self.summary_calls >= 1, "working.summary_calls", self.summary_calls, "at least 1")
        ttl = self.transcript_ttl
        demand(ttl is None or ttl > timedelta(0), "working.transcript_ttl", ttl, "a positive time, or None")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSettings:
    """Where a new memory goes, and when two are one."""

    long_term_above: float = 0.8
    """An importance above this goes straight to long-term memory, in [0, 1]."""
    repeat_within: timedelta = timedelta(seconds=60)
    """An equal episode of the same session and role within this time is the same one."""
    max_content_bytes: int = 16_000_000
    """Most bytes of UTF-8 in one memory or message."""
    max_passages: int = 256
    """Most passages of one memory that get a vector."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "placement")
        demand(is_share(self.long_term_above), "placement.long_term_above", self.long_term_above, "in [0, 1]")
        demand(self.max_passages >= 1, "placement.max_passages", self.max_passages, "at least 1")
        demand(self.max_content_bytes >= 1, "placement.max_content_bytes", self.max_content_bytes, "at least 1")
        demand(self.repeat_within >= timedelta(0), "placement.repeat_within", self.repeat_within, "no negative time")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTermSettings:
    """The life of a short-term item."""

    ttl: timedelta = timedelta(hours=24)
    """Life of an item from `created_at`."""
    promote_after_reads: int = 3
    """Items read this often are promoted by `consolidate`."""
    promote_importance: float = 0.5
    """At expiry an item of at least this importance is promoted instead of let go, in [0, 1]."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "short_term")
        demand(self.ttl > timedelta(0), "short_term.ttl", self.ttl, "a positive time")
        demand(self.promote_after_reads >= 1, "short_term.promote_after_reads", self.promote_after_reads, "at least 1")
        demand(is_share(self.promote_importance), "short_term.promote_importance", self.promote_importance, "in [0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a recall finds its candidates."""

    exact_up_to: int = 20_000
    """A user with more vectors than this is searched through the vector index; 0 always asks the index."""
    snapshot_bytes: int = 1_000_000_000
    """Most memory that snapshots of all users may take together; the least recently used goes first."""
    embed_pending: int = 8
    """Most pending passages that one recall embeds before it searches; the rest waits for maintenance."""
    rerank: int = 20
    """Most of the best hits that a reranker, where there is one, is given; `k` of them if that is more."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "search")
        demand(self.exact_up_to >= 0, "search.exact_up_to", self.exact_up_to, "at least 0")
        demand(self.snapshot_bytes > 0, "search.snapshot_bytes", self.snapshot_bytes, "more than 0 bytes")
        demand(self.embed_pending >= 0, "search.embed_pending", self.embed_pending, "at least 0")
        demand(self.rerank >= 1, "search.rerank", self.rerank, "at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSettings:
    """How much one `consolidate` may ask a language model for facts; the rules ask none."""

    batch: int = 20
    """Most memories in one question."""
    batch_tokens: int = 4_000
    """Most tokens of memories in one question, at least 256; of a longer memory only the beginning is read."""
    max_calls: int = 50
    """Most questions, those repeated for an unusable answer included."""
    max_tokens: int = 200_000
    """Most tokens of questions and answers; no question is begun that would pass it, only the last answer may. At
    least 4,000 more than `batch_tokens`, for the instructions and an answer."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "extraction")
        least = self.batch_tokens + _AROUND_TOKENS
        demand(self.batch >= 1, "extraction.batch", self.batch, "at least 1")
        demand(self.batch_tokens >= _LEAST_BATCH, "extraction.batch_tokens", self.batch_tokens, "at least 256 tokens")
        demand(self.max_calls >= 1, "extraction.max_calls", self.max_calls, "at least 1")
        demand(self.max_tokens >= least, "extraction.max_tokens", self.max_tokens, f"at least {least} tokens here")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceSettings:
    """What happens without being asked."""

    automatic: bool = True
    """Whether opening, writing and closing run `maintain` for the users concerned, in the background."""
    every: timedelta = timedelta(minutes=10)
    """Least time between two automatic runs for one user."""
    batch: int = 500
    """Most vectors or passages handled at a time."""
    workers: int = 4
    """Threads that serve asynchronous calls; consolidation, reindexing and maintenance have two of their own."""
    lease: timedelta = timedelta(minutes=15)
    """How long a worker has a user to itself; one that takes longer, or died, is overtaken by another."""
    attempts: int = 5
    """Failures in a row after which a worker leaves a user alone until it is told to try again."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "maintenance")
        demand(self.batch >= 1, "maintenance.batch", self.batch, "at least 1")
        demand(self.workers >= 1, "maintenance.workers", self.workers, "at least 1")
        demand(self.attempts >= 1, "maintenance.attempts", self.attempts, "at least 1")
        demand(self.lease > timedelta(0), "maintenance.lease", self.lease, "a positive time")
        demand(self.every >= timedelta(0), "maintenance.every", self.every, "no negative time")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How long servers are waited for. What is embedded always answers.

    A Redis client that was given is held to this as a URL is. A Chroma client and a SQLAlchemy engine that were given
    keep their own time-outs.
    """

    redis_deadline: timedelta = timedelta(milliseconds=250)
    """Most that waiting for Redis may add to one recall, all its questions together."""
    redis_timeout: timedelta = timedelta(seconds=1)
    """Longest that one question to Redis may take elsewhere; one with many rows may take longer."""
    chroma_deadline: timedelta = timedelta(seconds=2)
    """Most that a recall waits for a Chroma server; then it compares every vector instead."""
    sql_deadline: timedelta = timedelta(seconds=2)
    """Longest silence of PostgreSQL that a recall waits for, a new connection included; then it goes on without
    long-term memory. To count the hits, which may have to wait for a writer of the user, it has `sql_timeout`."""
    sql_timeout: timedelta = timedelta(seconds=5)
    """Longest silence of PostgreSQL elsewhere while something is read; a write, which waits for others of its user,
    has six times as long."""
    pause: timedelta = timedelta(seconds=2)
    """A server that did not answer is not asked for so long; then one call finds out for all."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "servers")
        for one in fields(self):
            value = getattr(self, one.name)
            demand(value > timedelta(0), f"servers.{one.name}", value, "a positive time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, by room."""

    working: WorkingSettings = field(default_factory=WorkingSettings)
    placement: PlacementSettings = field(default_factory=PlacementSettings)
    short_term: ShortTermSettings = field(default_factory=ShortTermSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    forgetting: ForgettingSettings = field(default_factory=ForgettingSettings)
    servers: ServerSettings = field(default_factory=ServerSettings)

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for one in fields(self):
            value, wanted = getattr(self, one.name), _ROOMS[one.name]
            demand(isinstance(value, wanted), f"settings.{one.name}", value, f"a {wanted.__name__} is needed")


_ROOMS: Mapping[str, type] = {
    "working": WorkingSettings,
    "placement": PlacementSettings,
    "short_term": ShortTermSettings,
    "search": SearchSettings,
    "maintenance": MaintenanceSettings,
    "extraction": ExtractionSettings,
    "forgetting": ForgettingSettings,
    "servers": ServerSettings,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """A ranking recipe: how much each signal counts. The weights are used as they stand and must add up to 1.

    All signals lie in [0, 1]: `relevance` joins meaning and keywords, on the memory and around it in its session;
    `similarity` is the bare cosine; `importance` as stored; `recency = 1/(1 + hours since last access/24)`;
    `use = min(access_count/10, 1)`.
    """

    CLASSIC: ClassVar[RankingWeights]
    """The well-known sum of importance, recency, use and similarity, whatever it costs in what is found."""
    DEFAULT: ClassVar[RankingWeights]
    """Relevance first, nudged a little by the rest."""
    RECENT: ClassVar[RankingWeights]
    """For what changes by the hour (where things are, what is being done): of the relevant, the latest leads."""

    relevance: float = 0.0
    similarity: float = 0.0
    importance: float = 0.0
    recency: float = 0.0
    use: float = 0.0
    pool: int = 50
    """How many of the most relevant memories are ranked at all, at least 1."""
    most_alike: int = 0
    """How many hits may say nearly the same while there are others among the ranked; 0: any number."""
    latest_first: bool = False
    """Whether the best hit gives way to what the same speaker said later and is most like it, when a question is about
    the present, whatever importance and use say; see `core/latest.py`."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name, weight in self.weights().items():
            demand(is_share(weight), f"weights.{name}", weight, "in [0, 1]")
        total = sum(self.weights().values())
        demand(abs(total - 1) < _ROUNDING, "weights", total, "the weights must add up to 1")
        demand(self.pool >= 1, "weights.pool", self.pool, "at least 1")
        demand(self.most_alike >= 0, "weights.most_alike", self.most_alike, "at least 0")
        demand(isinstance(self.latest_first, bool), "weights.latest_first", self.latest_first, "True or False")

    def weights(self) -> Mapping[str, float]:
        """Return signal name to weight, in the order of the fields."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NO_WEIGHTS}


_NO_WEIGHTS = frozenset({"pool", "most_alike", "latest_first"})
RankingWeights.CLASSIC = RankingWeights(importance=0.4, recency=0.3, use=0.2, similarity=0.1)
RankingWeights.DEFAULT = RankingWeights(relevance=0.92, importance=0.04, recency=0.02, use=0.02, most_alike=2)
RankingWeights.RECENT = RankingWeights(
    relevance=0.70, recency=0.28, importance=0.01, use=0.01, most_alike=2, latest_first=True
)
