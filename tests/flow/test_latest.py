"""Of what is said alike at different times, a question about the present is answered by the latest first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import MemorySystem, RankingWeights
from langchain_tiered_memory.core.engine import Engine

EARLIER, LATER = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
OLD = "The survey for my thesis has 62 responses so far, I need 200."
NEW = "Closed the thesis survey last night with 214 responses from people."
OTHERS = ("My bike has a flat tyre.", "The thesis is due in June.", "Ruth has a golden retriever.")
LATEST = replace(RankingWeights.DEFAULT, latest_first=True)
ASKED = "How many responses does my thesis survey have so far?"


@pytest.fixture
def memory(tmp_path: Path) -> Engine:
    """A user who told of one number, and later of another, in words that no rule reads."""
    with MemorySystem(path=tmp_path).sync as memory:
        for number, text in enumerate(OTHERS):
            memory.remember("ada", text, id=f"other {number}", memory_type="episode", observed_at=EARLIER)
        memory.remember("ada", OLD, id="old", memory_type="episode", role="user", observed_at=EARLIER)
        memory.remember("ada", NEW, id="new", memory_type="episode", role="user", observed_at=LATER)
        return memory


def first(memory: Engine, question: str = ASKED, **options: Any) -> str:
    return memory.recall("ada", question, k=5, touch=False, **{"weights": LATEST, **options})[0].id


def test_the_latest_leads_and_says_why(memory: Engine) -> None:
    assert first(memory, weights=RankingWeights.DEFAULT) == "old"

    hits = memory.recall("ada", ASKED, k=5, weights=LATEST, touch=False)

    assert [hit.id for hit in hits[:2]] == ["new", "old"]
    assert hits[0].score == hits[1].score
    assert hits[0].explanation["latest"].contribution > 0
    assert "latest" not in hits[1].explanation
    assert sum(part.contribution for part in hits[0].explanation.values()) == pytest.approx(hits[0].score, abs=1e-6)
    assert all(hit.current for hit in hits)
    assert memory.explain("ada", ASKED, "new", weights=LATEST).rank == 1


def test_the_first_hits_are_the_same_for_every_k(memory: Engine) -> None:
    orders = [[hit.id for hit in memory.recall("ada", ASKED, k=k, weights=LATEST, touch=False)] for k in (1, 2, 5)]
    assert orders == [orders[2][:1], orders[2][:2], orders[2]]


def test_what_was_is_answered_by_what_was_said_then(memory: Engine) -> None:
    assert first(memory, "How many responses did my thesis survey have so far?") == "old"
    assert first(memory, as_of=EARLIER) == "old"
    assert first(memory, include_superseded=True) == "old"


def test_a_recipe_says_so_with_true_or_false() -> None:
    assert not RankingWeights.CLASSIC.latest_first
    assert not RankingWeights.DEFAULT.latest_first
    assert RankingWeights.RECENT.latest_first
    with pytest.raises(ValueError, match=r"weights\.latest_first"):
        RankingWeights(relevance=1.0, latest_first=1)  # type: ignore[arg-type]


def test_a_number_that_is_asked_for_is_looked_for_even_where_it_is_the_day(memory: Engine) -> None:
    for number in range(1, 7):
        memory.remember(
            "ada", f"peanut fact number {number}", id=str(number), observed_at=datetime(2026, 1, 1, number, tzinfo=UTC)
        )

    assert [first(memory, f"peanut fact number {number}") for number in range(1, 7)] == list("123456")
