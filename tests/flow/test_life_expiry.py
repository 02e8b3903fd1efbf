"""The end of a short-term life: promoted or let go, hidden at once, and counted; by hand and in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from langchain_tiered_memory import (
    Conflict,
    MaintenanceSettings,
    NotFound,
    Settings,
    ShortTermSettings,
    Tier,
)
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import House, with_settings


def fill(memory: Engine) -> None:
    """Remember one of each fate."""
    memory.remember("ada", "where the spare keys hang", id="low", importance=0.49)
    memory.remember("ada", "when the boiler was serviced", id="half", importance=0.5)
    memory.remember("ada", "a note to keep", id="pinned", importance=0.0, pinned=True)
    memory.remember("ada", "the name of the vet", id="high", importance=0.9)


@pytest.mark.parametrize("call", ["maintain", "consolidate"])
def test_at_expiry_what_matters_is_promoted_and_the_rest_is_let_go_and_counted(
    sync: Engine, clock: FakeClock, call: str
) -> None:
    """At expiry: importance ≥ 0.5 or pinned → promoted, the rest is let go and counted."""
    fill(sync)
    clock.advance(hours=24)
    report = getattr(sync, call)("ada")
    assert (report.promoted, report.expired) == (2, 1)
    assert {one.id: one.tier for one in sync.list("ada")} == dict.fromkeys(("half", "pinned", "high"), Tier.LONG_TERM)
    again = getattr(sync, call)("ada")
    assert (again.promoted, again.expired) == (0, 0)


def test_short_term_life_is_24_hours_from_created_at(sync: Engine, clock: FakeClock) -> None:
    """Short-term life is 24 h from `created_at`, whatever was read or said of it."""
    sync.remember("ada", "the keys hang here", id="low", importance=0.1, observed_at=clock.now - timedelta(days=9))
    clock.advance(hours=23, minutes=59)
    assert [hit.id for hit in sync.recall("ada", "keys")] == ["low"]
    clock.advance(minutes=1)
    assert sync.recall("ada", "keys") == []


def test_the_length_of_a_life_is_a_setting(house: House, clock: FakeClock) -> None:
    """All of these numbers are settings."""
    settings = with_settings(short_term=ShortTermSettings(ttl=timedelta(hours=1), promote_importance=0.2))
    memory = house.open(settings=settings)
    fill(memory)
    clock.advance(hours=1)
    report = memory.maintain("ada")
    assert (report.promoted, report.expired) == (3, 0)


def test_the_row_stays_hidden_until_it_is_counted(sync: Engine, clock: FakeClock) -> None:
    """At expiry … the rest is let go; the row stays, hidden, until counted: not in recall, not in listing, by no id.

    What is worth keeping is there all the while, until maintenance comes by and promotes it.
    """
    fill(sync)
    clock.advance(hours=25)
    assert sync.recall("ada", "keys", k=9, include_superseded=True).failed == ()
    assert {hit.id for hit in sync.recall("ada", "keys boiler note vet", k=9)} == {"high", "half", "pinned"}
    assert {one.id for one in sync.list("ada")} == {"high", "half", "pinned"}
    assert sync.short_term.search("ada", "keys") == []
    assert sync.short_term.get_high_access("ada", 0) == ()
    assert sync.get("ada", "pinned").pinned
    with pytest.raises(NotFound):
        sync.get("ada", "low")
    with pytest.raises(NotFound):
        sync.update("ada", "low", importance=0.9)
    assert sync.status("ada").short_term == 3
    assert sync.status("ada").oldest_due_s == 3600
    assert "over" in sync.explain("ada", "keys", "low").reason


def test_a_dry_run_says_what_would_happen_and_does_nothing(sync: Engine, clock: FakeClock) -> None:
    """`maintain(dry_run=True)`: change nothing; say what would be promoted and let go."""
    fill(sync)
    clock.advance(hours=24)
    report = sync.maintain("ada", dry_run=True)
    assert (report.promoted, report.expired, report.dry_run) == (2, 1, True)
    assert sync.status("ada").short_term == 3


def test_what_is_hidden_can_be_forgotten(sync: Engine, clock: FakeClock) -> None:
    """The row stays, hidden; somebody's right to have it gone stays too."""
    fill(sync)
    clock.advance(hours=25)
    assert sync.forget("ada", "half").short_term == 1
    assert sync.maintain("ada").promoted == 1


