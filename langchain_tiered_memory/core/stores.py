"""Ports of the stores. Each docstring is the specification of its port.

Common to all stores:

* `user_id` is the wall: matched exactly, never a prefix or a pattern; no call returns or changes another user's rows.
* Text is ordinary data: NUL, lone surrogates and every wildcard come back to the last byte.
* A write either happens whole or not at all, and is idempotent by id.
* What the driver raises becomes `BackendUnavailable`; nothing else crosses a port but the errors named here.
* Arguments are read once and never kept or changed; what is returned is the caller's own.
* Every call may come from any thread; `close` may be called twice.

**Change counter.** Each user has, in each store of memories, a counter that only ever grows, also over a complete
erasure of the user (a new counter starts at the wall clock in microseconds). Every write stamps the rows it changes,
and the ids it removes, with the next value. A reader that saw version `v` asks for what changed since `v`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from langchain_tiered_memory.core.entries import (
    Change,
    Changes,
    Entry,
    Forgotten,
    PassageVector,
    Placed,
    StoredMessage,
    Touched,
    Vector,
)
from langchain_tiered_memory.core.model import HistoryEvent, Memory


class MemoryStore(Protocol):
    """What short-term and long-term stores have in common."""

    @property
    def name(self) -> str:
        """What serves it, for people: "redis", "sqlite", …; never a URL with a password."""

    def version(self, user_id: str) -> int:
        """Return the user's change counter, 0 when nothing was ever written. One cheap read."""

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:
        """Return what changed after `since`, consistent with the version returned.

        Args:
            user_id: Whose.
            since: The version the reader has; 0 for everything. A version that the store cannot start from
                (older than it remembers, or newer than its own) gives everything, `whole=True`.
            indexed_vectors: False leaves out the vectors that are already in the vector index, and names them in
                `Entry.left_out`.
        """

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """Return the memories with these ids, with their content, in the order asked; unknown ids are left out.

        An item past its `expires_at` is returned as long as its row stands: the caller knows the time.
        """

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """Count one access of each id and move `last_accessed` forward to `now`, never back; say which were there.

        An id that is not there is passed over: a touch never creates and never revives. Counters are exact under
        concurrent callers. The counter rises by one if any id was there.
        """

    def update(self, user_id: str, entry: Entry, now: datetime, *, version: int | None = None) -> Memory:
        """Replace content, importance, pinned, metadata, terms and vectors of the row with the entry's id.

        Identity, times, counts, provenance and supersession stay as the store has them; the old vectors are gone.

        Args:
            user_id: Whose.
            entry: The row as it is to be.
            now: The present, for the history.
            version: The version of the row that the entry was made from; None: whatever stands is replaced.

        Raises:
            NotFound: There is no such row.
            Conflict: The row changed after `version`; nothing was written.
        """

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """Add or replace passages' vectors of rows that are still there; ids that are gone are passed over.

        A vector for a passage replaces the one it had, of whatever model. Replaced and new ones count as unindexed.
        """

    def users(self) -> tuple[str, ...]:
        """Return every user with a row, in no particular order."""

    def close(self) -> None:
        """Release what this object opened, and nothing that it was given."""


class ItemStore(MemoryStore, Protocol):
    """Short-term memory: items that live until `expires_at`, and then stay hidden until they are taken away.

    Which items are past their life is the caller's business: the store compares no clocks, except that it may drop
    rows physically, and report them as `gone`, 7 days after `expires_at`.
    """

    def put(self, user_id: str, entries: Sequence[Entry]) -> tuple[Placed, ...]:
        """Write the entries in order, all or none; one outcome per entry.

        Same id: "existing". Same `duplicate_key` on a row that has not reached its `expires_at` at the new entry's
        `created_at`: "reinforced" when `duplicate_within` is None (the row's `source_ids` grow by the entry's, and by
        its id), "repeated" when the `created_at` lie within it. Entries of one call see each other. Two concurrent
        calls with equal entries leave one row.

        Raises:
            Conflict: An entry's id exists with another content; nothing was written.
        """

    def remove(self, user_id: str, versions: Mapping[str, int | None]) -> tuple[str, ...]:
        """Remove each id whose row still has the version given (None: whatever its version); return those removed.

        An id that changed meanwhile stays. The removed are reported as `gone` by `changes`.
        """

    def forget(self, user_id: str) -> int:
        """Remove everything of the user; return how many items there were."""


