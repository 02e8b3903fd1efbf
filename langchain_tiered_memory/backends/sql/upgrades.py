"""From the tables of each version to those of the next. What a step does never changes once it was released.

Steps are written out in SQL that both databases read: the classes in `tables.py` go on changing, and a store of long
ago has to be what a step expects. A step is part of the transaction that holds the lock and writes the new version, so
that a store is of one version or of another, whatever happens. There are few of them, and none rewrites a column:
a library for migrations would bring more than it takes away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, text

_DUE = """CREATE TABLE ltm_due (
    user_key VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    due BIGINT,
    lease BIGINT,
    attempts INTEGER NOT NULL,
    error VARCHAR,
    PRIMARY KEY (user_key)
)"""
_DUE_CLAIM = "CREATE INDEX ltm_due_claim ON ltm_due (lease, due)"
_ALL_DUE = """INSERT INTO ltm_due (user_key, user_id, due, attempts)
    SELECT user_key, min(user_id), :now, 0 FROM ltm_state GROUP BY user_key"""


def _note_who_is_due(connection: Connection) -> None:
    """2: workers find the users there is something to do for; at first that may be everybody."""
    connection.execute(text(_DUE))
    connection.execute(text(_DUE_CLAIM))
    connection.execute(text(_ALL_DUE), {"now": time.time_ns() // 1000})


STEPS: Mapping[int, Callable[[Connection], None]] = {2: _note_who_is_due}
"""Version to what makes it of the one before."""

OLDEST = min(STEPS) - 1
"""The first version that can be upgraded."""
NEWEST = max(STEPS)


def upgrade(connection: Connection, found: int) -> None:
    """Bring tables of a version from `OLDEST` on to the newest."""
    for version in range(found + 1, NEWEST + 1):
        STEPS[version](connection)