def test_remembering_an_id_anew_after_its_life_is_remembered(sync: Engine, clock: FakeClock) -> None:
    """What is acknowledged is there: an id whose item is past its life counts as let go before it is used again."""
    sync.remember("ada", "the keys hang here", id="low", importance=0.1)
    clock.advance(hours=30)
    assert sync.remember("ada", "the keys hang there", id="low", importance=0.1).content == "the keys hang there"
    assert [hit.id for hit in sync.recall("ada", "keys")] == ["low"]
    assert sync.maintain("ada").expired == 0
    assert sync.get("ada", "low").content == "the keys hang there"


def test_remembering_an_id_anew_that_was_to_be_promoted_finds_it_promoted(sync: Engine, clock: FakeClock) -> None:
    """An item that is due and worth keeping is promoted first, so that its id still is its own."""
    sync.remember("ada", "the boiler was serviced", id="half", importance=0.5)
    clock.advance(hours=30)
    assert sync.remember("ada", "the boiler was serviced", id="half").tier is Tier.LONG_TERM
    with pytest.raises(Conflict):
        sync.remember("ada", "another boiler", id="half")


def test_saying_it_again_after_its_life_is_remembered(sync: Engine, clock: FakeClock) -> None:
    """Only an active fact or preference takes in an equal one."""
    first = sync.remember("ada", "I like tea", "preference", importance=0.1)
    clock.advance(hours=25)
    second = sync.remember("ada", "I like tea", "preference", importance=0.1)
    assert second.id != first.id
    assert [hit.id for hit in sync.recall("ada", "tea")] == [second.id]


# -- without being asked -----------------------------------------------------------------------------------------------


def until(done: Callable[[], bool]) -> None:
    """Wait for the background."""
    deadline = time.monotonic() + 10
    while not done():
        assert time.monotonic() < deadline, "the background did not do it"
        time.sleep(0.01)


@pytest.fixture
def busy() -> Settings:
    """Settings under which everything happens by itself."""
    return Settings(maintenance=MaintenanceSettings(automatic=True))


def test_opening_two_days_later_promotes_and_lets_go(folder_house: House, clock: FakeClock, busy: Settings) -> None:
    """Without a worker, opening … run `maintain(user)` in the background: an embedded memory is still there
    tomorrow."""
    memory = folder_house.open()
    fill(memory)
    memory.close()
    clock.advance(days=2)

    memory = folder_house.open(settings=busy)
    memory.open()
    until(lambda: memory.status("ada").short_term == 0)
    assert {one.id for one in memory.list("ada")} == {"half", "pinned", "high"}
    assert {hit.id for hit in memory.recall("ada", "boiler note vet keys", k=9)} == {"half", "pinned", "high"}


def test_writing_runs_maintenance_at_most_every_ten_minutes(
    folder_house: House, clock: FakeClock, busy: Settings
) -> None:
    """Writing … run `maintain(user)` in the background at most every 10 minutes."""
    memory = folder_house.open(settings=busy)
    fill(memory)
    until(lambda: memory.status("ada").unindexed == 0)
    clock.advance(hours=24)
    memory.remember("ada", "something new", importance=0.9)
    until(lambda: memory.status("ada").short_term == 0)

    memory.remember("ada", "soon over", importance=0.1, id="soon")
    clock.advance(minutes=9)
    memory.remember("ada", "yet another", importance=0.9)
    until(lambda: memory.status("ada").unindexed == 0)
    assert memory.get("ada", "soon").tier is Tier.SHORT_TERM


def test_closing_runs_maintenance_for_those_who_wrote(folder_house: House, clock: FakeClock, busy: Settings) -> None:
    """Closing runs `maintain(user)` when it is due."""
    memory = folder_house.open(settings=busy)
    fill(memory)
    until(lambda: memory.status("ada").unindexed == 0)
    clock.advance(hours=24)
    memory.close()
    found = folder_house.open()
    assert found.status("ada").short_term == 0
    assert {one.id for one in found.list("ada")} == {"half", "pinned", "high"}


def test_without_automatic_maintenance_nothing_moves(folder_house: House, clock: FakeClock) -> None:
    """`automatic=False` leaves everything to whoever calls `maintain`."""
    memory = folder_house.open()
    fill(memory)
    memory.close()
    clock.advance(days=2)
    memory = folder_house.open()
    memory.recall("ada", "keys")
    memory.remember("ada", "something new")
    memory.close()
    assert folder_house.open().status("ada").short_term == 4
