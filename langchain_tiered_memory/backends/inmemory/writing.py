"""What long-term memory does in one transaction: applying a change, updating, forgetting. Callers hold the lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from langchain_tiered_memory.backends.inmemory.chains import Chains, chain_of, write_row
from langchain_tiered_memory.backends.inmemory.rows import (
    Table,
    UserRows,
    own_memory,
    refuse_other_contents,
    resting_on,
    same_statement,
    updated,
)
from langchain_tiered_memory.backends.inmemory.shelf import Shelf
from langchain_tiered_memory.core.bonds import bond_of, may_go
from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import (
    FROM_CONSOLIDATION,
    Change,
    Entry,
    Forgotten,
    PassageVector,
    Placed,
    refuse_changed,
)
from langchain_tiered_memory.core.slots import Again, chain_key, file_in_chain
from langchain_tiered_memory.core.stated import founding, left_over, without

_UPDATE = "update"


def write(table: Table, user_id: str, shelf: Shelf, change: Change, entries: Sequence[Entry]) -> tuple[Placed, ...]:
    """Write the entries of a change, all or none; `entries` are owned copies of those in `change`."""
    if change.strict:
        standing = [entry for entry in entries if entry.memory.id not in shelf.tombstones]
        refuse_other_contents(table.rows(user_id), standing)
    if not entries:
        return ()
    user = table.opened(user_id)
    writing = _Writing(user, shelf, change, user.version + 1)
    return tuple(writing.place(entry) for entry in entries)


class _Writing:
    """One change on its way into a user's rows."""

    def __init__(self, user: UserRows, shelf: Shelf, change: Change, stamp: int) -> None:
        self._user = user
        self._shelf = shelf
        self._change = change
        self._stamp = stamp

    def place(self, entry: Entry) -> Placed:
        """Do what `RecordStore.apply` says for one entry."""
        memory = entry.memory
        if memory.id in self._shelf.tombstones:
            return Placed(own_memory(memory), "forgotten")
        if memory.id in self._user.rows:
            return self._exists(entry)
        if memory.slot is not None:
            return self._file(entry)
        alike = same_statement(self._user.rows, entry)
        if alike is None:
            return self._create(entry)
        return self._repeat(alike, entry)

    def _exists(self, entry: Entry) -> Placed:
        row, memory = self._user.rows[entry.memory.id], entry.memory
        if memory.access_count > row.memory.access_count:
            later = max(row.memory.last_accessed, memory.last_accessed)
            row = replace(row, memory=replace(row.memory, access_count=memory.access_count, last_accessed=later))
            self._user.write(row, self._stamp)
        return Placed(own_memory(row.memory), "existing")

    def _create(self, entry: Entry, superseded: tuple[str, ...] = ()) -> Placed:
        memory = entry.memory
        moved = self._change.by == "consolidate" and memory.origin != FROM_CONSOLIDATION
        self._write(entry, "promoted" if moved else "created", self._change.by)
        return Placed(own_memory(memory), "created", superseded)

    def _repeat(self, alike: Entry, entry: Entry) -> Placed:
        if entry.duplicate_within is not None:
            return Placed(own_memory(alike.memory), "repeated")
        grown = resting_on(alike, entry)
        if grown != alike:
            self._write(grown, "reinforced", self._change.by)
        return Placed(own_memory(grown.memory), "reinforced")

    def _file(self, entry: Entry) -> Placed:
        rows = self._user.rows
        filing = file_in_chain(chain_of(rows, chain_key(entry.memory)), entry.memory)
        retired = tuple(m.id for m in filing.changed if rows[m.id].memory.current and not m.current)
        for memory in filing.changed:
            if memory.id == filing.reinforces:
                self._shelf.note(self._change.at, "reinforced", memory, self._change.by)
        chains = Chains(self._user, self._shelf, self._change.at, self._stamp, self._change.by)
        chains.stand(filing.changed, but=filing.reinforces)
        if filing.reinforces is None:
            placed = self._create(replace(entry, memory=filing.new), retired)
        else:
            placed = Placed(own_memory(rows[filing.reinforces].memory), "reinforced", retired)
        chains.begin(filing.again)
        return placed

    def _write(self, row: Entry, kind: str, by: str) -> None:
        write_row(self._user, self._shelf, row, self._stamp)
        self._shelf.note(self._change.at, kind, row.memory, by)


def update(user: UserRows | None, shelf: Shelf, new: Entry, now: datetime, version: int | None) -> Memory:
    """Do what `MemoryStore.update` says; `new` is an owned copy."""
    if user is None or new.memory.id not in user.rows:
        raise NotFound(new.memory.id)
    old = user.rows[new.memory.id]
    refuse_changed(old, version)
    row, stamp = updated(old, new), user.version + 1
    write_row(user, shelf, row, stamp)
    shelf.note(now, "updated", row.memory, _UPDATE)
    if row.memory.slot is not None:
        Chains(user, shelf, now, stamp, _UPDATE).settle(chain_key(row.memory))
    if row.memory.content != old.memory.content:
        _take_back(user, shelf, row.memory.id, now, stamp)
    return own_memory(user.rows[row.memory.id].memory)


