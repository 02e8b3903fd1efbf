"""What passes through the ports: memories with what was derived from them, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import Memory, MemoryType, Message

FROM_CONSOLIDATION = "consolidation"
"""The origin of memories that were drawn from others."""

Vector = NDArray[np.float32]
"""One float32 vector, shape `(dim,)`, of length 1 so that a dot product is the cosine."""


@dataclass(frozen=True, slots=True, eq=False)
class PassageVector:
    """The vector of one passage of a memory's text, keyed by what it was made from.

    Attributes:
        passage: Which passage, from 0.
        model_id: The model that made it.
        text_hash: Digest of the embedded text.
        vector: The vector.
    """

    passage: int
    model_id: str
    text_hash: str
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory together with what was derived from its text when it was written. A *head* has `content == ""`.

    Attributes:
        memory: The memory; `id`, `user_id` and `tier` are set.
        terms: Analysed term to its count in the indexed text.
        passages: How many passages the text has; fewer `vectors` of the current model means that it is *pending*.
        vectors: The vectors made so far, in the order of their passages.
        left_out: (passage, model id) of the vectors that `changes(indexed_vectors=False)` left out.
        expires_at: When a short-term item's life ends; None for records.
        duplicate_key: Two active entries with the same key say the same thing; None: never the same as another.
        duplicate_within: Only within this time of `created_at`; None: at any time.
        order: Place in the order of writing over all tiers; kept when an item moves.
        version: The change counter at its last change; set by the store.
    """

    memory: Memory
    terms: Mapping[str, int] = field(default_factory=dict)
    passages: int = 1
    vectors: tuple[PassageVector, ...] = ()
    left_out: tuple[tuple[int, str], ...] = ()
    expires_at: datetime | None = None
    duplicate_key: str | None = None
    duplicate_within: timedelta | None = None
    order: int = 0
    version: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of one entry that was written.

    Attributes:
        memory: The memory as it now stands in the store.
        outcome: "created"; "existing" (same id, left as it was); "reinforced" (an equal one took its sources);
            "repeated" (the same episode within `duplicate_within`); "forgotten" (its id has a tombstone; not written).
        superseded: Ids of the memories that this one retired.
    """

    memory: Memory
    outcome: str
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Touched:
    """What became of a touch.

    Attributes:
        version: The user's change counter after it; 0 when the user is unknown.
        ids: Those of the ids that were there, and have one more access.
    """

    version: int
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed for a user since a version.

    Attributes:
        version: The counter now; 0 when the user is unknown.
        entries: The changed rows as heads, in no particular order.
        gone: Ids that were removed since, and not written again.
        whole: True when `entries` is everything there is and what the reader holds must be thrown away.
    """

    version: int
    entries: tuple[Entry, ...] = ()
    gone: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transaction on long-term memory.

    Attributes:
        entries: Records to write, in order.
        consumed: Ids of sources to enter in the ledger.
        as_read: Contents of the sources that are records, as they were when the entries were drawn from them.
        at: When, for the history.
        by: What does it: "remember", "session", "import", "consolidate".
        strict: Raise Conflict for an id that exists with another content (otherwise it is left as it was).
        since: What `RecordStore.begin` returned before anything that this change rests on was read; raise Conflict
            when the user was erased after it. None: it rests on nothing that was stored.
    """

    entries: tuple[Entry, ...] = ()
    consumed: tuple[str, ...] = ()
    as_read: Mapping[str, str] = field(default_factory=dict)
    at: datetime
    by: str
    strict: bool = True
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forget removed from long-term memory.

    Attributes:
        removed: Ids asked for that were there.
        derived: Ids of records that rested on them alone and went too.
        vectors: How many vectors went.
    """

    removed: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in a transcript.

    Attributes:
        message: The message, with id and `created_at`.
        position: Its place in the session's order; grows by adding, gaps possible.
        tokens: What it costs, counted when it was added by `counter`; recount when another counter is in use.
        counter: The counter's name.
        agent_id: The agent whose session it is.
        session_id: The session.
    """

    message: Message
    position: int
    tokens: int
    counter: str
    agent_id: str | None = None
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A self-contained statement found in memories.

    Attributes:
        content: The statement.
        memory_type: `fact` or `preference`.
        slot: The single-valued attribute it states: "employer". Of an attribute that has several values at once, each
            is a slot of its own, named family, colon, which: "pet:cat", "taste:sushi".
        source_ids: The memories it was found in, at least one.
        value: What the slot is said to be, folded, so that two statements with equal values say the same of it; None
            when only the content tells.
        negated: Whether it says that the slot is no longer, or never was, this value.
        observed_at: Since when it is true, where the text says so; None: since it was said.
        valid_to: When it stopped being true, where the text says so; None: it still is.
        spans: For each source the first character of the statement in its text and the one after its last.
    """

    content: str
    memory_type: MemoryType = MemoryType.FACT
    slot: str | None = None
    source_ids: tuple[str, ...]
    value: str | None = None
    negated: bool = False
    observed_at: datetime | None = None
    valid_to: datetime | None = None
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)


def lent_sources(memory: Memory) -> tuple[str, ...]:
    """Return what a memory rests on once this one, which says the same, became part of it.

    That is what this one rests on, and this one itself, unless consolidation drew it: then its sources are all it had.
    """
    return memory.source_ids if memory.origin == FROM_CONSOLIDATION else (*memory.source_ids, memory.id)


def refuse_changed(row: Entry, version: int | None) -> None:
    """Raise Conflict when the row is no longer what it was at a version; None stands for any."""
    if version is not None and row.version != version:
        raise Conflict(f"memory {shown(row.memory.id)} changed meanwhile: read it again")


def refuse_reworded(rows: Iterable[Entry], as_read: Mapping[str, str]) -> None:
    """Raise Conflict when one of the rows no longer has the content that was read."""
    for row in rows:
        if as_read.get(row.memory.id, row.memory.content) != row.memory.content:
            raise Conflict(f"memory {shown(row.memory.id)} was reworded: read it again before consolidating")


def vector_ref(memory_id: str, passage: int) -> str:
    """Return the vector index's reference of a passage."""
    return f"{memory_id}#{passage}"


def ref_memory_id(ref: str) -> str:
    """Return the memory id of a reference made by `vector_ref`."""
    return ref.rpartition("#")[0]
