"""Forgetting as policy: what `maintain` forgets by itself, what it says before, and what nothing brings back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import Conflict, ForgettingRule, ForgettingSettings, NotFound
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.testing import Crash, FakeExtractor, Fault, Plan
from tests.flow.systems import QUIET, House
from tests.flow.world import QUIET as WORLD_QUIET
from tests.flow.world import World, assert_settled, empty, in_memory, opened, over_sql
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

DAY = timedelta(days=1)
OLD = ForgettingRule(name="old talk", older_than=90 * DAY, importance_below=0.95)


def policy(*rules: ForgettingRule, **given: Any) -> Any:
    return replace(WORLD_QUIET, forgetting=ForgettingSettings(rules=rules, **given))


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world(settings=policy(OLD))


def told(engine: Engine, *contents: str, **fields: Any) -> list[str]:
    return [engine.remember("ada", one, importance=0.9, id=one, **fields).id for one in contents]


def ids(engine: Engine) -> set[str]:
    return {one.id for one in engine.list("ada", include_superseded=True)}


# -- a run and a dry run -----------------------------------------------------------------------------------------------


def test_by_default_nothing_is_ever_forgotten(house: House) -> None:
    memory = house.open()
    told(memory, "a")
    house.clock.advance(days=10_000)
    report = memory.maintain("ada")
    assert (report.forgotten, report.waiting, report.chosen) == (0, 0, ())
    assert ids(memory) == {"a"}


def test_a_dry_run_says_what_a_run_forgets_and_changes_nothing(world: World) -> None:
    engine = world.engine()
    told(engine, "a", "b")
    world.clock.advance(days=91)
    told(engine, "c")
    before = world.records.version("ada")

    dry = engine.maintain("ada", dry_run=True)

    assert {(one.user_id, one.id, one.rule) for one in dry.chosen} == {
        ("ada", "a", "old talk"),
        ("ada", "b", "old talk"),
    }
    assert {one.reason for one in dry.chosen} == {"stored more than 90 days ago, importance below 0.95"}
    assert (dry.forgotten, dry.waiting) == (2, 0)
    assert world.records.version("ada") == before
    assert engine.maintain("ada").chosen == dry.chosen
    assert ids(engine) == {"c"}
    assert engine.maintain("ada").forgotten == 0
    assert_settled(world, ["ada"])


def test_it_is_for_good_as_a_forget_is(world: World) -> None:
    engine = world.engine()
    told(engine, "a", "b")
    file = StringIO()
    engine.export_user("ada", file)
    world.clock.advance(days=91)
    engine.maintain()

    with pytest.raises(NotFound):
        engine.get("ada", "a")
    assert [hit.id for hit in engine.recall("ada", "a b")] == []
    assert [(one.kind, one.by, one.memory) for one in engine.history("ada", "a")][-1] == ("forgotten", "policy", None)
    assert all(one.memory is None for one in engine.history("ada", "a"))
    assert engine.import_user("ada", StringIO(file.getvalue())).skipped == 2
    with pytest.raises(Conflict):
        told(engine, "a")
    assert engine.remember("ada", "a", importance=0.9).id != "a"


def test_each_user_is_judged_alone(make_world: MakeWorld) -> None:
    world = make_world(settings=policy(most_per_user=1))
    engine = world.engine()
    for user in ("ada", "bob"):
        engine.remember(user, "one", importance=0.9)
        engine.remember(user, "two", importance=0.95)
    engine.remember("eve", "three", importance=0.9)
    report = engine.maintain()
    assert [one.user_id for one in report.chosen] == ["ada", "bob"]
    assert {user: [one.content for one in engine.list(user)] for user in ("ada", "bob", "eve")} == {
        "ada": ["two"],
        "bob": ["two"],
        "eve": ["three"],
    }


def test_short_term_memory_has_its_own_life(world: World) -> None:
    engine = world.engine()
    engine.remember("ada", "worth keeping", importance=0.7, id="kept")
    world.clock.advance(days=91)
    assert [one.id for one in engine.maintain("ada", dry_run=True).chosen] == ["kept"]
    report = engine.maintain("ada")
    assert (report.promoted, report.forgotten) == (1, 1)  # promoted at its expiry, and old by then


def test_values_under_keys_are_never_touched(world: World) -> None:
    engine = world.engine()
    engine.values.put("ada", "k", {"x": 1}, text="something")
    world.clock.advance(days=1_000)
    assert engine.maintain("ada").forgotten == 0
    assert engine.values.get("ada", "k") is not None


# -- what depends on it ------------------------------------------------------------------------------------------------


def test_facts_go_with_their_sources_and_no_consolidation_revives_them(make_world: MakeWorld) -> None:
    extractor = FakeExtractor({"I swim": ["Ada swims"], "I run": ["Ada runs"]})
    world = make_world(settings=policy(OLD), extractor=extractor)
    engine = world.engine()
    told(engine, "I swim")
    engine.consolidate("ada")
    world.clock.advance(days=91)
    told(engine, "I run")
    assert engine.maintain("ada").forgotten == 2
    engine.consolidate("ada", everything=True)
    assert {one.content for one in engine.list("ada")} == {"I run", "Ada runs"}


def test_a_source_stays_while_a_fact_that_stays_rests_on_it_alone(make_world: MakeWorld) -> None:
    extractor = FakeExtractor({"I swim": ["Ada swims"]})
    world = make_world(settings=policy(OLD, spare_types=("fact",)), extractor=extractor)
    engine = world.engine()
    told(engine, "I swim", "It rained")
    engine.consolidate("ada")
    world.clock.advance(days=91)
    engine.maintain("ada")
    assert {one.content for one in engine.list("ada")} == {"I swim", "Ada swims"}


def test_outdated_values_go_and_the_present_one_stays(world: World) -> None:
    engine = world.engine()
    for day, home in enumerate(("Rome", "Oslo", "Porto")):
        at = world.clock() + day * DAY
        engine.remember("ada", home, "fact", slot="home", id=home, observed_at=at, importance=0.5)
    world.clock.advance(days=91)
    assert [one.id for one in engine.maintain("ada").chosen] == ["Rome", "Oslo"]
    (left,) = engine.list("ada", include_superseded=True)
    assert (left.id, left.valid_to) == ("Porto", None)


def test_a_pinned_past_value_keeps_those_after_it(make_world: MakeWorld) -> None:
    world = make_world(settings=policy(OLD, spare_slots=False))
    engine = world.engine()
    for day, home in enumerate(("Rome", "Oslo", "Porto")):
        at = world.clock() + day * DAY
        engine.remember("ada", home, "fact", slot="home", id=home, observed_at=at, pinned=home == "Oslo")
    world.clock.advance(days=91)
    engine.maintain("ada")
    kept = {one.id: one.superseded_by for one in engine.list("ada", include_superseded=True)}
    assert kept == {"Oslo": "Porto", "Porto": None}


# -- bounds, interruptions and others ----------------------------------------------------------------------------------


def test_a_run_is_bounded_and_the_next_goes_on(make_world: MakeWorld) -> None:
    world = make_world(settings=policy(OLD, batch=2, most_per_run=5))
    engine = world.engine()
    told(engine, *map(str, range(12)))
    world.clock.advance(days=91)
    dry = engine.maintain("ada", dry_run=True)
    assert (dry.forgotten, dry.waiting) == (5, 7)
    runs = [engine.maintain("ada") for _ in range(4)]
    assert [(one.forgotten, one.waiting) for one in runs] == [(5, 7), (5, 2), (2, 0), (0, 0)]
    assert runs[0].chosen == dry.chosen
    assert_settled(world, ["ada"])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("where", ["memory", "sqlite"])
def test_interrupted_at_any_call_the_next_run_finishes(tmp_path: Path, where: str, when: Any) -> None:
    database = opened(tmp_path / "memory.db")

    def make_world(**options: Any) -> World:
        if where == "memory":
            return in_memory(**options)
        empty(database)
        return over_sql(database, InMemoryVectorIndex(), **options)

    def prepared() -> World:
        world = make_world(settings=policy(OLD, batch=2))
        told(world.engine(), *map(str, range(5)))
        world.clock.advance(days=91)
        return world

    counting = Plan()
    prepared().engine(counting).maintain("ada")
    for at in range(1, len(counting.calls) + 1):
        world = prepared()
        with pytest.raises(Crash):
            world.engine(Plan(Fault(at, when))).maintain("ada")
        engine = world.engine()
        engine.maintain("ada")
        assert ids(engine) == set()
        assert_settled(world, ["ada"])
    database.dispose()


def test_a_store_that_does_not_answer_is_told_and_the_rest_is_done(world: World) -> None:
    engine = world.engine()
    told(engine, "a")
    world.clock.advance(days=91)
    down = BackendUnavailable("records", "forget", "told to")
    failing = world.engine(Plan(Fault(1, "before", error=down, method="forget")))
    assert failing.maintain("ada").failed == (str(down),)
    assert engine.maintain("ada").forgotten == 1


class _Meanwhile:
    """A record store before whose `forget` somebody else does something."""

    def __init__(self, inner: Any, act: Any) -> None:
        self._inner = inner
        self._act = act

    def __getattr__(self, name: str) -> Any:
        if name == "forget" and self._act is not None:
            act, self._act = self._act, None
            act()
        return getattr(self._inner, name)


def beside(world: World, act: Any) -> Engine:
    """Return an engine whose forgetting meets somebody else's act, between the choice and the deed."""
    parts = world.parts()
    return Engine(lambda: replace(parts, records=_Meanwhile(parts.records, act)), world.settings)


