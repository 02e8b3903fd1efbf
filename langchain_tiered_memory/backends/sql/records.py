"""Long-term memory in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, Engine, select

from langchain_tiered_memory.backends.sql.agenda import SqlAgenda
from langchain_tiered_memory.backends.sql.annals import Annals
from langchain_tiered_memory.backends.sql.applying import Applying, Note, settle
from langchain_tiered_memory.backends.sql.codec import digest, plain
from langchain_tiered_memory.backends.sql.counter import upsert
from langchain_tiered_memory.backends.sql.draft import Draft, latest, own, rewritten
from langchain_tiered_memory.backends.sql.forgetting import Loss, mend, resting_on_nothing_else, tied_to
from langchain_tiered_memory.backends.sql.reading import Reader
from langchain_tiered_memory.backends.sql.shelf import Shelf
from langchain_tiered_memory.backends.sql.tables import Meta, table_of
from langchain_tiered_memory.backends.sql.tallying import tally
from langchain_tiered_memory.backends.sql.upkeep import Upkeep
from langchain_tiered_memory.backends.sql.writing import Writer
from langchain_tiered_memory.core.bonds import may_go
from langchain_tiered_memory.core.errors import Conflict, NotFound
from langchain_tiered_memory.core.model import HistoryEvent, Memory
from langchain_tiered_memory.core.ports import (
    Change,
    Changes,
    Entry,
    Forgotten,
    PassageVector,
    Placed,
    Touched,
    Vector,
    refuse_changed,
    refuse_reworded,
)
from langchain_tiered_memory.core.slots import chain_key
from langchain_tiered_memory.core.tallies import Tally
from langchain_tiered_memory.core.text import escape

_META = table_of(Meta)
_FORGET, _UPDATE = "forget", "update"


class SqlRecordStore:
    """A `RecordStore` in SQLite or PostgreSQL."""

    def __init__(self, engine: Engine, agenda: SqlAgenda | None = None) -> None:
        """Use an engine whose tables are prepared (`schema.prepare`); it stays the caller's.

        With an agenda in the same database who is written to is noted there.
        """
        self._shelf = Shelf.of_records(engine, agenda)
        self._link = self._shelf.link
        self._reader = Reader(self._shelf)
        self._writer = Writer(self._shelf)
        self._annals = Annals(self._link)
        self._upkeep = Upkeep(self._shelf)

    @property
    def name(self) -> str:
        """What serves it."""
        return self._link.name

    # What all stores of memories do

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        return self._reader.version(user_id)

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:
        """See `MemoryStore.changes`."""
        return self._reader.changes(user_id, since, indexed_vectors=indexed_vectors)

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        return self._reader.get(user_id, ids)

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        return self._writer.touch(user_id, ids, now)

    def update(self, user_id: str, entry: Entry, now: datetime, *, version: int | None = None) -> Memory:
        """See `MemoryStore.update`."""
        mine = own(entry, user_id, self._shelf.tier)
        with self._link.write("update a record") as connection:
            stamp = self._shelf.counter.bump(connection, digest(user_id))
            found = self._reader.load(connection, user_id, "id", [escape(mine.memory.id)])
            if stamp is None or not found:
                raise NotFound(mine.memory.id)
            (old,) = found.values()
            refuse_changed(old, version)
            row = rewritten(old, mine)
            self._upkeep.doom(connection, user_id, self._writer.rewrite(connection, user_id, row, stamp))
            self._annals.note(connection, user_id, [Note(row.memory, "updated", _UPDATE)], now)
            self._shelf.counter.note(connection, user_id)
            after = row.memory
            if after.slot is not None:
                after = self._settle(connection, user_id, after, now, stamp)
            if row.memory.content != old.memory.content:
                self._annals.ledger.remove(connection, user_id, row.memory.id)
                self._lose(connection, user_id, Loss((row.memory.id,), (), _UPDATE, now), stamp)
        return after

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """See `MemoryStore.embed`."""
        mine = {memory_id: latest(made) for memory_id, made in vectors.items()}
        with self._link.write("store vectors") as connection:
            version = self._shelf.counter.bump(connection, digest(user_id))
            written = [] if version is None else self._writer.embed(connection, user_id, mine, version)
            if written:
                self._upkeep.spare(connection, user_id, written)
            else:
                connection.rollback()

    def users(self, prefix: str = "") -> tuple[str, ...]:
        """See `RecordStore.users`."""
        return self._reader.users(prefix)

    def tallies(self, model_id: str) -> Iterator[Tally]:
        """See `core.tallies.tallies`."""
        return tally(self._shelf, model_id, beside=False)

    def close(self) -> None:
        """Leave the engine open: it was given."""

    # Writing

    def apply(self, user_id: str, change: Change) -> tuple[Placed, ...]:
        """See `RecordStore.apply`."""
        mine = [own(entry, user_id, self._shelf.tier) for entry in change.entries]
        consumed = tuple(dict.fromkeys(change.consumed))
        if not mine and not consumed:
            return ()
        with self._link.write("store records") as connection:
            version = self._shelf.counter.open(connection, user_id)
            self._refuse_erased(connection, user_id, change)
            self._annals.consume(connection, user_id, consumed)
            read = self._reader.load(connection, user_id, "id", map(escape, change.as_read))
            refuse_reworded(read.values(), change.as_read)
            ids = [entry.memory.id for entry in mine]
            forgotten = self._annals.tombstones.among(connection, user_id, ids)
            draft = Draft(self._reader.related(connection, user_id, mine))
            if change.strict:
                draft.refuse_other_contents([entry for entry in mine if entry.memory.id not in forgotten])
            applying = Applying(draft, change, forgotten)
            outcomes = [applying.place(entry) for entry in mine]
            written = self._writer.save(connection, user_id, draft, version)
            self._annals.note(connection, user_id, applying.notes, change.at)
            if not written and not consumed:
                connection.rollback()
        given = {entry.memory.id: entry.memory for entry in mine}
        return tuple(
            Placed(
                draft[one.memory_id].memory if one.memory_id in draft else given[one.memory_id],
                one.outcome,
                one.superseded,
            )
            for one in outcomes
        )

    def begin(self, user_id: str) -> int:
        """See `RecordStore.begin`."""
        version = self._reader.version(user_id)
        if version:
            return version
        with self._link.write("begin a change") as connection:
            return self._shelf.counter.open(connection, user_id)

    def _refuse_erased(self, connection: Connection, user_id: str, change: Change) -> None:
        """Raise Conflict when the counter that this transaction raised began after the change was begun."""
        if change.since is None:
            return
        state = self._shelf.counter.read(connection, digest(user_id))
        if state is None or state[1] > change.since or self._annals.erasing(connection, user_id):
            raise Conflict("the user was erased: read again before writing")

    def consumed(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """See `RecordStore.consumed`."""
        with self._link.glance("read the ledger") as connection:
            return self._annals.ledger.among(connection, user_id, ids)

    def tombstones(self, user_id: str, ids: Sequence[str]) -> frozenset[str]:
        """See `RecordStore.tombstones`."""
        with self._link.glance("read tombstones") as connection:
            return self._annals.tombstones.among(connection, user_id, ids)

    def history(self, user_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
        """See `RecordStore.history`."""
        with self._link.glance("read a history") as connection:
            return self._annals.history(connection, user_id, memory_id)

    # Forgetting

    def forget(
        self,
        user_id: str,
        ids: Sequence[str],
        now: datetime,
        *,
        by: str = _FORGET,
        versions: Mapping[str, int] | None = None,
    ) -> Forgotten:
        """See `RecordStore.forget`."""
        asked = tuple(dict.fromkeys(ids))
        if not asked:
            return Forgotten()
        with self._link.write("forget memories") as connection:
            version = self._shelf.counter.open(connection, user_id)
            there = self._writer.versions(connection, user_id, asked)
            if versions is not None:
                same = [one for one in asked if one in there and there[one] == versions.get(one)]
                free = may_go(same, self._reader.ties(connection, user_id))
                asked = tuple(one for one in same if one in free)
                if not asked:
                    connection.rollback()
                    return Forgotten()
            removed = tuple(memory_id for memory_id in asked if memory_id in there)
            forgotten = self._lose(connection, user_id, Loss(asked, removed, by, now), version)
            self._annals.tombstones.add(connection, user_id, (*asked, *forgotten.derived))
            self._annals.intend(connection, user_id, asked)
        return forgotten

    def _settle(self, connection: Connection, user_id: str, memory: Memory, now: datetime, version: int) -> Memory:
        """Settle the chain of a value that states something else now; return it as it then stands."""
        draft = Draft(self._reader.with_chains(connection, user_id, [memory.id]))
        notes = settle(draft, chain_key(memory), now, _UPDATE)
        self._writer.save(connection, user_id, draft, version)
        self._annals.note(connection, user_id, notes, now)
        return draft[memory.id].memory

    def _lose(self, connection: Connection, user_id: str, loss: Loss, version: int) -> Forgotten:
        """Remove what goes and what rested on the lost sources alone, and mend what stays."""
        ties = self._reader.ties(connection, user_id)
        derived = resting_on_nothing_else(ties, loss.sources)
        sources, removed = (*loss.sources, *derived), (*loss.removed, *derived)
        whole = replace(loss, sources=sources, removed=removed, derived=derived)
        tied = tied_to(ties, whole)
        draft = Draft(self._reader.with_chains(connection, user_id, (*tied, *removed)))
        notes = mend(draft, ties, tied, whole)
        if draft.added or draft.changed:
            self._writer.save(connection, user_id, draft, version)
            self._annals.note(connection, user_id, notes, loss.at)
        refs = self._writer.remove(connection, user_id, whole.removed, version)
        self._upkeep.doom(connection, user_id, refs)
        self._annals.end(connection, user_id, whole.removed, loss.at, loss.by)
        return Forgotten(loss.removed, derived, len(refs))

    def erase(self, user_id: str, now: datetime) -> Mapping[str, int]:  # noqa: ARG002 - an intent needs no date here
        """See `RecordStore.erase`."""
        with self._link.write("erase a user") as connection:
            records, vectors = self._writer.erase(connection, user_id)
            self._upkeep.erase(connection, user_id)
            self._annals.erase(connection, user_id)
        self._link.truncate_log()
        return {"long_term": records, "vectors": vectors}

    def intents(self) -> Mapping[str, tuple[str, ...] | None]:
        """See `RecordStore.intents`."""
        with self._link.glance("read what is still to be erased") as connection:
            return self._annals.intents(connection)

    def close_intents(self, user_id: str, ids: Sequence[str] | None) -> None:
        """See `RecordStore.close_intents`."""
        with self._link.write("note what is erased") as connection:
            self._annals.close(connection, user_id, ids)
            if ids is None:
                self._writer.leave(connection, user_id)
        self._link.truncate_log()

    # Vectors and their index

    def vectors(self, user_id: str, ids: Sequence[str]) -> Mapping[str, tuple[PassageVector, ...]]:
        """See `RecordStore.vectors`."""
        with self._link.read("read vectors") as connection:
            return self._reader.vectors(connection, user_id, ids)

    def vector_count(self, user_id: str) -> int:
        """See `RecordStore.vector_count`."""
        with self._link.glance("count vectors") as connection:
            return self._upkeep.count(connection, user_id)

    def unindexed(self, user_id: str | None, limit: int) -> Mapping[str, tuple[tuple[str, Vector], ...]]:
        """See `RecordStore.unindexed`."""
        with self._link.glance("read what is not indexed") as connection:
            return self._upkeep.unindexed(connection, user_id, limit)

    def removals(self, user_id: str | None, limit: int) -> Mapping[str, tuple[str, ...]]:
        """See `RecordStore.removals`."""
        with self._link.glance("read what is to leave the index") as connection:
            return self._upkeep.removals(connection, user_id, limit)

    def mark(
        self, user_id: str, *, indexed: Iterable[tuple[str, Vector]] = (), removed: Iterable[str] = ()
    ) -> frozenset[str]:
        """See `RecordStore.mark`."""
        reached, left = tuple(indexed), tuple(removed)
        with self._link.write("mark vectors") as connection:
            self._shelf.counter.hold(connection, digest(user_id))
            self._upkeep.mark_left(connection, user_id, left)
            self._upkeep.spare(connection, user_id, left)
            return self._upkeep.mark(connection, user_id, reached)

    def mark_unindexed(self, user_id: str) -> None:
        """See `RecordStore.mark_unindexed`; readers that left the vectors to the index are told to read them."""
        with self._link.write("mark vectors") as connection:
            version = self._shelf.counter.bump(connection, digest(user_id))
            if version is not None:
                self._upkeep.mark_none(connection, user_id, version)

    def read_meta(self, key: str) -> str | None:
        """See `RecordStore.read_meta`."""
        with self._link.glance("read a value of the store") as connection:
            value = connection.execute(select(_META.c.value).where(_META.c.key == escape(key))).scalar()
        return None if value is None else plain(value)

    def write_meta(self, key: str, value: str) -> None:
        """See `RecordStore.write_meta`."""
        put = upsert(self._link)(_META).values(key=escape(key), value=escape(value))
        replaced = put.on_conflict_do_update(index_elements=["key"], set_={"value": put.excluded.value})
        with self._link.write("set a value of the store") as connection:
            connection.execute(replaced)
