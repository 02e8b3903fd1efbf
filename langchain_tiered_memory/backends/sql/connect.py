"""From what a caller has to an engine."""

from __future__ import annotations

import os
from typing import Any

from sqlalchemy import URL, Engine, StaticPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from langchain_tiered_memory.core.errors import ConfigError, NotInstalled, extra, shown

CONNECT_SECONDS = 5
"""How long a PostgreSQL server may take to answer a new connection."""

_ACCEPTED = "a path, sqlite:///path, postgresql://user:password@host/database or a SQLAlchemy Engine"
_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}


def connect(source: object) -> tuple[Engine, bool]:
    """Return an engine for the source, and whether it was made here, so that whoever called disposes of it.

    Nothing is opened yet; see `prepare`. The folder of an SQLite file must exist by then.

    Args:
        source: A URL, a path of an SQLite file, ":memory:", or an engine, which is returned as it is.

    Raises:
        ConfigError: It is none of these.
        NotInstalled: PostgreSQL's driver is not there.
    """
    if isinstance(source, Engine):
        return source, False
    url = _url_of(source)
    if url.drivername == "sqlite":
        return create_engine(url, hide_parameters=True, **_sqlite_options(url)), True
    try:
        from langchain_tiered_memory.backends.sql.patient import make_patient

        engine = create_engine(url, hide_parameters=True, **_postgres_options(url))
    except ImportError as exc:
        raise NotInstalled("PostgreSQL", "psycopg", extra("postgres")) from exc
    make_patient(engine)
    return engine, True


def _url_of(source: object) -> URL:
    if isinstance(source, URL):
        url = source
    elif isinstance(source, str) and "://" in source:
        try:
            url = make_url(source)
        except (ArgumentError, ValueError) as exc:
            raise ConfigError(f"this database URL cannot be read; use {_ACCEPTED}") from exc
    elif isinstance(source, (str, os.PathLike)) and os.fspath(source):
        url = URL.create("sqlite", database=os.fspath(source))
    else:
        raise ConfigError(f"{shown(source)} is no database: use {_ACCEPTED}")
    if url.drivername not in _DRIVERS:
        raise ConfigError(f"databases of {shown(url.drivername)} cannot be used: use {_ACCEPTED}")
    return url.set(drivername=_DRIVERS[url.drivername])


def _sqlite_options(url: URL) -> dict[str, Any]:
    if url.database in {None, "", ":memory:"}:
        return {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    return {}


def _postgres_options(url: URL) -> dict[str, Any]:
    # A pooler may give the next transaction to another session of the server, which knows no statement prepared here.
    options: dict[str, Any] = {} if "prepare_threshold" in url.query else {"prepare_threshold": None}
    if "connect_timeout" not in url.query:
        options["connect_timeout"] = CONNECT_SECONDS
    return {"pool_pre_ping": True, "connect_args": options}
