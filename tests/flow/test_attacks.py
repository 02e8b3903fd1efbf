"""What somebody does who wants a memory to say what is not so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from langchain_tiered_memory import ForgettingRule, ForgettingSettings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import ScoredMemory
from tests.flow.systems import DAY, QUIET, House

MARCH, APRIL, MAY = (datetime(2025, month, 1, tzinfo=UTC) for month in (3, 4, 5))


def say(memory: Engine, text: str, name: str, at: datetime) -> None:
    """Let Ada say something."""
    memory.remember("ada", text, name="Ada", role="user", id=name, tier="long_term", observed_at=at)


def hit_of(memory: Engine, question: str, name: str) -> ScoredMemory:
    hits = memory.recall("ada", question, k=20, touch=False)
    return next(hit for hit in hits if hit.id == name)


# -- sources of what is no longer so -----------------------------------------------------------------------------------


def test_an_old_source_says_when_it_ceased_to_hold_and_not_when_the_latest_of_many_values_began(sync: Engine) -> None:
    for place, (firm, at) in enumerate((("Acme", MARCH), ("Globex", APRIL), ("Initech", MAY))):
        say(sync, f"I work at {firm}.", f"turn {place}", at)
    sync.consolidate("ada")

    assert hit_of(sync, "Does Ada work at Acme?", "turn 0").valid_to == APRIL
    assert hit_of(sync, "Does Ada work at Globex?", "turn 1").valid_to == MAY


def test_a_turn_that_told_two_things_says_what_superseded_the_one_that_is_asked_for(sync: Engine) -> None:
    say(sync, "I work at Acme. I live in Paris.", "both", MARCH)
    say(sync, "I work at Globex.", "work", APRIL)
    say(sync, "I live in Rome.", "home", MAY)
    sync.consolidate("ada")
    slot_of = {one.id: one.slot for one in sync.list("ada")}

    work, home = (hit_of(sync, question, "both") for question in ("Does Ada work at Acme?", "Does Ada live in Paris?"))
    assert (slot_of[work.superseded_by or ""], work.valid_to) == ("employer", APRIL)
    assert (slot_of[home.superseded_by or ""], home.valid_to) == ("home", MAY)


# -- forgetting by itself ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy", [ForgettingSettings(most_per_user=5), ForgettingSettings(rules=(ForgettingRule(older_than=30 * DAY),))]
)
def test_a_dry_run_counts_what_the_run_promotes_before_it_forgets(house: House, policy: ForgettingSettings) -> None:
    memory = house.open(settings=replace(QUIET, forgetting=policy))
    for number in range(6):
        memory.remember("ada", f"Note {number}", "fact", importance=0.2, tier="long_term", id=f"long {number}")
        memory.remember("ada", f"Item {number}", "fact", importance=0.6, tier="short_term", id=f"short {number}")
    house.clock.now += 60 * DAY

    told = memory.maintain("ada", dry_run=True)
    done = memory.maintain("ada")

    assert (told.promoted, told.forgotten, told.waiting) == (done.promoted, done.forgotten, done.waiting)
    assert told.chosen == done.chosen


@pytest.mark.parametrize(
    "policy", [ForgettingSettings(rules=(ForgettingRule(outdated=True),)), ForgettingSettings(most_per_user=4)]
)
def test_no_policy_lets_an_old_statement_hold_again_by_forgetting_what_is_known_of_it(
    house: House, policy: ForgettingSettings
) -> None:
    memory = house.open(settings=replace(QUIET, forgetting=policy))
    for firm, at in (("Acme", MARCH), ("Globex", APRIL), ("Initech", MAY)):
        say(memory, f"I work at {firm}.", firm, at)
    memory.consolidate("ada")
    house.clock.now += 400 * DAY
    memory.maintain("ada")

    hits = memory.recall("ada", "Does Ada work at Acme?", k=20, touch=False)
    assert {hit.content for hit in hits if hit.superseded_by is None} == {"I work at Initech."}
    assert hits[0].content == "I work at Initech."


def test_a_cap_takes_no_more_than_it_must_where_facts_go_with_their_turns(house: House) -> None:
    memory = house.open(settings=replace(QUIET, forgetting=ForgettingSettings(most_per_user=6)))
    for number in range(8):
        say(memory, f"I work at Firm{number}.", f"turn {number}", MARCH + number * DAY)
    memory.consolidate("ada")
    house.clock.now += 400 * DAY
    memory.maintain("ada")

    assert len(memory.list("ada", include_superseded=True)) in {5, 6}