class RecordStore(MemoryStore, Protocol):
    """Long-term memory, and the truth about what was consumed, superseded, forgotten and must still be erased.

    An `update` of a value of a slot keeps what it states (`core.stated.reworded`), and settles its chain anew. An
    `update` that changes the content of a record takes back what was drawn from the old one, in the same
    transaction: the record leaves the ledger, and what rested on it goes or loses this source as in `forget`, but
    without a tombstone, so that it may be drawn again.

    References of the vector index are strings made by `vector_ref(id, passage)`.
    """

    def apply(self, user_id: str, change: Change) -> tuple[Placed, ...]:
        """Write a change in one transaction; one outcome per entry.

        For each entry in order: an id with a tombstone is "forgotten"; an id that is there is "existing", and if the
        entry was read more often its `access_count` and `last_accessed` rise to the entry's; one with a slot is filed
        in its chain (`core.slots.file_in_chain`: "created" or "reinforced", with records that hold again beside it:
        `core.derive.said_again`); an active record with the same `duplicate_key` is "reinforced" or "repeated" as in
        `ItemStore.put`; else it is "created". A record that is reinforced grows as `core.stated.grown` says. Then the
        consumed ids enter the ledger. Every change of a record leaves a history event.

        Raises:
            Conflict: A consumed id is in the ledger already or has a tombstone, or stands with another content than
                `Change.as_read` has; or (strict) an id exists with another content; or the user was erased after
                `Change.since`, or the erasure is still open. Nothing was written.
        """

    def begin(self, user_id: str) -> int:
        """Return the user's change counter, after starting one if there is none: an erasure will end it."""

    def users(self, prefix: str = "") -> tuple[str, ...]:
        """Return every user with a row whose id begins so, character by character, in no particular order."""

    def consumed(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that are in the ledger."""

    def tombstones(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that were forgotten."""

    def history(self, user_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
        """Return what happened to a record, oldest first; for a forgotten one the events without any content."""

    def forget(
        self,
        user_id: str,
        ids: Sequence[str],
        now: datetime,
        *,
        by: str = "forget",
        versions: Mapping[str, int] | None = None,
    ) -> Forgotten:
        """Remove records for good, in one transaction, and leave a tombstone and an open intent for every id asked.

        Records whose sources all went, or all that gave them their content (`core.stated.founding`), and whose origin
        is "consolidation" go too, repeatedly; what other sources confirmed of them stays as a record of its own
        (`core.stated.left_over`). The others lose those sources. Chains of slots close over the gap
        (`core.slots.settled`): what a forgotten record had superseded is superseded by its successor, or current again;
        an end that a record states itself stays. History keeps the events without content. The ids need not exist
        here: the tombstone also holds for short-term items. An intent stays open until `close_intents`.

        Args:
            user_id: Whose.
            ids: Which.
            now: The present, for the history.
            by: What does it, for the history.
            versions: The versions of the rows by which they were chosen. Then no id is asked for whose row is not
                there in this version, and none that other records cannot do without (`core.bonds.may_go`).
        """

    def erase(self, user_id: str, now: datetime) -> Mapping[str, int]:
        """Remove everything of the user in one transaction and leave one open intent; return counts.

        Keys of the result: "long_term", "vectors".
        """

    def intents(self) -> Mapping[str, tuple[str, ...] | None]:
        """Return users with an open intent: the ids still to clear elsewhere, or None for the whole user."""

    def close_intents(self, user_id: str, ids: Sequence[str] | None) -> None:
        """Close the intents for these ids, or for the whole user, of whom then not even the name is left.

        Nobody writes to a user whose erasure is open; a counter that was begun meanwhile and has no row goes too.
        """

    def vectors(self, user_id: str, ids: Sequence[str]) -> Mapping[str, tuple[PassageVector, ...]]:
        """Return the vectors of these records."""

    def vector_count(self, user_id: str) -> int:
        """Return how many vectors the user's records have."""

    def unindexed(self, user_id: str | None, limit: int) -> Mapping[str, tuple[tuple[str, Vector], ...]]:
        """Return vectors not yet in the index as user to (reference, vector), at most `limit` in all."""

    def removals(self, user_id: str | None, limit: int) -> Mapping[str, tuple[str, ...]]:
        """Return references to remove from the index as user to references, at most `limit` in all."""

    def mark(
        self, user_id: str, *, indexed: Iterable[tuple[str, Vector]] = (), removed: Iterable[str] = ()
    ) -> frozenset[str]:
        """Note that these rows reached the index, or that these references left it; return the stray references.

        A row counts as indexed if the record still has this very vector; another one waits, even if it was marked: what
        came last may have replaced it. So does a vector whose reference was removed. Stray are the references that
        reached the index and that no record has any more; who wrote them has to take them out.
        """

    def mark_unindexed(self, user_id: str) -> None:
        """Note that none of the user's vectors is in the index."""

    def read_meta(self, key: str) -> str | None:
        """Return a value of the whole store, such as the embedding model's identity."""

    def write_meta(self, key: str, value: str) -> None:
        """Set a value of the whole store."""


class TranscriptStore(Protocol):
    """Whole transcripts of sessions, in order, until they are cleared."""

    @property
    def name(self) -> str:
        """What serves it, for people."""

    def append(
        self,
        user_id: str,
        session_id: str,
        messages: Sequence[StoredMessage],
        *,
        placed: bool = False,
    ) -> tuple[bool, ...]:
        """Append the messages in order, all or none, and say for each whether it was added.

        A message whose id is already in this session is the same message: not added, not changed. `position` of the
        arguments is ignored; the store gives places that grow. New messages count as unplaced, unless they come with
        their episodes (`placed`).
        """

    def tail(self, user_id: str, session_id: str, *, before: int | None, limit: int) -> tuple[StoredMessage, ...]:
        """Return up to `limit` messages whose position is below `before` (None: the end), newest first."""

    def system(self, user_id: str, session_id: str) -> tuple[StoredMessage, ...]:
        """Return the session's system and developer messages, oldest first."""

    def unplaced(self, user_id: str, session_id: str | None, limit: int) -> tuple[StoredMessage, ...]:
        """Return messages whose episode has not been confirmed, oldest first; of all sessions when None."""

    def mark_placed(self, user_id: str, session_id: str, positions: Iterable[int]) -> None:
        """Note that these messages need no further placing."""

    def sessions(self, user_id: str) -> Mapping[str, int]:
        """Return the user's sessions and their numbers of messages."""

    def clear(self, user_id: str, session_id: str) -> int:
        """Remove a session's transcript; return how many messages it had."""

    def forget(self, user_id: str) -> int:
        """Remove all transcripts of the user; return how many messages there were."""

    def expire(self, before: datetime) -> int:
        """Remove the sessions whose last message is older than `before`; return how many messages went."""

    def users(self) -> tuple[str, ...]:
        """Return every user with a transcript."""

    def close(self) -> None:
        """Release what this object opened."""


class VectorIndex(Protocol):
    """Nearest neighbours by cosine, one space per user. A derived copy: it may lag, and is never trusted to exist.

    No scores, no filters, no text: what comes back are references, and ranking is not the index's business.
    """

    @property
    def name(self) -> str:
        """What serves it, for people."""

    def upsert(self, user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        """Add or replace rows by reference; any number, also none."""

    def delete(self, user_id: str, refs: Sequence[str]) -> None:
        """Remove rows; unknown references are fine."""

    def drop(self, user_id: str) -> None:
        """Remove the user's whole space; an unknown user is fine."""

    def query(self, user_id: str, vector: Vector, k: int) -> tuple[str, ...]:
        """Return up to k references, nearest first; fewer when there are fewer, none for an unknown user."""

    def ids(self, user_id: str) -> frozenset[str]:
        """Return every reference of the user."""

    def close(self) -> None:
        """Release what this object opened."""
