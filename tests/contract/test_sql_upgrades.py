"""A store of every earlier schema is upgraded where it stands, once, whole or not at all; a later one is refused."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import URL, Engine, inspect, text
from sqlmodel import Field, SQLModel

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.alembic import include_name
from langchain_tiered_memory.backends.sql import SCHEMA_VERSION, connect, prepare, upgrades
from langchain_tiered_memory.core.errors import BackendUnavailable, SchemaMismatch
from langchain_tiered_memory.embedding import HashedEmbedder

ROOT = Path(__file__).parents[2]
EARLIER = Path(__file__).parent / "earlier"
NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
RAIN = "It rained; 'quotes', \"more\", back\\slash, \0, \ud800 and 🌧"
VERSIONS = range(upgrades.OLDEST, SCHEMA_VERSION)
_numbers = itertools.count()

Place = Callable[[int | None], URL]
"""Makes a database with the store of an earlier version, or an empty one, and returns its URL."""


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """What makes databases of either kind."""

    def said(version: int) -> str:
        return (EARLIER / f"version_{version}.{request.param}.sql").read_text(encoding="utf-8")

    def file(version: int | None) -> URL:
        path = tmp_path / f"{next(_numbers)}.db"
        if version is not None:
            with sqlite3.connect(path) as database:
                database.executescript(said(version))
            database.close()
        return URL.create("sqlite", database=str(path))

    def served(version: int | None) -> URL:
        server, _ = connect(request.getfixturevalue("postgres_url"))
        name = f"upgrades_{os.getpid()}_{next(_numbers)}"
        with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        server.dispose()
        url = server.url.set(database=name)
        if version is not None:
            plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
            with psycopg.connect(plain) as raw:
                raw.execute(said(version))
        return url

    return file if request.param == "sqlite" else served


@pytest.fixture
def opened(place: Place) -> Iterator[Callable[[int | None], Engine]]:
    """What gives an engine on such a database."""
    engines: list[Engine] = []

    def engine(version: int | None) -> Engine:
        engines.append(connect(place(version))[0])
        return engines[-1]

    yield engine
    for one in engines:
        one.dispose()


def version_of(engine: Engine) -> list[int]:
    with engine.connect() as connection:
        return list(connection.execute(text("SELECT version FROM ltm_schema")).scalars())


def shape(engine: Engine) -> dict[str, Any]:
    """Return tables, columns and indexes as the database has them."""
    found = inspect(engine)
    tables = [name for name in sorted(found.get_table_names()) if name.startswith("ltm_")]
    return {
        name: (
            [(one["name"], str(one["type"]), one["nullable"]) for one in found.get_columns(name)],
            found.get_pk_constraint(name)["constrained_columns"],
            sorted(str(one["name"]) for one in found.get_indexes(name)),
        )
        for name in tables
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgraded_store_has_the_tables_of_a_new_one(opened: Callable[[int | None], Engine], version: int) -> None:
    old, new = opened(version), opened(None)

    for engine in (old, new):
        prepare(engine)

    assert shape(old) == shape(new)
    assert version_of(old) == version_of(new) == [SCHEMA_VERSION]


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_is_found_after_an_upgrade(opened: Callable[[int | None], Engine], version: int) -> None:
    system = MemorySystem(
        postgres=opened(version),
        path=":memory:",
        vector_db="exact",
        embedder=HashedEmbedder(8),
        clock=lambda: NOW,
    )

    with system.sync as memory:
        records = {one.id: one for one in memory.list("ada", tier="long_term", include_superseded=True)}
        (employer,) = (one for one in records.values() if one.slot == "employer" and one.current)
        (fact,) = (one for one in records.values() if one.source_ids == ("cello",))
        said = memory.session("ada", "chat").transcript()

        assert memory.recall("ada", "peanuts", 1)[0].id == "peanuts"
        assert records["peanuts"].access_count >= 1
        assert employer.content == "Ada works at Initech"
        assert [one.content for one in records.values() if one.superseded_by == employer.id] == ["Ada works at Acme"]
        assert fact.content == "I love the cello."
        assert [event.kind for event in memory.history("ada", "secret")] == ["created", "forgotten"]
        assert [message.text for message in said] == ["I met Bob in Lisbon"]
        assert [one.content for one in memory.list("bob's")] == ["Bob is ada's friend"]
        assert [message.text for message in memory.session("carl", "chat").transcript()] == ["Be brief."]
        assert memory.remember("ada", "new after the upgrade", "fact", importance=0.9).tier == "long_term"
        assert memory.consolidate("ada").facts == 0, "what was consumed stays consumed"


def test_short_term_items_in_sql_are_found_after_an_upgrade(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "memory.db") as database:
        database.executescript((EARLIER / "version_1.sqlite.sql").read_text(encoding="utf-8"))
    database.close()
    system = MemorySystem(path=tmp_path, vector_db="exact", embedder=HashedEmbedder(8), clock=lambda: NOW)

    with system.sync as memory:
        items = {one.id: one.content for one in memory.list("ada", tier="short_term")}

    assert items == {"rain": RAIN, "lisbon": "I met Bob in Lisbon"}


@pytest.mark.parametrize("version", VERSIONS)
def test_after_an_upgrade_everybody_is_due_once(opened: Callable[[int | None], Engine], version: int) -> None:
    engine = opened(version)

    prepare(engine)
    prepare(engine)

    with engine.connect() as connection:
        due = connection.execute(text("SELECT user_id, attempts, lease FROM ltm_due ORDER BY user_id")).all()
    assert [tuple(row) for row in due] == [("ada", 0, None), ("bob's", 0, None), ("carl", 0, None)]


UPGRADING = """
import sys
from langchain_tiered_memory.backends.sql import connect, prepare, schema, upgrades
print("ready", flush=True)
sys.stdin.readline()
engine = connect(sys.argv[1])[0]
done = []
whole = upgrades.upgrade
schema.upgrade = lambda connection, found: (whole(connection, found), done.append(found))
prepare(engine)
engine.dispose()
print(len(done))
"""
DYING = """
import os, sys
from langchain_tiered_memory.backends.sql import connect, prepare, upgrades
step = upgrades.STEPS[2]
def dying(connection):
    step(connection)
    os._exit(9)
