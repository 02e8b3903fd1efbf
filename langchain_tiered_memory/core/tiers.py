"""One stored tier by itself, blocking."""

from __future__ import annotations

from dataclasses import dataclass, replace

from langchain_tiered_memory.core import asking, inputs
from langchain_tiered_memory.core.derive import derive_id
from langchain_tiered_memory.core.errors import InvalidInput, NotFound
from langchain_tiered_memory.core.model import Memory, RecallResult, Tier
from langchain_tiered_memory.core.opening import Opening


@dataclass(frozen=True, slots=True)
class SyncTier:
    """Short-term or long-term memory: stores, searches and deletes there and nowhere else."""

    _opening: Opening
    tier: Tier

    def store(self, user_id: str, memory: Memory) -> Memory:
        """Store a memory in this tier as it is, times and counts included, and return it with its id.

        Idempotent by `id`; without one the id follows from speaker, session, content and `observed_at`.

        Raises:
            InvalidInput: It is no memory, or a field of it cannot be used; nothing was written.
            Conflict: The id exists with another content, or was forgotten.
        """
        user = inputs.user(user_id)
        rooms = self._opening.writable(user)
        memory = inputs.memory(memory, rooms.parts.settings.placement.max_content_bytes)
        if self.tier is Tier.SHORT_TERM and memory.slot is not None:
            raise InvalidInput("slot", memory.slot, "a value of a slot is kept in long-term memory")
        inputs.stated(memory.slot, memory.metadata)
        named = memory.id or derive_id(memory, user, memory.observed_at)
        entry = rooms.admission.revised(replace(memory, id=named, user_id=user, tier=self.tier))
        rooms.maintenance.settle(user, [entry])
        stored = rooms.writing.write(user, [entry], "remember")[0]
        rooms.background.wake(user)
        return stored

    def search(self, user_id: str, query: str, k: int = 5) -> RecallResult:
        """Return the best k memories of this tier, best first, and count the access."""
        rooms = self._opening.ready()
        asked = asking.question(inputs.user(user_id), query, k, weights=rooms.parts.weights)
        return rooms.recall.recall(replace(asked, tier=self.tier))

    def get_high_access(self, user_id: str, min_count: int = 3) -> tuple[Memory, ...]:
        """Return the memories that were read at least `min_count` times, the most read first."""
        rooms = self._opening.rooms()
        return rooms.reading.most_read(inputs.user(user_id), self.tier, inputs.count("min_count", min_count, 0))

    def delete(self, user_id: str, id: str) -> bool:
        """Forget a memory for good and say whether it was in this tier."""
        rooms = self._opening.rooms()
        user, wanted = inputs.user(user_id), inputs.label("id", id)
        store = rooms.parts.items if self.tier is Tier.SHORT_TERM else rooms.parts.records
        if not store.get(user, [wanted]):
            return False
        try:
            rooms.forgetting.forget(user, [wanted])
        except NotFound:  # somebody else was first
            return False
        return True
