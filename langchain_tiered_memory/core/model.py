"""The values everything else speaks in: memories, messages, hits. Frozen; every instant is aware and UTC."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, Self, overload

from langchain_tiered_memory.core.shown import Shown

UNSET_TIME = datetime.min.replace(tzinfo=UTC)


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    FACT = "fact"
    EPISODE = "episode"
    PREFERENCE = "preference"


class Tier(StrEnum):
    """Where a stored memory lives."""

    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


def to_utc(instant: datetime) -> datetime:
    """Return the instant as aware UTC; a naive one is read as local time, Python's own rule."""
    return instant.astimezone(UTC)


def new_id() -> str:
    """Return an id that no other call, in any process, returns."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Memory(Shown):
    """One remembered thing. The first six fields are enough to build one.

    Attributes:
        content: The text, verbatim.
        memory_type: `fact`, `episode` or `preference`.
        importance: In [0, 1].
        created_at: When it was stored.
        last_accessed: When a recall last returned it; starts as `observed_at`.
        access_count: How many recalls have returned it.
        id: Unique among the user's memories; empty until stored.
        user_id: Whose it is.
        tier: Where it lives; None until stored.
        observed_at: When it was said or became true; defaults to `created_at`.
        valid_to: When it stopped being true; None while it is current.
        superseded_by: The id of the memory that took its place.
        slot: The single-valued attribute it states ("employer").
        session_id: The conversation it comes from.
        agent_id: The agent that alone may see it; None is shared by all of the user's agents.
        role: Who said it: "user", "assistant", ….
        name: The speaker's name.
        origin: Where it came from ("session", "import", "consolidation", a URL, …).
        source_ids: The memories it rests on.
        metadata: What the caller attached; JSON.
        pinned: Never expires.
    """

    content: str
    memory_type: MemoryType
    importance: float
    created_at: datetime
    last_accessed: datetime
    access_count: int = 0
    id: str = ""
    user_id: str = ""
    tier: Tier | None = None
    observed_at: datetime = UNSET_TIME
    valid_to: datetime | None = None
    superseded_by: str | None = None
    slot: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    role: str | None = None
    name: str | None = None
    origin: str | None = None
    source_ids: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    pinned: bool = False

    def __post_init__(self) -> None:
        """Read a type given as a plain string, and let `observed_at` default to `created_at`."""
        object.__setattr__(self, "memory_type", MemoryType(self.memory_type))
        if self.observed_at is UNSET_TIME:  # the object: somebody may mean that very instant
            object.__setattr__(self, "observed_at", self.created_at)

    @property
    def current(self) -> bool:
        """Whether nothing has superseded or ended it."""
        return self.superseded_by is None and self.valid_to is None


MEMORY_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Memory))


@dataclass(frozen=True, slots=True)
class Signal:
    """One part of a score: `value` in [0, 1], times `weight`, is its `contribution`."""

    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class ScoredMemory(Memory):
    """A memory that a recall found: a `Memory` plus its score and why.

    Attributes:
        score: In [0, 1], independent of which other memories were found.
        explanation: Signal name to `Signal`; the contributions add up to `score`.
    """

    score: float = 0.0
    explanation: Mapping[str, Signal] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, memory: Memory, score: float, explanation: Mapping[str, Signal]) -> Self:
        """Return `memory` as a hit."""
        plain = {name: getattr(memory, name) for name in MEMORY_FIELDS}
        return cls(**plain, score=score, explanation=explanation)


class RecallResult(Shown, Sequence[ScoredMemory]):
    """The hits of one recall, best first. Compares equal to any sequence of the same hits, so `== []` when empty.

    Attributes:
        failed: The tiers that could not be read; empty when all answered.
    """

    __slots__ = ("_hits", "failed")

    def __init__(self, hits: Sequence[ScoredMemory] = (), failed: Sequence[str] = ()) -> None:
        """Keep the hits in the order given."""
        self._hits = tuple(hits)
        self.failed = tuple(failed)

    @overload
    def __getitem__(self, index: int) -> ScoredMemory: ...
    @overload
    def __getitem__(self, index: slice) -> RecallResult: ...
    def __getitem__(self, index: int | slice) -> ScoredMemory | RecallResult:
        """Return a hit, or a result holding a slice of them."""
        return RecallResult(self._hits[index], self.failed) if isinstance(index, slice) else self._hits[index]

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self._hits)

    def __iter__(self) -> Iterator[ScoredMemory]:
        """Iterate best first."""
        return iter(self._hits)

    def __eq__(self, other: object) -> bool:
        """Compare hit by hit with any sequence."""
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self._hits) == list(other)

    def __hash__(self) -> int:
        """Hash by the hits."""
        return hash(self._hits)

    def __repr__(self) -> str:
        """Show the number of hits and what failed."""
        failed = f", failed={list(self.failed)}" if self.failed else ""
        return f"<RecallResult of {len(self)}{failed}>"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What `remember_many` takes: the same fields, with the same meaning, as `remember`."""

    content: str
    memory_type: str = "episode"
    importance: float | None = None
    tier: str | None = None
    slot: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    role: str | None = None
    name: str | None = None
    observed_at: datetime | None = None
    origin: str | None = None
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    pinned: bool = False
    id: str | None = None


