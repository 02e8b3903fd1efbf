"""The snapshots of all users: found, patched forward to what the stores hold, and bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Changes, MemoryStore, Touched
from langchain_tiered_memory.core.snapshot import Snapshot


class Snapshots:
    """One snapshot per user, least recently used first to go. Thread-safe; no store is asked inside a lock."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._held: OrderedDict[str, Snapshot] = OrderedDict()
        self._lock = threading.Lock()
        self._others: list[Callable[[str | None], None]] = []

    def also_discard(self, other: Callable[[str | None], None]) -> None:
        """Let `discard` call this too: what else a process holds of a user goes with the snapshot."""
        self._others.append(other)

    def get(self, user_id: str) -> tuple[Snapshot, tuple[str, ...]]:
        """Return the user's snapshot as of now, and the tiers that could not be asked.

        The rows of a tier that did not answer are the last that were seen; the caller leaves them out.
        """
        snapshot = self._held.get(user_id)
        if snapshot is None or snapshot.wasteful or self._outgrown(snapshot):
            snapshot = self._fresh(user_id)
        failed = self._catch_up(snapshot)
        self._keep(snapshot)
        return snapshot, tuple(str(tier) for tier in failed)

    def strict(self, user_id: str) -> Snapshot:
        """Return the user's snapshot as of now.

        Raises:
            BackendUnavailable: A tier did not answer.
        """
        snapshot = self._held.get(user_id) or self._fresh(user_id)
        for error in self._catch_up(snapshot).values():
            raise error
        self._keep(snapshot)
        return snapshot

    def holds(self, user_id: str) -> bool:
        """Say whether something is held of the user."""
        return user_id in self._held

    def touch(self, user_id: str, tier: Tier, touched: Touched, now: datetime) -> None:
        """Let the held snapshot follow a touch of our own without reading it back."""
        snapshot = self._held.get(user_id)
        if snapshot is not None and touched.ids:
            with snapshot.lock:
                snapshot.touch(tier, touched, now)

    def in_both(self, user_id: str, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids that are in both tiers, as far as the held snapshot knows."""
        snapshot = self._held.get(user_id)
        if snapshot is None:
            return frozenset()
        with snapshot.lock:
            return snapshot.in_both(ids)

    def discard(self, user_id: str | None = None) -> None:
        """Throw away one user's snapshot, or all of them."""
        with self._lock:
            if user_id is None:
                self._held.clear()
            else:
                self._held.pop(user_id, None)
        for other in self._others:
            other(user_id)

    def partial(self, user_id: str) -> bool:
        """Return whether this user is searched through the vector index."""
        if self._parts.index is None:
            return False
        return self._parts.index_always or self._parts.records.vector_count(user_id) > self._limit

    @property
    def _limit(self) -> int:
        return self._parts.settings.search.exact_up_to

    def _outgrown(self, snapshot: Snapshot) -> bool:
        """Say whether so many vectors came to be held here that the index should take them over."""
        return self._parts.index is not None and snapshot.vector_count > max(self._limit, 4_000)

    def _fresh(self, user_id: str) -> Snapshot:
        snapshot = Snapshot(user_id, self._parts.embedder.model_id)
        try:
            snapshot.partial = self.partial(user_id)
        except BackendUnavailable:
            snapshot.partial = False  # the long-term tier does not answer, so there is nothing to search in it
        return snapshot

    def _catch_up(self, snapshot: Snapshot) -> Mapping[Tier, BackendUnavailable]:
        """Let a snapshot that others may be reading follow the stores; return what did not answer.

        Items are read first and taken over last: whatever is on its way is seen here, or there, or in both, by whoever
        looks at the snapshot meanwhile too.
        """
        failed: dict[Tier, BackendUnavailable] = {}
        while True:
            seen = snapshot.versions[Tier.SHORT_TERM]
            items = self._fetched(snapshot, Tier.SHORT_TERM, self._parts.items, failed)
            while (records := self._fetched(snapshot, Tier.LONG_TERM, self._parts.records, failed)) is not None:
                if self._take(snapshot, Tier.LONG_TERM, *records):
                    break
            if items is not None and self._take(snapshot, Tier.SHORT_TERM, *items):
                return failed
            # A record that was in an item's way has gone, and the items have to be read again; or others were faster.
            if snapshot.versions[Tier.SHORT_TERM] == seen or Tier.SHORT_TERM in failed:
                return failed

    def _fetched(
        self, snapshot: Snapshot, tier: Tier, store: MemoryStore, failed: dict[Tier, BackendUnavailable]
    ) -> tuple[int, Changes] | None:
        """Return what changed in a tier, and since which version; None when nothing did, or it does not answer."""
        if tier in failed:
            return None
        seen = snapshot.versions[tier]
        try:
            if store.version(snapshot.user_id) == seen:
                return None
            return seen, store.changes(snapshot.user_id, seen, indexed_vectors=not snapshot.partial)
        except BackendUnavailable as error:
            failed[tier] = error
            return None

    @staticmethod
    def _take(snapshot: Snapshot, tier: Tier, seen: int, changes: Changes) -> bool:
        """Take over what changed since a version; False when somebody else was faster."""
        with snapshot.lock:
            fresh = snapshot.versions[tier] == seen
            if fresh:
                snapshot.apply(tier, changes)
            return fresh

    def _keep(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._held[snapshot.user_id] = snapshot
            self._held.move_to_end(snapshot.user_id)
            total = sum(one.nbytes for one in self._held.values()) if len(self._held) > 1 else 0
            while len(self._held) > 1 and total > self._parts.settings.search.snapshot_bytes:
                total -= self._held.popitem(last=False)[1].nbytes
