"""A process under load is killed again and again: what it had acknowledged is there, once."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.flow.child import ADA, Child, load, system

KILLS = 15
WITH_INDEX = 3
"""The last so many keep the vector index too: Chroma takes seconds to open."""


def test_what_a_killed_process_acknowledged_is_there_exactly_once(tmp_path: Path) -> None:
    draw = random.Random(3)
    memories: set[str] = set()
    messages: set[str] = set()
    for number in range(KILLS):
        exact = number < KILLS - WITH_INDEX
        child = Child(load, str(tmp_path), exact, str(number))
        child.listen(at_least=draw.randint(1, 60))
        for kind, content in child.kill():
            (memories if kind == "memory" else messages).add(content)
        _check(tmp_path, memories, messages, exact=exact)
    assert len(memories) > KILLS
    assert len(messages) > KILLS


def _check(folder: Path, memories: set[str], messages: set[str], *, exact: bool) -> None:
    with system(str(folder), exact=exact).sync as engine:
        found = engine.list(ADA, include_superseded=True, limit=100_000)
        counted = Counter((one.content, str(one.memory_type)) for one in found)
        assert {content: n for content, n in counted.items() if n > 1} == {}
        episodes = {content for content, kind in counted if kind == "episode"}
        assert memories | messages <= episodes
        assert engine.maintain().failed == ()
        engine.consolidate(ADA, everything=True)
        again = engine.list(ADA, limit=100_000)
        facts = [one for one in again if one.memory_type != "episode"]
        drawn = {one.content for one in facts}
        assert len(facts) == len(drawn)
        assert memories <= drawn
        status = engine.status(ADA)
        assert (status.erasures, status.pending, status.short_term) == (0, 0, 0)
        said = Counter(one.content for name in range(3) for one in engine.session(ADA, f"chat {name}").transcript())
        assert messages <= set(said)
        assert set(said.values()) <= {1}
        engine.maintain()
        assert engine.status(ADA).unindexed == 0
