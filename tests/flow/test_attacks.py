"""What somebody does who wants a memory to say what is not so."""

from __future__ import annotations

from datetime import UTC, datetime

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import ScoredMemory

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
