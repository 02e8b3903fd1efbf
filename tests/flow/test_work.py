"""Workers do what is due for whoever was written to: all of it, once, and whatever becomes of one user."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import Engine as Database
from sqlalchemy import event, text

from langchain_tiered_memory import (
    BackendUnavailable,
    ConfigError,
    ExtractionError,
    ForgettingRule,
    ForgettingSettings,
    InvalidInput,
    MemorySystem,
    Settings,
    WorkReport,
    work_once,
)
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.backends.sql import connect
from langchain_tiered_memory.core.agenda import Backlog, StuckUser
from langchain_tiered_memory.core.config import MaintenanceSettings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.world import QUIET, empty

CHATTER, LOVED, WORTH = 0.1, 0.9, 0.6
Make = Callable[..., Engine]


class Loving:
    """Finds one fact in whatever is loved."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        loved = [one for one in memories if "love" in one.content]
        return tuple(ExtractedFact(content=f"fact of {one.content}", source_ids=(one.id,)) for one in loved)


class Broken(Loving):
    """A model that fails at whatever it is asked."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        raise ExtractionError("it makes no sense")


class Index(InMemoryVectorIndex):
    """A vector index that may be down, and has a bug that only one user meets."""

    def __init__(self, *, damaged: bool = False) -> None:
        super().__init__()
        self.down = False
        self.damaged = damaged

    def upsert(self, user_id: str, rows: Any) -> None:
        self._ask()
        if self.damaged and user_id == "bad":
            raise RuntimeError("the secret text")
        super().upsert(user_id, rows)

    def query(self, *args: Any) -> tuple[str, ...]:
        self._ask()
        return super().query(*args)

    def _ask(self) -> None:
        if self.down:
            raise BackendUnavailable("index", "be asked", "it is down")


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Make]:
    """What gives an engine on the same stores as the one before; nothing happens in the background."""
    given: dict[str, Any] = {"path": ":memory:" if request.param == "memory" else tmp_path}
    with ExitStack() as stack:
        if request.param in {"postgres", "redis"}:
            engine, _ = connect(request.getfixturevalue("postgres_url"))
            stack.callback(engine.dispose)
            given["postgres"] = engine
        if request.param == "redis":
            client = redis.Redis.from_url(request.getfixturevalue("redis_url"))
            stack.callback(client.close)
            client.flushall()
            given["redis"] = client

        def system(**options: Any) -> Engine:
            chosen: dict[str, Any] = {
                "vector_db": "exact",
                "embedder": HashedEmbedder(16),
                "settings": QUIET,
                "clock": clock,
            }
            chosen["extractor"] = Loving()
            made = MemorySystem(**(chosen | given | options)).sync
            stack.callback(made.close)
            made.open()
            return made

        if "postgres" in given:
            system()
            empty(given["postgres"])
        yield system


@pytest.fixture
def memory(make: Make) -> Engine:
    return make()


def names(memory: Engine, user_id: str, tier: str = "long_term") -> list[str]:
    return sorted(one.content for one in memory.list(user_id, tier=tier))


def due(memory: Engine) -> tuple[int, int]:
    status = memory.status()
    return status.due_users, status.stuck_users


def test_who_was_written_to_is_due_a_little_later_and_then_served_once(memory: Engine, clock: FakeClock) -> None:
    memory.remember("ada", "I love the cello.", importance=LOVED)
    memory.remember("bob", "ok", importance=CHATTER)

    assert work_once(memory) == WorkReport()
    clock.advance(minutes=10)
    assert memory.worker.backlog() == Backlog(2, clock(), 0)
    report = work_once(memory)

    assert (report.users, report.facts) == (2, 1)
    assert memory.worker.backlog() == Backlog()
    assert len(names(memory, "ada")) == 2
    assert due(memory) == (0, 0)


def test_an_item_is_promoted_at_its_expiry_though_nobody_comes_by(memory: Engine, clock: FakeClock) -> None:
    memory.remember("ada", "The key lies under the pot", importance=WORTH)
    memory.remember("ada", "ok then", importance=CHATTER)
    clock.advance(minutes=10)
    assert work_once(memory).promoted == 0

    clock.advance(hours=23)
    assert work_once(memory).users == 0
    clock.advance(hours=1)
    report = work_once(memory)

    assert (report.users, report.promoted, report.expired) == (1, 1, 1)
    assert names(memory, "ada") == ["The key lies under the pot"]


def test_what_was_read_often_is_kept_at_its_expiry_however_unimportant(memory: Engine, clock: FakeClock) -> None:
    memory.remember("ada", "blue pot", importance=CHATTER)
    for _ in range(3):
        memory.recall("ada", "blue pot")

    clock.advance(hours=25)
    work_once(memory)

    assert names(memory, "ada") == ["blue pot"]


def test_nothing_is_left_to_do_once_everything_is_done(memory: Engine, clock: FakeClock) -> None:
    memory.remember("ada", "I love the cello.", importance=LOVED)
    rounds = 0
    for _ in range(6):
        clock.advance(days=2)
        rounds += work_once(memory).users

    assert rounds == 1
    assert due(memory) == (0, 0)


def test_messages_and_their_facts_are_served_too(memory: Engine, clock: FakeClock) -> None:
    memory.session("ada", "chat").add({"role": "user", "content": "I love the cello."})
    clock.advance(minutes=10)
    report = work_once(memory)

    assert report.users == 1
    assert report.embedded == 1


def test_each_user_is_served_by_one_of_many_workers(make: Make, clock: FakeClock) -> None:
    memory = make()
    users = [f"user {number}" for number in range(30)]
    for user in users:
        memory.remember(user, "I love the cello.", importance=LOVED)
    clock.advance(minutes=10)

    reports: list[WorkReport] = []
    threads = [threading.Thread(target=lambda: reports.append(work_once(memory, users_at_once=3))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert sum(report.users for report in reports) == 30
    assert [len(names(memory, user)) for user in users] == [2] * 30


def test_who_fails_blocks_nobody_and_can_be_tried_again(make: Make, clock: FakeClock) -> None:
    index = Index(damaged=True)
    memory = make(vector_db=index)
    memory.remember("bad", "The pot is blue", importance=LOVED)
    memory.remember("good", "I love the cello.", importance=LOVED)

    tries = 0
    for _ in range(300):
        clock.advance(minutes=1)
        report = work_once(memory)
        tries += report.failed

    assert tries == QUIET.maintenance.attempts
    assert len(names(memory, "good")) == 2
    status = memory.status()
    assert (status.due_users, status.stuck_users) == (0, 1)
    assert status.stuck == (StuckUser("bad", tries, "RuntimeError"),), "never what it said"
    memory.remember("bad", "more of it", importance=LOVED)
    clock.advance(days=1)
    assert work_once(memory).users == 0

    index.damaged = False
    assert memory.worker.retry("somebody else") == 0
    assert memory.worker.retry() == 1
    assert work_once(memory).users == 1
    assert memory.status().stuck == ()


def test_a_failure_is_followed_by_a_pause_that_doubles(make: Make, clock: FakeClock) -> None:
    memory = make(vector_db=Index(damaged=True))
    memory.remember("bad", "The pot is blue", importance=LOVED)
    clock.advance(minutes=10)

    failed_at = []
    for minute in range(20):
        failed_at += [minute] * work_once(memory).failed
        clock.advance(minutes=1)

    assert failed_at == [0, 1, 3, 7, 15]


def test_a_model_that_fails_makes_nobody_stuck_and_is_asked_less_and_less(make: Make, clock: FakeClock) -> None:
    memory = make(extractor=Broken())
    memory.remember("ada", "I love the cello.", importance=LOVED)
    memory.remember("ada", "The key lies under the pot", importance=WORTH)

    reports = []
    for _ in range(26 * 6):
        clock.advance(minutes=10)
        reports.append(work_once(memory))

    assert sum(report.failed for report in reports) == pytest.approx(26 + 3, abs=3)
    assert sum(report.stuck for report in reports) == 0
    assert "The key lies under the pot" in names(memory, "ada"), "the rest of the work is done"


def test_a_server_that_is_down_is_nobodys_failure(make: Make, clock: FakeClock) -> None:
    index = Index()
    memory = make(vector_db=index)
    for user in ("ada", "bob"):
        memory.remember(user, "I love the cello.", importance=LOVED)
    clock.advance(minutes=10)
    index.down = True

    for _ in range(20):
        report = work_once(memory)
        assert (report.users, report.failed, report.unavailable) == (0, 0, ("vector_index",))
        clock.advance(minutes=1)
    index.down = False
    report = work_once(memory)

    assert (report.users, report.stuck) == (2, 0)
    assert report.indexed == 4
    assert due(memory)[1] == 0


def test_a_claim_of_a_worker_that_died_goes_to_the_next(make: Make, clock: FakeClock) -> None:
    memory = make()
    memory.remember("ada", "I love the cello.", importance=LOVED)
    clock.advance(minutes=10)
    agenda = memory._opening.rooms().parts.agenda
    assert agenda is not None
    lease = QUIET.maintenance.lease
    claim = agenda.claim(clock(), clock() + lease)
    assert claim is not None

    assert work_once(memory).users == 0
    clock.now += lease
    assert work_once(memory).users == 1


def test_an_interrupted_worker_gives_its_user_back(make: Make, clock: FakeClock) -> None:
    class Stopped:
        def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
            raise KeyboardInterrupt

    memory = make(extractor=Stopped())
    memory.remember("ada", "I love the cello.", importance=LOVED)
    clock.advance(minutes=10)

    with pytest.raises(KeyboardInterrupt):
        work_once(memory)

    assert due(memory) == (1, 0)


def test_a_round_ends_when_it_is_stopped_or_has_served_its_share(memory: Engine, clock: FakeClock) -> None:
    for user in ("ada", "bob", "carl"):
        memory.remember(user, "I love the cello.", importance=LOVED)
    clock.advance(minutes=10)
    stopping = threading.Event()
    stopping.set()

    assert work_once(memory, stopping=stopping) == WorkReport()
    assert work_once(memory, most=2).users == 2
    assert work_once(memory).users == 1


def test_with_a_policy_everybody_is_looked_at_once_a_day(make: Make, clock: FakeClock) -> None:
    rule = ForgettingRule(older_than=timedelta(days=3))
    memory = make(settings=replace(QUIET, forgetting=ForgettingSettings(rules=(rule,))))
    memory.remember("ada", "The pot is blue", importance=LOVED)
    for _ in range(4):
        clock.advance(days=1, minutes=1)
        work_once(memory)

    assert names(memory, "ada") == []


def test_of_an_erased_user_not_even_the_name_is_left(make: Make, clock: FakeClock) -> None:
    memory = make()
    memory.remember("nobody-else-xyzzy", "I love the cello.", importance=LOVED)
    memory.remember("nobody-else-xyzzy", "ok", importance=CHATTER)
    memory.forget_user("nobody-else-xyzzy")
    clock.advance(days=3)

    assert due(memory) == (0, 0)
    assert work_once(memory) == WorkReport()


def test_an_erasure_that_was_interrupted_is_finished(make: Make, clock: FakeClock) -> None:
    memory = make()
    memory.remember("ada", "ok", importance=CHATTER)
    memory.remember("ada", "I love the cello.", importance=LOVED)
    memory._opening.rooms().parts.records.erase("ada", clock())

    report = work_once(memory)

    assert report.erased == 1
    assert memory.status().users == 0
    clock.advance(days=2)
    assert work_once(memory) == WorkReport()


def test_bad_arguments_are_refused(memory: Engine) -> None:
    for given in ({"users_at_once": 0}, {"most": -1}):
        with pytest.raises(InvalidInput):
            work_once(memory, **given)  # type: ignore[arg-type] # on purpose
    with pytest.raises(ConfigError, match=r"maintenance\.attempts"):
        Settings(maintenance=MaintenanceSettings(attempts=0))


def test_items_written_before_there_was_an_agenda_are_found(make: Make, clock: FakeClock) -> None:
    memory = make()
    memory.remember("ada", "The key lies under the pot", importance=WORTH)
    parts = memory._opening.rooms().parts
    assert parts.agenda is not None
    parts.agenda.drop("ada")
    clock.advance(hours=25)

    assert work_once(memory).promoted == 1, "the first round asks every store"


# What it costs


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    engine, _ = connect(tmp_path / "memory.db")
    yield engine
    engine.dispose()


def test_a_write_notes_its_user_in_the_transaction_that_writes(database: Database, clock: FakeClock) -> None:
    system = MemorySystem(
        postgres=database, path=":memory:", vector_db="exact", embedder=HashedEmbedder(16), settings=QUIET, clock=clock
    )
    said: list[str] = []
    with system.sync as memory:
        memory.remember("ada", "warm up", importance=LOVED)
        event.listen(database, "before_cursor_execute", lambda _, __, sql, *___: said.append(sql))
        event.listen(database, "commit", lambda _: said.append("COMMIT"))
        memory.remember("ada", "The pot is blue", importance=LOVED)
        noted = [sql for sql in said if "ltm_due" in sql]

        assert len(noted) == 1
        assert "INSERT INTO ltm_due" in noted[0]
        writes = said[said.index(next(sql for sql in said if sql.startswith("BEGIN IMMEDIATE"))) :]
        assert writes.index(noted[0]) < writes.index("COMMIT")
        said.clear()
        memory.recall("ada", "pot")
        assert not [sql for sql in said if "ltm_due" in sql], "a read makes no work"
    with database.connect() as connection:
        assert connection.execute(text("SELECT user_id FROM ltm_due")).scalars().all() == ["ada"]
