"""Many at once: equal writes are one, what is new survives, what was forgotten stays so, nothing is doubled."""

from __future__ import annotations

import asyncio

import pytest

from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import Memory, Tier
from tests.flow.racing import ADA, THREADS, SlowExtractor, at_once, consolidating, contents
from tests.flow.world import assert_settled, heads
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

# -- the same thing many times -------------------------------------------------------------------------------------


@pytest.mark.parametrize("importance", [0.3, 0.9])
@pytest.mark.parametrize("kind", ["fact", "preference", "episode"])
def test_the_same_text_a_hundred_times_at_once_is_one(make_world: MakeWorld, kind: str, importance: float) -> None:
    world = make_world()
    engine = world.engine()
    stored = at_once(lambda _: engine.remember(ADA, "the same words", kind, importance=importance), 100)
    assert len({one.id for one in stored}) == 1
    assert contents(world) == ["the same words"]
    assert len(heads(world.items, ADA)) + len(heads(world.records, ADA)) == 1


def test_the_same_text_from_many_tasks_of_a_loop_is_one(make_world: MakeWorld) -> None:
    world = make_world()
    engine = world.engine()

    async def gathered() -> list[Memory]:
        calls = (asyncio.to_thread(engine.remember, ADA, "the same words", "fact") for _ in range(100))
        return await asyncio.gather(*calls)

    assert len({one.id for one in asyncio.run(gathered())}) == 1
    assert contents(world) == ["the same words"]


def test_the_same_text_through_many_engines_is_one(make_world: MakeWorld) -> None:
    """Each has a snapshot of its own, so that none sees the others' writes but in the store."""
    world = make_world()
    engines = [world.engine() for _ in range(THREADS)]
    for engine in engines:
        engine.recall(ADA, "warm")
    at_once(lambda n: engines[n].remember(ADA, "the same words", "preference", importance=0.9))
    at_once(lambda n: engines[n].remember(ADA, "other words", "fact", importance=0.2))
    assert contents(world) == ["other words", "the same words"]


def test_values_of_a_slot_at_once_make_one_chain(make_world: MakeWorld) -> None:
    world = make_world()
    engine = world.engine()
    at_once(lambda n: engine.remember(ADA, f"city {n}", "fact", slot="home"))
    found = engine.list(ADA, include_superseded=True)
    assert len(found) == THREADS
    assert sum(one.current for one in found) == 1
    assert len({one.superseded_by for one in found}) == THREADS


def test_messages_at_once_are_each_there_once(make_world: MakeWorld) -> None:
    world = make_world()
    engine = world.engine()
    at_once(lambda n: engine.session(ADA, "chat").add({"role": "user", "content": f"said {n % 4}", "id": f"m{n % 4}"}))
    assert sorted(str(one.content) for one in engine.session(ADA, "chat").transcript()) == [
        f"said {n}" for n in range(4)
    ]
    assert contents(world) == [f"said {n}" for n in range(4)]


# -- while a model is thinking -------------------------------------------------------------------------------------


def test_what_is_remembered_while_consolidating_stays(make_world: MakeWorld) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "old", importance=0.3)
    with consolidating(engine, slow):
        engine.remember(ADA, "new and short", importance=0.3)
        engine.remember(ADA, "new and long", "fact", importance=0.9)
        assert contents(world) == ["new and long", "new and short", "old"]
    assert contents(world) == ["fact of old", "new and long", "new and short", "old"]
    assert engine.list(ADA, tier="short_term")[0].content == "new and short"


@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_what_is_forgotten_while_consolidating_stays_forgotten(make_world: MakeWorld, importance: float) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "kept", importance=importance)
    engine.remember(ADA, "secret", importance=importance, id="secret")
    with consolidating(engine, slow):
        world.engine().forget(ADA, "secret")
        assert contents(world) == ["kept"]
    assert contents(world) == ["fact of kept", "kept"]
    with pytest.raises(NotFound):
        engine.get(ADA, "secret")
    engine.maintain()
    assert_settled(world, [ADA])


@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_a_user_erased_while_consolidating_stays_erased(make_world: MakeWorld, importance: float) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "secret", importance=importance)
    with consolidating(engine, slow):
        assert world.engine().forget_user(ADA).pending == ()
    assert contents(world) == []
    assert ADA not in (*world.items.users(), *world.records.users(), *world.transcripts.users())
    assert (world.items.version(ADA), world.records.version(ADA)) == (0, 0)


