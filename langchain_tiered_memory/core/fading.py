"""Forgetting by itself what the policy lets go: in batches, beside everybody else, and never more than was judged."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_tiered_memory.core.forgetting import Forgetting
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.policy import Choice, choose
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
        """Return what one run would forget, and how many memories would be left to the next ones."""
        chosen = [choice for choice, _ in self._chosen(user_id)]
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
        for start in range(0, len(due), settings.batch):
            batch = dict(due[start : start + settings.batch])
            versions = {choice.memory.id: version for choice, version in batch.items()}
            removed = self._forgetting.let_go(user_id, versions, BY)
            gone += [choice for choice in batch if choice.memory.id in removed]
        return gone, left

    def _chosen(self, user_id: str) -> list[tuple[Choice, int]]:
        """Return what may go with the version it was judged by; what is on its way from short-term memory may not."""
        settings = self._parts.settings.forgetting
        if not settings.active:
            return []
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            entries = {entry.memory.id: entry for entry in snapshot.entries(Tier.LONG_TERM)}
            moving = snapshot.in_both(entries)
        heads = [entry.memory for entry in entries.values()]
        chosen = choose(heads, settings, self._parts.clock())
        return [(choice, entries[choice.memory.id].version) for choice in chosen if choice.memory.id not in moving]