SYSTEM_ROLES = frozenset({"system", "developer"})
"""Roles whose messages stand before the conversation and are never remembered as episodes."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in any framework's terms.

    Attributes:
        role: "system", "user", "assistant", "tool", "developer", or a framework's own.
        content: Text, a sequence of OpenAI-style parts (`{"type": "text", "text": …}`), or None.
        id: Unique in its session; made when the message is added without one.
        name: The speaker's name.
        tool_calls: The calls an assistant asks for, as OpenAI-style mappings.
        tool_call_id: The call that a tool message answers.
        created_at: When it was said; set when added without one.
        extra: What a framework needs to get its own message back exactly; JSON.
        TEXT_PARTS: Types of a part of content whose `text` is text; a part without a type is one. A tuple, because
            a part's type may be anything, hashable or not.
        IMAGE_PARTS: Types of a part that is an image.
    """

    TEXT_PARTS: ClassVar[tuple[str, ...]] = ("text", "input_text", "output_text")
    IMAGE_PARTS: ClassVar[tuple[str, ...]] = ("image", "image_url", "input_image")

    role: str
    content: str | Sequence[Mapping[str, Any]] | None = field(default=None, hash=False)
    id: str | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    tool_calls: Sequence[Mapping[str, Any]] = field(default=(), hash=False, kw_only=True)
    tool_call_id: str | None = field(default=None, kw_only=True)
    created_at: datetime | None = field(default=None, kw_only=True)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, kw_only=True)

    @property
    def text(self) -> str:
        """The text of the message: its content, or its text parts joined by newlines; "" when it has none."""
        if self.content is None:
            return ""
        if isinstance(self.content, str):
            return self.content
        parts = (p.get("text") for p in self.content if p.get("type", "text") in self.TEXT_PARTS)
        return "\n".join(p for p in parts if isinstance(p, str))

    def with_text(self, text: str) -> Message:
        """Return the same message with `text` as its whole content."""
        return replace(self, content=text)


MESSAGE_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Message))


@dataclass(frozen=True, slots=True)
class Context(Shown):
    """What to show the model: window and recalled memories inside one token budget.

    Attributes:
        messages: System messages, then the memories as one message of quoted data, then the window.
        text: The same as plain text; never more tokens than `tokens`' budget either.
        tokens: What `messages` cost, exactly.
        memories: The recalled memories that found room, best first.
        standing: The user's standing preferences that found room, by weight; they are there whatever was asked.
    """

    messages: tuple[Message, ...]
    text: str
    tokens: int
    memories: tuple[ScoredMemory, ...] = ()
    standing: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One thing that happened to a memory.

    Attributes:
        at: When.
        kind: "created", "reinforced", "superseded", "promoted", "updated" or "forgotten".
        memory: The memory as it was after the event; None once forgotten.
        by: What caused it: "remember", "session", "consolidate", "import", "forget", "policy", or the id of the
            superseding memory.
    """

    at: datetime
    kind: str
    memory: Memory | None
    by: str
