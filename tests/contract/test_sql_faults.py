"""What the SQL stores do when something else fails: the disk, the server, other processes, a damaged row."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, text
from sqlmodel import SQLModel

from langchain_tiered_memory.backends.sql import (
    SCHEMA_VERSION,
    SqlItemStore,
    SqlRecordStore,
    SqlTranscriptStore,
    connect,
    prepare,
    writing,
)
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, SchemaMismatch
from langchain_tiered_memory.core.ports import Change
from langchain_tiered_memory.testing.samples import NOW, entry_of, message_of, passage
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once

ROOT = Path(__file__).parents[2]
SECRET = "the secret is xyzzy-4711"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    made, _ = connect(path)
    prepare(made)
    yield made
    made.dispose()


def run(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start an interpreter on a script of a few lines."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait for the end and return what was printed."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


# Connecting


@pytest.mark.parametrize(
    ("source", "driver", "database"),
    [
        ("memory.db", "sqlite", "memory.db"),
        (Path("a#b?c%20.db"), "sqlite", "a#b?c%20.db"),
        ("sqlite:///memory.db", "sqlite", "memory.db"),
        (":memory:", "sqlite", ":memory:"),
        ("postgres://ada:pw@host/db", "postgresql+psycopg", "db"),
        ("postgresql://ada:pw@host/db", "postgresql+psycopg", "db"),
        ("postgresql+psycopg://ada:pw@host/db", "postgresql+psycopg", "db"),
    ],
)
def test_paths_and_urls_give_an_engine_of_our_own(source: object, driver: str, database: str) -> None:
    engine, owned = connect(source)

    assert owned
    assert (engine.url.drivername, engine.url.database) == (driver, database)
    assert engine.url.password == ("pw" if "pw" in str(source) else None)


def test_an_engine_is_used_as_it_is(engine: Engine) -> None:
    assert connect(engine) == (engine, False)


@pytest.mark.parametrize(
    "source", ["mysql://ada:pw@host/db", "postgresql+asyncpg://ada:pw@host/db", "", None, 3, "://"]
)
def test_anything_else_is_refused_without_its_password(source: object) -> None:
    with pytest.raises(ConfigError) as caught:
        connect(source)

    assert "pw" not in str(caught.value)


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(ImportError, match=r"pip install 'langchain-tiered-memory\[postgres\]'"):
        connect("postgresql://host/db")


def test_a_hosts_metadata_never_sees_our_tables() -> None:
    assert not [name for name in SQLModel.metadata.tables if name.startswith("ltm_")]


def test_an_engine_that_gives_each_thread_a_database_is_refused() -> None:
    engine = create_engine("sqlite://")

    with pytest.raises(ConfigError, match="StaticPool"):
        SqlItemStore(engine)


def test_an_engine_with_listeners_that_begin_transactions_serves_as_well(path: Path) -> None:
    """A host may follow SQLAlchemy's own recipe for SQLite, and goes on using its engine after us."""
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    prepare(engine)
    store = SqlItemStore(engine)

    store.put("ada", [entry_of("a")])
    store.touch("ada", ["a"], NOW)
    store.close()

    assert store.get("ada", ["a"])[0].access_count == 1
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM ltm_items")).scalar() == 1
    engine.dispose()


# Schema


@pytest.mark.parametrize("found", [SCHEMA_VERSION + 1, 0])
def test_tables_of_another_version_are_refused_and_left_alone(engine: Engine, path: Path, found: int) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE ltm_schema SET version = :found"), {"found": found})
    engine.dispose()
    before = path.read_bytes()

    with pytest.raises(SchemaMismatch) as caught:
        prepare(engine)
    engine.dispose()

    assert (caught.value.found, caught.value.supported) == (found, SCHEMA_VERSION)
    assert path.read_bytes() == before


def test_many_that_start_at_once_on_a_new_database_of_a_server_all_find_the_tables(postgres_url: str) -> None:
    server, _ = connect(postgres_url)
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("CREATE DATABASE at_once"))
    server.dispose()
    engine, _ = connect(server.url.set(database="at_once"))

    at_once(lambda _: prepare(engine))

    assert SqlItemStore(engine).users() == ()
    engine.dispose()


# Places that cannot be written to


def test_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    engine, _ = connect(tmp_path / "nowhere" / "memory.db")

    with pytest.raises(BackendUnavailable, match="sqlite could not open its file"):
        prepare(engine)


