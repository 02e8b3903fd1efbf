"""What else goes, and what has to be mended, when records are forgotten. Knows no database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.backends.sql.applying import Note, begun, settle
from langchain_tiered_memory.backends.sql.draft import Draft
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION
from langchain_tiered_memory.core.slots import Again, chain_key
from langchain_tiered_memory.core.stated import left_over, without


@dataclass(frozen=True, slots=True)
class Tie:
    """What ties a record to others; one that rests on nothing and is current has none.

    `founding` are those of the sources that it cannot do without (`core.stated.founding`).
    """

    origin: str | None
    source_ids: tuple[str, ...]
    founding: tuple[str, ...]
    superseded_by: str | None
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What other records can no longer rest on.

    Attributes:
        sources: Ids that are no sources any more.
        removed: Records that go.
        derived: Those of them that go because what they rested on does.
        by: What does it, for the history: "forget" or "update".
        at: When.
    """

    sources: tuple[str, ...]
    removed: tuple[str, ...]
    by: str
    at: datetime
    derived: tuple[str, ...] = ()


def resting_on_nothing_else(ties: Mapping[str, Tie], asked: Collection[str]) -> tuple[str, ...]:
    """Return the consolidated records whose sources all go, and those that rest on these, repeatedly."""
    gone, derived = set(asked), list[str]()
    while True:
        falling = [
            memory_id
            for memory_id, tie in ties.items()
            if tie.origin == FROM_CONSOLIDATION
            and memory_id not in gone
            and tie.source_ids
            and gone.issuperset(tie.founding or tie.source_ids)
        ]
        if not falling:
            return tuple(derived)
        gone.update(falling)
        derived += falling


def tied_to(ties: Mapping[str, Tie], loss: Loss) -> Sequence[str]:
    """Return the records that stay and must be mended."""
    gone, sources = set(loss.removed), set(loss.sources)
    return [
        memory_id
        for memory_id, tie in ties.items()
        if memory_id not in gone and (tie.superseded_by in gone or not sources.isdisjoint(tie.source_ids))
    ]


def mend(draft: Draft, ties: Mapping[str, Tie], tied: Sequence[str], loss: Loss) -> list[Note]:
    """Take what is lost out of the sources and chains of those that stay; return what the history says of it.

    The draft holds those that go, those that are tied to them, and the chains of both.
    """
    notes, gone = list[Note](), set(loss.removed)
    for memory_id in tied:
        memory = draft[memory_id].memory
        mended = without(memory, loss.sources)
        if memory.slot is None and memory.superseded_by in gone:
            mended = _relinked(mended, ties, gone)
        if draft.change(mended):
            notes.append(_note(mended, memory, loss.by))
    touched = [draft[memory_id].memory for memory_id in (*loss.removed, *tied) if memory_id in draft]
    left = [(memory, left_over(memory, loss.sources, loss.at)) for memory in touched if memory.id in set(loss.derived)]
    notes += begun(draft, [Again(new, old.id) for old, new in left if new is not None], loss.by)
    for key in dict.fromkeys(chain_key(memory) for memory in touched if memory.slot is not None):
        notes += settle(draft, key, loss.at, loss.by, gone)
    return notes


def _note(memory: Memory, before: Memory, by: str) -> Note:
    if memory.superseded_by not in {None, before.superseded_by}:
        return Note(memory, "superseded", memory.superseded_by or by)
    return Note(memory, "updated", by)


def _relinked(memory: Memory, ties: Mapping[str, Tie], gone: Collection[str]) -> Memory:
    """Let the next that stays supersede a memory without a slot, from then on; with none it is current again."""
    successor, since = memory.superseded_by, memory.valid_to
    while successor in gone:
        tie = ties.get(successor or "")
        successor, since = (None, None) if tie is None else (tie.superseded_by, tie.valid_to)
    return replace(memory, superseded_by=successor, valid_to=None if successor is None else since)
