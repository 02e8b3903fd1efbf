"""Transactions on an engine, the same for SQLite and PostgreSQL, and the driver's errors as ours.

SQLite begins every write with `BEGIN IMMEDIATE`: a transaction that reads first and writes later is refused at once
when another process wrote in between, whatever the time-out. PostgreSQL's writers of one user queue on the user's row
in the state table, which every write changes first.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection, Engine, Pool, SingletonThreadPool, StaticPool
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError, StatementError

from langchain_tiered_memory.backends.breaker import Breaker
from langchain_tiered_memory.backends.sql.silence import Patience, patient
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError
from langchain_tiered_memory.core.patience import allowance

BUSY_MILLISECONDS = 10_000
"""How long SQLite waits for another process's write to end."""

_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MILLISECONDS}",
    "PRAGMA synchronous=NORMAL",  # with a write-ahead log: safe from a crash, one fsync less per commit
    "PRAGMA secure_delete=ON",  # what is forgotten is overwritten
)
_CONFIGURED = "langchain_tiered_memory"
_LONGER = 6
"""A write may wait so many times longer than a read, since it waits for other writers of the user. But not a write for
which somebody waits in a hurry, the one that counts the hits of a recall: it has as long as a read elsewhere."""

_links: weakref.WeakValueDictionary[Engine, Link] = weakref.WeakValueDictionary()
"""Stores on one engine share one link, and a fork must reach them all."""

_making = threading.Lock()


