"""Consolidation: short-term items that earned it become long-term records, and episodes give their facts.

Order of a batch: extract (no lock, no transaction) -> one transaction with records, facts, supersessions and ledger ->
remove exactly the items that were read. Interrupted anywhere, the next run finds either everything to do, or an item
whose record stands and that only needs removing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import Conflict, EmbeddingError, ExtractionError
from langchain_tiered_memory.core.indexing import vectors_for
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Change, Entry, ExtractedFact, Placed
from langchain_tiered_memory.core.reports import ConsolidationReport
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.text import normalize

logger = logging.getLogger("langchain_tiered_memory.consolidation")

T = TypeVar("T")

BY = "consolidate"
FACT_ORIGIN = "consolidation"
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
            report = self._batch(user_id, batch, self._bodies(user_id, batch), report, now)
        taken = {entry.memory.id for entry in items.promote}  # what failed is not asked again in the same run
        for sources in _batches([one for one in self._unconsumed(user_id) if one not in taken]):
            report = self._batch(user_id, (), self._parts.records.get(user_id, list(sources)), report, now)
        return replace(report, expired=self.let_go(user_id, items.let_go))

    def sort(self, user_id: str, now: datetime, *, everything: bool, reads: bool) -> Sorted:
        """Sort the short-term items into those to promote, to let go and to keep.

        An item whose record stands is one to promote: the process that wrote the record died before it removed it.
        """
        short = self._parts.settings.short_term
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            begun = snapshot.ids(Tier.SHORT_TERM) & snapshot.ids(Tier.LONG_TERM)
        promote, let_go, kept = [], [], 0
        for entry in self._parts.items.changes(user_id, 0).entries:
            memory = entry.memory
            due = entry.expires_at is not None and entry.expires_at <= now
            worth = memory.pinned or memory.importance >= short.promote_importance
            read = reads and memory.access_count >= short.promote_after_reads
            if everything or read or (due and worth) or memory.id in begun:
                promote.append(entry)
            elif due:
                let_go.append(entry)
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
            bodies = self._bodies(user_id, batch)
            self._write(user_id, _records(batch, bodies), (), now)
            moved += len(bodies)
            self._clear(user_id, batch, now)
        return moved

    def _batch(
        self,
        user_id: str,
        items: Sequence[Entry],
        bodies: Sequence[Memory],
        report: ConsolidationReport,
        now: datetime,
    ) -> ConsolidationReport:
        """Take one batch of items, or of long-term episodes, through extraction, transaction and removal."""
        records = _records(items, bodies)
        for _ in range(_TRIES):
            sources = [one for one in bodies if one.memory_type is MemoryType.EPISODE and one.slot is None]
            done = self._parts.records.consumed(user_id, [one.id for one in sources])
            sources = [one for one in sources if one.id not in done]
            facts, failed = self._facts(sources, now)
            consumed = () if failed else tuple(one.id for one in sources)
            try:
                placed = self._write(user_id, [*records, *facts], consumed, now)
            except Conflict:
                continue  # another worker consumed some of these sources: look again at what is left
            self._clear(user_id, items, now)
            return _counted(report, placed, len(records), failed)
        logger.warning("%d sources were left for the next run: other workers kept taking them", len(bodies))
        return replace(report, failed=report.failed + len(bodies))

    def _facts(self, sources: Sequence[Memory], now: datetime) -> tuple[list[Entry], int]:
        """Extract facts and embed them; return them, and how many sources failed."""
        if not sources:
            return [], 0
        by_id = {one.id: one for one in sources}
        try:
            found = self._parts.extractor.extract(sources)
        except ExtractionError:
            logger.warning("facts of %d sources could not be extracted and are left for the next run", len(sources))
            return [], len(sources)
        entries = [self._fact(fact, [by_id[s] for s in fact.source_ids if s in by_id], now) for fact in found]
        kept = [entry for entry in entries if entry is not None]
        try:
            made = vectors_for(self._parts, [(entry.memory, (0,)) for entry in kept])
        except EmbeddingError:
            logger.warning("%d facts are stored without a vector: the embedder failed", len(kept))
            return kept, 0
        return [replace(entry, vectors=vectors) for entry, vectors in zip(kept, made, strict=True)], 0

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
            origin=FACT_ORIGIN,
            source_ids=tuple(one.id for one in sources),
        )
        return self._admission.entry(memory, now, repeatable=True)

    def _bodies(self, user_id: str, entries: Sequence[Entry]) -> tuple[Memory, ...]:
        return self._parts.items.get(user_id, [entry.memory.id for entry in entries])

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
        self, user_id: str, entries: Sequence[Entry], consumed: Sequence[str], now: datetime
    ) -> tuple[Placed, ...]:
        if not entries and not consumed:
            return ()
        change = Change(entries=tuple(entries), consumed=tuple(consumed), at=now, by=BY, strict=False)
        return self._parts.records.apply(user_id, change)

    def _clear(self, user_id: str, items: Sequence[Entry], now: datetime) -> None:
        """Remove the items that were read; one that was touched or changed meanwhile first hands over what is new."""
        left = {entry.memory.id: entry.version for entry in items}
        for _ in range(_TRIES):
            if not left:
                return
            gone = self._parts.items.remove(user_id, left)
            left = {one: version for one, version in left.items() if one not in gone}
            if not left:
                return
            fresh = [e for e in self._parts.items.changes(user_id, 0).entries if e.memory.id in left]
            bodies = self._bodies(user_id, fresh)
            records = _records(fresh, bodies)
            self._write(user_id, records, (), now)
            for memory, record in zip(self._parts.records.get(user_id, [b.id for b in bodies]), records, strict=False):
                if memory.content != record.memory.content:
                    self._parts.records.update(user_id, record, now)
            left = {entry.memory.id: entry.version for entry in fresh}


def _records(entries: Iterable[Entry], bodies: Iterable[Memory]) -> list[Entry]:
    """Return the items as records: same id, text, counts and provenance, no end of life."""
    body_of = {body.id: body for body in bodies}
    return [
        replace(entry, memory=replace(body_of[entry.memory.id], tier=Tier.LONG_TERM), expires_at=None)
        for entry in entries
        if entry.memory.id in body_of
    ]


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
