"""From what was given to what is stored: checked, named, scored, placed, analysed and embedded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.config import PlacementSettings
from langchain_tiered_memory.core.derive import derive_id, duplicate_key, passage_texts, terms
from langchain_tiered_memory.core.errors import EmbeddingError, InvalidInput
from langchain_tiered_memory.core.indexing import vectors_for
from langchain_tiered_memory.core.model import Memory, MemoryType, NewMemory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots

logger = logging.getLogger("langchain_tiered_memory.admission")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a batch comes from.

    Attributes:
        by: What wrote it, for the history: "remember", "session", "import".
        embed: Whether the first passages are embedded now; otherwise they stay pending.
        single: Whether there is only one, whose position need not be named in errors.
    """

    by: str = "remember"
    embed: bool = True
    single: bool = False


class Homes:
    """Which tier each memory of one call goes to: what is the same, of this call too, goes where it stands."""

    def __init__(self, snapshot: Snapshot, placement: PlacementSettings) -> None:
        self.user_id = snapshot.user_id
        self._snapshot = snapshot
        self._placement = placement
        self._of_call: dict[tuple[str, str], Tier] = {}

    def of(self, memory: Memory, asked: Tier | None, *, repeatable: bool) -> Tier:
        """Place by importance alone, unless a tier was asked for, or a slot, or where the same memory stands.

        Args:
            memory: The memory, its id set.
            asked: The tier asked for; the same id overrides it, and so does the same statement in long-term memory.
            repeatable: Whether an episode may be a repetition of an earlier one.

        Raises:
            InvalidInput: A value of a slot is to go to short-term memory.
        """
        if asked is Tier.SHORT_TERM and memory.slot is not None:
            raise InvalidInput("tier", str(asked), "a value of a slot is kept in long-term memory: leave tier out")
        key = duplicate_key(memory) if repeatable or memory.memory_type is not MemoryType.EPISODE else None
        home = self._of_call.get(("id", memory.id)) or self._standing(memory)
        if home is None and key is not None and asked is not Tier.LONG_TERM:
            home = self._of_call.get(("key", key)) or self._alike(memory, key)
        if home is None:
            important = memory.importance > self._placement.long_term_above or memory.slot is not None
            home = asked or (Tier.LONG_TERM if important else Tier.SHORT_TERM)
        self._of_call[("id", memory.id)] = home
        if key is not None:
            self._of_call[("key", key)] = home
        return home

    def _standing(self, memory: Memory) -> Tier | None:
        """Return where a memory with this id stands."""
        with self._snapshot.lock:
            row = self._snapshot.row_of(memory.id)
            return None if row is None else _home(self._snapshot.entry(row), memory.created_at)

    def _alike(self, memory: Memory, key: str) -> Tier | None:
        """Return where a memory stands that says the same."""
        with self._snapshot.lock:
            same = self._snapshot.duplicate(key)
        if same is None:
            return None
        apart = abs(memory.created_at - same.memory.created_at)
        if memory.memory_type is MemoryType.EPISODE and apart > self._placement.repeat_within:
            return None
        return _home(same, memory.created_at)


def _home(entry: Entry, now: datetime) -> Tier | None:
    """Return the tier of a head, or None when its life is over."""
    alive = entry.expires_at is None or entry.expires_at > now
    return entry.memory.tier if alive else None