upgrades.STEPS[2] = dying
prepare(connect(sys.argv[1])[0])
"""


def start(code: str, url: URL) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, url.render_as_string(hide_password=False)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def told(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate("\n", timeout=120)
    assert process.returncode == 0, err
    return out.split()[-1]


def test_processes_that_open_it_at_once_upgrade_it_once(place: Place) -> None:
    url = place(1)
    processes = [start(UPGRADING, url) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(told, processes)) == ["0", "0", "1"]


def test_a_process_that_dies_in_the_middle_leaves_the_store_as_it_was(place: Place) -> None:
    url = place(1)

    process = start(DYING, url)
    process.communicate(timeout=120)
    engine, _ = connect(url)

    assert process.returncode == 9
    assert version_of(engine) == [1]
    assert not inspect(engine).has_table("ltm_due")
    prepare(engine)
    assert version_of(engine) == [SCHEMA_VERSION]
    engine.dispose()


def test_a_step_that_fails_leaves_the_store_as_it_was(
    opened: Callable[[int | None], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, step = opened(1), upgrades.STEPS[2]

    def failing(connection: Any) -> None:
        step(connection)
        connection.execute(text("SELECT no_such_column FROM ltm_due"))

    with monkeypatch.context() as patched:
        patched.setitem(upgrades.STEPS, 2, failing)
        with pytest.raises(BackendUnavailable):
            prepare(engine)

    assert version_of(engine) == [1]
    assert not inspect(engine).has_table("ltm_due")


def test_a_later_schema_is_refused_with_the_way_out(opened: Callable[[int | None], Engine]) -> None:
    engine = opened(1)
    with engine.begin() as connection:
        connection.execute(text("UPDATE ltm_schema SET version = 1000"))

    with pytest.raises(SchemaMismatch, match=f"holds schema 1000, this version reads {SCHEMA_VERSION}: upgrade "):
        prepare(engine)

    assert version_of(engine) == [1000]


def test_there_is_a_store_of_every_earlier_version() -> None:
    found = {path.name for path in EARLIER.glob("*.sql")}

    assert found == {f"version_{version}.{name}.sql" for version in VERSIONS for name in ("sqlite", "postgresql")}


# A host with tables of its own


class Order(SQLModel, table=True):
    """A table of the host's; declared in its metadata, where ours must not be."""

    __tablename__ = "host_orders"
    id: int | None = Field(default=None, primary_key=True)
    note: str


def test_a_hosts_alembic_neither_creates_nor_drops_our_tables(opened: Callable[[int | None], Engine]) -> None:
    """Without the filter Alembic takes whatever the host's metadata does not know for something to drop."""
    engine = opened(None)
    prepare(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": include_name})
        found = compare_metadata(context, SQLModel.metadata)

    assert [(kind, table.name) for kind, table in found] == [("add_table", "host_orders")]


def test_a_hosts_create_all_and_drop_all_leave_our_tables_alone(opened: Callable[[int | None], Engine]) -> None:
    engine, fresh = opened(1), opened(None)

    SQLModel.metadata.create_all(fresh)
    SQLModel.metadata.create_all(engine)
    SQLModel.metadata.drop_all(engine)

    assert "ltm_records" not in inspect(fresh).get_table_names()
    prepare(engine)
    assert version_of(engine) == [SCHEMA_VERSION]
