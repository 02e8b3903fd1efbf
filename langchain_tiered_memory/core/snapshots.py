"""The snapshots of all users: found, patched forward to what the stores hold, and bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import MemoryStore, Touched
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
        failed: dict[str, None] = {}
        for tier, store in self._lagging(snapshot):
            try:
                self._catch_up(snapshot, tier, store)
            except BackendUnavailable:
                failed[str(tier)] = None
        self._keep(snapshot)
        return snapshot, tuple(failed)

    def strict(self, user_id: str) -> Snapshot:
        """Return the user's snapshot as of now.

        Raises:
            BackendUnavailable: A tier did not answer.
        """
        snapshot = self._held.get(user_id) or self._fresh(user_id)
        for tier, store in self._lagging(snapshot):
            self._catch_up(snapshot, tier, store)
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

    def _lagging(self, snapshot: Snapshot) -> Iterator[tuple[Tier, MemoryStore]]:
        """Yield the stores to catch up with. Items first: one on its way is then seen here, or there, or in both."""
        yield Tier.SHORT_TERM, self._parts.items
        seen = snapshot.versions[Tier.SHORT_TERM]
        yield Tier.LONG_TERM, self._parts.records
        if snapshot.versions[Tier.SHORT_TERM] != seen:
            yield Tier.SHORT_TERM, self._parts.items

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

    def _catch_up(self, snapshot: Snapshot, tier: Tier, store: MemoryStore) -> None:
        while True:
            seen = snapshot.versions[tier]
            if store.version(snapshot.user_id) == seen:
                return
            changes = store.changes(snapshot.user_id, seen, indexed_vectors=not snapshot.partial)
            with snapshot.lock:
                if snapshot.versions[tier] == seen:
                    snapshot.apply(tier, changes)
                    return

    def _keep(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._held[snapshot.user_id] = snapshot
            self._held.move_to_end(snapshot.user_id)
            total = sum(one.nbytes for one in self._held.values()) if len(self._held) > 1 else 0
            while len(self._held) > 1 and total > self._parts.settings.search.snapshot_bytes:
                total -= self._held.popitem(last=False)[1].nbytes
