"""Consolidation: short-term items that earned it become long-term records, and episodes give their facts.

Order of a batch: extract (no lock, no transaction) -> one transaction with records, facts, supersessions and ledger ->
remove exactly the items that were read. Interrupted anywhere, the next run finds either everything to do, or an item
whose record stands and that only needs removing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from functools import partial
from operator import add
from typing import TypeVar

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.bodies import items_of
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import Conflict, EmbeddingError, InvalidInput, NotFound
from langchain_tiered_memory.core.extracting import Extraction, ExtractionRun, begin
from langchain_tiered_memory.core.indexing import vectors_for
from langchain_tiered_memory.core.known import near
from langchain_tiered_memory.core.merging import Merging
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION, Change, Entry, ExtractedFact, Placed
from langchain_tiered_memory.core.progress import Progress
from langchain_tiered_memory.core.question import is_due, is_lost
from langchain_tiered_memory.core.reports import ConsolidationReport
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.stated import told
from langchain_tiered_memory.core.text import normalize

logger = logging.getLogger("langchain_tiered_memory.consolidation")

T = TypeVar("T")

BY = "consolidate"
_BATCH = 100
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Sorted:
    """A user's short-term items by what is to become of them: heads with terms and vectors."""

    promote: tuple[Entry, ...]
    let_go: tuple[Entry, ...]
    kept: int