def test_an_erased_user_who_came_back_while_consolidating_has_only_the_new(make_world: MakeWorld) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "secret", importance=0.3)
    with consolidating(engine, slow):
        world.engine().forget_user(ADA)
        world.engine().remember(ADA, "new", "fact", importance=0.9)
    assert contents(world) == ["new"]


def test_an_update_while_consolidating_is_what_stays(make_world: MakeWorld) -> None:
    slow = SlowExtractor()
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "first words", importance=0.3, id="m")
    with consolidating(engine, slow):
        engine.update(ADA, "m", content="better words", importance=0.4, pinned=True, metadata={"n": 1})
        engine.recall(ADA, "words")
    found = engine.get(ADA, "m")
    assert (found.tier, found.content, found.importance, found.pinned) == (Tier.LONG_TERM, "better words", 0.4, True)
    assert (dict(found.metadata), found.access_count) == ({"n": 1}, 1)
    assert [hit.id for hit in engine.recall(ADA, "better", 1)] == ["m"]


@pytest.mark.parametrize("again", [False, True])
def test_a_newer_value_remembered_while_consolidating_stays_current(make_world: MakeWorld, *, again: bool) -> None:
    """What a slow model finds in old talk is filed behind it, and the value that it retired stays retired."""
    slow = SlowExtractor("home")
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "Oslo", "fact", slot="home", id="oslo")
    world.clock.advance(hours=1)
    engine.remember(ADA, "Rome", importance=0.9, id="source")
    with consolidating(engine, slow):
        world.clock.advance(hours=1)
        newer = world.engine().remember(ADA, "fact of Rome" if again else "Porto", "fact", slot="home")
        assert newer.current
        assert not engine.get(ADA, "oslo").current
    found = engine.list(ADA, filter={"slot": "home"}, include_superseded=True)
    chain = sorted(found, key=lambda one: one.observed_at)
    assert [one.content for one in chain] == ["Oslo", "fact of Rome", newer.content]
    assert [one.superseded_by for one in chain] == [chain[1].id, newer.id, None]
    assert engine.get(ADA, newer.id) == newer
    assert world.records.consumed(ADA, ["source"]) == {"source"}


def test_what_is_denied_while_consolidating_stays_denied(make_world: MakeWorld) -> None:
    """The source of a slow model is older than the negation: its value ends with it at once."""
    slow = SlowExtractor("home")
    world = make_world(extractor=slow)
    engine = world.engine()
    engine.remember(ADA, "Rome", importance=0.9)
    with consolidating(engine, slow):
        world.clock.advance(hours=1)
        about = {"value": "fact of Rome", "negated": True}
        denial = world.engine().remember(ADA, "I moved away from Rome", "fact", slot="home", metadata=about)
    (fact,) = engine.list(ADA, filter={"origin": "consolidation"}, include_superseded=True)
    assert (fact.superseded_by, fact.valid_to) == (denial.id, denial.observed_at)
    assert engine.get(ADA, denial.id).current


# -- many workers --------------------------------------------------------------------------------------------------


def test_consolidating_on_many_threads_doubles_nothing(make_world: MakeWorld) -> None:
    slow = SlowExtractor()
    slow.go.set()
    world = make_world(extractor=slow)
    for n in range(20):
        world.engine().remember(ADA, f"episode {n}", importance=0.3)
    engines = [world.engine() for _ in range(4)]
    at_once(lambda n: engines[n].consolidate(ADA, everything=True), 4)
    world.engine().consolidate(ADA, everything=True)
    expected = [f"episode {n}" for n in range(20)] + [f"fact of episode {n}" for n in range(20)]
    assert contents(world) == sorted(expected)
    assert heads(world.items, ADA) == ()


def test_maintaining_on_many_threads_promotes_and_lets_go_once(make_world: MakeWorld) -> None:
    world = make_world()
    for n in range(10):
        world.engine().remember(ADA, f"kept {n}", importance=0.6)
        world.engine().remember(ADA, f"lost {n}", importance=0.2)
    world.clock.advance(hours=25)
    engines = [world.engine() for _ in range(4)]
    reports = at_once(lambda n: engines[n].maintain(), 4)
    assert sum(report.expired for report in reports) == 10
    assert contents(world) == [f"kept {n}" for n in range(10)]
    assert_settled(world, [ADA])
