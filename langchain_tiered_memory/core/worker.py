"""The work of a worker, blocking: what `ltm worker`, a Celery task or a thread of your own calls now and then."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.agenda import Agenda, Backlog
from langchain_tiered_memory.core.errors import ConfigError
from langchain_tiered_memory.core.observing import observed
from langchain_tiered_memory.core.opening import Opening
from langchain_tiered_memory.core.reports import WorkReport


@observed(once="work")
@dataclass(frozen=True, slots=True)
class SyncWorker:
    """Serves the users there is something to do for. Any number may, in any number of processes."""

    _opening: Opening

    def once(
        self, *, users_at_once: int = 1, most: int | None = None, stopping: threading.Event | None = None
    ) -> WorkReport:
        """Claim the users who are due, one after the other, and do everything for each, until nobody is due any more.

        For each it does what `consolidate` and `maintain` do, in this order. A user with whom something fails is left
        alone for a while, twice as long each time, and after `MaintenanceSettings.attempts` failures until `retry`; a
        server or a model that does not answer ends the round, and counts as nobody's failure.

        Args:
            users_at_once: Threads that serve a user each.
            most: Most users served; None: all who are due.
            stopping: Once it is set no further user is claimed, and those being served are served to the end.

        Raises:
            BackendUnavailable: The database with the list of users did not answer.
            ModelMismatch: The store's vectors are of another model.
        """
        at_once = inputs.count("users_at_once", users_at_once, 1)
        limit = None if most is None else inputs.count("most", most, 0)
        rooms = self._opening.ready(writing=True)
        stop = stopping or threading.Event()
        return rooms.work.round(self._agenda(), users_at_once=at_once, most=limit, stopping=stop)

    def retry(self, user_id: str | None = None) -> int:
        """Let a user with whom everything failed be tried again, or all of them; return how many there were."""
        user = None if user_id is None else inputs.user(user_id)
        return self._agenda().retry(user, self._opening.rooms().parts.clock())

    def backlog(self) -> Backlog:
        """Return how much there is to do: three counts of one table, however many memories there are."""
        return self._agenda().backlog(self._opening.rooms().parts.clock())

    def everybody(self) -> None:
        """Take everybody that any store knows of for due: after a restored backup, or writes by an older version."""
        rooms = self._opening.rooms()
        self._agenda().note(rooms.work.everybody(), rooms.parts.clock())

    def _agenda(self) -> Agenda:
        agenda = self._opening.rooms().parts.agenda
        if agenda is None:
            raise ConfigError("these stores keep no list of users to work for: maintain them by name")
        return agenda
