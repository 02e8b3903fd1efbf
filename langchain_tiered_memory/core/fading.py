"""Forgetting by itself what the policy lets go: in batches, beside everybody else, and never more than was judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from langchain_tiered_memory.core.forgetting import Forgetting
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.policy import Choice, choose
from langchain_tiered_memory.core.progress import Progress
from langchain_tiered_memory.core.question import is_due, is_lost
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots

BY = "policy"
"""What a history names as the cause."""


class Fading:
    """Chooses and forgets. Interrupted anywhere, the next run chooses anew from what is left."""

    def __init__(self, parts: Parts, snapshots: Snapshots, forgetting: Forgetting) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._forgetting = forgetting

    def due(self, user_id: str) -> tuple[Sequence[Choice], int]:
        """Return what one run would forget, and how many memories would be left to the next ones.

        What maintenance would first promote counts like what is there.
        """
        chosen = [choice for choice, _ in self._chosen(user_id, coming=True)]
        most = self._parts.settings.forgetting.most_per_run
        return chosen[:most], len(chosen[most:])

    def run(self, user_id: str) -> tuple[Sequence[Choice], int]:
        """Forget one run's share; return what was forgotten, and how many memories are left to the next ones.

        What was read, changed or came to be needed since it was chosen stays.
        """
        settings = self._parts.settings.forgetting
        chosen = self._chosen(user_id)
        due, left = chosen[: settings.most_per_run], len(chosen[settings.most_per_run :])
        gone: list[Choice] = []
        progress = Progress("forgetting", lambda: len(due))
        for start in range(0, len(due), settings.batch):
            batch = dict(due[start : start + settings.batch])
            versions = {choice.memory.id: version for choice, version in batch.items()}
            removed = self._forgetting.let_go(user_id, versions, BY)
            gone += [choice for choice in batch if choice.memory.id in removed]
            progress.advance(len(batch))
        return gone, left

    def _chosen(self, user_id: str, *, coming: bool = False) -> list[tuple[Choice, int]]:
        """Return what may go with the version it was judged by; what is on its way from short-term memory may not.

        Args:
            user_id: Whose.
            coming: Whether items past their lives that are worth keeping count as if they had been promoted.
        """
        settings = self._parts.settings.forgetting
        if not settings.active:
            return []
        now, snapshot = self._parts.clock(), self._snapshots.strict(user_id)
        with snapshot.lock:
            entries = {entry.memory.id: entry for entry in snapshot.entries(Tier.LONG_TERM)}
            moving = snapshot.in_both(entries)
            heads = [entry.memory for entry in entries.values()]
            promoted = self._promoted(snapshot, now) if coming else []
        versions = {one.id: 0 for one in promoted if one.id not in entries}
        heads += [one for one in promoted if one.id in versions]
        versions |= {one: entry.version for one, entry in entries.items() if one not in moving}
        chosen = choose(heads, settings, now)
        return [(choice, versions[choice.memory.id]) for choice in chosen if choice.memory.id in versions]

    def _promoted(self, snapshot: Snapshot, now: datetime) -> list[Memory]:
        """Return the items that maintenance would promote, as the records that they would be."""
        keeps = self._parts.settings.short_term.promote_importance
        items = snapshot.entries(Tier.SHORT_TERM)
        due = [entry.memory for entry in items if is_due(entry, now) and not is_lost(entry, now, keeps)]
        return [replace(memory, tier=Tier.LONG_TERM) for memory in due]
