"""What a user's memories have to be, in a dict: the rules of the life of an item, without any store.

Which value of a slot holds when is decided by the core's own pure functions; `tests/unit/test_slots.py` holds them to
what they promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_tiered_memory.core.derive import derive_id, digest
from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.importance import RuleScorer
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.core.slots import file_in_chain, settled
from langchain_tiered_memory.core.stated import founding, left_over, reworded, without
from langchain_tiered_memory.core.text import normalize
from langchain_tiered_memory.testing import FakeExtractor

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
EPISODES = {
    "we went to the lake": 0.3,
    "it rained": 0.6,
    "I moved house": 0.9,
    "the train was late": 0.1,
    "I have lived in Porto for ages": 0.9,
    "I lived in Rome last summer": 0.3,
    "I left Porto": 0.6,
}
STATEMENTS = {"Ada plays chess": 0.85, "ada  plays CHESS": 0.85, "tea, not coffee": 0.5, "blue is nice": 0.2}
VALUES: Mapping[str, Mapping[str, Any]] = {
    "Porto": {},
    "porto": {},
    "Oslo": {},
    "I live in Rome": {"value": "rome"},
    "I am back in Porto": {"value": "Porto"},
    "I do not live in Rome": {"value": "rome", "negated": True},
}
"""What a slot is said to be, and what that states beside its words."""


def drawn(content: str, slot: str | None = None, **fields: Any) -> ExtractedFact:
    return ExtractedFact(content=content, slot=slot, source_ids=(), **fields)


DRAWN = {
    "we went to the lake": (drawn("the lake is near"),),
    "it rained": (drawn("the lake is near"), drawn("umbrellas help")),
    "I moved house": (drawn("Porto", "home"),),
    "I have lived in Porto for ages": (
        drawn("in Porto for ages", "home", value="porto", observed_at=EPOCH - timedelta(hours=500)),
    ),
    "I lived in Rome last summer": (
        drawn("lived in Rome", "home", value="rome", observed_at=EPOCH - timedelta(400), valid_to=EPOCH - timedelta(1)),
    ),
    "I left Porto": (drawn("left Porto", "home", value="porto", negated=True),),
}
SAID = ("we went to the lake", "ok thanks", "I am allergic to peanuts", "I moved house")
"""What is said, with its importance, and what is drawn from it: content and slot."""

LIFE = timedelta(hours=24)
REPEATED = timedelta(seconds=60)
SHORT, LONG = Tier.SHORT_TERM, Tier.LONG_TERM


def extractor() -> FakeExtractor:
    return FakeExtractor(DRAWN)


@dataclass(frozen=True)
class Held:
    """One memory.

    Attributes:
        memory: As the system has to show it.
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
    drawn: Mapping[str, Sequence[ExtractedFact]]
    held: dict[str, Held] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    consumed: set[str] = field(default_factory=set)
    transcripts: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def shown(self, now: datetime) -> dict[str, Memory]:
        """Return what `list(include_superseded=True)` has to show."""
        return {i: h.memory for i, h in self.held.items() if h.worth or not h.due(now)}

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
        alike = None if memory.slot is not None else self._alike(new, now)
        if memory.slot is not None:
            self._file(memory)
        elif alike is None:
            ends = None if memory.tier is LONG else memory.created_at + LIFE
            self.held[memory.id] = replace(new, ends=ends)
        elif memory.memory_type is not MemoryType.EPISODE:
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

    def _chain(self, slot: str | None) -> list[Memory]:
        return [one.memory for one in self.held.values() if one.memory.slot == slot]

    def _file(self, memory: Memory) -> None:
        filing = file_in_chain(self._chain(memory.slot), memory)
        added = [*([] if filing.reinforces else [filing.new]), *(one.memory for one in filing.again)]
        self.held |= {one.id: Held(one) for one in (*filing.changed, *added)}

    def _settle(self, slots: Iterable[str | None], now: datetime) -> None:
        for slot in set(slots) - {None}:
            self.held |= {one.id: Held(one) for one in settled(self._chain(slot), now).records}

    def update(self, memory_id: str, changed: Mapping[str, Any], now: datetime) -> None:
        """Change a memory; what was drawn from other words goes."""
        old = self.held[memory_id].memory
        new = replace(old, **changed)
        about = reworded(old, new)
        self.held[memory_id] = replace(self.held[memory_id].stands(**{**changed, "metadata": about}), repeatable=False)
        self._settle([old.slot], now)
        if new.content != old.content:
            self._reworded(memory_id, now)

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
        for found in self.drawn.get(source.content, ()):
            since = found.observed_at or source.observed_at
            about: dict[str, Any] = {} if found.value is None else {"value": found.value}
            about |= {"negated": True} if found.negated else {}
            if found.slot and since < source.observed_at and found.valid_to is None:
                about["confirmed"] = {source.observed_at.isoformat(): {source.id: None}}
            fact = replace(
                source,
                content=found.content,
                memory_type=MemoryType.FACT,
                created_at=now,
                last_accessed=source.observed_at,
                access_count=0,
                id=digest("fact", self.user, [source.id], normalize(found.content), found.slot),
                observed_at=since,
                valid_to=found.valid_to,
                slot=found.slot,
                origin="consolidation",
                source_ids=(source.id,),
                metadata=about,
                pinned=False,
            )
            if fact.id not in self.forgotten and fact.id not in self.held:
                self._write(Held(fact), now)

    # -- forgetting ------------------------------------------------------------------------------------------------

    def forget(self, memory_id: str, now: datetime) -> None:
        """Forget a memory and the facts that rested on it alone."""
        gone = self._resting_on(memory_id)
        self.forgotten |= gone
        self._lose(gone, gone, memory_id, now)

    def _reworded(self, memory_id: str, now: datetime) -> None:
        """Take back the facts that rested on what a record said before."""
        if self.held[memory_id].memory.tier is LONG:
            self.consumed.discard(memory_id)
            gone = self._resting_on(memory_id)
            self._lose(gone, gone - {memory_id}, memory_id, now)

    def _resting_on(self, memory_id: str) -> set[str]:
        """Return the memory and the facts that rest on it alone, or have their words from it."""
        gone = {memory_id}
        while True:
            falling = {
                i
                for i, one in self.held.items()
                if one.memory.origin == "consolidation"
                and i not in gone
                and gone.issuperset(founding(one.memory) or one.memory.source_ids)
            }
            if not falling:
                return gone
            gone |= falling

    def _lose(self, sources: set[str], removed: set[str], asked: str, now: datetime) -> None:
        lost = {one: self.held.pop(one).memory for one in removed if one in self.held}
        slots = {one.slot for one in lost.values()}
        for i, left in list(self.held.items()):
            if left.memory.tier is LONG:
                self.held[i] = replace(left, memory=without(left.memory, sources))
                slots |= {left.memory.slot} if not sources.isdisjoint(left.memory.source_ids) else set()
        for i, one in lost.items():
            rest = None if i == asked else left_over(one, sources, now)
            if rest is not None:
                self.held[rest.id] = Held(rest)
        self._settle(slots, now)

    def moved_to(self, user: str, now: datetime) -> Mirror:
        """Return what an import of an export makes of these memories in an empty user."""
        other = Mirror(user, self.drawn)
        other.transcripts = {session: list(told) for session, told in self.transcripts.items()}
        for one in self.held.values():
            if not one.due(now) or one.worth:
                moved = Held(replace(one.memory, user_id=user, tier=LONG))
                other._write(moved, now)
        return other
