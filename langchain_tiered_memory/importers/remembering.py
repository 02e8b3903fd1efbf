"""Remembering what was read, batch by batch: each is written whole, so that an import that is stopped can go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langchain_tiered_memory.core.api import SyncMemory
from langchain_tiered_memory.core.errors import Conflict, NotFound
from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers.found import Skipped
from langchain_tiered_memory.importers.reading import Reading

_BATCH = 100
NOT_AGAIN = "it was forgotten, or stands there with other words"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do at most.

    Attributes:
        format: The format of the file.
        because: Why it was taken for that.
        read: Messages and memories looked at.
        stored: Memories added; of a dry run those that could be.
        merged: Those that were there already.
        sessions: Conversations they belong to.
        skipped: How many were skipped, by reason.
        examples: The first of them.
        notes: How the file was understood, in sentences.
        dry_run: Whether nothing was changed.
    """

    format: str
    because: str
    read: int = 0
    stored: int = 0
    merged: int = 0
    sessions: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    examples: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


def remember(
    memory: SyncMemory | None,
    user_id: str,
    reading: Reading,
    seen: Callable[[float], object] = lambda _: None,
) -> ImportReport:
    """Remember all that a file holds, and return what was done. What was written stays when this is interrupted.

    Args:
        memory: The blocking face of a memory system, `memory.sync`; None only looks through the file.
        user_id: Whose memory.
        reading: What `read` returned.
        seen: Told, after each batch, how much of the file was read, from 0 to 1.

    Raises:
        InvalidInput: The file cannot be read to its end; what stands before is remembered.
        BackendUnavailable: A store failed; what the batches before held is remembered.
    """
    stored = merged = refused = 0
    for batch in reading.batches(_BATCH):
        if memory is None:
            stored += len({one.id for one in batch})
        else:
            new, known, not_again = _written(memory, user_id, batch)
            stored, merged, refused = stored + new, merged + known, refused + not_again
        seen(reading.share)
    found = reading.report
    return ImportReport(
        str(reading.format),
        reading.because,
        found.read,
        stored,
        merged,
        found.sessions,
        {**found.skipped, **({NOT_AGAIN: refused} if refused else {})},
        found.examples,
        found.notes,
        memory is None,
    )


def _written(memory: SyncMemory, user_id: str, batch: Sequence[NewMemory]) -> tuple[int, int, int]:
    """Remember a batch, and return how many are new, how many were there, and how many may not be remembered."""
    before = {one.id for one in batch if _stands(memory, user_id, one.id)}
    stored, refused = _remembered(memory, user_id, batch)
    new = {one for one in stored if one not in before} & {one.id for one in batch}
    return len(new), len(batch) - refused - len(new), refused


def _stands(memory: SyncMemory, user_id: str, id: str | None) -> bool:
    try:
        memory.get(user_id, id or "")
    except NotFound:
        return False
    return True


def _remembered(memory: SyncMemory, user_id: str, batch: Sequence[NewMemory]) -> tuple[list[str], int]:
    """Remember a batch; if one of it cannot be, all the others. Return the ids, and how many there are not."""
    try:
        return [one.id for one in memory.remember_many(user_id, batch)], 0
    except Conflict:
        if len(batch) == 1:
            return [], 1
    middle = len(batch) // 2
    first, second = _remembered(memory, user_id, batch[:middle]), _remembered(memory, user_id, batch[middle:])
    return [*first[0], *second[0]], first[1] + second[1]
