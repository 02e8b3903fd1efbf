"""Eight processes on one user: nothing is doubled, and every read counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.machines import Place
from tests.faults.worker import Where, Worker, consolidate, system

PROCESSES, READS, EPISODES = 8, 5, 40


@pytest.fixture(params=["folder", "servers"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    if request.param == "folder":
        return {"path": str(tmp_path)}
    place: Place = request.getfixturevalue("place")
    return {
        name: machine.url
        for name, machine in zip(
            ("redis", "postgres", "vector_db"), (place.redis, place.postgres, place.chroma), strict=True
        )
    }


def test_eight_workers_consolidate_one_user_without_doubles_and_count_every_read(where: Where, user: str) -> None:
    with system(where).sync as engine:
        for n in range(EPISODES):
            engine.remember(user, f"I love number {n}.", importance=0.3, role="user", id=f"e{n}")
        for importance in (0.3, 0.9):  # one in each tier
            content = f"the shared note of {importance}"
            engine.remember(user, content, importance=importance, metadata={"shared": True}, id=f"shared{importance}")
    workers = [Worker(consolidate, where, user, READS) for _ in range(PROCESSES)]
    for worker in workers:
        worker.listen(at_least=1)
    for worker in workers:
        worker.tell("go")
    told = [list(worker.everything_told())[-1] for worker in workers]
    with system(where).sync as engine:
        assert engine.maintain(user).failed == ()
        found = engine.list(user, include_superseded=True, limit=10_000)
        doubled = [one for one, n in Counter((m.content, m.memory_type) for m in found).items() if n > 1]
        assert doubled == []
        assert {f"e{n}" for n in range(EPISODES)} < {one.id for one in found}
        facts = [one.content for one in found if one.origin == "consolidation"]
        assert sorted(facts) == sorted(f"fact of {one.content}" for one in found if one.origin != "consolidation")
        assert sum(report.facts for _, report in told) == len(facts) == EPISODES + 2
        counts = [engine.get(user, f"shared{importance}").access_count for importance in (0.3, 0.9)]
        assert sum(counts) == sum(reads for reads, _ in told) == 2 * READS * PROCESSES
        status = engine.status(user)
        assert (status.short_term, status.unindexed, status.erasures) == (0, 0, 0)
