"""Processes that are killed under load."""

from __future__ import annotations

import random
from collections import Counter

from tests.faults.ledger import EVERYTHING, Ledger
from tests.faults.machines import Place
from tests.faults.worker import Where, Worker, load, system


def killed_again_and_again(place: Place, ledger: Ledger, user: str, *, kills: int, looks: int) -> None:
    """Kill so many processes in the middle of their work, and look at what is there so many times in between."""
    where: Where = {"redis": place.redis.url, "vector_db": place.chroma.url, "postgres": place.postgres.url}
    draw = random.Random(kills)
    messages: set[str] = set()
    for number in range(kills):
        worker = Worker(load, where, user, str(number))
        worker.listen(at_least=draw.randint(1, 12))
        for kind, memory_id, content in worker.kill():
            ledger.told(user, memory_id, content, acknowledged=True)
            if kind == "message":
                messages.add(content)
        if (number + 1) % max(kills // looks, 1) == 0:
            look(where, ledger, user, messages)
    assert len(messages) > kills // 4


def look(where: Where, ledger: Ledger, user: str, messages: set[str]) -> None:
    """Compare what is there with what was acknowledged, as a new process finds it."""
    with system(where).sync as engine:
        assert engine.maintain(user).failed == ()
        engine.consolidate(user, everything=True)
        assert engine.maintain(user).failed == ()
        found = engine.list(user, include_superseded=True, limit=EVERYTHING)
        assert {one.user_id for one in found} == {user}
        counted = Counter((one.content, str(one.memory_type)) for one in found)
        assert {one: n for one, n in counted.items() if n > 1} == {}
        held = {one.id: one.content for one in found}
        assert ledger.acknowledged(user).items() <= held.items()
        said = Counter(one.content for one in engine.session(user, "chat").transcript())
        assert messages <= set(said)
        assert set(said.values()) <= {1}
        status = engine.status(user)
        assert (status.short_term, status.pending, status.unindexed, status.erasures) == (0, 0, 0, 0)
