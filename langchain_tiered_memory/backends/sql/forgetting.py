"""What else goes, and what has to be mended, when records are forgotten. Knows no database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.backends.sql.applying import Note
from langchain_tiered_memory.backends.sql.draft import Draft
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION


@dataclass(frozen=True, slots=True)
class Tie:
    """What ties a record to others; one that rests on nothing and is current has none."""

    origin: str | None
    source_ids: tuple[str, ...]
    superseded_by: str | None
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What other records can no longer rest on.

    Attributes:
        sources: Ids that are no sources any more.
        removed: Records that go.
        by: What does it, for the history: "forget" or "update".
        at: When.
    """

    sources: tuple[str, ...]
    removed: tuple[str, ...]
    by: str
    at: datetime


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
            and gone.issuperset(tie.source_ids)
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
    """Take what is lost out of the sources and chains of those that stay; return what the history says of it."""
    notes, gone, sources = list[Note](), set(loss.removed), set(loss.sources)
    for memory_id in tied:
        memory = draft[memory_id].memory
        mended = replace(memory, source_ids=tuple(source for source in memory.source_ids if source not in sources))
        if memory.superseded_by in gone:
            mended = _relinked(mended, ties, gone)
        draft.change(mended)
        successor = mended.superseded_by
        if successor is not None and successor != memory.superseded_by:
            notes.append(Note(mended, "superseded", successor))
        else:
            notes.append(Note(mended, "updated", loss.by))
    return notes


def _relinked(memory: Memory, ties: Mapping[str, Tie], gone: Collection[str]) -> Memory:
    """Let the next of the chain that stays supersede the memory, from then on; with none it is current again."""
    successor, since = memory.superseded_by, memory.valid_to
    while successor in gone:
        tie = ties.get(successor or "")
        successor, since = (None, None) if tie is None else (tie.superseded_by, tie.valid_to)
    return replace(memory, superseded_by=successor, valid_to=None if successor is None else since)