def embed(user: UserRows, shelf: Shelf, vectors: Mapping[str, tuple[PassageVector, ...]]) -> None:
    """Do what `MemoryStore.embed` says; `vectors` are owned copies."""
    stamp = user.version + 1
    for memory_id, given in vectors.items():
        row = user.rows.get(memory_id)
        if row is not None and given:
            fresh = {one.passage for one in given}
            kept = [one for one in row.vectors if one.passage not in fresh]
            together = tuple(sorted([*kept, *given], key=lambda one: one.passage))
            write_row(user, shelf, replace(row, vectors=together), stamp)


def _take_back(user: UserRows, shelf: Shelf, source: str, now: datetime, stamp: int) -> None:
    """Take back what was drawn from a record that says something else now."""
    shelf.ledger.discard(source)
    derived = _resting_on_nothing_else(user.rows, [source])
    _mend(user, shelf, derived, now, stamp, sources={source, *derived}, derived=derived, by=_UPDATE)
    for memory_id in derived:
        shelf.replaced(user.drop(memory_id, stamp), None)
        shelf.empty_history(memory_id, now, _UPDATE)


def as_chosen(rows: Mapping[str, Entry], asked: Sequence[str], versions: Mapping[str, int]) -> tuple[str, ...]:
    """Return the ids that are still what they were when they were chosen, and that others can do without."""
    same = [one for one in asked if one in rows and rows[one].version == versions.get(one)]
    free = may_go(same, {memory_id: bond_of(row.memory) for memory_id, row in rows.items()})
    return tuple(one for one in same if one in free)


def forget(user: UserRows | None, shelf: Shelf, asked: Sequence[str], now: datetime, by: str) -> Forgotten:
    """Do what `RecordStore.forget` says, but for the intents."""
    rows = {} if user is None else user.rows
    removed = tuple(memory_id for memory_id in asked if memory_id in rows)
    derived = _resting_on_nothing_else(rows, asked)
    shelf.tombstones.update(asked, derived)
    if user is None:
        return Forgotten()
    stamp = user.version + 1
    _mend(user, shelf, {*asked, *derived}, now, stamp, sources={*asked, *derived}, derived=derived, by=by)
    dropped = [user.drop(memory_id, stamp) for memory_id in (*removed, *derived)]
    for row in dropped:
        shelf.replaced(row, None)
        shelf.empty_history(row.memory.id, now, by)
    return Forgotten(removed, derived, sum(len(row.vectors) for row in dropped))


def _resting_on_nothing_else(rows: Mapping[str, Entry], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the consolidated records whose sources all go, and those that rest on these, repeatedly."""
    gone, derived = set(asked), list[str]()
    while True:
        falling = [
            memory.id
            for memory in (row.memory for row in rows.values())
            if memory.origin == FROM_CONSOLIDATION
            and memory.id not in gone
            and memory.source_ids
            and gone.issuperset(founding(memory) or memory.source_ids)
        ]
        if not falling:
            return tuple(derived)
        gone.update(falling)
        derived += falling


def _mend(
    user: UserRows,
    shelf: Shelf,
    gone: Collection[str],
    now: datetime,
    stamp: int,
    *,
    sources: Collection[str],
    derived: Collection[str],
    by: str,
) -> None:
    """Take `sources` out of what those that stay rest on, and the gone out of their chains."""
    chains = Chains(user, shelf, now, stamp, by)
    keys = dict.fromkeys(chain_key(user.rows[one].memory) for one in gone if one in user.rows)
    for row in [row for memory_id, row in user.rows.items() if memory_id not in gone]:
        memory = without(row.memory, sources)
        if memory.slot is None and memory.superseded_by in gone:
            successor = _standing_successor(user.rows, memory, gone)
            ends = None if successor is None else successor.observed_at
            memory = replace(memory, superseded_by=None if successor is None else successor.id, valid_to=ends)
        if memory != row.memory:
            chains.stand([memory])
            keys[chain_key(memory)] = None
    for memory_id in derived:
        left = left_over(user.rows[memory_id].memory, sources, now)
        if left is not None:
            chains.begin([Again(left, memory_id)])
    for key in keys:
        if key is not None:
            chains.settle(key, gone)


def _standing_successor(rows: Mapping[str, Entry], memory: Memory, gone: Collection[str]) -> Memory | None:
    """Follow the chain over the gone to the next record that stays."""
    successor: Memory | None = memory
    while successor is not None and (successor is memory or successor.id in gone):
        row = rows.get(successor.superseded_by or "")
        successor = None if row is None else row.memory
    return successor


def erased_counts(rows: Sequence[Entry]) -> Mapping[str, int]:
    """Return what `RecordStore.erase` reports."""
    return {"long_term": len(rows), "vectors": sum(len(row.vectors) for row in rows)}
