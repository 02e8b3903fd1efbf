"""What happens without being asked: users that were written to are indexed soon and maintained now and then."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta

from langchain_tiered_memory.core.errors import TieredMemoryError
from langchain_tiered_memory.core.indexing import Indexing
from langchain_tiered_memory.core.maintenance import Maintenance
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts

logger = logging.getLogger("langchain_tiered_memory.background")

_PAUSE_S = 1.0
"""Seconds without a write after which the work begins."""
_MOST_PAUSES = 2_000
"""After so many writes it begins all the same."""
_AT_OPENING = 1_000
"""Most users that opening a store looks after; a worker is for those who have more."""


class Background:
    """One daemon thread, started by the first user to look after. It holds no lock while it works."""

    def __init__(self, parts: Parts, maintenance: Maintenance, indexing: Indexing) -> None:
        self._parts = parts
        self._maintenance = maintenance
        self._indexing = indexing
        self._waiting: OrderedDict[str, None] = OrderedDict()
        self._maintained: dict[str, datetime] = {}
        self._written: set[str] = set()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopping = False

    def wake(self, user_id: str) -> None:
        """Look after a user who was just written to."""
        self._parts.note(user_id, Tier.LONG_TERM)
        if self._parts.settings.maintenance.automatic:
            self._written.add(user_id)
            self._enqueue([user_id])

    def opened(self) -> None:
        """Look after those who were left when the store was last closed."""
        if not self._parts.settings.maintenance.automatic:
            return
        try:
            left = self._maintenance.users()[:_AT_OPENING]
        except TieredMemoryError as error:
            logger.warning("nobody can be looked after yet: %s", type(error).__name__)
            return
        self._enqueue(left)

    def close(self) -> None:
        """Stop after the step under way, then maintain the users written to that are due. Twice is fine."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        for user_id in sorted(self._written):
            self._look_after(user_id, models=False)  # nobody who closes should wait for a model
        self._written.clear()

    def _enqueue(self, user_ids: Iterable[str]) -> None:
        with self._condition:
            if self._stopping:
                return
            self._waiting.update(dict.fromkeys(user_ids))
            if self._waiting and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="tiered-memory", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def _run(self) -> None:
        while self._settled():
            with self._condition:
                due, self._waiting = self._waiting, OrderedDict()
            for user_id in due:
                if self._stopping:
                    return
                self._look_after(user_id)

    def _settled(self) -> bool:
        """Wait until there is something to do and writing has paused, or gone on for long; False to stop.

        An index is far cheaper to write in batches, and whoever writes should not share the machine with it.
        """
        with self._condition:
            while not self._waiting and not self._stopping:
                self._condition.wait()
            for _ in range(_MOST_PAUSES):
                if self._stopping or not self._condition.wait(_PAUSE_S):
                    break
            return not self._stopping

    def _look_after(self, user_id: str, *, models: bool = True) -> None:
        try:
            if self._due(user_id):
                self._maintained[user_id] = self._parts.clock()
                self._maintenance.run(user_id, dry_run=False, models=models)
            else:
                self._indexing.embed_pending(user_id, self._parts.settings.maintenance.batch)
                self._indexing.sync_index(user_id)
        except TieredMemoryError as error:
            logger.warning("background work for one user stays due: %s", type(error).__name__)

    def _due(self, user_id: str) -> bool:
        last = self._maintained.get(user_id)
        every: timedelta = self._parts.settings.maintenance.every
        return last is None or abs(self._parts.clock() - last) >= every
