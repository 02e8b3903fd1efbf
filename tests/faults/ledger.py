"""Who counts what was acknowledged: nothing may be lost, nothing doubled, nothing be another user's."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import Memory

EVERYTHING = 1_000_000


class Ledger:
    """Remembers through an engine, and keeps for itself what was acknowledged and what may be there. Thread-safe.

    Attributes:
        refused: How many writes were not acknowledged; each may have been done all the same.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._acknowledged: dict[str, dict[str, str]] = defaultdict(dict)
        self._tried: dict[str, dict[str, str]] = defaultdict(dict)
        self.refused = 0

    def remember(self, engine: Engine, user_id: str, number: str, *, importance: float) -> Memory | None:
        """Write one memory under an id of its own; None if that was not acknowledged."""
        content = f"{user_id} saw number {number}"
        memory_id = f"{user_id}-{number}"
        self.told(user_id, memory_id, content, acknowledged=False)
        try:
            stored = engine.remember(user_id, content, importance=importance, id=memory_id)
        except BackendUnavailable:
            with self._lock:
                self.refused += 1
            return None
        assert (stored.user_id, stored.id, stored.content) == (user_id, memory_id, content)
        self.told(user_id, memory_id, content, acknowledged=True)
        return stored

    def told(self, user_id: str, memory_id: str, content: str, *, acknowledged: bool) -> None:
        """Note a write that was tried, or acknowledged."""
        with self._lock:
            self._tried[user_id][memory_id] = content
            if acknowledged:
                self._acknowledged[user_id][memory_id] = content

    def acknowledged(self, user_id: str) -> dict[str, str]:
        """Return id to content of what was acknowledged."""
        with self._lock:
            return dict(self._acknowledged[user_id])

    def check(self, engine: Engine, users: Iterable[str]) -> None:
        """Compare with what an engine lists and recalls; the facts that were drawn are another matter."""
        for user in users:
            found = engine.list(user, include_superseded=True, limit=EVERYTHING)
            recalled = engine.recall(user, "number", EVERYTHING, include_superseded=True, touch=False)
            assert recalled.failed == ()
            assert {one.user_id for one in found} | {one.user_id for one in recalled} <= {user}
            for shown in (found, recalled):
                mine = [one for one in shown if one.origin != "consolidation"]
                doubled = [one for one, n in Counter(memory.id for memory in mine).items() if n > 1]
                assert doubled == []
                held = {memory.id: memory.content for memory in mine}
                lost = self.acknowledged(user).items() - held.items()
                assert not lost
                assert held.items() <= self._tried[user].items()

    def check_hits(self, user_id: str, hits: Iterable[Memory]) -> None:
        """Check what a recall returned in the middle of it: the user's own, as it was written, each once."""
        seen = Counter(hit.id for hit in hits)
        assert set(seen.values()) <= {1}
        with self._lock:
            for hit in hits:
                assert (hit.user_id, hit.content) == (user_id, self._tried[user_id][hit.id])