class Admission:
    """Turns new memories into entries. Nothing is written here, so that a refusal leaves no trace."""

    def __init__(self, parts: Parts, snapshots: Snapshots) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._last_order = 0
        self._lock = threading.Lock()

    def admit(self, user_id: str, items: Iterable[NewMemory], origin: Origin) -> list[Entry]:
        """Return one entry per item, in order, each with its tier.

        Raises:
            InvalidInput: An item cannot be stored; the field is named with its position.
            EmbeddingError: The embedder's vectors cannot be compared with the user's.
        """
        now = self._parts.clock()
        snapshot, _ = self._snapshots.get(user_id)
        homes = Homes(snapshot, self._parts.settings.placement)
        entries = [self._checked(homes, item, now, at, origin) for at, item in enumerate(items)]
        if not origin.embed:
            return entries
        embedded = self._embedded(entries)
        for vector in embedded[0].vectors if embedded else ():
            snapshot.demand_dimension(vector.vector)
        return embedded

    def revised(self, memory: Memory) -> Entry:
        """Return a changed memory as an entry, with its first passage embedded if the model answers."""
        return self._embedded([self.entry(memory, self._parts.clock(), repeatable=False)])[0]

    def entry(self, memory: Memory, now: datetime, *, repeatable: bool) -> Entry:
        """Return a memory with everything derived from its text but vectors.

        Args:
            memory: The memory; id, user and tier are set.
            now: The present.
            repeatable: Whether an episode without an instant of its own may be a repetition of an earlier one.
        """
        placement, short = self._parts.settings.placement, self._parts.settings.short_term
        episode = memory.memory_type is MemoryType.EPISODE
        return Entry(
            memory=memory,
            terms=terms(memory),
            passages=len(passage_texts(memory, placement.max_passages)),
            expires_at=memory.created_at + short.ttl if memory.tier is Tier.SHORT_TERM else None,
            duplicate_key=duplicate_key(memory) if repeatable or not episode else None,
            duplicate_within=placement.repeat_within if episode else None,
            order=self._next_order(now),
        )

    def _checked(self, homes: Homes, item: object, now: datetime, at: int, origin: Origin) -> Entry:
        if not isinstance(item, NewMemory):
            raise InvalidInput(f"items[{at}]", type(item), "a NewMemory is needed")
        try:
            memory = self._memory(homes.user_id, item, now, origin)
            repeatable = item.observed_at is None
            tier = homes.of(memory, inputs.tier(item.tier), repeatable=repeatable)
            return self.entry(replace(memory, tier=tier), now, repeatable=repeatable)
        except InvalidInput as error:
            if origin.single:
                raise
            raise InvalidInput(f"items[{at}].{error.field}", error.value, error.remedy) from None

    def _memory(self, user_id: str, item: NewMemory, now: datetime, origin: Origin) -> Memory:
        kind = inputs.memory_type(item.memory_type)
        text = inputs.content(item.content, self._parts.settings.placement.max_content_bytes)
        role = inputs.optional_label("role", item.role)
        observed_at = inputs.instant("observed_at", item.observed_at) or now
        importance = None if item.importance is None else inputs.share("importance", item.importance)
        memory = Memory(
            text,
            kind,
            self._scored(text, kind, role) if importance is None else importance,
            created_at=now,
            last_accessed=observed_at,
            id="" if item.id is None else inputs.label("id", item.id),
            user_id=user_id,
            observed_at=observed_at,
            slot=inputs.optional_label("slot", item.slot),
            session_id=inputs.optional_label("session_id", item.session_id),
            agent_id=inputs.optional_label("agent_id", item.agent_id),
            role=role,
            name=inputs.optional_label("name", item.name),
            origin=inputs.optional_label("origin", item.origin) or origin.by,
            metadata=inputs.metadata(item.metadata),
            pinned=inputs.flag("pinned", item.pinned),
        )
        inputs.stated(memory.slot, memory.metadata)
        return replace(memory, id=memory.id or derive_id(memory, user_id, observed_at))

    def _scored(self, text: str, kind: MemoryType, role: str | None) -> float:
        return inputs.share("importance", self._parts.scorer.score(text, memory_type=kind, role=role))

    def _next_order(self, now: datetime) -> int:
        """Return a number that grows from call to call, and with the clock from process to process."""
        with self._lock:
            self._last_order = max(self._last_order + 1, int(now.timestamp() * 1e6) * 1000)
            return self._last_order

    def _embedded(self, entries: Sequence[Entry]) -> list[Entry]:
        """Embed the first passage of each; when the model fails, all stay pending and nothing is lost."""
        try:
            made = vectors_for(self._parts, [(entry.memory, (0,)) for entry in entries])
        except EmbeddingError as error:
            logger.warning("%d memories are stored without a vector: %s", len(entries), error)
            return list(entries)
        return [replace(entry, vectors=vectors) for entry, vectors in zip(entries, made, strict=True)]