class Consolidation:
    """Moves what is worth keeping to long-term memory."""

    def __init__(self, parts: Parts, snapshots: Snapshots, admission: Admission) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._admission = admission
        self._merging = Merging(parts, snapshots)

    def run(self, user_id: str, *, everything: bool) -> ConsolidationReport:
        """Consolidate one user; see `MemorySystem.consolidate`."""
        now = self._parts.clock()
        items = self.sort(user_id, now, everything=everything, reads=True)
        report = ConsolidationReport(kept=items.kept)
        run = begin(self._parts.extractor, partial(near, self._parts, self._snapshots, user_id))
        taken = {entry.memory.id for entry in items.promote}  # what failed is not asked again in the same run
        progress = Progress("consolidating", lambda: len(taken.union(self._unconsumed(user_id))))
        for batch in _batches(items.promote):
            report = _sum(report, self._batch(user_id, batch, partial(self._bodies, user_id, batch), run, now))
            progress.advance(len(batch))
        for sources in _batches([one for one in self._unconsumed(user_id) if one not in taken]):
            if run.spent:
                report = replace(report, waiting=report.waiting + len(sources))
            else:
                read = partial(self._parts.records.get, user_id, sources)
                report = _sum(report, self._batch(user_id, (), read, run, now))
            progress.advance(len(sources))
        gone = self.let_go(user_id, items.let_go)
        return replace(report, expired=gone, model_calls=run.calls, model_tokens=run.tokens)

    def sort(self, user_id: str, now: datetime, *, everything: bool, reads: bool) -> Sorted:
        """Sort the short-term items into those to promote, to let go and to keep.

        What was begun is to be finished like a promotion: an item whose record stands, because the process that wrote
        it died before it removed the item, and one that was forgotten while it was being written.
        """
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            ids = snapshot.ids(Tier.SHORT_TERM)
            begun = snapshot.in_both(ids)
        begun |= self._parts.records.tombstones(user_id, sorted(ids))
        promote, let_go, kept = [], [], 0
        for entry in self._parts.items.changes(user_id, 0).entries:
            memory = entry.memory
            read = reads and memory.access_count >= self._parts.settings.short_term.promote_after_reads
            if read or memory.id in begun:
                promote.append(entry)
            elif is_lost(entry, now, self._parts.settings.short_term.promote_importance):
                let_go.append(entry)
            elif everything or is_due(entry, now):
                promote.append(entry)
            else:
                kept += 1
        by_order = sorted(promote, key=lambda entry: entry.order)
        return Sorted(tuple(by_order), tuple(let_go), kept)

    def let_go(self, user_id: str, entries: Sequence[Entry]) -> int:
        """Remove items whose life is over; one that changed meanwhile stays for the next run. Return how many went."""
        return len(self._parts.items.remove(user_id, {entry.memory.id: entry.version for entry in entries}))

    def promote_now(self, user_id: str, ids: Collection[str]) -> int:
        """Move the items with these ids to long-term memory; return how many moved."""
        there = [entry for entry in self._parts.items.changes(user_id, 0).entries if entry.memory.id in ids]
        return self.promote(user_id, there, self._parts.clock())

    def promote(self, user_id: str, entries: Sequence[Entry], now: datetime) -> int:
        """Move items to long-term memory as they are, without extracting facts; return how many moved."""
        moved, progress = 0, Progress("promoting", lambda: len(entries))
        for batch in _batches(entries):
            since = self._parts.records.begin(user_id)
            bodies = self._bodies(user_id, batch)
            try:
                records = self._merging.joined(user_id, _records(batch, bodies))
                self._write(user_id, self._change(records, now, since))
            except Conflict:
                logger.info("nothing more was promoted: the user was erased meanwhile")
                return moved
            moved += len(bodies)
            self._clear(user_id, batch, bodies, now, since)
            progress.advance(len(batch))
        return moved

    def _batch(
        self,
        user_id: str,
        items: Sequence[Entry],
        read: Callable[[], Sequence[Memory]],
        run: ExtractionRun,
        now: datetime,
    ) -> ConsolidationReport:
        """Take one batch of items, or of long-term episodes, through extraction, transaction and removal."""
        for _ in range(_TRIES):
            since = self._parts.records.begin(user_id)
            bodies = read()
            records = _records(items, bodies)
            facts, consumed, found = self._drawn(user_id, bodies, run, now)
            try:
                change = self._change(self._merging.joined(user_id, [*records, *facts]), now, since)
                as_read = {one.id: one.content for one in bodies if one.tier is Tier.LONG_TERM}
                placed = self._write(user_id, replace(change, consumed=consumed, as_read=as_read))
            except Conflict:  # some sources were consumed, reworded, forgotten or erased meanwhile: look again
                if not read():  # nothing is left; a new beginning would leave the name of a user who was erased
                    return ConsolidationReport()
                continue
            self._clear(user_id, items, bodies, now, since)
            return _counted(placed, len(records), found)
        logger.warning("%d sources were left for the next run: they kept changing", len(bodies))
        return ConsolidationReport(failed=len(bodies))

    def _drawn(
        self, user_id: str, bodies: Sequence[Memory], run: ExtractionRun, now: datetime
    ) -> tuple[Sequence[Entry], tuple[str, ...], Extraction]:
        """Return the facts of the episodes among the bodies, the sources they consume, and what was found."""
        sources = [one for one in bodies if one.memory_type is MemoryType.EPISODE and one.slot is None]
        done = self._parts.records.consumed(user_id, [one.id for one in sources])
        sources = [one for one in sources if one.id not in done]
        found = run.extract(sources)
        left = found.failed | found.waiting
        return self._facts(found, sources, now), tuple(one.id for one in sources if one.id not in left), found

    def _facts(self, found: Extraction, sources: Sequence[Memory], now: datetime) -> list[Entry]:
        """Return facts as entries, embedded."""
        by_id = {one.id: one for one in sources}
        entries = [self._fact(fact, [by_id[s] for s in fact.source_ids if s in by_id], now) for fact in found.facts]
        kept = [entry for entry in entries if entry is not None]
        try:
            made = vectors_for(self._parts, [(entry.memory, (0,)) for entry in kept])
        except EmbeddingError as error:
            logger.warning("%d facts are stored without a vector: %s", len(kept), error)
            return kept
        return [replace(entry, vectors=vectors) for entry, vectors in zip(kept, made, strict=True)]

    def _fact(self, fact: ExtractedFact, sources: Sequence[Memory], now: datetime) -> Entry | None:
        """Return a fact as an entry: importance inherited, read by nobody yet; None without a known source.

        What no other door would let in is left out too: it could be exported, and not imported again.
        """
        if not sources or not fact.content.strip():
            return None
        stated = _stating(sources)
        newest = max(stated, key=lambda one: one.observed_at)
        try:
            inputs.content(fact.content, self._parts.settings.placement.max_content_bytes)
            inputs.optional_label("slot", fact.slot)
            ends = inputs.instant("valid_to", fact.valid_to)
            since = inputs.instant("observed_at", fact.observed_at) or newest.observed_at
            since = since if ends is None else min(since, ends)  # where only its end is told, it is known of no time
            about = told(fact, sources, [one for one in stated if one.observed_at > since and ends is None])
            inputs.stated(fact.slot, about)
        except InvalidInput as error:
            logger.warning("a fact that was extracted is left out: its %s cannot be stored", error.field)
            return None
        memory = Memory(
            fact.content,
            fact.memory_type,
            max(one.importance for one in sources),
            created_at=now,
            last_accessed=newest.observed_at,
            id=digest("fact", newest.user_id, [one.id for one in sources], normalize(fact.content), fact.slot),
            user_id=newest.user_id,
            tier=Tier.LONG_TERM,
            observed_at=since,
            valid_to=ends,
            slot=fact.slot,
            session_id=newest.session_id,
            agent_id=newest.agent_id,
            role=newest.role,
            name=newest.name,
            origin=FROM_CONSOLIDATION,
            source_ids=tuple(one.id for one in sources),
            metadata=about,
        )
        return self._admission.entry(memory, now, repeatable=True)

    def _bodies(self, user_id: str, entries: Sequence[Entry]) -> tuple[Memory, ...]:
        return items_of(self._parts, user_id, [entry.memory.id for entry in entries])

    def _unconsumed(self, user_id: str) -> list[str]:
        """Return the long-term episodes that have not given their facts yet, oldest first."""
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            heads = sorted(snapshot.entries(Tier.LONG_TERM), key=lambda entry: entry.order)
        episodes = [entry.memory for entry in heads if entry.memory.memory_type is MemoryType.EPISODE]
        ids = [memory.id for memory in episodes if memory.slot is None]
        done = self._parts.records.consumed(user_id, ids)
        return [one for one in ids if one not in done]

    def _change(self, entries: Sequence[Entry], now: datetime, since: int) -> Change:
        return Change(entries=tuple(entries), at=now, by=BY, strict=False, since=since)

    def _write(self, user_id: str, change: Change) -> tuple[Placed, ...]:
        return self._parts.records.apply(user_id, change) if change.entries or change.consumed else ()

    def _clear(self, user_id: str, items: Sequence[Entry], bodies: Sequence[Memory], now: datetime, since: int) -> None:
        """Remove the items that were read; one that was read or changed meanwhile first hands over what is new."""
        left = {entry.memory.id: entry for entry in _records(items, bodies, all_of=True)}
        for _ in range(_TRIES):
            if not left:
                return
            gone = self._parts.items.remove(user_id, {one: entry.version for one, entry in left.items()})
            if len(gone) == len(left):
                return
            late = [e for e in self._parts.items.changes(user_id, 0).entries if e.memory.id in left]
            fresh = _records(late, self._bodies(user_id, late))
            try:
                self._write(user_id, self._change(fresh, now, since))
            except Conflict:
                return  # the user was erased, and the items with them
            for entry in fresh:
                if _changeable(entry) != _changeable(left[entry.memory.id]):
                    with suppress(NotFound):  # it became part of another record
                        self._parts.records.update(user_id, entry, now)
            left = {entry.memory.id: entry for entry in _records(late, (), all_of=True)} | {
                entry.memory.id: entry for entry in fresh
            }


