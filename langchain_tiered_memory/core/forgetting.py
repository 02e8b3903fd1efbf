"""Forgetting for good: one memory and what rested on it, or a whole user."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence

from langchain_tiered_memory.core.errors import BackendUnavailable, NotFound
from langchain_tiered_memory.core.indexing import Indexing
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.reports import ForgetReceipt
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.summaries import Summaries

logger = logging.getLogger("langchain_tiered_memory.forgetting")


class Forgetting:
    """Deletes the truth first, with an intent; clears the other places after it; then closes the intent."""

    def __init__(self, parts: Parts, snapshots: Snapshots, indexing: Indexing, summaries: Summaries) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._indexing = indexing
        self._summaries = summaries

    def forget(self, user_id: str, ids: Sequence[str]) -> ForgetReceipt:
        """Forget memories; see `MemorySystem.forget`.

        Raises:
            NotFound: The user has no such memory; nothing was forgotten.
        """
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            sessions = set[str]()
            for one in ids:
                row = snapshot.row_of(one)
                if row is None:
                    raise NotFound(one)
                sessions.add(snapshot.entry(row).memory.session_id or "")
            short = [one for one in ids if one in snapshot.ids(Tier.SHORT_TERM)]
        gone = self._parts.records.forget(user_id, ids, self._parts.clock())
        with snapshot.lock:
            snapshot.forget([*ids, *gone.derived])
        pending = self._clear(user_id, ids, sessions - {""})
        return ForgetReceipt(
            short_term=len(short),
            long_term=len(gone.removed) + len(gone.derived),
            derived=len(gone.derived),
            vectors=gone.vectors,
            pending=pending,
        )

    def let_go(self, user_id: str, versions: Mapping[str, int], by: str) -> frozenset[str]:
        """Forget records that are still what they were when they were chosen; return which went.

        The summary of a session stays: it was not chosen, and is what is to be left of such records.

        Args:
            user_id: Whose.
            versions: Id to the version of its row when it was chosen.
            by: What chose them, for the history.
        """
        now = self._parts.clock()
        gone = self._parts.records.forget(user_id, list(versions), now, by=by, versions=versions)
        if gone.removed:
            snapshot = self._snapshots.strict(user_id)
            with snapshot.lock:
                snapshot.forget([*gone.removed, *gone.derived])
            self._clear(user_id, gone.removed, ())
        return frozenset(gone.removed)

    def forget_user(self, user_id: str) -> ForgetReceipt:
        """Forget everything of a user; see `MemorySystem.forget_user`."""
        counts = self._parts.records.erase(user_id, self._parts.clock())
        self._snapshots.discard(user_id)
        messages, short, pending = self._erase_elsewhere(user_id)
        return ForgetReceipt(
            short_term=short,
            long_term=counts.get("long_term", 0),
            messages=messages,
            vectors=counts.get("vectors", 0),
            pending=pending,
        )

    def settle(self, user_id: str) -> None:
        """Finish an erasure of the user that was interrupted, before anything is written that it would take along.

        Raises:
            BackendUnavailable: A place that is still to be cleared does not answer.
        """
        if not self._erasing(user_id):
            return
        for place in self.finish(user_id)[1]:
            raise BackendUnavailable(place, "be cleared", "an erasure of this user has to be finished first")

    def finish(self, user_id: str | None = None) -> tuple[int, tuple[str, ...]]:
        """Finish what an interrupted forget left open; return how many users were erased, and the places that wait."""
        erased, pending = 0, list[str]()
        for owner, ids in self._parts.records.intents().items():
            if user_id is not None and owner != user_id:
                continue
            if ids is None:
                if not self._erasing(owner):
                    continue  # somebody else has finished it, and the user may have come back since
                left = self._erase_elsewhere(owner)[2]
                erased += not left
                self._snapshots.discard(owner)
            else:
                left = self._clear(owner, ids, None)
            pending += left
        return erased, tuple(pending)

    def _erasing(self, user_id: str) -> bool:
        """Say whether an erasure of the whole user is open."""
        return self._parts.records.intents().get(user_id, ()) is None

    def _clear(self, user_id: str, ids: Sequence[str], sessions: Collection[str] | None) -> tuple[str, ...]:
        """Clear the other places of these ids; return those that did not answer.

        Args:
            user_id: Whose.
            ids: What was forgotten.
            sessions: The sessions whose summaries may tell of it; None: it is no longer known which.
        """
        pending = []
        try:
            self._summaries.drop(user_id, sessions)
            self._parts.items.remove(user_id, dict.fromkeys(ids))
            self._parts.records.close_intents(user_id, ids)
        except BackendUnavailable:
            logger.warning("%d forgotten items wait for short-term memory", len(ids))
            pending.append(str(Tier.SHORT_TERM))
        try:
            self._indexing.sync_index(user_id)
        except BackendUnavailable:
            logger.warning("forgotten vectors wait for the vector index")
            pending.append("vector_index")
        return tuple(pending)

    def _erase_elsewhere(self, user_id: str) -> tuple[int, int, tuple[str, ...]]:
        """Clear every place but the records; return messages, items and the places that did not answer."""
        summaries = self._summaries.count(user_id)
        messages = max(self._parts.transcripts.forget(user_id) - summaries, 0)
        items, pending = 0, []
        try:
            items = self._parts.items.forget(user_id)
        except BackendUnavailable:
            logger.warning("an erasure waits for short-term memory")
            pending.append(str(Tier.SHORT_TERM))
        try:
            self._indexing.drop(user_id)
        except BackendUnavailable:
            logger.warning("an erasure waits for the vector index")
            pending.append("vector_index")
        if not pending:
            self._parts.drop(user_id)
            self._parts.records.close_intents(user_id, None)
        return messages, items, tuple(pending)