def test_a_file_that_is_no_database_is_unavailable(path: Path) -> None:
    path.write_bytes(b"not a database " * 1000)
    engine, _ = connect(path)

    with pytest.raises(BackendUnavailable, match="not a database"):
        prepare(engine)
    engine.dispose()


UNPRIVILEGED = """
import os, sys
from langchain_tiered_memory.backends.sql import connect, prepare
from langchain_tiered_memory.core.errors import BackendUnavailable
prepare(connect(":memory:")[0])  # imports what the other user may not be allowed to read
if os.geteuid() == 0:
    os.setuid(65534)
engine = connect(sys.argv[1])[0]
try:
    prepare(engine)
except BackendUnavailable as error:
    print(error.backend)
engine.dispose()
"""


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_that_is_read_only_is_unavailable(exists: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.db"
        if exists:
            engine, _ = connect(path)
            prepare(engine)
            engine.dispose()
            path.chmod(0o444)
        path.parent.chmod(0o555)

        said = ended(run(UNPRIVILEGED, path))

        path.parent.chmod(0o755)
    assert said == "sqlite"


def test_a_full_disk_is_unavailable_and_loses_nothing_acknowledged(engine: Engine) -> None:
    store = SqlItemStore(engine)
    store.put("ada", [entry_of("a")])
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(BackendUnavailable, match="full") as caught:
        store.put("ada", [entry_of("b", SECRET * 1000)])

    assert SECRET not in f"{caught.value} {caught.value.__cause__}"
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert [memory.id for memory in store.get("ada", ["a", "b"])] == ["a"]
    store.put("ada", [entry_of("b", SECRET * 1000)])
    assert [memory.id for memory in store.get("ada", ["a", "b"])] == ["a", "b"]


def test_a_server_that_is_down_is_unavailable_and_no_password_is_shown() -> None:
    engine, _ = connect("postgresql://ada:hidden-word@127.0.0.1:9/db")
    store = SqlRecordStore(engine)

    with pytest.raises(BackendUnavailable) as caught:
        store.version("ada")

    assert "hidden-word" not in f"{caught.value} {caught.value.__cause__} {engine!r}"
    assert (caught.value.backend, caught.value.operation) == ("postgresql", "read a version")


def test_tables_that_are_missing_are_unavailable(path: Path) -> None:
    engine, _ = connect(path)

    with pytest.raises(BackendUnavailable, match="no such table"):
        SqlTranscriptStore(engine).append("ada", "s", [message_of("m")])
    engine.dispose()


# Many at once


def test_many_threads_write_without_an_error(engine: Engine) -> None:
    store = SqlItemStore(engine)

    at_once(lambda n: [store.put("ada", [entry_of(f"{n}-{i}")]) for i in range(50)])

    assert len(store.changes("ada", 0).entries) == THREADS * 50


WRITING = """
import sys
from langchain_tiered_memory.backends.sql import SqlItemStore, connect, prepare
from langchain_tiered_memory.testing.samples import NOW, entry_of
engine = connect(sys.argv[1])[0]
prepare(engine)
store = SqlItemStore(engine)
store.put("ada", [entry_of("shared")])
for i in range(100):
    store.put("ada", [entry_of(f"{sys.argv[2]}-{i}")])
    store.touch("ada", ["shared"], NOW)
engine.dispose()
"""


def test_many_processes_start_at_once_on_one_new_file_and_write_without_an_error(path: Path) -> None:
    for process in [run(WRITING, path, n) for n in range(4)]:
        ended(process)

    engine, _ = connect(path)
    store = SqlItemStore(engine)
    assert len(store.changes("ada", 0).entries) == 401
    assert store.get("ada", ["shared"])[0].access_count == 400
    engine.dispose()


FORKING = """
import os, sys
from langchain_tiered_memory.backends.sql import SqlItemStore, connect, prepare
from langchain_tiered_memory.testing.samples import entry_of
engine = connect(sys.argv[1])[0]
prepare(engine)
store = SqlItemStore(engine)
store.put("fork", [entry_of("before")])
child = os.fork()
who = "parent" if child else "child"
for i in range(20):
    store.put("fork", [entry_of(f"{who}-{i}")])
assert store.get("fork", ["before"])
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(store.changes("fork", 0).entries))
store.forget("fork")
engine.dispose()
"""


@pytest.mark.parametrize("database", ["file", "server"])
def test_after_a_fork_both_processes_go_on(database: str, path: Path, request: pytest.FixtureRequest) -> None:
    source = path if database == "file" else request.getfixturevalue("postgres_url")

    assert ended(run(FORKING, source)) == "41"


def test_of_what_is_said_again_and_again_only_repetitions_within_the_time_are_looked_for(engine: Engine) -> None:
    """Otherwise the thousandth "ok" of a session would read the 999 before it."""
    store = SqlItemStore(engine)
    derived = {"duplicate_key": "ok", "duplicate_within": timedelta(seconds=60)}
    often = [entry_of(str(n), "ok", created_at=NOW + n * timedelta(minutes=2), derived=derived) for n in range(50)]
    store.put("ada", often)

    again = entry_of("again", "ok", created_at=NOW + timedelta(seconds=30), derived=derived)
    (placed,) = store.put("ada", [again])

    assert (placed.outcome, placed.memory.id) == ("repeated", "0")
    with engine.connect() as connection:
        plan = connection.execute(text(PLAN)).all()
    assert "created_at>? AND created_at<?" in plan[0][3]


PLAN = """
EXPLAIN QUERY PLAN SELECT * FROM ltm_items
WHERE user_key = 'x' AND duplicate_digest IN ('y') AND created_at BETWEEN 1 AND 2
"""


# What is left


def raw(path: Path) -> bytes:
    """Read the file and everything beside it."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(f"{path.name}*")))


def test_what_was_erased_is_nowhere_in_the_files(engine: Engine, path: Path) -> None:
    records, items, transcripts = SqlRecordStore(engine), SqlItemStore(engine), SqlTranscriptStore(engine)
    user = "ada-of-the-files"
    records.apply(user, Change(entries=(entry_of("a", SECRET),), at=NOW, by="remember"))
    items.put(user, [entry_of("b", SECRET)])
    transcripts.append(user, "s", [message_of("m", SECRET)])
    assert SECRET.encode() in raw(path)

    records.erase(user, NOW)
    items.forget(user)
    transcripts.forget(user)
    records.close_intents(user, None)

    assert SECRET.encode() not in raw(path)
    assert user.encode() not in raw(path)


def test_what_was_forgotten_is_nowhere_in_the_files(engine: Engine, path: Path) -> None:
    records = SqlRecordStore(engine)
    records.apply("ada", Change(entries=(entry_of("a", SECRET), entry_of("b")), at=NOW, by="remember"))
    records.touch("ada", ["a"], NOW)

    records.forget("ada", ["a"], NOW)
    records.close_intents("ada", ["a"])

    assert SECRET.encode() not in raw(path)
    assert [memory.id for memory in records.get("ada", ["a", "b"])] == ["b"]


@pytest.mark.parametrize(
    ("column", "damage"), [("attached", "{"), ("memory_type", "rumour"), ("terms", "x y"), ("created_at", 2**62)]
)
def test_a_damaged_row_hides_itself_only(engine: Engine, column: str, damage: object) -> None:
    store = SqlItemStore(engine)
    store.put("ada", [entry_of("a"), entry_of("b")])
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE ltm_items SET {column} = :damage WHERE id = 'a'"), {"damage": damage})  # noqa: S608

    assert [entry.memory.id for entry in store.changes("ada", 0).entries] == ["b"]


def test_a_damaged_vector_is_pending_and_no_pickle_is_ever_read(engine: Engine) -> None:
    store = SqlItemStore(engine)
    store.put("ada", [entry_of("a", derived={"vectors": (passage(0, 1), passage(1, 2)), "passages": 2})])
    with engine.begin() as connection:
        bomb = b"cos\nsystem\n(S'false'\ntR."
        connection.execute(text("UPDATE ltm_item_vectors SET vector = :bomb WHERE passage = 0"), {"bomb": bomb})

    (entry,) = store.changes("ada", 0).entries

    assert [one.passage for one in entry.vectors] == [1]
    assert entry.passages == 2


def test_a_reader_behind_what_is_known_of_removals_starts_anew(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_GONE_KEPT", 3)
    store = SqlItemStore(engine)
    store.put("ada", [entry_of(str(n)) for n in range(8)])
    versions: list[Any] = [store.version("ada")]
    for n in range(6):
        store.remove("ada", {str(n): None})
        versions.append(store.version("ada"))

    assert store.changes("ada", versions[0]).whole
    late = store.changes("ada", versions[-3])
    assert (late.whole, sorted(late.gone)) == (False, ["4", "5"])
