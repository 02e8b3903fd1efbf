"""A recall's question: its arguments, checked, and who may be an answer to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.filters import Predicate
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.slots import chain_key, linked
from langchain_tiered_memory.core.stated import is_closed


class Past:
    """What was known when: the chains of slots without the records that were written later."""

    def __init__(self, heads: Callable[[], Iterable[Memory]]) -> None:
        """Take a function that returns all heads, asked when it is needed."""
        self._heads = heads
        self._known: dict[datetime, dict[str, Memory]] = {}

    def ended(self, memory: Memory, known_at: datetime) -> datetime | None:
        """Return when a memory's period ended as far as was known at an instant; None while it was current.

        What superseded it ends it now; where that was not known yet, the rest of the chain tells what did then.
        """
        if memory.superseded_by is None:
            return memory.valid_to
        if known_at not in self._known:
            heads = {head.id: head for head in self._heads() if head.created_at <= known_at}
            self._known[known_at] = heads
        known = self._known[known_at]
        if memory.superseded_by in known:
            return memory.valid_to
        chain = [head for head in known.values() if chain_key(head) == chain_key(memory)]
        linked_then = linked(chain) if memory.slot is not None else ()
        return next((one.valid_to for one in linked_then if one.id == memory.id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked for; see `MemorySystem.recall` for the meaning of each."""

    user_id: str
    text: str
    k: int
    weights: RankingWeights
    session_id: str | None = None
    agent_id: str | None = None
    tier: Tier | None = None
    memory_types: frozenset[MemoryType] | None = None
    predicate: Predicate | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_superseded: bool = False
    neighbors: int = 0
    min_score: float | None = 0.0  # None is "auto"
    max_tokens: int | None = None
    touch: bool = True
    keeps: float = 0.5
    """Importance from which an item past its life is kept: `ShortTermSettings.promote_importance`."""

    @property
    def about_now(self) -> bool:
        """Whether only what is true now is asked for."""
        return self.as_of is None and self.known_at is None and not self.include_superseded

    @property
    def selective(self) -> bool:
        """Whether most memories may be ruled out."""
        return any(one is not None for one in (self.predicate, self.memory_types, self.agent_id, self.tier))


def is_due(entry: Entry, now: datetime) -> bool:
    """Say whether the life of an item is over."""
    return entry.expires_at is not None and entry.expires_at <= now


def is_lost(entry: Entry, now: datetime, keeps: float) -> bool:
    """Say whether the life of an item is over and it is not worth keeping: neither pinned nor of importance `keeps`.

    What is worth keeping is promoted when maintenance comes by, and is there until then.
    """
    return is_due(entry, now) and not entry.memory.pinned and entry.memory.importance < keeps


def objection(entry: Entry, question: Question, now: datetime, past: Past) -> str | None:
    """Return why this memory may not be an answer, in a few words; None when it may."""
    memory = entry.memory
    over = is_due(entry, now) if question.tier is Tier.SHORT_TERM else is_lost(entry, now, question.keeps)
    if over:  # a tier that is asked by itself has nothing to promote to
        return "its short-term life is over"
    if question.tier is not None and memory.tier != question.tier:
        return f"it is in {memory.tier} memory"
    if question.memory_types is not None and memory.memory_type not in question.memory_types:
        return f"it is of type {memory.memory_type}"
    if question.agent_id is not None and memory.agent_id not in {None, question.agent_id}:
        return "it belongs to another agent"
    return _untimely(memory, question, now, past) or _unmatched(memory, question)


def _unmatched(memory: Memory, question: Question) -> str | None:
    if question.predicate is not None and not question.predicate(memory):
        return "the filter does not match it"
    return None


def _untimely(memory: Memory, question: Question, now: datetime, past: Past) -> str | None:
    """Judge by the two times: when it was true (`as_of`), and when it was known (`known_at`)."""
    known_at, as_of = question.known_at, question.as_of
    if known_at is not None and memory.created_at > known_at:
        return "it was not known yet"
    if as_of is not None and memory.observed_at > as_of:
        return "it was not true yet"
    ended = memory.valid_to if known_at is None else past.ended(memory, known_at)
    if as_of is not None:
        return "it was no longer true" if ended is not None and ended <= as_of else None
    if ended is None or question.include_superseded:
        return None
    if is_closed(memory):  # it told its own end, which may lie ahead
        return "it is no longer true" if ended <= (known_at or now) else None
    return "a newer value superseded it"
