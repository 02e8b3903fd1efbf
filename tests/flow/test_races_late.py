"""What comes late: a read of what was just promoted, a vector of what was just forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import Vector
from tests.flow.racing import ADA, THREADS, at_once
from tests.flow.world import START, assert_settled, heads, in_memory
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

# -- counting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_reads_on_many_threads_are_counted_exactly(make_world: MakeWorld, importance: float) -> None:
    world = make_world()
    engine = world.engine()
    for n in range(3):
        engine.remember(ADA, f"words {n}", "fact", importance=importance)
    hits = at_once(lambda _: [len(engine.recall(ADA, "words", 3)) for _ in range(10)])
    assert sum(map(sum, hits)) == 3 * 10 * THREADS
    assert [one.access_count for one in world.engine().list(ADA)] == [10 * THREADS] * 3


def test_reads_while_an_item_is_promoted_are_counted_exactly(make_world: MakeWorld) -> None:
    """Read where it is: in one tier, in the other, or on its way, where it stays as long as it is read all the time."""
    world = make_world()
    engines = [world.engine() for _ in range(4)]
    for n in range(6):
        query = f"words {n}"
        stored = engines[0].remember(ADA, query, "fact", importance=0.3)
        work = partial(_read_or_promote, engines, query)
        ids = [one for found in at_once(work, 4) for one in found]
        world.engine().maintain(ADA)
        found = world.engine().get(ADA, stored.id)
        assert (found.tier, found.access_count) == (Tier.LONG_TERM, ids.count(stored.id))
        assert len(ids) == 24


def _read_or_promote(engines: Sequence[Engine], query: str, number: int) -> list[str]:
    if number == 0:
        assert engines[0].consolidate(ADA, everything=True).failed == 0
        return []
    return [hit.id for _ in range(8) for hit in engines[number].recall(ADA, query, 1)]


def test_a_read_that_comes_too_late_for_the_item_is_counted_for_the_record() -> None:
    """The item is removed between the search and the counting."""
    world = in_memory()
    engine = world.engine()
    stored = engine.remember(ADA, "words", "fact", importance=0.3)
    touch = world.items.touch
    world.items.touch = lambda *args: (world.engine().consolidate(ADA, everything=True), touch(*args))[1]  # type: ignore[method-assign]
    (hit,) = engine.recall(ADA, "words")
    assert (hit.access_count, world.engine().get(ADA, stored.id).access_count) == (1, 1)
    assert (engine.get(ADA, stored.id).tier, len(engine.list(ADA))) == (Tier.LONG_TERM, 1)
    assert engine.status(ADA).short_term == 0


# -- the vector index ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["forget", "update", "erase"])
def test_what_changes_on_its_way_into_the_index_is_right_in_the_end(make_world: MakeWorld, act: str) -> None:
    """Another process changes the truth after this one read it, and brings the index up before this one writes."""
    world = make_world()
    world.engine().remember(ADA, "first words", "fact", importance=0.9, id="m")
    world.engine().remember(ADA, "other words", "fact", importance=0.9, id="n")
    assert world.index is not None
    index, upsert = world.index, world.index.upsert
    mine = world.engine()

    def late(user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        index.upsert = upsert  # type: ignore[method-assign]
        other = world.engine()
        if act == "update":
            other.update(ADA, "m", content="altogether different words")
        elif act == "forget":
            other.forget(ADA, "m")
        else:
            other.forget_user(ADA)
        other.maintain(ADA)
        upsert(user_id, rows)

    index.upsert = late  # type: ignore[method-assign]
    mine.maintain(ADA)
    mine.maintain(ADA)
    assert_settled(world, [ADA])
    if act == "update":
        vectors = world.records.vectors(ADA, ["m"])["m"]
        assert index.query(ADA, vectors[0].vector, 1) == ("m#0",)
        assert float(vectors[0].vector @ world.embedder.embed_query("first words")) < 0.99


def test_a_removal_that_comes_late_leaves_no_hole(make_world: MakeWorld) -> None:
    world = make_world()
    world.engine().remember(ADA, "words", "fact", importance=0.9, id="m")
    world.engine().maintain(ADA)
    assert world.index is not None
    index, delete = world.index, world.index.delete
    (entry,) = heads(world.records, ADA)
    world.records.update(ADA, replace(entry, memory=replace(entry.memory, content="new words"), vectors=()), START)

    def late(user_id: str, refs: Sequence[str]) -> None:
        index.delete = delete  # type: ignore[method-assign]
        world.engine().maintain(ADA)  # embeds the new text, and writes it to the index
        delete(user_id, refs)

    index.delete = late  # type: ignore[method-assign]
    mine = world.engine()
    mine.forget(ADA, mine.remember(ADA, "another", "fact", importance=0.9).id)
    mine.maintain(ADA)
    assert_settled(world, [ADA])
