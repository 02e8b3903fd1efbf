"""Consolidation: short-term items that earned it become long-term records, and episodes give their facts.

Order of a batch: extract (no lock, no transaction) -> one transaction with records, facts, supersessions and ledger ->
remove exactly the items that were read. Interrupted anywhere, the next run finds either everything to do, or an item
whose record stands and that only needs removing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.bodies import items_of
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import Conflict, EmbeddingError, ExtractionError, NotFound
from langchain_tiered_memory.core.indexing import vectors_for
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION, Change, Entry, ExtractedFact, Placed
from langchain_tiered_memory.core.question import is_due, is_lost
from langchain_tiered_memory.core.reports import ConsolidationReport
from langchain_tiered_memory.core.snapshots import Snapshots
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

    def run(self, user_id: str, *, everything: bool) -> ConsolidationReport:
        """Consolidate one user; see `MemorySystem.consolidate`."""
        now = self._parts.clock()
        items = self.sort(user_id, now, everything=everything, reads=True)
        report = ConsolidationReport(kept=items.kept)
        for batch in _batches(items.promote):
            report = self._batch(user_id, batch, partial(self._bodies, user_id, batch), report, now)
        taken = {entry.memory.id for entry in items.promote}  # what failed is not asked again in the same run
        for sources in _batches([one for one in self._unconsumed(user_id) if one not in taken]):
            report = self._batch(user_id, (), partial(self._parts.records.get, user_id, sources), report, now)
        return replace(report, expired=self.let_go(user_id, items.let_go))

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

    def promote(self, user_id: str, entries: Sequence[Entry], now: datetime) -> int:
        """Move items to long-term memory as they are, without extracting facts; return how many moved."""
        moved = 0
        for batch in _batches(entries):
            since = self._parts.records.begin(user_id)
            bodies = self._bodies(user_id, batch)
            try:
                self._write(user_id, _records(batch, bodies), (), now, since)
            except Conflict:
                logger.info("nothing more was promoted: the user was erased meanwhile")
                return moved
            moved += len(bodies)
            self._clear(user_id, batch, bodies, now, since)
        return moved

    def _batch(
        self,
        user_id: str,
        items: Sequence[Entry],
        read: Callable[[], Sequence[Memory]],
        report: ConsolidationReport,
        now: datetime,
    ) -> ConsolidationReport:
        """Take one batch of items, or of long-term episodes, through extraction, transaction and removal."""
        for _ in range(_TRIES):
            since = self._parts.records.begin(user_id)
            bodies = read()
            records = _records(items, bodies)
            facts, consumed, failed = self._drawn(user_id, bodies, now)
            try:
                placed = self._write(user_id, [*records, *facts], consumed, now, since)
            except Conflict:  # some sources were consumed, forgotten or erased meanwhile: look again at what is left
                if not read():
                    return report  # nothing is; a new beginning would leave the name of a user who was erased
                continue
            self._clear(user_id, items, bodies, now, since)
            return _counted(report, placed, len(records), failed)
        logger.warning("%d sources were left for the next run: they kept changing", len(bodies))
        return replace(report, failed=report.failed + len(bodies))

    def _drawn(
        self, user_id: str, bodies: Sequence[Memory], now: datetime
    ) -> tuple[Sequence[Entry], Sequence[str], int]:
        """Return the facts of the episodes among the bodies, the sources they consume, and how many failed."""
        sources = [one for one in bodies if one.memory_type is MemoryType.EPISODE and one.slot is None]
        done = self._parts.records.consumed(user_id, [one.id for one in sources])
        sources = [one for one in sources if one.id not in done]
        facts, failed = self._sifted(sources, now)
        return facts, tuple(one.id for one in sources if one.id not in failed), len(failed)

    def _sifted(self, sources: Sequence[Memory], now: datetime) -> tuple[Sequence[Entry], frozenset[str]]:
        """Return the facts of the sources, and the sources that failed: one bad source must not hold up the others."""
        try:
            return self._facts(sources, now), frozenset()
        except ExtractionError:
            if len(sources) == 1:
                logger.warning("the facts of one source could not be extracted and are left for the next run")
                return (), frozenset(one.id for one in sources)
        half = len(sources) // 2
        first, second = self._sifted(sources[:half], now), self._sifted(sources[half:], now)
        return [*first[0], *second[0]], first[1] | second[1]

    def _facts(self, sources: Sequence[Memory], now: datetime) -> list[Entry]:
        """Extract facts and embed them.

        Raises:
            ExtractionError: The extractor failed on these sources.
        """
        if not sources:
            return []
        by_id = {one.id: one for one in sources}
        found = self._parts.extractor.extract(sources)
        entries = [self._fact(fact, [by_id[s] for s in fact.source_ids if s in by_id], now) for fact in found]
        kept = [entry for entry in entries if entry is not None]
        try:
            made = vectors_for(self._parts, [(entry.memory, (0,)) for entry in kept])
        except EmbeddingError as error:
            logger.warning("%d facts are stored without a vector: %s", len(kept), error)
            return kept
        return [replace(entry, vectors=vectors) for entry, vectors in zip(kept, made, strict=True)]

    def _fact(self, fact: ExtractedFact, sources: Sequence[Memory], now: datetime) -> Entry | None:
        """Return a fact as an entry: importance inherited, read by nobody yet; None without a known source."""
        if not sources or not fact.content.strip():
            return None
        newest = max(sources, key=lambda one: one.observed_at)
        memory = Memory(
            fact.content,
            fact.memory_type,
            max(one.importance for one in sources),
            created_at=now,
            last_accessed=newest.observed_at,
            id=digest("fact", newest.user_id, [one.id for one in sources], normalize(fact.content), fact.slot),
            user_id=newest.user_id,
            tier=Tier.LONG_TERM,
            observed_at=newest.observed_at,
            slot=fact.slot,
            session_id=newest.session_id,
            agent_id=newest.agent_id,
            role=newest.role,
            name=newest.name,
            origin=FROM_CONSOLIDATION,
            source_ids=tuple(one.id for one in sources),
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

    def _write(
        self, user_id: str, entries: Sequence[Entry], consumed: Sequence[str], now: datetime, since: int
    ) -> tuple[Placed, ...]:
        if not entries and not consumed:
            return ()
        change = Change(entries=tuple(entries), consumed=tuple(consumed), at=now, by=BY, strict=False, since=since)
        return self._parts.records.apply(user_id, change)

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
                self._write(user_id, fresh, (), now, since)
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


def _changeable(entry: Entry) -> tuple[object, ...]:
    """Return what an update may change."""
    memory = entry.memory
    return memory.content, memory.importance, memory.pinned, dict(memory.metadata), dict(entry.terms)


def _counted(report: ConsolidationReport, placed: Sequence[Placed], records: int, failed: int) -> ConsolidationReport:
    facts = placed[records:]
    return replace(
        report,
        promoted=report.promoted + records,
        facts=report.facts + sum(one.outcome == "created" for one in facts),
        merged=report.merged + sum(one.outcome == "reinforced" for one in placed),
        superseded=report.superseded + sum(len(one.superseded) for one in placed),
        failed=report.failed + failed,
    )


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), _BATCH):
        yield things[start : start + _BATCH]
