"""What means something else is kept apart: short queries from the talk before them, equal words from each other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.search import bare
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.embedding import HashedEmbedder


@pytest.fixture
def memory() -> Iterator[Engine]:
    """Return a memory whose clock stands still."""
    clock = datetime(2026, 1, 1, tzinfo=UTC)
    with MemorySystem.open(":memory:", embedder=HashedEmbedder(), clock=lambda: clock).sync as system:
        yield system


def test_a_short_query_that_points_to_nothing_stands_by_itself(memory: Engine) -> None:
    """The window helps a bare query ("and her sister?"); one that is complete is not swamped by it."""
    for number in range(1, 40):
        memory.remember("ada", f"chapter {number} is done", session_id="book")
    memory.session("ada", "now").add({"role": "user", "content": "I have read chapter 5 and chapter 5 again"})

    hits = memory.recall("ada", "chapter 29", k=1, session_id="now")

    assert hits[0].content == "chapter 29 is done"


@pytest.mark.parametrize(
    ("query", "expected"),
    [("and her sister?", True), ("what about it?", True), ("chapter 29", False), ("where does my sister live", False)],
)
def test_a_query_is_bare_when_it_is_short_and_points(query: str, *, expected: bool) -> None:
    assert bare(query, analyze(query)) is expected


def test_the_same_words_for_two_agents_and_of_two_types_are_memories_of_their_own(memory: Engine) -> None:
    """An id that is derived tells apart what means something else."""
    episode = memory.remember("ada", "I like tea")
    preference = memory.remember("ada", "I like tea", "preference")
    mine = memory.remember("ada", "I like tea", "preference", agent_id="a")
    other = memory.remember("ada", "I like tea", "preference", agent_id="b")

    assert len({episode.id, preference.id, mine.id, other.id}) == 4
    seen = memory.recall("ada", "tea", k=9, agent_id="b", memory_types=["preference"])
    assert {hit.id for hit in seen} == {preference.id, other.id}
