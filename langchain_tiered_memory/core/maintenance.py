"""Maintenance: what is due is done, what was interrupted is finished, what lags catches up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from langchain_tiered_memory.core.consolidation import Consolidation
from langchain_tiered_memory.core.errors import NotFound, TieredMemoryError
from langchain_tiered_memory.core.fading import Fading
from langchain_tiered_memory.core.forgetting import Forgetting
from langchain_tiered_memory.core.indexing import Indexing
from langchain_tiered_memory.core.lives import is_over, is_value
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.policy import Choice
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.progress import one_by_one
from langchain_tiered_memory.core.question import is_due
from langchain_tiered_memory.core.reports import MaintenanceReport, PolicyChoice
from langchain_tiered_memory.core.sessions import Sessions
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.summaries import Summaries
from langchain_tiered_memory.core.summary import APART
from langchain_tiered_memory.core.tallies import talk_tallies, tallies

logger = logging.getLogger("langchain_tiered_memory.maintenance")


class Maintenance:
    """Runs every step for a user; a step that fails is reported, and the others still run."""

    def __init__(
        self,
        parts: Parts,
        snapshots: Snapshots,
        *,
        sessions: Sessions,
        consolidation: Consolidation,
        indexing: Indexing,
        forgetting: Forgetting,
        fading: Fading,
        summaries: Summaries,
    ) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._sessions = sessions
        self._consolidation = consolidation
        self._indexing = indexing
        self._forgetting = forgetting
        self._fading = fading
        self._summaries = summaries

    def users(self) -> tuple[str, ...]:
        """Return every user that anything is known of."""
        stores = self._parts.items, self._parts.records, self._parts.transcripts
        return tuple(dict.fromkeys(user for store in stores for user in store.users()))

    def run(self, user_id: str | None, *, dry_run: bool, models: bool = True) -> MaintenanceReport:
        """Maintain one user, or all of them; see `MemorySystem.maintain`. Without `models` none is asked."""
        report = MaintenanceReport(dry_run=dry_run)
        if not dry_run:
            report = self._step(report, lambda: self._finish(user_id, report))
        if user_id is not None:
            report = self._user(user_id, report, models=models)
        else:
            report = self._everybody(report, models=models)
        ttl = self._parts.settings.working.transcript_ttl
        if ttl is not None and not dry_run:
            self._parts.transcripts.expire(self._parts.clock() - ttl)
        return report

    def _everybody(self, report: MaintenanceReport, *, models: bool) -> MaintenanceReport:
        """Maintain those who need it, and hold nothing of those who were not held before."""
        for user in one_by_one("serving users", self._needing()):
            held = self._snapshots.holds(user)
            report = self._user(user, report, models=models)
            if not held:
                self._snapshots.discard(user)
        return report if report.dry_run else self._step(report, lambda: self._index(None, report))

    def _needing(self) -> tuple[str, ...]:
        """Return everybody for whom there may be something to do, be it nothing in the end.

        Who merely lags in the vector index is not among them; that is brought up to date without looking at users.

        Raises:
            BackendUnavailable: A store did not answer.
        """
        parts, now = self._parts, self._parts.clock()
        if parts.settings.forgetting.active:
            return self.users()
        model, summing = parts.embedder.model_id, parts.settings.working.summary_tokens > 0
        items = (
            one.user_id
            for one in tallies(parts.items, model)
            if one.begun is None or one.begun or one.pending or (one.ends is not None and one.ends <= now)
        )
        records = (one.user_id for one in tallies(parts.records, model) if one.pending or one.mortal)
        talk = (one.user_id for one in talk_tallies(parts.transcripts, APART) if one.unplaced or one.apart or summing)
        return tuple(dict.fromkeys(chain(items, records, talk)))

    def settle(self, user_id: str, entries: Iterable[Entry]) -> bool:
        """Promote or let go what stands in the way of these entries; say if there was anything.

        An id that is written anew must not be taken for an item that nobody sees any more; a statement that is made
        anew must not stand beside the same one that is about to be promoted; and one that is made for long-term memory
        takes its equal in short-term memory along. Under an id that stands already nothing is made: it is the same
        memory, or is refused.
        """
        now, keys, durable = self._parts.clock(), list[str](), set[str]()
        given = list(entries)
        snapshot, _ = self._snapshots.get(user_id)
        with snapshot.lock:
            rows = {one.memory.id: row for one in given if (row := snapshot.row_of(one.memory.id)) is not None}
            heads = [snapshot.entry(row) for row in rows.values()]
            for entry in given:
                if entry.duplicate_key is not None and entry.duplicate_within is None:
                    keys.append(entry.duplicate_key)
                    made = entry.memory.tier is Tier.LONG_TERM and entry.memory.id not in rows
                    durable |= {entry.duplicate_key} if made else set()
            alike = [head for key in keys if (head := snapshot.duplicate(key)) is not None]
        due = any(is_due(head, now) for head in (*heads, *alike))
        if due:
            self._expire(user_id, MaintenanceReport())
        along = {e.memory.id for e in alike if e.duplicate_key in durable and e.memory.tier is Tier.SHORT_TERM}
        return bool(along and self._consolidation.promote_now(user_id, along)) or due

    def sweep(self, user_id: str) -> int:
        """Forget the values under keys that are past their lives; return how many there were."""
        swept = 0
        for memory_id in self._ended(user_id):
            with suppress(NotFound):  # somebody else was first
                self._forgetting.forget(user_id, [memory_id])
                swept += 1
        return swept

    def _ended(self, user_id: str) -> list[str]:
        snapshot, now = self._snapshots.strict(user_id), self._parts.clock()
        with snapshot.lock:
            values = [entry.memory for entry in snapshot.entries(Tier.LONG_TERM) if is_value(entry.memory)]
        return [memory.id for memory in values if is_over(memory, now)]

    def _user(self, user_id: str, report: MaintenanceReport, *, models: bool) -> MaintenanceReport:
        if report.dry_run:
            return self._would(user_id, report)
        if self._parts.records.intents().get(user_id, ()) is None:
            return report  # what is left of an erased user is kept by nobody, and told in `failed`
        report = self._step(report, lambda: self._place(user_id, report))
        report = self._step(report, lambda: self._expire(user_id, report))
        report = self._step(report, lambda: _told(report, user_id, *self._fading.run(user_id)))
        report = self._step(report, lambda: self._embed(user_id, report))
        report = self._step(report, lambda: self._index(user_id, report))
        return self._step(report, lambda: self._sum_up(user_id, report, models=models))

    def _step(self, report: MaintenanceReport, step: Callable[[], MaintenanceReport]) -> MaintenanceReport:
        try:
            return step()
        except TieredMemoryError as error:
            logger.warning("a step of maintenance failed and stays due: %s", type(error).__name__)
            return replace(report, failed=(*report.failed, str(error)))

    def _finish(self, user_id: str | None, report: MaintenanceReport) -> MaintenanceReport:
        erased, places = self._forgetting.finish(user_id)
        waiting = (f"an erasure waits for {place}" for place in places)
        return replace(report, erased=report.erased + erased, failed=(*report.failed, *waiting))

    def _place(self, user_id: str, report: MaintenanceReport) -> MaintenanceReport:
        return replace(report, placed=report.placed + self._sessions.place(user_id, None))

    def _would(self, user_id: str, report: MaintenanceReport) -> MaintenanceReport:
        items = self._consolidation.sort(user_id, self._parts.clock(), everything=False, reads=False)
        due = replace(
            report,
            promoted=report.promoted + len(items.promote),
            expired=report.expired + len(items.let_go) + len(self._ended(user_id)),
        )
        return _told(due, user_id, *self._fading.due(user_id))

    def _expire(self, user_id: str, report: MaintenanceReport) -> MaintenanceReport:
        now = self._parts.clock()
        items = self._consolidation.sort(user_id, now, everything=False, reads=False)
        return replace(
            report,
            promoted=report.promoted + self._consolidation.promote(user_id, items.promote, now),
            expired=report.expired + self._consolidation.let_go(user_id, items.let_go) + self.sweep(user_id),
        )

    def _embed(self, user_id: str, report: MaintenanceReport) -> MaintenanceReport:
        embedded = report.embedded
        for done in self._indexing.embedding(user_id):
            embedded += done
        return replace(report, embedded=embedded)

    def _sum_up(self, user_id: str, report: MaintenanceReport, *, models: bool) -> MaintenanceReport:
        spent = self._summaries.refresh_all(user_id, models=models)
        failed = (f"the model failed at the summaries of {spent.failed} sessions",) if spent.failed else ()
        return replace(
            report,
            summaries=report.summaries + spent.made,
            model_calls=report.model_calls + spent.calls,
            failed=(*report.failed, *failed),
        )

    def _index(self, user_id: str | None, report: MaintenanceReport) -> MaintenanceReport:
        indexed, unindexed = self._indexing.catch_up() if user_id is None else self._indexing.sync_index(user_id)
        return replace(report, indexed=report.indexed + indexed, unindexed=report.unindexed + unindexed)


def _told(report: MaintenanceReport, user_id: str, gone: Sequence[Choice], left: int) -> MaintenanceReport:
    """Return the report with what the policy let go, or would, of one user."""
    chosen = tuple(PolicyChoice(user_id, one.memory.id, one.rule, one.reason) for one in gone)
    return replace(
        report,
        forgotten=report.forgotten + len(chosen),
        waiting=report.waiting + left,
        chosen=(*report.chosen, *chosen),
    )
