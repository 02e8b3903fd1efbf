"""PostgreSQL behind PgBouncer in transaction mode, with fewer sessions than clients: all goes on as without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text

from langchain_tiered_memory import WorkReport
from langchain_tiered_memory.backends.sql import SqlAgenda, connect, prepare
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.ports import Agenda
from langchain_tiered_memory.testing.contracts import AgendaContract
from tests import servers
from tests.conftest import need
from tests.faults.kills import look
from tests.faults.ledger import Ledger
from tests.faults.worker import Where, Worker, consolidate, load, serve, system

SESSIONS = 3
PROCESSES, THREADS = 4, 6
OF_ALL = """
    SELECT count(*) FILTER (WHERE state <> 'idle'), count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
LEFT_IN_A_SESSION = """
    SELECT pg_backend_pid(), (SELECT count(*) FROM pg_prepared_statements),
    (SELECT count(*) FROM pg_settings WHERE source = 'session' AND (name LIKE '%_timeout' OR name LIKE '%_isolation'))
"""


@pytest.fixture(scope="module")
def direct() -> Iterator[str]:
    """A PostgreSQL of its own, for psycopg, past the pooler."""
    with ExitStack() as stack:
        yield need(stack, servers.postgres_server).replace("+psycopg", "")


@pytest.fixture(scope="module")
def pooled(direct: str) -> Iterator[str]:
    """The same database through a pooler."""
    with ExitStack() as stack:
        yield need(stack, lambda: servers.pooler(direct, SESSIONS))


@pytest.fixture(scope="module")
def prepared(pooled: str) -> Iterator[Engine]:
    """An engine through the pooler, with our tables, which many made at once."""
    engines = [connect(pooled)[0] for _ in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(prepare, engines))
    yield engines[0]
    for one in engines:
        one.dispose()


@pytest.fixture
def where(prepared: Engine, pooled: str, redis_url: str) -> Where:
    """Where systems are whose processes share nothing but servers; the tables are empty."""
    empty(prepared)
    return {"redis": redis_url, "postgres": pooled, "vector_db": "exact"}


@pytest.fixture(autouse=True)
def nothing_left(direct: str, pooled: str) -> Iterator[None]:
    """Whatever a test does, no session keeps a transaction, a lock, a statement or a setting."""
    yield
    with ExitStack() as stack:
        past = stack.enter_context(psycopg.connect(direct, autocommit=True))
        assert past.execute(LOCKS).fetchone() == (0,)
        open_now, sessions = past.execute(OF_ALL).fetchone() or (None, None)
        assert (open_now, sessions is not None and 0 < sessions <= SESSIONS) == (0, True)
        clients = [stack.enter_context(psycopg.connect(pooled.replace("+psycopg", ""))) for _ in range(SESSIONS)]
        found = [client.execute(LEFT_IN_A_SESSION).fetchone() for client in clients]
        assert {row[1:] for row in found if row} == {(0, 0)}
        assert len({row[0] for row in found if row}) == SESSIONS


def empty(engine: Engine) -> None:
    """Remove all rows."""
    with engine.begin() as connection:
        for table in METADATA.sorted_tables:
            if table.name != "ltm_schema":
                connection.execute(table.delete())


def at_once(work: Any, *names: str) -> None:
    """Do a piece of work for each name, each on a thread of its own."""
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(work, names))


def all_told(work: Any, *arguments: object) -> list[Any]:
    """Let processes do a piece of work, all at once, and return what each said last."""
    workers = [Worker(work, *arguments) for _ in range(PROCESSES)]
    for worker in workers:
        worker.listen(at_least=1)
    for worker in workers:
        worker.tell("go")
    return [list(worker.everything_told())[-1] for worker in workers]


class TestAgendaBehindAPooler(AgendaContract):
    @pytest.fixture
    def agenda(self, prepared: Engine) -> Agenda:
        empty(prepared)
        return SqlAgenda(prepared)

    def reopened(self, agenda: Any) -> Agenda:
        return SqlAgenda(agenda._link.engine)


