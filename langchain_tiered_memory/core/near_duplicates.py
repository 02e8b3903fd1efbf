"""Statements of long-term memory that say the same in other words: all but the oldest become part of it.

Who is told a thing five times and keeps each as important has five records of it. Consolidation looks at each statement
once, when it has come to long-term memory or was reworded: the ledger of consumed sources knows which. What was found
about a batch is written in one transaction with its ledger, so that a run that is interrupted anywhere goes on where it
stopped, and of two runs at once one writes.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_tiered_memory.core.errors import BackendUnavailable, Conflict, EmbeddingError
from langchain_tiered_memory.core.indexing import vectors_for
from langchain_tiered_memory.core.merging import Merging, is_statement
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.paraphrases import same_statement
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Change, Entry
from langchain_tiered_memory.core.snapshots import Snapshots

logger = logging.getLogger("langchain_tiered_memory.consolidation")

MOST = 1_000
"""Statements that one run looks at, which takes some 2 s among 5,000; the others have their turn next time."""
_BATCH = 100
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one run did.

    Attributes:
        joined: Statements that became part of another one.
        waiting: Those that are still to be looked at.
    """

    joined: int = 0
    waiting: int = 0


class NearDuplicates:
    """Joins a user's statements that say the same."""

    def __init__(self, parts: Parts, snapshots: Snapshots, merging: Merging) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._merging = merging

    def run(self, user_id: str, now: datetime, by: str) -> Gathered:
        """Look at the statements that nobody has looked at, oldest first, at most `MOST`.

        Raises:
            BackendUnavailable: A store did not answer; what was joined by then stays.
        """
        fresh = self._fresh(user_id)
        joined, waiting = 0, len(fresh[MOST:])
        for start in range(0, len(fresh[:MOST]), _BATCH):
            batch = fresh[:MOST][start : start + _BATCH]
            done = self._batch(user_id, batch, now, by)
            joined, waiting = joined + done.joined, waiting + done.waiting
            if done.waiting == len(batch):  # an embedder or an index that is silent would be asked in vain each time
                return Gathered(joined, waiting + len(fresh[start + len(batch) : MOST]))
        return Gathered(joined, waiting)

    def _fresh(self, user_id: str) -> list[str]:
        """Return the ids of statements that nobody has looked at, oldest first."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            heads = [head for head in snapshot.entries(Tier.LONG_TERM) if head.memory.current and is_statement(head)]
        ids = [head.memory.id for head in sorted(heads, key=_age)]
        done = self._parts.records.consumed(user_id, ids)
        return [one for one in ids if one not in done]

    def _batch(self, user_id: str, ids: Sequence[str], now: datetime, by: str) -> Gathered:
        """Look at some statements; those that kept changing, or could not be embedded, are left for another time."""
        lacking = self._embedded(user_id, ids)
        ids = [one for one in ids if one not in lacking]
        for attempt in range(_TRIES):
            if attempt:
                ids = [one for one in self._fresh(user_id) if one in ids]
            if not ids:  # and no new beginning, which would leave the name of a user who was erased
                return Gathered(waiting=len(lacking))
            since = self._parts.records.begin(user_id)
            looked, told, parts = self._found(user_id, ids)
            decided = {one: told[one] for one in (*looked, *parts, *parts.values()) if one in told}
            change = Change(consumed=looked, joined=parts, as_read=decided, at=now, by=by, strict=False, since=since)
            try:
                self._parts.records.apply(user_id, change)
            except Conflict:  # some were looked at, joined, reworded, forgotten or erased meanwhile: look again
                continue
            return Gathered(len(parts), len(lacking) + len(ids) - len(looked))
        logger.warning("%d statements were left for the next run: they kept changing", len(ids))
        return Gathered(waiting=len(lacking) + len(ids))

    def _embedded(self, user_id: str, ids: Collection[str]) -> frozenset[str]:
        """Embed those of the statements that wait for it, as imported ones do; return those that still lack vectors."""
        snapshot, wanted = self._snapshots.strict(user_id), frozenset(ids)
        with snapshot.lock:
            missing = {entry.memory.id: n for entry, n in snapshot.pending() if entry.memory.id in wanted}
        bodies = self._parts.records.get(user_id, list(missing)) if missing else ()
        try:
            made = vectors_for(self._parts, [(body, missing[body.id]) for body in bodies])
        except EmbeddingError as error:
            logger.warning("%d statements are compared another time, for they lack a vector: %s", len(missing), error)
            return frozenset(missing)
        if bodies:
            self._parts.records.embed(user_id, {b.id: vectors for b, vectors in zip(bodies, made, strict=True)})
        return frozenset()

    def _found(self, user_id: str, ids: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, str], Mapping[str, str]]:
        """Return what was looked at, what was read of it (id to content), and what becomes part of what."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            rows = {one: row for one in ids if (row := snapshot.row_of(one)) is not None}
            heads = {one: snapshot.entry(row) for one, row in rows.items()}
        vectors, model = self._parts.records.vectors(user_id, ids), self._parts.embedder.model_id
        told = {memory.id: memory.content for memory in self._parts.records.get(user_id, ids)}
        parts = dict[str, str]()
        for at, one in enumerate(ids):
            head = heads.get(one)
            vector = next((v.vector for v in vectors.get(one, ()) if v.model_id == model), None)
            if head is None or vector is None or one not in told or one in parts or not head.memory.current:
                continue
            try:
                near = self._merging.near(snapshot, head, vector, but=parts)
            except BackendUnavailable:
                logger.warning("the vector index does not answer: %d statements wait", len(ids) - at)
                return tuple(ids[:at]), told, parts
            unread = [other.memory.id for other in near if other.memory.id not in told]
            if unread:
                told |= {memory.id: memory.content for memory in self._parts.records.get(user_id, unread)}
            parts |= _parts(head, near, told, parts)
        return tuple(ids), told, parts


def _parts(head: Entry, near: Sequence[Entry], told: Mapping[str, str], parts: Mapping[str, str]) -> dict[str, str]:
    """Return which of a statement and those near it become part of the oldest of them that says the same."""

    def same(one: Entry, other: Entry) -> bool:
        return same_statement(told[one.memory.id], told[other.memory.id])

    alike = [head, *(one for one in near if one.memory.id in told and same(one, head))]
    first = min(alike, key=_age)
    grown = parts.values()  # one that has grown stays: what is part of it may say less than the same
    rest = [one for one in alike if one is not first and one.memory.id not in grown and same(one, first)]
    return {one.memory.id: first.memory.id for one in sorted(rest, key=_age)}


def _age(entry: Entry) -> tuple[datetime, int, str]:
    """Order statements by when they became true, then by when they were written."""
    return entry.memory.observed_at, entry.order, entry.memory.id
