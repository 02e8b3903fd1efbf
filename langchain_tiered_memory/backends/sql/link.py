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
from typing import Any

from sqlalchemy import Connection, Engine, Pool, SingletonThreadPool, StaticPool
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError, StatementError

from langchain_tiered_memory.backends.breaker import Breaker
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError

BUSY_MILLISECONDS = 10_000
"""How long SQLite waits for another process's write to end."""

_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MILLISECONDS}",
    "PRAGMA synchronous=NORMAL",  # with a write-ahead log: safe from a crash, one fsync less per commit
    "PRAGMA secure_delete=ON",  # what is forgotten is overwritten
)
_CONFIGURED = "langchain_tiered_memory"
_LONGER = 6
"""A write may wait so many times longer than a read, since it waits for other writers of the user."""

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
            silence: Seconds without an answer while something is read; while something is written, which may wait for
                other writers, `_LONGER` times as many.
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
    def glance(self, operation: str) -> Iterator[Connection]:
        """Give a connection for one reading statement.

        Raises:
            BackendUnavailable: The database failed, as `operation` names it for people.
        """
        with self.translate(operation), self._read_lock, self._glancing.connect() as connection:
            self._ready(connection, 1)
            yield connection

    @contextmanager
    def read(self, operation: str) -> Iterator[Connection]:
        """Give a connection whose statements all see the same moment.

        Raises:
            BackendUnavailable: The database failed.
        """
        with self.translate(operation), self._read_lock, self._reading.connect() as connection:
            self._begin(connection, "BEGIN", 1)
            yield connection

    @contextmanager
    def write(self, operation: str) -> Iterator[Connection]:
        """Give a connection in a transaction that is committed at the end, and rolled back on any error.

        Raises:
            BackendUnavailable: The database failed; nothing was written, or, when the answer to the commit was lost,
                everything.
        """
        with self.translate(operation), self._write_lock, self._writing.connect() as connection:
            self._begin(connection, "BEGIN IMMEDIATE", _LONGER)
            try:
                yield connection
                connection.commit()
            finally:
                self._be_patient(connection, 1)
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
    def translate(self, operation: str) -> Iterator[None]:
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
                (breaker.failed if _silent(exc) else breaker.answered)()
            raise BackendUnavailable(self.name, operation, _reason(exc)) from exc
        else:
            if breaker is not None:
                breaker.answered()

    def incidents(self) -> Mapping[str, int]:
        """Return what went wrong since `limit` was called, by name."""
        if self._breaker is None:
            return {}
        return {"postgres_unavailable": self._breaker.failures, "postgres_not_asked": self._breaker.refused}

    def _begin(self, connection: Connection, statement: str, patience: int) -> None:
        self._ready(connection, patience)
        if self.sqlite:
            connection.exec_driver_sql(statement)

    def _ready(self, connection: Connection, patience: int) -> None:
        """Make a connection of SQLite our own: whoever gave the engine may have listeners that begin transactions.

        It is set up when it is first met, because an engine that was given may have opened it already.
        """
        if not self.sqlite:
            self._be_patient(connection, patience)
            return
        connection.begin()
        if getattr(connection.connection.dbapi_connection, "in_transaction", False):
            connection.exec_driver_sql("ROLLBACK")
        if _CONFIGURED not in connection.info:
            for pragma in _PRAGMAS:
                connection.exec_driver_sql(pragma)
            connection.info[_CONFIGURED] = True

    def _be_patient(self, connection: Connection, times: int) -> None:
        """Set how long silence may last on a connection from now on, where it is one of ours."""
        if self._silence is not None and not connection.invalidated:
            driver: Any = connection.connection.dbapi_connection
            if hasattr(driver, "silence"):
                driver.silence = self._silence * times

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