def _records(entries: Iterable[Entry], bodies: Iterable[Memory], *, all_of: bool = False) -> list[Entry]:
    """Return the items as records: same id, text, counts and provenance, no end of life.

    Those without a body, which were forgotten or are gone, are left out, or with `all_of` stay heads.
    """
    body_of = {body.id: body for body in bodies}
    return [
        replace(entry, memory=replace(body_of.get(entry.memory.id, entry.memory), tier=Tier.LONG_TERM), expires_at=None)
        for entry in entries
        if all_of or entry.memory.id in body_of
    ]


def _stating(sources: Sequence[Memory]) -> Sequence[Memory]:
    """Return who stated a fact: what an assistant asked belongs to its sources, but states nothing."""
    return [one for one in sources if one.role not in {"assistant", "ai"}] or sources


def _changeable(entry: Entry) -> tuple[object, ...]:
    """Return what an update may change."""
    memory = entry.memory
    return memory.content, memory.importance, memory.pinned, dict(memory.metadata), dict(entry.terms)


def _counted(placed: Sequence[Placed], records: int, found: Extraction) -> ConsolidationReport:
    return ConsolidationReport(
        promoted=records,
        facts=sum(one.outcome == "created" for one in placed[records:]),
        merged=sum(one.outcome == "reinforced" for one in placed),
        superseded=sum(len(one.superseded) for one in placed),
        failed=len(found.failed),
        waiting=len(found.waiting),
    )


def _sum(one: ConsolidationReport, other: ConsolidationReport) -> ConsolidationReport:
    return ConsolidationReport(*map(add, astuple(one), astuple(other)))


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), _BATCH):
        yield things[start : start + _BATCH]
