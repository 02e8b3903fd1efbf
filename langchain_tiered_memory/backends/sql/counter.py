"""The change counter of each user in one store. A transaction that raises it first has the user's rows to itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from langchain_tiered_memory.backends.sql.codec import digest, plain
from langchain_tiered_memory.backends.sql.link import Link
from langchain_tiered_memory.backends.sql.tables import State, table_of
from langchain_tiered_memory.core.text import escape

if TYPE_CHECKING:
    from langchain_tiered_memory.backends.sql.agenda import SqlAgenda

_STATE = table_of(State)


def upsert(link: Link) -> Any:
    """Return the dialect's `insert`, which knows ON CONFLICT; the two are spelled alike but share no type."""
    return sqlite.insert if link.sqlite else postgresql.insert


class Counter:
    """The counters of one store."""

    def __init__(self, link: Link, store: str, agenda: SqlAgenda | None = None) -> None:
        """Count for one store; with an agenda a user who is written to is noted there, in the same transaction."""
        self._agenda = agenda
        mine = (_STATE.c.user_key == bindparam("user"), _STATE.c.store == store)
        raised = {"version": _STATE.c.version + bindparam("by")}
        given = {"user_key": bindparam("user"), "store": store, "user_id": bindparam("name")}
        start: dict[str, Any] = {"version": bindparam("start"), "floor": bindparam("start")}
        self._read = select(_STATE.c.version, _STATE.c.floor).where(*mine)
        self._raise = update(_STATE).where(*mine).values(raised).returning(_STATE.c.version)
        self._raise_or_start = (
            upsert(link)(_STATE)
            .values(**given, **start)
            .on_conflict_do_update(index_elements=["user_key", "store"], set_=raised)
            .returning(_STATE.c.version)
        )
        self._set_floor = update(_STATE).where(*mine).values(floor=bindparam("at"))
        self._forget = delete(_STATE).where(*mine)
        self._names = select(_STATE.c.user_key, _STATE.c.user_id).where(_STATE.c.store == store)

    @property
    def noting(self) -> bool:
        """Whether who is written to is noted in an agenda."""
        return self._agenda is not None

    def read(self, connection: Connection, user_key: str) -> tuple[int, int] | None:
        """Return the counter and the first value from which changes are known; None for an unknown user."""
        row = connection.execute(self._read, {"user": user_key}).first()
        return None if row is None else (row[0], row[1])

    def bump(self, connection: Connection, user_key: str) -> int | None:
        """Raise the counter and return it; None, and nothing is written, for an unknown user."""
        version: int | None = connection.execute(self._raise, {"user": user_key, "by": 1}).scalar()
        return version

    def hold(self, connection: Connection, user_key: str) -> None:
        """Have the user's rows to itself without raising the counter, so that writers queue and never deadlock."""
        connection.execute(self._raise, {"user": user_key, "by": 0}).scalar()

    def open(self, connection: Connection, user_id: str, by: int = 1) -> int:
        """Raise the counter by so much and return it.

        A new user's starts at the wall clock in microseconds, and so above that of the same user before an erasure.
        """
        start = time.time_ns() // 1000 + by
        values = {"user": digest(user_id), "name": escape(user_id), "start": start, "by": by}
        version: int = connection.execute(self._raise_or_start, values).scalar_one()
        self.note(connection, user_id)
        return version

    def note(self, connection: Connection, user_id: str) -> None:
        """Note that there will be something to do for the user."""
        if self._agenda is not None:
            self._agenda.note_within(connection, user_id)

    def set_floor(self, connection: Connection, user_key: str, version: int) -> None:
        """Note that removals up to this version are no longer known."""
        connection.execute(self._set_floor, {"user": user_key, "at": version})

    def forget(self, connection: Connection, user_key: str) -> None:
        """Remove the counter, and the user's name with it."""
        connection.execute(self._forget, {"user": user_key})
        if self._agenda is not None:
            self._agenda.drop_within(connection, user_key)

    def names(self, connection: Connection, where: Any) -> dict[str, str]:
        """Return digest to user id of the users for whom a condition on the state table holds."""
        return {key: plain(name) for key, name in connection.execute(self._names.where(where))}
