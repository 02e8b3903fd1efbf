"""What is done for all users goes to those alone who need it, and holds nobody's memories afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from langchain_tiered_memory import (
    ForgettingRule,
    ForgettingSettings,
    MaintenanceSettings,
    MemorySystem,
    SearchSettings,
    Settings,
    WorkingSettings,
)
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import Change
from langchain_tiered_memory.core.progress import told_to
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.testing.samples import message_of
from tests.conftest import FakeClock

Make = Callable[..., Engine]
BY_HAND = MaintenanceSettings(automatic=False)
QUIET = [f"quiet {n}" for n in range(6)]


@pytest.fixture(params=["folder", "postgres", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Make]:
    """What opens a memory on an empty store."""
    where: dict[str, Any] = {"path": tmp_path} if request.param == "folder" else {"path": ":memory:"}
    if request.param == "postgres":
        where["postgres"] = url = request.getfixturevalue("postgres_url")
        database = create_engine(url)
        METADATA.drop_all(database)
        database.dispose()
    with ExitStack() as stack:

        def made(**options: Any) -> Engine:
            given = {"embedder": HashedEmbedder(16), "settings": Settings(maintenance=BY_HAND), "vector_db": "exact"}
            system = MemorySystem(clock=clock, **{**where, **given, **options})
            stack.callback(system.sync.close)
            return system.sync

        yield made


def quiet(memory: Engine) -> None:
    """Let some users have memories and messages of whom nothing is due."""
    for user in QUIET:
        memory.remember(user, "the gate is green", importance=0.9)
        memory.remember(user, "the gate is open", importance=0.2, tier=None)
        memory.session(user, "chat").add({"role": "user", "content": "is it?"})
        memory.maintain(user)


class Served:
    """How many users a call for all said that it serves; of one it says nothing."""

    def __init__(self) -> None:
        self.total: int | None = 0

    def __call__(self, step: str, done: int, total: int | None) -> None:
        if step == "serving users":
            self.total = total


def served(work: Callable[[], object]) -> int | None:
    """Do a piece of work and return how many users it said that it serves; 0 for one at most."""
    listened = Served()
    with told_to(listened):
        work()
    return listened.total


def held(memory: Engine) -> set[str]:
    """Return whose snapshots are held."""
    return set(memory._opening.rooms().snapshots._held)


def unplaced(memory: Engine, user: str) -> None:
    """Leave a message as a process does that dies before its episode is written."""
    message = message_of("m1", content="the tide is low")
    memory._opening.rooms().parts.transcripts.append(user, "chat", [message])


def begun(memory: Engine, user: str) -> None:
    """Leave an item as a process does that dies after it wrote the record and before it removed the item."""
    memory.remember(user, "the tower is tall", importance=0.3, id="both")
    parts = memory._opening.rooms().parts
    (entry,) = parts.items.changes(user, 0).entries
    (body,) = parts.items.get(user, ["both"])
    record = replace(entry, memory=replace(body, tier=Tier.LONG_TERM), expires_at=None)
    parts.records.apply(user, Change(entries=(record,), at=body.created_at, by="test"))


def unembedded(memory: Engine, user: str) -> None:
    """Leave a memory without a vector."""
    memory.session(user, "chat").add({"role": "user", "content": "what waits for its vector"})


def test_maintenance_of_all_does_what_is_due_for_whoever_it_is(make: Make, clock: FakeClock) -> None:
    memory = make()
    memory.remember("over", "the lamp is lit", importance=0.2)
    memory.remember("kept", "the key is under the mat", importance=0.7)
    memory.values.put("mortal", "k", {"a": 1}, ttl=timedelta(hours=1))
    clock.advance(hours=23)
    quiet(memory)
    unplaced(memory, "unplaced")
    begun(memory, "begun")
    unembedded(memory, "unembedded")
    clock.advance(hours=2)

    report = memory.maintain(dry_run=True)
    assert (report.promoted, report.expired, report.failed) == (2, 2, ())
    report = memory.maintain()
    assert (report.promoted, report.expired, report.placed, report.failed) == (2, 2, 1, ())
    assert report.embedded >= 2
    assert [one.tier for one in memory.list("kept")] == ["long_term"]
    assert [one.tier for one in memory.list("begun")] == ["long_term"]
    assert memory.list("over") == memory.list("mortal") == ()
    assert [one.content for one in memory.list("unplaced")] == ["the tide is low"]
    assert memory.status().pending == 0


def test_only_those_are_looked_at_who_need_it_and_nobody_is_held(make: Make, request: pytest.FixtureRequest) -> None:
    memory = make()
    quiet(memory)
    for user, leave in (("one", unplaced), ("two", unembedded)):
        leave(memory, user)
    memory._opening.rooms().snapshots.discard()
    memory.recall("in use", "gate")
    # Where short-term memory cannot see long-term memory, a move may have been begun with every item.
    apart = "folder" not in request.node.name

    assert served(memory.maintain) == 2 + len(QUIET) * apart
    assert held(memory) == {"in use"}
    assert served(memory.maintain) == (2 + len(QUIET)) * apart
    assert held(memory) == {"in use"}


@pytest.mark.parametrize(
    "settings",
    [
        Settings(maintenance=BY_HAND, forgetting=ForgettingSettings(rules=(ForgettingRule(importance_below=0.01),))),
        Settings(maintenance=BY_HAND, working=WorkingSettings(summary_tokens=300)),
    ],
    ids=["a policy", "summaries"],
)
def test_what_may_concern_everybody_is_looked_for_with_everybody(make: Make, settings: Settings) -> None:
    memory = make(settings=settings)
    quiet(memory)
    memory._opening.rooms().snapshots.discard()
    assert served(memory.maintain) == len(QUIET)
    assert held(memory) == set()


@pytest.mark.parametrize("make", ["folder", "postgres"], indirect=True)
def test_another_model_is_brought_to_those_who_have_anything_and_to_nobody_twice(make: Make) -> None:
    memory = make()
    quiet(memory)
    whole = memory.status()
    memory.close()

    other = make(embedder=HashedEmbedder(24))
    assert other.status().pending == whole.long_term + other.status().short_term
    assert served(other.reindex) == len(QUIET)
    assert (other.status().pending, held(other)) == (0, set())
    assert served(other.reindex) == 0
    assert other.recall(QUIET[0], "gate")


def test_the_index_is_caught_up_with_whoever_lags_in_it(make: Make) -> None:
    index = InMemoryVectorIndex()
    memory = make(vector_db=index)
    quiet(memory)
    for user in QUIET[:2]:
        memory.remember(user, "the roof is red", importance=0.9)
    assert memory.status().unindexed == 2
    report = memory.maintain()
    assert (report.indexed, memory.status().unindexed) == (2, 0)
    assert [len(index.ids(user)) for user in QUIET] == [2, 2, 1, 1, 1, 1], "items are in no index"
    assert (memory.status().search, memory.status(QUIET[0]).search) == (index.name, index.name)


def test_the_status_of_all_is_the_sum_of_each(make: Make, clock: FakeClock) -> None:
    memory = make(settings=Settings(maintenance=BY_HAND, search=SearchSettings(exact_up_to=1)))
    quiet(memory)
    memory.remember("ada", "I live in Bergen", slot="home")
    memory.remember("ada", "I live in Oslo", slot="home")
    unplaced(memory, "talks only")
    unembedded(memory, "ada")
    users = [*QUIET, "ada", "talks only"]
    whole, each = memory.status(), [memory.status(user) for user in users]
    for name in ("users", "short_term", "long_term", "superseded", "messages", "pending"):
        assert getattr(whole, name) == sum(getattr(one, name) for one in each), name
    assert (whole.users, whole.superseded, whole.search) == (len(users), 1, "exact")
    assert whole.oldest_due_s is None
    clock.advance(days=2)
    assert memory.status().oldest_due_s == timedelta(days=1).total_seconds()
