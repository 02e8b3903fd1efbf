"""Making the tables, upgrading those of an earlier version, and refusing those of a later one."""

from __future__ import annotations

import logging
import time

from sqlalchemy import Connection, Engine, inspect, select, update
from sqlalchemy.exc import OperationalError

from langchain_tiered_memory.backends.sql.link import BUSY_MILLISECONDS, Link, link_of
from langchain_tiered_memory.backends.sql.tables import METADATA, Schema, table_of
from langchain_tiered_memory.backends.sql.upgrades import NEWEST, OLDEST, upgrade
from langchain_tiered_memory.core.errors import SchemaMismatch

SCHEMA_VERSION = NEWEST
"""Raised with every change of the tables, by a step in `upgrades.py`."""

logger = logging.getLogger("langchain_tiered_memory.sql")

_SCHEMA = table_of(Schema)
_POSTGRES_LOCK = 0x6C746D5F  # "ltm_": one number of ours among a database's advisory locks
_PAUSE_SECONDS = 0.02


def prepare(engine: Engine) -> None:
    """Create the tables, or bring those that are there up to this version. Safe to repeat, and at once.

    All steps are one transaction under a lock: who comes second finds them done, and a crash leaves what was there.

    Raises:
        SchemaMismatch: The tables were written by a later version of this package; nothing was changed.
        BackendUnavailable: The database does not answer, or cannot be written to.
        ConfigError: The engine cannot be used.
    """
    link = link_of(engine)
    if link.sqlite:
        _log_ahead(link)
    with link.write("prepare its tables") as connection:
        if not link.sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_POSTGRES_LOCK})")
        found = _version(connection)
        if found is None:
            METADATA.create_all(connection)
            connection.execute(_SCHEMA.insert().values(version=SCHEMA_VERSION))
        elif not OLDEST <= found <= SCHEMA_VERSION:
            raise SchemaMismatch(link.name, found, SCHEMA_VERSION)
        elif found < SCHEMA_VERSION:
            logger.info("%s is upgraded from schema %d to %d", link.name, found, SCHEMA_VERSION)
            upgrade(connection, found)
            connection.execute(update(_SCHEMA).values(version=SCHEMA_VERSION))


def compact(engine: Engine) -> None:
    """Give the space of deleted rows back to the disk. SQLite needs this; PostgreSQL sees to it by itself.

    Raises:
        BackendUnavailable: The database failed, as when another process is writing to the file; nothing was changed.
    """
    link = link_of(engine)
    if link.sqlite:
        with link.glance("give space back") as connection:
            connection.exec_driver_sql("VACUUM")
        link.truncate_log()


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(_SCHEMA.name):
        return None
    return connection.execute(select(_SCHEMA.c.version)).scalar() or 0


def _log_ahead(link: Link) -> None:
    """Give the file a write-ahead log, which it keeps; readers and the writer then do not wait for each other.

    SQLite does not wait for others here, whatever its time-out, so that several processes that start at once try again.
    """
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    with link.glance("open its file") as connection:
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL").all()
            except OperationalError as exc:
                if "locked" not in str(exc.orig) or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return
