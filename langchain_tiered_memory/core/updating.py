"""Changing what people may change of a memory, wherever it stands by now, and beside others who change it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.errors import Conflict, NotFound, shown
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.reading import Reading
from langchain_tiered_memory.core.snapshots import Snapshots

_TRIES = 50
"""A recall that returns the memory counts as a change too, and takes about as long as a try."""


class Updating:
    """Reads, changes and compares: an update rests on what the one before it left, in whatever process."""

    def __init__(self, parts: Parts, snapshots: Snapshots, admission: Admission, reading: Reading) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._admission = admission
        self._reading = reading

    def update(self, user_id: str, memory_id: str, given: Mapping[str, Any]) -> Memory:
        """Replace the fields given and what follows from them; see `MemorySystem.update`.

        Raises:
            NotFound: The user has no such memory.
            InvalidInput: A value of a slot cannot state that in its metadata.
            Conflict: It changed under every try; nothing was written.
        """
        revised: Entry | None = None
        for _ in range(_TRIES):
            version = self._version(user_id, memory_id)  # before its content is read: what comes between is noticed
            memory = replace(self._reading.get(user_id, memory_id), **given)
            inputs.stated(memory.slot, given.get("metadata", {}))
            if revised is None or revised.memory.content != memory.content:
                revised = self._admission.revised(memory)
            store = self._parts.items if memory.tier is Tier.SHORT_TERM else self._parts.records
            entry = replace(revised, memory=memory)
            try:
                return store.update(user_id, entry, self._parts.clock(), version=version[memory.tier])
            except (Conflict, NotFound):
                continue  # it was changed, read, promoted or forgotten: the next look tells
        raise Conflict(f"memory {shown(memory_id)} kept changing while it was updated: try again")

    def _version(self, user_id: str, memory_id: str) -> Mapping[Tier | None, int]:
        """Return the version of the memory in the tier where it stands, -1 in the others: no row has that."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            row = snapshot.row_of(memory_id)
            head = None if row is None else snapshot.entry(row)
        versions: dict[Tier | None, int] = {None: -1, Tier.SHORT_TERM: -1, Tier.LONG_TERM: -1}
        return versions if head is None else versions | {head.memory.tier: head.version}