def test_more_clients_than_sessions_take_turns_between_transactions(prepared: Engine) -> None:
    """What the other tests rest on: clients do not keep the session that they had."""
    with ExitStack() as stack:
        clients = [stack.enter_context(prepared.connect()) for _ in range(2 * SESSIONS)]
        met = set()
        for client in clients:
            met.add(client.execute(text("SELECT pg_backend_pid()")).scalar_one())
            client.commit()
    assert 1 <= len(met) <= SESSIONS


def test_one_session_is_enough_for_many_threads(where: Where, direct: str, ledger: Ledger) -> None:
    """No call needs a second one while it has the first, which would wait without end."""
    with ExitStack() as stack:
        alone = need(stack, lambda: servers.pooler(direct, 1))
        engine = stack.enter_context(system({**where, "postgres": alone}).sync)

        def live(user: str) -> None:
            for n in range(3):
                ledger.remember(engine, user, str(n), importance=0.9 if n % 2 else 0.3)
                engine.session(user, "chat").add({"role": "user", "content": f"{user} said {n}"})
                ledger.check_hits(user, engine.recall(user, "saw number", 2, filter={"origin": "user"}))
            engine.consolidate(user, everything=True)
            assert engine.maintain(user).failed == ()

        at_once(live, *(f"user {n}" for n in range(THREADS)))
        assert ledger.refused == 0
        assert set(engine.status().incidents.values()) == {0}


def test_threads_remember_recall_and_consolidate_each_user_s_own(where: Where, ledger: Ledger) -> None:
    users = [f"user {n}" for n in range(3)]
    with system(where).sync as engine:

        def live(name: str) -> None:
            for n in range(4):
                for user in users:
                    ledger.remember(engine, user, f"{name}-{n}", importance=0.9 if n % 2 else 0.3)
                    engine.recall(user, f"number {name}-{n}", 3)
            for user in users:
                engine.consolidate(user, everything=True)

        at_once(live, *(f"thread {n}" for n in range(THREADS)))
        assert ledger.refused == 0
        ledger.check(engine, users)
        for user in users:
            assert engine.maintain(user).failed == ()
            assert engine.status(user).short_term == 0
            facts = [one.content for one in engine.list(user, memory_types=["fact"], limit=1_000)]
            assert len(facts) == len(set(facts)) == 4 * THREADS


def test_processes_consolidate_one_user_without_doubles_and_count_every_read(where: Where, user: str) -> None:
    with system(where).sync as engine:
        for n in range(20):
            engine.remember(user, f"I love number {n}.", importance=0.3, role="user", id=f"e{n}")
        engine.remember(user, "the shared note", importance=0.9, metadata={"shared": True}, id="shared")
    told = all_told(consolidate, where, user, 4)
    with system(where).sync as engine:
        found = engine.list(user, include_superseded=True, limit=1_000)
        assert set(Counter((one.content, one.memory_type) for one in found).values()) == {1}
        assert sum(report.facts for _, report in told) == sum(one.origin == "consolidation" for one in found) == 21
        assert engine.get(user, "shared").access_count == sum(reads for reads, _ in told) == 8 * PROCESSES


def test_each_user_who_is_due_is_served_by_one_of_many_workers(where: Where) -> None:
    with system(where).sync as engine:
        for n in range(30):
            engine.remember(f"user {n}", f"I love number {n}.", importance=0.9)
        engine.worker.everybody()
    reports: list[WorkReport] = all_told(serve, where, 2)
    assert sum(report.users for report in reports) == sum(report.facts for report in reports) == 30
    assert {(report.failed, report.unavailable) for report in reports} == {(0, ())}
    with system(where).sync as engine:
        assert (engine.worker.backlog().due, engine.worker.backlog().stuck) == (0, 0)


def test_what_killed_processes_acknowledged_is_there_once(where: Where, user: str, ledger: Ledger) -> None:
    """The pooler ends what they had begun, and gives their sessions to others."""
    messages = set[str]()
    for number in range(3):
        worker = Worker(load, where, user, str(number))
        worker.listen(at_least=8)
        for kind, memory_id, content in worker.kill():
            ledger.told(user, memory_id, content, acknowledged=True)
            messages |= {content} if kind == "message" else set()
    look(where, ledger, user, messages)
    assert messages
