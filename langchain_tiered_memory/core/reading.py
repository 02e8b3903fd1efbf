"""Looking at what is stored without a query: pages, histories, the status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from langchain_tiered_memory.core.asking import Listing
from langchain_tiered_memory.core.bodies import bodies_of, items_of
from langchain_tiered_memory.core.errors import BackendUnavailable, NotFound
from langchain_tiered_memory.core.indexing import MODEL_KEY
from langchain_tiered_memory.core.maintenance import Maintenance
from langchain_tiered_memory.core.model import HistoryEvent, Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.question import is_due, is_lost, objection
from langchain_tiered_memory.core.reports import Status
from langchain_tiered_memory.core.search import past_of
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.summary import is_talk

_COUNTED_AT_ONCE = 1_000_000
_STUCK_SHOWN = 20


class Reading:
    """Answers what needs no ranking."""

    def __init__(self, parts: Parts, snapshots: Snapshots, maintenance: Maintenance) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._maintenance = maintenance

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
        users = self._maintenance.users() if user_id is None else (user_id,)
        now, counts, due = self._parts.clock(), dict.fromkeys(("short", "long", "superseded", "pending"), 0), []
        for user in users:
            entries, pending = self._held(user) if user_id is not None else self._glanced(user)
            counts["pending"] += pending
            counts["short"] += sum(entry.memory.tier is Tier.SHORT_TERM for entry in entries)
            counts["long"] += sum(entry.memory.tier is Tier.LONG_TERM for entry in entries)
            counts["superseded"] += sum(not entry.memory.current for entry in entries)
            due += [e.expires_at for e in entries if e.expires_at is not None and e.expires_at <= now]
        held = [self._parts.transcripts.sessions(user).items() for user in users]
        messages = sum(count for sessions in held for session_id, count in sessions if is_talk(session_id))
        return Status(
            users=sum(map(self._known, users)) if user_id is not None else len(users),
            short_term=counts["short"],
            long_term=counts["long"],
            superseded=counts["superseded"],
            messages=messages,
            pending=counts["pending"],
            unindexed=self._unindexed(user_id),
            erasures=len(self._parts.records.intents()),
            search=self._path(users),
            model=self._parts.records.read_meta(MODEL_KEY),
            backends={
                "short_term": self._parts.items.name,
                "long_term": self._parts.records.name,
                "transcripts": self._parts.transcripts.name,
                "vector_index": "none" if self._parts.index is None else self._parts.index.name,
            },
            **self._waiting(user_id),
            oldest_due_s=(now - min(due)).total_seconds() if due else None,
            incidents=self._parts.incidents(),
        )

    def _held(self, user_id: str) -> tuple[list[Entry], int]:
        """Return the heads of everything a user has, and how many passages wait for a vector."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            return list(snapshot.entries()), sum(len(missing) for _, missing in snapshot.pending())

    def _glanced(self, user_id: str) -> tuple[list[Entry], int]:
        """Return the same and hold nothing of it: the users in use keep their snapshots.

        An item that is in both tiers counts as the record; items first, so that one on its way is seen.
        """
        items = self._parts.items.changes(user_id, 0, indexed_vectors=False).entries
        records = self._parts.records.changes(user_id, 0, indexed_vectors=False).entries
        arrived = {entry.memory.id for entry in records}
        entries = [*records, *(entry for entry in items if entry.memory.id not in arrived)]
        return entries, sum(map(self._pending, entries))

    def _pending(self, entry: Entry) -> int:
        """Return how many passages lack a vector of the model in use."""
        model = self._parts.embedder.model_id
        have = {one.passage for one in entry.vectors if one.model_id == model}
        have |= {passage for passage, made_by in entry.left_out if made_by == model}
        return max(entry.passages - len(have), 0)

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

    def _path(self, users: Iterable[str]) -> str:
        index = self._parts.index
        try:
            through = index is not None and any(self._snapshots.partial(user) for user in users)
        except BackendUnavailable:
            return "exact"
        return index.name if through and index is not None else "exact"
