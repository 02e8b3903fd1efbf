"""Port of the agenda: which users there is something to do for, since when, and who does it.

Rules of the store's ports hold here too (`core/stores.py`): text is ordinary data, a write is whole or not at all, and
what the driver raises becomes `BackendUnavailable`. The agenda compares no clocks: every instant is its caller's.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

SERVED: ContextVar[str | None] = ContextVar("SERVED", default=None)
"""Whom this call is serving: what it writes for that user makes no work, for it looks at the end what is left."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A user that one worker has to itself until the lease is over.

    Attributes:
        user_id: Who.
        lease: Until when; it also tells this claim from others of the user.
        attempts: How often it failed in a row before.
    """

    user_id: str
    lease: datetime
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class StuckUser:
    """A user that failed so often that nobody is to try again before being asked.

    Attributes:
        user_id: Who.
        attempts: How often it failed in a row.
        error: What happened last, without content.
    """

    user_id: str
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much there is to do.

    Attributes:
        due: Users that may be claimed now.
        oldest: Since when the first of them may be; None when there is none.
        stuck: Users that nobody tries again.
    """

    due: int = 0
    oldest: datetime | None = None
    stuck: int = 0


class Agenda(Protocol):
    """Users there is something to do for, in one row each. Any number of workers may claim from it at once."""

    def note(self, user_ids: Iterable[str], due: datetime) -> None:
        """Note that these users are due then, or earlier where an earlier instant is noted already.

        What is noted of a user who is claimed counts after the claim; of one who is stuck, after a retry.
        """

    def enrol(self, user_ids: Iterable[str], due: datetime) -> None:
        """Note those of the users of whom nothing is noted, and leave the others alone."""

    def claim(self, now: datetime, until: datetime) -> Claim | None:
        """Claim a user until an instant later than `now`; None when nobody is due.

        Those whose lease is over come first, then those due for the longest time. No two claims of a user overlap.
        """

    def done(self, claim: Claim, due: datetime | None) -> None:
        """End a claim: the user is due again then, or with None not by itself. A claim that ran out changes nothing."""

    def give_back(self, claim: Claim, due: datetime) -> None:
        """End a claim that came to nothing, through nobody's fault; as `done`, but failures stay counted."""

    def failed(self, claim: Claim, error: str, until: datetime | None) -> None:
        """End a claim that failed: nobody may claim the user until then, or with None before a `retry`."""

    def retry(self, user_id: str | None, due: datetime) -> int:
        """Make a stuck user due again, or all that are stuck; return how many were."""

    def stuck(self, limit: int) -> tuple[StuckUser, ...]:
        """Return users that are stuck, by their ids, at most so many."""

    def backlog(self, now: datetime) -> Backlog:
        """Return how much there is to do."""

    def drop(self, user_id: str) -> None:
        """Forget a user; unknown ones are fine."""
