"""Writing admitted entries to the tier that each belongs to."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Change, Entry, Placed


class Writing:
    """Writes each tier's entries whole or not at all. Repeating a write that failed halfway doubles nothing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def write(self, user_id: str, entries: Sequence[Entry], by: str) -> tuple[Memory, ...]:
        """Write the entries and return the memories as they now stand, in order.

        Long-term entries are one transaction, short-term entries another, in this order.

        Raises:
            Conflict: An id was forgotten, or exists with another content; that tier has nothing of this call.
            BackendUnavailable: A store failed; what the message names was not written.
        """
        forgotten = self._parts.records.tombstones(user_id, [entry.memory.id for entry in entries])
        if forgotten:
            raise Conflict(f"{shown(min(forgotten))} was forgotten and stays so: remember it under another id")
        return tuple(placed.memory for placed in self._placed(user_id, entries, by))

    def episodes(self, user_id: str, entries: Sequence[Entry]) -> None:
        """Write a session's episodes; those that were forgotten meanwhile stay so."""
        if not entries:
            return
        forgotten = self._parts.records.tombstones(user_id, [entry.memory.id for entry in entries])
        self._placed(user_id, [entry for entry in entries if entry.memory.id not in forgotten], "session")

    def _placed(self, user_id: str, entries: Sequence[Entry], by: str) -> list[Placed]:
        records = [entry for entry in entries if entry.memory.tier is Tier.LONG_TERM]
        items = [entry for entry in entries if entry.memory.tier is Tier.SHORT_TERM]
        placed: dict[int, Placed] = {}
        if records:
            change = Change(entries=tuple(records), at=self._parts.clock(), by=by)
            placed |= zip(map(id, records), self._parts.records.apply(user_id, change), strict=True)
        if items:
            self._parts.note(user_id, Tier.SHORT_TERM)  # first: a crash leaves nothing to do, and no item unseen
            placed |= zip(map(id, items), self._parts.items.put(user_id, items), strict=True)
        return [placed[id(entry)] for entry in entries]
