"""Transactions, deadlines and the write-ahead log: what lies between the stores and a database."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from langchain_tiered_memory.backends.sql import SqlRecordStore, connect, prepare
from langchain_tiered_memory.backends.sql.link import Link, link_of
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.patience import waiting_at_most
from langchain_tiered_memory.core.ports import Change
from langchain_tiered_memory.testing.samples import NOW, entry_of
from tests.proxy import Proxy

SECRET = "the secret is xyzzy-4711"


@pytest.fixture
def link(postgres_url: str) -> Iterator[Link]:
    engine, _ = connect(postgres_url)
    made = link_of(engine)
    yield made
    engine.dispose()


def test_what_was_erased_leaves_the_log_as_soon_as_nobody_reads_it_any_more(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    engine, _ = connect(path)
    prepare(engine)
    store = SqlRecordStore(engine)
    link_of(engine).truncate_log()
    store.apply("ada", Change(entries=(entry_of("a", content=SECRET),), at=NOW, by="test"))

    def traces() -> int:
        return sum(SECRET.encode() in one.read_bytes() for one in tmp_path.iterdir())

    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        link_of(engine)._log_due = False
        with link_of(engine).glance("wait less") as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=50")
        store.erase("ada", NOW)
        assert traces() > 0
        assert link_of(engine)._log_due
        store.write_meta("while", "it reads")
        assert traces() > 0
    store.write_meta("and", "after it")
    assert (traces(), link_of(engine)._log_due) == (0, False)
    engine.dispose()


def test_a_server_that_falls_silent_is_given_up_and_left_alone_for_a_while(postgres_url: str) -> None:
    server = urlsplit(postgres_url)
    with Proxy((str(server.hostname), int(server.port or 0))) as proxy:
        engine, _ = connect(f"{postgres_url.replace(str(server.port), str(proxy.port))}?connect_timeout=2")
        link = link_of(engine)
        link.limit(0.4, 60)
        with link.glance("ask") as connection:
            connection.execute(text("SELECT 1"))
        proxy.frozen = True
        began = time.monotonic()
        with pytest.raises(BackendUnavailable), link.glance("ask"):
            pass
        with pytest.raises(BackendUnavailable, match="not asked"), link.glance("ask again"):
            pass
        assert time.monotonic() - began < 2, "the driver's least for a new connection is not waited for"
        assert link.incidents() == {"postgres_unavailable": 1, "postgres_not_asked": 1}
        proxy.frozen = False
        engine.dispose()


def test_a_write_may_wait_for_others_longer_than_a_read(link: Link) -> None:
    link.limit(0.3, 60)
    with link.write("write") as connection:
        connection.execute(text("SELECT pg_sleep(0.9)"))
    with pytest.raises(BackendUnavailable, match="AnswerTimeout"), link.glance("read") as connection:
        connection.execute(text("SELECT pg_sleep(0.9)"))


def test_who_is_in_a_hurry_waits_less_for_what_is_read_and_as_long_as_a_reader_to_count_hits(link: Link) -> None:
    link.limit(1, 60)
    with waiting_at_most(60, silence=0.3):
        with link.write("count") as connection:
            connection.execute(text("SELECT pg_sleep(0.6)"))
        with pytest.raises(BackendUnavailable, match="AnswerTimeout"), link.write("count") as connection:
            connection.execute(text("SELECT pg_sleep(1.6)"))
        with link.glance("it may have been another writer, so it is asked again") as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1
        with pytest.raises(BackendUnavailable, match="AnswerTimeout"), link.read("read") as connection:
            connection.execute(text("SELECT pg_sleep(0.6)"))
    assert link.incidents() == {"postgres_unavailable": 2, "postgres_not_asked": 0}


def test_a_connection_that_was_forgotten_on_the_way_costs_half_of_the_silence(postgres_url: str) -> None:
    server = urlsplit(postgres_url)
    with Proxy((str(server.hostname), int(server.port or 0))) as proxy:
        engine, _ = connect(postgres_url.replace(str(server.port), str(proxy.port)))
        link = link_of(engine)
        link.limit(4, 60)
        with link.glance("ask") as one, link.glance("ask") as other:
            assert [c.execute(text("SELECT 1")).scalar() for c in (one, other)] == [1, 1]
        proxy.strand()
        began = time.monotonic()
        for _ in range(3):
            with link.glance("ask") as connection:
                assert connection.execute(text("SELECT 1")).scalar() == 1
        assert 2 <= time.monotonic() - began < 4
        assert link.incidents() == {"postgres_unavailable": 0, "postgres_not_asked": 0}
        engine.dispose()


def test_nothing_is_prepared_on_a_server_so_that_any_session_of_it_serves(link: Link) -> None:
    """As behind a pooler that gives every transaction another one."""
    for _ in range(20):
        with link.read("ask") as connection:
            connection.execute(text("SELECT CAST(:n AS int) + 1"), {"n": 1})
    with link.glance("look") as connection:
        assert connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar() == 0


def test_a_session_keeps_nothing_of_a_transaction(link: Link) -> None:
    """No lock and no setting outlives it."""
    settings: Any = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY 1"
    with link.glance("look") as connection:
        before = connection.execute(text(settings)).all()
    for transaction in (link.read, link.write):
        with transaction("ask") as connection:
            connection.execute(text("SELECT 1"))
    with link.glance("look") as connection:
        assert connection.execute(text(settings)).all() == before
        assert connection.execute(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")).scalar() == 0
