"""What a user's memories have to be, in a dict: the rules of the life of an item, without any store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from langchain_tiered_memory.core.derive import derive_id, digest
from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.importance import RuleScorer
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.core.text import normalize
from langchain_tiered_memory.testing import FakeExtractor

EPISODES = {"we went to the lake": 0.3, "it rained": 0.6, "I moved house": 0.9, "the train was late": 0.1}
STATEMENTS = {"Ada plays chess": 0.85, "ada  plays CHESS": 0.85, "tea, not coffee": 0.5, "blue is nice": 0.2}
DRAWN = {
    "we went to the lake": (("the lake is near", None),),
    "it rained": (("the lake is near", None), ("umbrellas help", None)),
    "I moved house": (("Porto", "home"),),
}
SAID = ("we went to the lake", "ok thanks", "I am allergic to peanuts", "I moved house")
"""What is said, with its importance, and what is drawn from it: content and slot."""

LIFE = timedelta(hours=24)
REPEATED = timedelta(seconds=60)
SHORT, LONG = Tier.SHORT_TERM, Tier.LONG_TERM


def extractor() -> FakeExtractor:
    facts = {
        text: [ExtractedFact(content=content, slot=slot, source_ids=()) for content, slot in drawn]
        for text, drawn in DRAWN.items()
    }
    return FakeExtractor(facts)


@dataclass(frozen=True)
class Held:
    """One memory.

    Attributes:
        memory: As the system has to show it, but for `valid_to` and `superseded_by` of values of a slot.
        ends: When its short-term life is over.
        repeatable: Whether the same episode within a minute is this one.
    """

    memory: Memory
    ends: datetime | None = None
    repeatable: bool = False

    @property
    def worth(self) -> bool:
        """Whether it is kept when its life is over."""
        return self.memory.pinned or self.memory.importance >= 0.5

    def due(self, now: datetime) -> bool:
        """Say whether its life is over."""
        return self.ends is not None and self.ends <= now

    def stands(self, **changed: Any) -> Held:
        """Return it with some fields of the memory changed; in long-term memory it has no end."""
        memory = replace(self.memory, **changed)
        return replace(self, memory=memory, ends=None if memory.tier is LONG else self.ends)


@dataclass
class Mirror:
    """One user's memories in the order of writing, and what is known of those that are gone."""

    user: str
    drawn: Mapping[str, Sequence[tuple[str, str | None]]]
    held: dict[str, Held] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    consumed: set[str] = field(default_factory=set)
    transcripts: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def shown(self, now: datetime) -> dict[str, Memory]:
        """Return what `list(include_superseded=True)` has to show."""
        chains = self._chains()
        seen = {i: h.memory for i, h in self.held.items() if h.worth or not h.due(now)}
        return {i: replace(memory, **chains.get(i, {})) for i, memory in seen.items()}

    def current(self, now: datetime) -> dict[str, Memory]:
        """Return what a recall may return."""
        return {i: memory for i, memory in self.shown(now).items() if memory.current}

    # -- writing ---------------------------------------------------------------------------------------------------

    def remember(self, given: Memory, now: datetime, *, timeless: bool) -> None:
        """Place a memory, or raise Conflict."""
        memory_id = given.id or derive_id(given, self.user, given.observed_at)
        new = Held(replace(given, id=memory_id, user_id=self.user), repeatable=timeless)
        same = self.held.get(memory_id), self._alike(new, now, hidden=True)
        if any(one is not None and one.due(now) for one in same):
            self.expire(now)
        if memory_id in self.forgotten:
            raise Conflict(memory_id)
        standing = self.held.get(memory_id)
        if standing is not None:
            if standing.memory.content != given.content:
                raise Conflict(memory_id)
            return
        long = given.slot is not None or given.importance > 0.8
        self._write(new.stands(tier=LONG if long else SHORT), now)

    def add(self, session: str, messages: Iterable[tuple[str, str, str]], now: datetime) -> None:
        """Append messages (id, role, text); those of user and assistant become episodes."""
        told = self.transcripts.setdefault(session, [])
        for message_id, role, text in messages:
            if message_id in [one for one, _, _ in told]:
                continue
            told.append((message_id, role, text))
            if role in {"user", "assistant"} and message_id not in self.forgotten:
                importance = RuleScorer().score(text, memory_type=MemoryType.EPISODE, role=role)
                plain = Memory(text, MemoryType.EPISODE, importance, now, now, id=message_id)
                episode = replace(plain, session_id=session, role=role, origin="session")
                self.remember(episode, now, timeless=False)

    def _write(self, new: Held, now: datetime) -> None:
        memory = new.memory
        alike = self._value(new) if memory.slot is not None else self._alike(new, now)
        if alike is None:
            ends = None if memory.tier is LONG else memory.created_at + LIFE
            self.held[memory.id] = replace(new, ends=ends)
        elif memory.memory_type is not MemoryType.EPISODE or memory.slot is not None:
            lent = (*memory.source_ids, *(() if memory.origin == "consolidation" else (memory.id,)))
            sources = dict.fromkeys((*alike.memory.source_ids, *lent))
            sources.pop(alike.memory.id, None)
            self.held[alike.memory.id] = alike.stands(source_ids=tuple(sources))

    def _alike(self, new: Held, now: datetime, *, hidden: bool = False) -> Held | None:
        memory = new.memory
        for one in self.held.values():
            other = one.memory
            if (one.due(now) and not hidden) or other.slot is not None or memory.slot is not None:
                continue
            if MemoryType.EPISODE in {memory.memory_type, other.memory_type}:
                where = (memory.content, memory.memory_type, memory.session_id, memory.role)
                same = where == (other.content, other.memory_type, other.session_id, other.role)
                near = abs(memory.created_at - other.created_at) <= REPEATED
                if same and near and new.repeatable and one.repeatable:
                    return one
            elif normalize(memory.content) == normalize(other.content):
                return one
        return None

    # -- slots -----------------------------------------------------------------------------------------------------

    def _chain(self, slot: str) -> list[Memory]:
        values = [one.memory for one in self.held.values() if one.memory.slot == slot]
        return sorted(values, key=lambda one: one.observed_at)

    def _value(self, new: Held) -> Held | None:
        """Return the value that already covers the new one's time, if it is the same."""
        earlier = [one for one in self._chain(str(new.memory.slot)) if one.observed_at <= new.memory.observed_at]
        if earlier and normalize(earlier[-1].content) == normalize(new.memory.content):
            return self.held[earlier[-1].id]
        return None

    def _chains(self) -> dict[str, dict[str, Any]]:
        links: dict[str, dict[str, Any]] = {}
        for slot in {one.memory.slot for one in self.held.values()} - {None}:
            chain = self._chain(str(slot))
            for one, successor in pairwise(chain):
                links[one.id] = {"superseded_by": successor.id, "valid_to": successor.observed_at}
        return links

    # -- time passes -----------------------------------------------------------------------------------------------

    def expire(self, now: datetime) -> None:
        """Promote or let go what is due."""
        for memory_id, one in list(self.held.items()):
            if one.due(now):
                if one.worth:
                    self.held[memory_id] = one.stands(tier=LONG)
                else:
                    del self.held[memory_id]

    def consolidate(self, now: datetime, *, everything: bool) -> None:
        """Promote what earned it, let go what is over, draw facts from episodes that gave none yet."""
        promoted = []
        for memory_id, one in list(self.held.items()):
            if one.memory.tier is LONG:
                continue
            kept = one.worth if one.due(now) else everything
            if one.memory.access_count >= 3 or kept:
                self.held[memory_id] = one.stands(tier=LONG)
                promoted.append(memory_id)
            elif one.due(now):
                del self.held[memory_id]
        rest = [i for i, one in self.held.items() if one.memory.tier is LONG and i not in promoted]
        for memory_id in (*promoted, *rest):
            memory = self.held[memory_id].memory
            if memory.memory_type is MemoryType.EPISODE and memory.slot is None and memory_id not in self.consumed:
                self.consumed.add(memory_id)
                self._draw(memory, now)

    def _draw(self, source: Memory, now: datetime) -> None:
        for content, slot in self.drawn.get(source.content, ()):
            fact = replace(
                source,
                content=content,
                memory_type=MemoryType.FACT,
                created_at=now,
                last_accessed=source.observed_at,
                access_count=0,
                id=digest("fact", self.user, [source.id], normalize(content), slot),
                slot=slot,
                origin="consolidation",
                source_ids=(source.id,),
                metadata={},
                pinned=False,
            )
            if fact.id not in self.forgotten:
                self._write(Held(fact), now)

    # -- forgetting ------------------------------------------------------------------------------------------------

    def forget(self, memory_id: str) -> None:
        """Forget a memory and the facts that rested on it alone."""
        gone = self._resting_on(memory_id)
        self.forgotten |= gone
        self._lose(gone, gone)

    def reworded(self, memory_id: str) -> None:
        """Take back the facts that rested on what a record said before."""
        if self.held[memory_id].memory.tier is LONG:
            self.consumed.discard(memory_id)
            gone = self._resting_on(memory_id)
            self._lose(gone, gone - {memory_id})

    def _resting_on(self, memory_id: str) -> set[str]:
        """Return the memory and the facts that rest on it alone."""
        gone = {memory_id}
        while True:
            falling = {
                i
                for i, one in self.held.items()
                if one.memory.origin == "consolidation" and i not in gone and gone.issuperset(one.memory.source_ids)
            }
            if not falling:
                return gone
            gone |= falling

    def _lose(self, sources: set[str], removed: set[str]) -> None:
        for one in removed:
            self.held.pop(one, None)
        for i, left in list(self.held.items()):
            if left.memory.tier is LONG:
                kept = tuple(one for one in left.memory.source_ids if one not in sources)
                self.held[i] = replace(left, memory=replace(left.memory, source_ids=kept))

    def moved_to(self, user: str, now: datetime) -> Mirror:
        """Return what an import of an export makes of these memories in an empty user."""
        other = Mirror(user, self.drawn)
        other.transcripts = {session: list(told) for session, told in self.transcripts.items()}
        for one in self.held.values():
            if not one.due(now) or one.worth:
                moved = Held(replace(one.memory, user_id=user, tier=LONG))
                other._write(moved, now)
        return other
