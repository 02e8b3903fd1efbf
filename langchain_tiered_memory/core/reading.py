"""Looking at what is stored without a query: pages, histories, the status."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langchain_tiered_memory.core.asking import Listing
from langchain_tiered_memory.core.bodies import bodies_of, items_of
from langchain_tiered_memory.core.errors import BackendUnavailable, NotFound
from langchain_tiered_memory.core.indexing import MODEL_KEY
from langchain_tiered_memory.core.model import HistoryEvent, Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.question import is_due, is_lost, objection
from langchain_tiered_memory.core.reports import Status
from langchain_tiered_memory.core.search import past_of
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.summary import APART, is_talk
from langchain_tiered_memory.core.tallies import Tally, talk_tallies, tallies

_COUNTED_AT_ONCE = 1_000_000
_STUCK_SHOWN = 20


class Reading:
    """Answers what needs no ranking."""

    def __init__(self, parts: Parts, snapshots: Snapshots) -> None:
        self._parts = parts
        self._snapshots = snapshots

    @property
    def _keeps(self) -> float:
        return self._parts.settings.short_term.promote_importance

    def get(self, user_id: str, memory_id: str) -> Memory:
        """Return one memory; an item past its life is hidden from here on.

        Raises:
            NotFound: The user has no such memory.
        """
        for record in self._parts.records.get(user_id, [memory_id]):
            return record
        for item in items_of(self._parts, user_id, [memory_id]):
            snapshot = self._snapshots.strict(user_id)
            with snapshot.lock:
                row = snapshot.row_of(memory_id)
                over = row is not None and is_lost(snapshot.entry(row), self._parts.clock(), self._keeps)
            if not over:
                return item
        for record in self._parts.records.get(user_id, [memory_id]):
            return record  # it was promoted between the two looks
        raise NotFound(memory_id)

    def page(self, listing: Listing) -> tuple[Memory, ...]:
        """Return a page of memories, the latest written first.

        Raises:
            NotFound: The page is to start after a memory that the user does not have.
        """
        question, now = replace(listing.question, keeps=self._keeps), self._parts.clock()
        snapshot = self._snapshots.strict(question.user_id)
        with snapshot.lock:
            heads = sorted(snapshot.entries(listing.tier), key=lambda entry: (-entry.order, entry.memory.id))
            past = past_of(snapshot)
            if listing.after is not None:
                row = snapshot.row_of(listing.after)
                if row is None:
                    raise NotFound(listing.after)
                last = snapshot.entry(row)
                heads = [h for h in heads if (-h.order, h.memory.id) > (-last.order, last.memory.id)]
            found = [entry.memory for entry in heads if objection(entry, question, now, past) is None]
        bodies = bodies_of(self._parts, question.user_id, found[: question.k])
        return tuple(memory for memory in bodies if listing.tier in {None, memory.tier})

    def most_read(self, user_id: str, tier: Tier, min_count: int) -> tuple[Memory, ...]:
        """Return a tier's memories that were read at least so often, the most read first, then the latest written."""
        snapshot, now = self._snapshots.strict(user_id), self._parts.clock()
        with snapshot.lock:
            heads = sorted(snapshot.entries(tier), key=lambda entry: (-entry.memory.access_count, -entry.order))
        alive = [head.memory for head in heads if not is_due(head, now)]
        wanted = [memory for memory in alive if memory.access_count >= min_count]
        return tuple(memory for memory in bodies_of(self._parts, user_id, wanted) if memory.tier is tier)

    def history(self, user_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
        """Return what happened to a memory, oldest first. A short-term item has only its creation to tell.

        Raises:
            NotFound: Neither a memory nor a tombstone has this id.
        """
        events = self._parts.records.history(user_id, memory_id)
        if events:
            return events
        for item in items_of(self._parts, user_id, [memory_id]):
            return (HistoryEvent(item.created_at, "created", item, item.origin or "remember"),)
        raise NotFound(memory_id)

    def status(self, user_id: str | None) -> Status:
        """Count what is stored, and say how it is served."""
        now, counted = self._parts.clock(), self._counted() if user_id is None else self._counted_of(user_id)
        ends = counted.ends if counted.ends is not None and counted.ends <= now else None
        return Status(
            users=counted.users,
            short_term=counted.short_term,
            long_term=counted.long_term,
            superseded=counted.superseded,
            messages=counted.messages,
            pending=counted.pending,
            unindexed=self._unindexed(user_id),
            erasures=len(self._parts.records.intents()),
            search=self._parts.index.name if counted.indexed and self._parts.index is not None else "exact",
            model=self._parts.records.read_meta(MODEL_KEY),
            backends={
                "short_term": self._parts.items.name,
                "long_term": self._parts.records.name,
                "transcripts": self._parts.transcripts.name,
                "vector_index": "none" if self._parts.index is None else self._parts.index.name,
            },
            **self._waiting(user_id),
            oldest_due_s=None if ends is None else (now - ends).total_seconds(),
            incidents=self._parts.incidents(),
        )

    def _counted_of(self, user_id: str) -> _Counted:
        """Count what one user has, and keep the snapshot for the next question."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            entries, pending = list(snapshot.entries()), sum(len(missing) for _, missing in snapshot.pending())
        sessions = self._parts.transcripts.sessions(user_id)
        tiers = [entry.memory.tier for entry in entries]
        return _Counted(
            users=int(self._known(user_id)),
            short_term=tiers.count(Tier.SHORT_TERM),
            long_term=tiers.count(Tier.LONG_TERM),
            superseded=sum(not entry.memory.current for entry in entries),
            messages=sum(count for session_id, count in sessions.items() if is_talk(session_id)),
            pending=pending,
            ends=min((entry.expires_at for entry in entries if entry.expires_at is not None), default=None),
            indexed=self._through_index(user_id),
        )

    def _counted(self) -> _Counted:
        """Count what everybody has, and hold nothing of it: the users in use keep their snapshots.

        An item that stands in both tiers counts as the record; items first, so that one on its way is seen.
        """
        parts, counted, users, limit = self._parts, _Counted(), set[str](), self._parts.settings.search.exact_up_to
        model = parts.embedder.model_id
        for one in tallies(parts.items, model):
            users.add(one.user_id)
            counted.add(one)
            counted.short_term += one.rows - one.moved
        for one in tallies(parts.records, model):
            users.add(one.user_id)
            counted.add(one)
            counted.long_term += one.rows
            counted.indexed |= one.vectors > limit
        for talk in talk_tallies(parts.transcripts, APART):
            users.add(talk.user_id)
            counted.messages += talk.messages
        counted.users = len(users)
        counted.indexed |= parts.index_always and bool(users)
        return counted

    def _waiting(self, user_id: str | None) -> dict[str, Any]:
        """Return what is known of the work that waits: of all users only, for it is claimed from one list."""
        agenda, now = self._parts.agenda, self._parts.clock()
        if agenda is None or user_id is not None:
            return {}
        backlog = agenda.backlog(now)
        return {
            "due_users": backlog.due,
            "oldest_due_user_s": None if backlog.oldest is None else (now - backlog.oldest).total_seconds(),
            "stuck_users": backlog.stuck,
            "stuck": agenda.stuck(_STUCK_SHOWN) if backlog.stuck else (),
        }

    def _known(self, user_id: str) -> bool:
        stores = self._parts.items, self._parts.records
        return any(store.version(user_id) for store in stores) or bool(self._parts.transcripts.sessions(user_id))

    def _unindexed(self, user_id: str | None) -> int:
        if self._parts.index is None:
            return 0
        return sum(map(len, self._parts.records.unindexed(user_id, _COUNTED_AT_ONCE).values()))

    def _through_index(self, user_id: str) -> bool:
        try:
            return self._snapshots.partial(user_id)
        except BackendUnavailable:
            return False


@dataclass(slots=True)
class _Counted:
    """What a status counts; for the meaning of each see `Status`.

    Attributes:
        ends: When the first life of an item ends; None when there is none.
        indexed: Whether somebody is searched through the vector index, if there is one.
    """

    users: int = 0
    short_term: int = 0
    long_term: int = 0
    superseded: int = 0
    messages: int = 0
    pending: int = 0
    ends: datetime | None = None
    indexed: bool = False

    def add(self, one: Tally) -> None:
        """Count what both tiers have."""
        self.superseded += one.superseded
        self.pending += one.pending
        if one.ends is not None:
            self.ends = one.ends if self.ends is None else min(self.ends, one.ends)
