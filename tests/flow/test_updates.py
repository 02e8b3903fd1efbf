"""Updates beside others: of other processes, of readers, of consolidation; and what rests on a text that changed."""

from __future__ import annotations

import pytest

from langchain_tiered_memory.core.errors import Conflict, NotFound
from langchain_tiered_memory.core.model import Tier
from tests.flow.racing import ADA, SlowExtractor, at_once, consolidating, contents
from tests.flow.world import World, assert_settled
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]


@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_updates_of_different_fields_by_many_processes_are_all_kept(make_world: MakeWorld, importance: float) -> None:
    world = make_world()
    world.engine().remember(ADA, "the lake is cold", "fact", importance=importance, id="m")
    engines = [world.engine() for _ in range(4)]

    def change(number: int) -> None:
        if number == 0:
            engines[0].update(ADA, "m", importance=0.7)
        elif number == 1:
            engines[1].update(ADA, "m", pinned=True)
        elif number == 2:
            engines[2].update(ADA, "m", metadata={"a": 1})
        else:
            for _ in range(5):
                engines[3].recall(ADA, "lake", 1)

    at_once(change, 4)

    found = world.engine().get(ADA, "m")
    assert (found.importance, found.pinned, dict(found.metadata)) == (0.7, True, {"a": 1})
    assert (found.access_count, found.content) == (5, "the lake is cold")


def test_an_update_follows_an_item_that_is_promoted_meanwhile(make_world: MakeWorld) -> None:
    world = make_world()
    mine, other = world.engine(), world.engine()
    mine.remember(ADA, "the lake is cold", importance=0.3, id="m")
    update = world.items.update

    def late(*args: object, **options: object) -> object:
        world.items.update = update  # type: ignore[method-assign]
        other.consolidate(ADA, everything=True)
        return update(*args, **options)  # type: ignore[arg-type]

    world.items.update = late  # type: ignore[method-assign, assignment]
    updated = mine.update(ADA, "m", content="the lake is warm")

    assert (updated.tier, updated.content) == (Tier.LONG_TERM, "the lake is warm")
    assert mine.get(ADA, "m") == updated
    mine.maintain(ADA)
    assert_settled(world, [ADA])


def test_an_update_of_what_is_forgotten_meanwhile_is_not_found(make_world: MakeWorld) -> None:
    world = make_world()
    mine, other = world.engine(), world.engine()
    mine.remember(ADA, "the lake is cold", importance=0.9, id="m")
    update = world.records.update

    def late(*args: object, **options: object) -> object:
        world.records.update = update  # type: ignore[method-assign]
        other.forget(ADA, "m")
        return update(*args, **options)  # type: ignore[arg-type]

    world.records.update = late  # type: ignore[method-assign, assignment]
    with pytest.raises(NotFound):
        mine.update(ADA, "m", content="the lake is warm")

    assert contents(world) == []


def test_what_changes_under_every_try_is_a_conflict_in_a_sentence(make_world: MakeWorld) -> None:
    world = make_world()
    mine, other = world.engine(), world.engine()
    mine.remember(ADA, "the lake is cold", importance=0.9, id="m")
    update = world.records.update

    def late(*args: object, **options: object) -> object:
        other.recall(ADA, "lake", 1)
        return update(*args, **options)  # type: ignore[arg-type]

    world.records.update = late  # type: ignore[method-assign, assignment]
    with pytest.raises(Conflict, match=r"'m' kept changing .* try again"):
        mine.update(ADA, "m", content="the lake is warm")

    assert contents(world) == ["the lake is cold"]


def _with_a_fact(make_world: MakeWorld) -> World:
    slow = SlowExtractor()
    slow.go.set()
    world = make_world(extractor=slow)
    world.engine().remember(ADA, "first words", importance=0.9, id="m")
    world.engine().consolidate(ADA)
    assert contents(world) == ["fact of first words", "first words"]
    return world


def test_facts_of_a_text_that_changed_are_drawn_again(make_world: MakeWorld) -> None:
    world = _with_a_fact(make_world)
    engine = world.engine()

    engine.update(ADA, "m", content="better words")

    assert contents(world) == ["better words"]
    assert engine.consolidate(ADA).facts == 1
    assert contents(world) == ["better words", "fact of better words"]
    assert engine.consolidate(ADA).facts == 0
    engine.maintain(ADA)
    assert_settled(world, [ADA])


def test_a_text_that_is_put_back_gives_its_fact_again(make_world: MakeWorld) -> None:
    world = _with_a_fact(make_world)
    engine = world.engine()
    engine.update(ADA, "m", content="better words")
    engine.update(ADA, "m", content="first words")

    assert engine.consolidate(ADA).facts == 1

    assert contents(world) == ["fact of first words", "first words"]


def test_what_is_no_text_takes_no_fact_back(make_world: MakeWorld) -> None:
    world = _with_a_fact(make_world)

    world.engine().update(ADA, "m", importance=0.85, pinned=True, metadata={"n": 1})

    assert contents(world) == ["fact of first words", "first words"]
    assert world.engine().consolidate(ADA).facts == 0


@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_a_text_that_changes_while_its_facts_are_drawn_leaves_no_fact_of_the_old(
    make_world: MakeWorld, importance: float
) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "first words", importance=importance, id="m")
    with consolidating(engine, slow):
        world.engine().update(ADA, "m", content="better words")
    engine.consolidate(ADA)

    assert contents(world) == ["better words", "fact of better words"]


class TestOneStatementOneMemory:
    """The same statement stands once, whichever tiers it was told to go to."""

    def test_a_statement_that_stands_long_term_is_returned_whatever_the_tier_asked(self, make_world: MakeWorld) -> None:
        world = make_world()
        engine = world.engine()
        stands = engine.remember(ADA, "I love trams", "fact", tier="long_term", id="a")

        again = engine.remember(ADA, "i love trams.", "fact", tier="short_term", id="b")

        assert (again.id, again.tier, again.source_ids) == (stands.id, Tier.LONG_TERM, ("b",))
        assert contents(world) == ["I love trams"]

    def test_a_statement_told_to_stay_takes_its_short_term_equal_along(self, make_world: MakeWorld) -> None:
        world = make_world()
        engine = world.engine()
        engine.remember(ADA, "I love trams", "fact", importance=0.3, id="a")
        engine.recall(ADA, "trams", 1)

        again = engine.remember(ADA, "I love trams", "fact", tier="long_term", importance=0.9, id="b")

        assert (again.id, again.tier, again.access_count, again.source_ids) == ("a", Tier.LONG_TERM, 1, ("b",))
        assert contents(world) == ["I love trams"]
        assert engine.status(ADA).short_term == 0

    def test_so_it_does_in_one_call(self, make_world: MakeWorld) -> None:
        world = make_world()
        engine = world.engine()
        engine.remember(ADA, "I love trams", "fact", importance=0.3, id="a")

        engine.long_term.store(ADA, engine.get(ADA, "a"))

        assert [(one.id, one.tier) for one in engine.list(ADA)] == [("a", Tier.LONG_TERM)]
