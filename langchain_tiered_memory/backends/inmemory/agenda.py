"""An agenda in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from langchain_tiered_memory.core.agenda import Backlog, Claim, StuckUser

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass
class _Row:
    due: datetime | None
    lease: datetime | None = None
    attempts: int = 0
    error: str = ""

    @property
    def ready(self) -> datetime:
        """From when on it may be claimed."""
        return self.lease or self.due or _NEVER


class InMemoryAgenda:
    """See `Agenda`."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._lock = threading.Lock()

    def note(self, user_ids: Iterable[str], due: datetime) -> None:
        """See `Agenda.note`."""
        with self._lock:
            for user_id in user_ids:
                row = self._rows.setdefault(user_id, _Row(due))
                row.due = due if row.due is None else min(row.due, due)

    def enrol(self, user_ids: Iterable[str], due: datetime) -> None:
        """See `Agenda.enrol`."""
        with self._lock:
            for user_id in user_ids:
                self._rows.setdefault(user_id, _Row(due))

    def claim(self, now: datetime, until: datetime) -> Claim | None:
        """See `Agenda.claim`."""
        with self._lock:
            ready = [(row.lease is None, row.ready, user_id) for user_id, row in self._rows.items() if row.ready <= now]
            if not ready:
                return None
            user_id = min(ready)[2]
            row = self._rows[user_id]
            row.lease, row.due = until, None
            return Claim(user_id, until, row.attempts)

    def done(self, claim: Claim, due: datetime | None) -> None:
        """See `Agenda.done`."""
        with self._lock:
            row = self._of(claim)
            if row is None:
                return
            instants = [one for one in (row.due, due) if one is not None]
            self._rows.pop(claim.user_id)
            if instants:
                self._rows[claim.user_id] = _Row(min(instants))

    def give_back(self, claim: Claim, due: datetime) -> None:
        """See `Agenda.give_back`."""
        with self._lock:
            row = self._of(claim)
            if row is not None:
                row.lease, row.due = None, due if row.due is None else min(row.due, due)

    def failed(self, claim: Claim, error: str, until: datetime | None) -> None:
        """See `Agenda.failed`."""
        with self._lock:
            row = self._of(claim)
            if row is not None:
                row.lease, row.attempts, row.error = until or _NEVER, row.attempts + 1, error

    def retry(self, user_id: str | None, due: datetime) -> int:
        """See `Agenda.retry`."""
        with self._lock:
            found = [one for name, one in self._rows.items() if one.lease == _NEVER and user_id in {None, name}]
            for row in found:
                row.lease, row.due, row.attempts, row.error = None, due, 0, ""
            return len(found)

    def stuck(self, limit: int) -> tuple[StuckUser, ...]:
        """See `Agenda.stuck`."""
        with self._lock:
            found = sorted((name, row) for name, row in self._rows.items() if row.lease == _NEVER)
        return tuple(StuckUser(name, row.attempts, row.error) for name, row in found[: max(limit, 0)])

    def backlog(self, now: datetime) -> Backlog:
        """See `Agenda.backlog`."""
        with self._lock:
            ready = [row.ready for row in self._rows.values() if row.ready <= now]
            stuck = sum(row.lease == _NEVER for row in self._rows.values())
        return Backlog(len(ready), min(ready, default=None), stuck)

    def drop(self, user_id: str) -> None:
        """See `Agenda.drop`."""
        with self._lock:
            self._rows.pop(user_id, None)

    def _of(self, claim: Claim) -> _Row | None:
        row = self._rows.get(claim.user_id)
        return row if row is not None and row.lease == claim.lease else None