class Link:
    """One engine as all stores on it use it. Thread-safe; after a fork it opens connections of its own.

    Attributes:
        name: The database's name: "sqlite" or "postgresql".
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self.name = engine.dialect.name
        if self.name not in {"sqlite", "postgresql"}:
            raise ConfigError(f"an engine for {self.name} cannot be used: pass one for SQLite or PostgreSQL")
        if self.name == "sqlite" and isinstance(engine.pool, SingletonThreadPool):
            raise ConfigError("this engine gives each thread its own database: create it with poolclass=StaticPool")
        self.sqlite = self.name == "sqlite"
        self._in_memory = isinstance(engine.pool, StaticPool)
        self._inherited: list[Pool] = []
        self.engine = engine
        self._glancing = self._isolated("AUTOCOMMIT")
        self._reading = self._isolated("REPEATABLE READ")
        self._writing = self._isolated("READ COMMITTED")
        self._silence: float | None = None
        self._breaker: Breaker | None = None
        self._log_due = False
        self._make_locks()

    def limit(self, silence: float, pause: float) -> None:
        """Give PostgreSQL up when it stays silent, and leave it alone for a while then; in SQLite nothing changes.

        This holds for connections that were made for us: those of an engine that was given wait as it says.

        Args:
            silence: Seconds without an answer while something is read, and to get a connection; while something is
                written, which may wait for other writers, `_LONGER` times as many. Whoever is in a hurry may set fewer
                for what is read (`core.patience`).
            pause: Seconds for which it is not asked then.
        """
        if not self.sqlite:
            self._silence, self._breaker = silence, Breaker(pause)

    def _isolated(self, level: str) -> Engine:
        """Set PostgreSQL's level, whatever the engine's own; SQLite is told by the statement that begins."""
        return self.engine if self.sqlite else self.engine.execution_options(isolation_level=level)

    def _make_locks(self) -> None:
        """Queue the threads that write to SQLite, who would poll each other, and all that share one connection."""
        free: AbstractContextManager[object] = contextlib.nullcontext()
        self._write_lock: AbstractContextManager[object] = threading.Lock() if self.sqlite else free
        self._read_lock = self._write_lock if self._in_memory else free

    @contextmanager
    def glance(self, operation: str, *, long: bool = False) -> Iterator[Connection]:
        """Give a connection for one reading statement.

        Args:
            operation: What it is for, for people.
            long: Whether the server may be silent for as long as with a write, because it counts much.

        Raises:
            BackendUnavailable: The database failed, as `operation` names it for people.
        """
        with self.translate(operation), self._read_lock, self._connected(self._glancing, long=long) as connection:
            self._ready(connection)
            yield connection

    @contextmanager
    def read(self, operation: str) -> Iterator[Connection]:
        """Give a connection whose statements all see the same moment.

        Raises:
            BackendUnavailable: The database failed.
        """
        with self.translate(operation), self._read_lock, self._connected(self._reading) as connection:
            self._begin(connection, "BEGIN")
            yield connection

    @contextmanager
    def write(self, operation: str) -> Iterator[Connection]:
        """Give a connection in a transaction that is committed at the end, and rolled back on any error.

        Raises:
            BackendUnavailable: The database failed; nothing was written, or, when the answer to the commit was lost,
                everything.
        """
        writing = self.translate(operation, writing=True)
        with writing, self._write_lock, self._connected(self._writing, long=True) as connection:
            self._begin(connection, "BEGIN IMMEDIATE")
            yield connection
            connection.commit()
        if self._log_due:
            with contextlib.suppress(BackendUnavailable):  # what was to be written is written
                self.truncate_log(wait=False)

    def truncate_log(self, *, wait: bool = True) -> None:
        """Move SQLite's write-ahead log into the file, so that nothing deleted can still be read in it.

        While others read what is older, the log stays: then the next write tries again, and so does whoever opens or
        closes the file last.

        Args:
            wait: Whether to wait for those who read.
        """
        if not self.sqlite:
            return
        with self.glance("truncate its log") as connection:
            if not wait:
                connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
            finally:
                if not wait:
                    connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        self._log_due = bool(busy)

    @contextmanager
    def translate(self, operation: str, *, writing: bool = False) -> Iterator[None]:
        """Turn what the driver raises into BackendUnavailable, without the values that were bound."""
        breaker = self._breaker
        if breaker is not None and not breaker.passes():
            raise BackendUnavailable(
                self.name, operation, "it did not answer a moment ago, and is not asked for a while"
            )
        try:
            yield
        except (SQLAlchemyError, OverflowError) as exc:
            if breaker is not None:
                if not _silent(exc):
                    breaker.answered()
                elif writing and allowance() is not None:
                    breaker.failed_this_once()  # in so little time it may have been a writer who was waited for
                else:
                    breaker.failed()
            raise BackendUnavailable(self.name, operation, _reason(exc)) from exc
        else:
            if breaker is not None:
                breaker.answered()

    def incidents(self) -> Mapping[str, int]:
        """Return what went wrong since `limit` was called, by name."""
        if self._breaker is None:
            return {}
        return {"postgres_unavailable": self._breaker.failures, "postgres_not_asked": self._breaker.refused}

    @contextmanager
    def _connected(self, engine: Engine, *, long: bool = False) -> Iterator[Connection]:
        """Give a connection on which the server may be silent for as long as may be waited for it now."""
        if self._silence is None:
            with engine.connect() as connection:
                yield connection
            return
        hurry = allowance()
        least = self._silence if hurry is None else min(self._silence, hurry.silence)
        patience = Patience(least)
        with patient(patience), engine.connect() as connection:
            patience.answer = least if not long else self._silence * (_LONGER if hurry is None else 1)
            try:
                yield connection
            finally:
                patience.answer = least  # what is left is to roll back

    def _begin(self, connection: Connection, statement: str) -> None:
        self._ready(connection)
        if self.sqlite:
            connection.exec_driver_sql(statement)

    def _ready(self, connection: Connection) -> None:
        """Make a connection of SQLite our own: whoever gave the engine may have listeners that begin transactions.

        It is set up when it is first met, because an engine that was given may have opened it already.
        """
        if not self.sqlite:
            return
        connection.begin()
        if getattr(connection.connection.dbapi_connection, "in_transaction", False):
            connection.exec_driver_sql("ROLLBACK")
        if _CONFIGURED not in connection.info:
            for pragma in _PRAGMAS:
                connection.exec_driver_sql(pragma)
            connection.info[_CONFIGURED] = True

    def reopen(self) -> None:
        """Leave the parent's connections alone: closing them here would break them there."""
        self._make_locks()
        if not self._in_memory:
            self._inherited.append(self.engine.pool)
            self.engine.dispose(close=False)


def link_of(engine: Engine) -> Link:
    """Return the one link of an engine.

    Raises:
        ConfigError: It is for another database, or gives each thread another one.
    """
    with _making:
        link = _links.get(engine)
        if link is None:
            link = _links[engine] = Link(engine)
        return link


def _silent(exc: BaseException) -> bool:
    """Say whether a server was waited for in vain; one that refuses costs nobody any time."""
    cause = exc.orig if isinstance(exc, StatementError) else exc
    return type(cause).__name__ in {"AnswerTimeout", "ConnectionTimeout"}


def _reason(exc: Exception) -> str:
    """Return the first line of the driver's reason, and nothing that may quote what was stored."""
    if isinstance(exc, StatementError):
        exc.hide_parameters = True
        quotes = isinstance(exc, (DataError, IntegrityError))
        exc = exc.orig if isinstance(exc.orig, Exception) else exc
        if quotes:
            return type(exc).__name__
    return ": ".join([type(exc).__name__, *str(exc).splitlines()[:1]])


def _reopen_all() -> None:
    _making.release()
    for link in list(_links.values()):
        link.reopen()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_reopen_all)
