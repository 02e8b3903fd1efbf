"""What a user wants whatever is asked: preferences and instructions, which resemble no question they matter for."""

from __future__ import annotations

import logging
from dataclasses import replace

from langchain_tiered_memory.core.bodies import bodies_of
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.question import Question, objection
from langchain_tiered_memory.core.search import Window, past_of
from langchain_tiered_memory.core.snapshots import Snapshots

logger = logging.getLogger("langchain_tiered_memory.standing")

_MOST = 100
"""Bodies fetched; the share of the budget ends long before."""


class Standing:
    """Finds the preferences that hold now; none that an assistant said."""

    def __init__(self, parts: Parts, snapshots: Snapshots) -> None:
        self._parts = parts
        self._snapshots = snapshots

    def find(self, question: Question, window: Window) -> tuple[Memory, ...]:
        """Return the preferences that may answer the question and that the window does not show, by weight.

        Pinned ones come first, then the more important, then the newer. A store that does not answer is logged, and
        the context goes without them.
        """
        asked = replace(question, memory_types=frozenset({MemoryType.PREFERENCE}), tier=None)
        asked = replace(asked, keeps=self._parts.settings.short_term.promote_importance)
        now = self._parts.clock()
        try:
            snapshot, _ = self._snapshots.get(question.user_id)
            with snapshot.lock:
                past = past_of(snapshot)
                heads = [
                    entry.memory
                    for entry in snapshot.entries()
                    if entry.memory.memory_type is MemoryType.PREFERENCE
                    and entry.memory.role != "assistant"
                    and objection(entry, asked, now, past) is None
                ]
            fresh = [one for one in heads if not _shown(one, window)]
            fresh.sort(key=lambda one: (not one.pinned, -one.importance, -one.observed_at.timestamp(), one.id))
            return bodies_of(self._parts, question.user_id, fresh[:_MOST])
        except BackendUnavailable:
            logger.warning("the context goes without standing preferences: a store does not answer")
            return ()


def _shown(memory: Memory, window: Window) -> bool:
    """Say whether the window shows a memory, or the message that it was drawn from."""
    drawn = memory.session_id == window.session_id and not window.ids.isdisjoint(memory.source_ids)
    return drawn or window.shows(memory)
