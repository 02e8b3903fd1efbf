"""Stores that do not answer: what still works says what is missing, and what was begun is finished later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from langchain_tiered_memory import BackendUnavailable, Message, Tier
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.parts import Parts
from tests.conftest import FakeClock
from tests.flow.systems import House


class Switched:
    """A store with a switch.

    Attributes:
        down: While set, every call says that the store does not answer.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self.down = False

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        if name in {"name", "close"} or not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.down:
                raise BackendUnavailable("a test's store", name, "it is switched off")
            return value(*args, **kwargs)

        return call


class World:
    """A memory whose stores can be switched off."""

    def __init__(self, house: House) -> None:
        self.index = Switched(InMemoryVectorIndex())
        system = house.system(vector_db=InMemoryVectorIndex())
        opened = system.sync._opening._open_parts()
        self.items, self.records = Switched(opened.items), Switched(opened.records)
        parts: Parts = replace(opened, items=self.items, records=self.records, index=self.index)
        self.memory = Engine(lambda: parts, system.sync.settings)


@pytest.fixture
def world(house: House) -> World:
    made = World(house)
    made.memory.remember("ada", "the garden gate is green", importance=0.1, id="short")
    made.memory.remember("ada", "the kitchen gate is blue", importance=0.9, id="long")
    made.memory.maintain()
    return made


def test_recall_names_the_tier_that_could_not_be_read(world: World) -> None:
    """`.failed` names tiers that could not be read; the other one answers."""
    for store, tier, left in ((world.items, "short_term", "long"), (world.records, "long_term", "short")):
        store.down = True
        result = world.memory.recall("ada", "gate")
        assert ([hit.id for hit in result], result.failed) == ([left], (tier,))
        store.down = False
        assert {hit.id for hit in world.memory.recall("ada", "gate")} == {"short", "long"}


def test_a_fresh_process_recalls_without_a_tier_too(world: World) -> None:
    """Also when nothing of the user is held yet."""
    world.memory._opening.rooms().snapshots.discard()
    world.items.down = True
    result = world.memory.recall("ada", "gate")
    assert ([hit.id for hit in result], result.failed) == (["long"], ("short_term",))


def test_both_tiers_down_find_nothing_and_say_so(world: World) -> None:
    """Nothing found is not nothing there."""
    world.items.down = world.records.down = True
    result = world.memory.recall("ada", "gate")
    assert (list(result), set(result.failed)) == ([], {"short_term", "long_term"})


def test_a_write_is_acknowledged_only_by_its_own_store(world: World) -> None:
    """`BackendUnavailable`: the store did not take it; a failed write must not claim success."""
    world.items.down = True
    assert world.memory.remember("ada", "a high note", importance=0.9).tier is Tier.LONG_TERM
    with pytest.raises(BackendUnavailable):
        world.memory.remember("ada", "a low note", importance=0.1, id="low")
    world.items.down = False
    assert {one.content for one in world.memory.list("ada")} >= {"a high note"}
    assert "low" not in {one.id for one in world.memory.list("ada")}
    assert world.memory.remember("ada", "a low note", importance=0.1, id="low").id == "low"


def test_what_needs_the_whole_says_that_it_is_not_there(world: World) -> None:
    """A list, a status or an export without a tier would be a lie."""
    calls: list[Callable[[], object]] = [
        lambda: world.memory.list("ada"),
        lambda: world.memory.status("ada"),
        lambda: world.memory.get("ada", "short"),
        lambda: world.memory.consolidate("ada"),
        lambda: world.memory.forget("ada", "short"),
    ]
    world.items.down = True
    for call in calls:
        with pytest.raises(BackendUnavailable):
            call()
    world.items.down = False
    for call in calls:
        call()


def test_a_message_is_in_the_transcript_although_its_episode_has_to_wait(world: World) -> None:
    """A crash or an outage between the two leaves messages unplaced; the next `add` or `maintain` places them."""
    chat = world.memory.session("ada", "s")
    world.items.down = True
    assert [message.id for message in chat.add(Message("user", "what was the word again?", id="m1"))] == ["m1"]
    assert [message.id for message in chat.transcript()] == ["m1"]
    world.items.down = False
    assert world.memory.maintain("ada").placed == 1
    assert world.memory.get("ada", "m1").content == "what was the word again?"
    chat.add(Message("user", "what was the word again?", id="m1"))
    assert [message.id for message in chat.transcript()] == ["m1"]


def test_an_index_that_is_down_is_done_without_and_caught_up(world: World) -> None:
    """A vector store raises …: recall compares every vector; what waits is named and written later."""
    world.index.down = True
    stored = world.memory.remember("ada", "the cellar gate is grey", importance=0.9)
    result = world.memory.recall("ada", "cellar gate", 1)
    assert ([hit.id for hit in result], result.failed) == ([stored.id], ())
    report = world.memory.maintain("ada")
    assert (report.indexed, len(report.failed)) == (0, 1)
    assert world.memory.status("ada").unindexed == 1
    world.index.down = False
    assert world.memory.maintain("ada").indexed == 1
    assert world.memory.status("ada").unindexed == 0


def test_maintenance_does_what_it_can(world: World, clock: FakeClock) -> None:
    """A step that fails is reported, and the others still run."""
    clock.advance(days=2)
    world.items.down = True
    report = world.memory.maintain("ada")
    assert report.failed
    assert world.memory.recall("ada", "gate").failed == ("short_term",)
    world.items.down = False
    report = world.memory.maintain("ada")
    assert (report.expired, report.failed) == (1, ())


def test_a_forget_that_could_not_reach_a_place_is_finished_later(world: World) -> None:
    """`ForgetReceipt` with counts per place and `pending`; what stays open is finished by `maintain`."""
    world.index.down = True
    receipt = world.memory.forget("ada", "long")
    assert receipt.pending == ("vector_index",)
    assert [hit.id for hit in world.memory.recall("ada", "gate")] == ["short"]
    world.index.down = False
    assert world.memory.maintain("ada").unindexed == 1
    assert world.index.ids("ada") == frozenset()


def test_an_erasure_that_could_not_reach_a_place_is_finished_later(world: World) -> None:
    """`forget_user` writes an erasure intent with the deletion of the truth, clears every other place, then closes the
    intent; … finished by `maintain`."""
    world.items.down = world.index.down = True
    receipt = world.memory.forget_user("ada")
    assert (receipt.long_term, set(receipt.pending)) == (1, {"short_term", "vector_index"})
    world.items.down = False
    assert world.memory.status().erasures == 1
    report = world.memory.maintain()
    assert report.erased == 0
    assert any("vector_index" in sentence for sentence in report.failed)
    world.index.down = False
    assert world.memory.maintain().erased == 1
    assert (world.memory.status().erasures, world.memory.status().users) == (0, 0)
    assert world.memory.recall("ada", "gate") == []
    assert world.index.ids("ada") == frozenset()