def test_what_is_recalled_meanwhile_is_not_forgotten(world: World) -> None:
    other = world.engine()
    told(other, "the river was high", "the bridge is closed")
    world.clock.advance(days=91)
    report = beside(world, lambda: other.recall("ada", "river high", k=1)).maintain("ada")
    assert [one.id for one in report.chosen] == ["the bridge is closed"]
    assert ids(other) == {"the river was high"}


def test_what_is_pinned_meanwhile_is_not_forgotten(world: World) -> None:
    other = world.engine()
    told(other, "a", "b")
    world.clock.advance(days=91)
    beside(world, lambda: other.update("ada", "a", pinned=True)).maintain("ada")
    assert ids(other) == {"a"}
    assert other.maintain("ada").forgotten == 0


def test_a_source_of_which_a_fact_is_drawn_meanwhile_is_not_forgotten(make_world: MakeWorld) -> None:
    world = make_world(settings=policy(OLD), extractor=FakeExtractor({"I swim": ["Ada swims"]}))
    other = world.engine()
    told(other, "I swim", "It rained")
    world.clock.advance(days=91)
    beside(world, lambda: other.consolidate("ada")).maintain("ada")
    assert {one.content for one in other.list("ada")} == {"I swim", "Ada swims"}


def test_a_user_who_is_erased_meanwhile_leaves_no_trace(world: World) -> None:
    other = world.engine()
    told(other, "a")
    world.clock.advance(days=91)
    report = beside(world, lambda: other.forget_user("ada")).maintain("ada")
    assert report.forgotten == 0
    assert world.records.tombstones("ada", ["a"]) == frozenset()
    assert world.records.users() == ()
    assert world.records.version("ada") == 0


def test_it_happens_in_the_background_too(house: House) -> None:
    automatic = replace(QUIET, maintenance=replace(QUIET.maintenance, automatic=True))
    settings = replace(automatic, forgetting=ForgettingSettings(most_per_user=2))
    system = house.system(settings=settings)
    for number in range(4):
        system.sync.remember("ada", f"statement number {number}", importance=0.85 + number / 100)
    system.sync.close()
    if house.lasting:
        contents = [one.content for one in house.open().list("ada")]
        assert sorted(contents) == ["statement number 2", "statement number 3"]
