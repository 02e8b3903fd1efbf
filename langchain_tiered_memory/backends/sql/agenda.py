"""The agenda in SQL, in the database of the records: what notes a user is part of the write that makes the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, Connection, Engine, Select, bindparam, case, delete, func, or_, select, update

from langchain_tiered_memory.backends.sql.codec import digest, from_instant, plain, to_instant
from langchain_tiered_memory.backends.sql.counter import upsert
from langchain_tiered_memory.backends.sql.link import link_of
from langchain_tiered_memory.backends.sql.shelf import chunks
from langchain_tiered_memory.backends.sql.tables import Due, table_of
from langchain_tiered_memory.core.agenda import SERVED, Backlog, Claim, StuckUser
from langchain_tiered_memory.core.text import escape

_DUE = table_of(Due)
_OF = _DUE.c
_NEVER = 2**63 - 1
"""A lease without end."""
_USER: BindParameter[str] = bindparam("user")
_AT: BindParameter[int] = bindparam("at")
_NOW: BindParameter[int] = bindparam("now")


class SqlAgenda:
    """An `Agenda` in SQLite or PostgreSQL.

    A claim is one statement that chooses and takes a row: PostgreSQL passes over rows that others hold, SQLite lets one
    writer in at a time.
    """

    def __init__(
        self, engine: Engine, *, clock: Callable[[], datetime] | None = None, delay: timedelta = timedelta(0)
    ) -> None:
        """Use an engine whose tables are prepared; it stays the caller's.

        Args:
            engine: Of the database.
            clock: Tells the present to `note_within`.
            delay: How long after a write its user is due.
        """
        self._link = link_of(engine)
        self._clock, self._delay = clock, delay
        new = upsert(self._link)(_DUE).values(user_key=_USER, user_id=bindparam("name"), due=_AT, attempts=0)
        earlier = or_(_OF.due.is_(None), new.excluded.due < _OF.due)
        self._note = new.on_conflict_do_update(
            index_elements=["user_key"], set_={"due": new.excluded.due}, where=earlier
        )
        self._enrol = new.on_conflict_do_nothing()
        over = select(_OF.user_key).where(_OF.lease <= _NOW).order_by(_OF.lease)
        waiting = select(_OF.user_key).where(_OF.lease.is_(None), _OF.due <= _NOW).order_by(_OF.due)
        self._claims = [_claim(over), _claim(waiting)]
        self._mine = _OF.user_key == _USER, _OF.lease == bindparam("mine")
        sooner = case((or_(_OF.due.is_(None), _OF.due > _AT), _AT), else_=_OF.due)
        back = update(_DUE).where(*self._mine).values(lease=None, due=sooner)
        self._give_back = back
        self._again = back.values(attempts=0, error=None)
        self._rest = update(_DUE).where(*self._mine).values(lease=None, attempts=0, error=None)
        self._clear = delete(_DUE).where(_OF.user_key == _USER, _OF.lease.is_(None), _OF.due.is_(None))
        self._drop = delete(_DUE).where(_OF.user_key == _USER)

    def note_within(self, connection: Connection, user_id: str) -> None:
        """Note a user as part of the caller's transaction that writes what makes the work."""
        if self._clock is not None and SERVED.get() != user_id:
            connection.execute(self._note, _named(user_id, self._clock() + self._delay))

    def drop_within(self, connection: Connection, user_key: str) -> None:
        """Forget a user as part of the caller's transaction."""
        connection.execute(self._drop, {"user": user_key})

    def note(self, user_ids: Iterable[str], due: datetime) -> None:
        """See `Agenda.note`."""
        self._put(self._note, user_ids, due)

    def enrol(self, user_ids: Iterable[str], due: datetime) -> None:
        """See `Agenda.enrol`."""
        self._put(self._enrol, user_ids, due)

    def _put(self, statement: Any, user_ids: Iterable[str], due: datetime) -> None:
        for chunk in chunks(sorted(dict.fromkeys(user_ids), key=digest)):  # in one order: two of them never deadlock
            with self._link.write("note who is due") as connection:
                connection.execute(statement, [_named(user_id, due) for user_id in chunk])

    def claim(self, now: datetime, until: datetime) -> Claim | None:
        """See `Agenda.claim`."""
        asked = {"now": to_instant(now), "until": to_instant(until)}
        with self._link.write("claim a user who is due") as connection:
            for statement in self._claims:
                row = connection.execute(statement, asked).first()
                if row is not None:
                    return Claim(plain(row[0]), until, row[1])
            connection.rollback()
        return None

    def done(self, claim: Claim, due: datetime | None) -> None:
        """See `Agenda.done`."""
        with self._link.write("note what is done") as connection:
            if due is None:
                connection.execute(self._rest, _of(claim))
                connection.execute(self._clear, {"user": digest(claim.user_id)})
            else:
                connection.execute(self._again, {**_of(claim), "at": to_instant(due)})

    def give_back(self, claim: Claim, due: datetime) -> None:
        """See `Agenda.give_back`."""
        with self._link.write("give a user back") as connection:
            connection.execute(self._give_back, {**_of(claim), "at": to_instant(due)})

    def failed(self, claim: Claim, error: str, until: datetime | None) -> None:
        """See `Agenda.failed`."""
        lease = _NEVER if until is None else to_instant(until)
        values = {"lease": lease, "attempts": _OF.attempts + 1, "error": escape(error)}
        with self._link.write("note what failed") as connection:
            connection.execute(update(_DUE).where(*self._mine).values(values), _of(claim))

    def retry(self, user_id: str | None, due: datetime) -> int:
        """See `Agenda.retry`."""
        again = update(_DUE).where(_OF.lease == _NEVER)
        again = again.values(lease=None, due=to_instant(due), attempts=0, error=None)
        with self._link.write("try again") as connection:
            mine = again if user_id is None else again.where(_OF.user_key == digest(user_id))
            return int(connection.execute(mine).rowcount)

    def stuck(self, limit: int) -> tuple[StuckUser, ...]:
        """See `Agenda.stuck`."""
        found = select(_OF.user_id, _OF.attempts, _OF.error).where(_OF.lease == _NEVER).order_by(_OF.user_id)
        with self._link.glance("read who is stuck") as connection:
            rows = connection.execute(found.limit(max(limit, 0))).all()
        return tuple(StuckUser(plain(name), attempts, plain(error or "")) for name, attempts, error in rows)

    def backlog(self, now: datetime) -> Backlog:
        """See `Agenda.backlog`."""
        at = to_instant(now)
        over, waiting = _OF.lease <= at, (_OF.lease.is_(None), _OF.due <= at)
        with self._link.read("count who is due") as connection:
            rows = [
                connection.execute(select(func.count(), func.min(_OF.lease)).where(over)).one(),
                connection.execute(select(func.count(), func.min(_OF.due)).where(*waiting)).one(),
            ]
            stuck = connection.execute(select(func.count()).where(_OF.lease == _NEVER)).scalar_one()
        first = min((row[1] for row in rows if row[1] is not None), default=None)
        return Backlog(sum(row[0] for row in rows), None if first is None else from_instant(first), int(stuck))

    def drop(self, user_id: str) -> None:
        """See `Agenda.drop`."""
        with self._link.write("forget that a user is due") as connection:
            self.drop_within(connection, digest(user_id))


def _claim(chosen: Select[Any]) -> Any:
    """Return the statement that takes the first row of a choice that nobody else is taking."""
    first = chosen.limit(1).with_for_update(skip_locked=True).cte("chosen")
    taken = update(_DUE).where(_OF.user_key == first.c.user_key).values(lease=bindparam("until"), due=None)
    return taken.returning(_OF.user_id, _OF.attempts)


def _named(user_id: str, due: datetime) -> dict[str, Any]:
    return {"user": digest(user_id), "name": escape(user_id), "at": to_instant(due)}


def _of(claim: Claim) -> dict[str, Any]:
    return {"user": digest(claim.user_id), "mine": to_instant(claim.lease)}
