"""What becomes of the entries of a change to long-term memory, and what the history says of it. Knows no database."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.backends.sql.draft import Draft
from langchain_tiered_memory.core.derive import said_again
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION, Change, Entry
from langchain_tiered_memory.core.slots import Again, chain_key, file_in_chain, settled


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the history to be: the memory after the event, what happened and what caused it."""

    memory: Memory
    kind: str
    by: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one entry: the row that now stands for it, and what it retired."""

    memory_id: str
    outcome: str
    superseded: tuple[str, ...] = ()


class Applying:
    """One change on its way into a user's records.

    Attributes:
        notes: What happened so far, in order.
    """

    def __init__(self, draft: Draft, change: Change, forgotten: Collection[str]) -> None:
        """Start with nothing written; `forgotten` are the entries' ids that have a tombstone."""
        self._draft = draft
        self._change = change
        self._forgotten = forgotten
        self.notes: list[Note] = []

    def place(self, entry: Entry) -> Outcome:
        """Do what `RecordStore.apply` says for one entry."""
        memory = entry.memory
        if memory.id in self._forgotten:
            return Outcome(memory.id, "forgotten")
        if memory.id in self._draft:
            return self._raise(entry)
        if memory.slot is not None:
            return self._file(entry)
        alike = self._draft.alike(entry)
        if alike is None:
            return self._create(entry)
        if entry.duplicate_within is not None:
            return Outcome(alike.id, "repeated")
        return self._reinforce(alike, entry)

    def _raise(self, entry: Entry) -> Outcome:
        given, stands = entry.memory, self._draft[entry.memory.id].memory
        if given.access_count > stands.access_count:
            accessed = max(stands.last_accessed, given.last_accessed)
            self._draft.change(replace(stands, access_count=given.access_count, last_accessed=accessed))
        return Outcome(stands.id, "existing")

    def _file(self, entry: Entry) -> Outcome:
        filing = file_in_chain(self._draft.chain(chain_key(entry.memory)), entry.memory)
        retired = tuple(m.id for m in filing.changed if self._draft[m.id].memory.current and not m.current)
        for memory in filing.changed:
            if memory.id == filing.reinforces:
                self.notes.append(Note(memory, "reinforced", self._change.by))
        self.notes += changed(self._draft, filing.changed, self._change.by, but=filing.reinforces)
        outcome = Outcome(filing.reinforces or "", "reinforced", retired)
        if filing.reinforces is None:
            outcome = self._create(replace(entry, memory=filing.new), retired)
        self.notes += begun(self._draft, filing.again, self._change.by)
        return outcome

    def _create(self, entry: Entry, retired: tuple[str, ...] = ()) -> Outcome:
        self._draft.add(entry)
        moved = self._change.by == "consolidate" and entry.memory.origin != FROM_CONSOLIDATION
        self.notes.append(Note(entry.memory, "promoted" if moved else "created", self._change.by))
        return Outcome(entry.memory.id, "created", retired)

    def _reinforce(self, memory: Memory, entry: Entry) -> Outcome:
        if self._draft.reinforce(memory, entry):
            self.notes.append(Note(self._draft[memory.id].memory, "reinforced", self._change.by))
        return Outcome(memory.id, "reinforced")


def changed(draft: Draft, records: Iterable[Memory], by: str, *, but: str | None = None) -> list[Note]:
    """Let records of a chain stand as they are given; return what the history says, if one is not told of otherwise."""
    notes = []
    for memory in records:
        before = draft[memory.id].memory.superseded_by
        draft.change(memory)
        if memory.superseded_by not in {None, before}:
            notes.append(Note(memory, "superseded", memory.superseded_by or by))
        elif memory.id != but:
            notes.append(Note(memory, "updated", by))
    return notes


def begun(draft: Draft, again: Iterable[Again], by: str) -> list[Note]:
    """Add what was parted from records of a chain; return what the history says of it."""
    notes = []
    for one in again:
        draft.add(said_again(draft[one.of], one.memory, draft.last_order(chain_key(one.memory))))
        notes.append(Note(one.memory, "created", by))
    return notes


def settle(
    draft: Draft, key: tuple[str, str, str] | None, at: datetime, by: str, gone: Collection[str] = ()
) -> list[Note]:
    """Settle a chain of which a record was changed, or goes; return what the history says of it."""
    chain = draft.chain(key, gone)
    before = {memory.id: memory for memory in chain}
    found = settled(chain, at)
    notes = changed(draft, [m for m in found.records if m.id in before and m != before[m.id]], by)
    return notes + begun(draft, found.again, by)
