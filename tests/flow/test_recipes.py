"""The recipes in small scenes of real use: what each signal changes for the better, and what it never may."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory import RankingWeights
from langchain_tiered_memory.core import ranking
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock

RECIPES = {"default": RankingWeights.DEFAULT, "recent": RankingWeights.RECENT, "classic": RankingWeights.CLASSIC}
SHARES = st.floats(0, 1)


def best(memory: Engine, question: str, weights: RankingWeights | None = None) -> str:
    (hit,) = memory.recall("ada", question, k=1, weights=weights, touch=False)
    return hit.content


def without(*signals: str) -> RankingWeights:
    """Return the default recipe with the weight of signals given to relevance."""
    weights = RankingWeights.DEFAULT
    for name in signals:
        changed: dict[str, Any] = {name: 0.0, "relevance": weights.relevance + weights.weights()[name]}
        weights = replace(weights, **changed)
    return weights


def test_importance_brings_the_allergy_before_the_taste(sync: Engine) -> None:
    """The same words speak for both; what can kill comes first, though the taste is said in fewer words."""
    sync.remember("ada", "About nuts: I am allergic to them, badly", importance=0.95)
    sync.remember("ada", "About nuts: I am used to them, mostly", importance=0.2)
    question = "anything about nuts?"
    assert "allergic" in best(sync, question)
    assert "allergic" not in best(sync, question, without("importance"))  # the later written of equals


def test_recency_brings_where_the_car_is_now(sync: Engine, clock: FakeClock) -> None:
    sync.remember("ada", "I parked the car on level two", importance=0.5)
    clock.advance(days=3)
    sync.remember("ada", "I parked the car on level five", importance=0.5)
    assert best(sync, "where did I park the car?") == "I parked the car on level five"
    assert best(sync, "where did I park the car?", RankingWeights.RECENT) == "I parked the car on level five"


def test_the_recent_recipe_prefers_the_latest_of_the_relevant(sync: Engine, clock: FakeClock) -> None:
    """The older one has more of the question's words; the newer one is what holds."""
    sync.remember("ada", "The spare car key is in the blue car key box", importance=0.5)
    clock.advance(days=20)
    sync.remember("ada", "I moved the car key to the shed", importance=0.5)
    sync.remember("ada", "The bread is nearly gone", importance=0.5)
    question = "where is the spare car key?"
    assert best(sync, question) == "The spare car key is in the blue car key box"
    assert best(sync, question, RankingWeights.RECENT) == "I moved the car key to the shed"


def test_use_brings_what_is_asked_for_again_and_again(sync: Engine) -> None:
    codes = {"work": "The door code at work is 4711", "home": "The door code at home is 1234"}
    for code in codes.values():
        sync.remember("ada", code, importance=0.5)
    question = "door code?"
    before = best(sync, question)
    (other,) = (place for place, code in codes.items() if code != before)
    for _ in range(10):
        sync.recall("ada", f"code at {other}", k=1)
    assert best(sync, question) == codes[other]
    assert best(sync, question, without("use", "recency")) == before


@pytest.mark.parametrize("weights", [RankingWeights.DEFAULT, RankingWeights.RECENT], ids=["default", "recent"])
@given(high=SHARES, low=SHARES, others=st.tuples(SHARES, SHARES, SHARES))
def test_nothing_irrelevant_passes_what_is_relevant(
    weights: RankingWeights, high: float, low: float, others: tuple[float, float, float]
) -> None:
    """However important, recent and used: the rest together is worth so much relevance, and no more."""
    worth = (1 - weights.relevance) / weights.relevance
    if high - low <= worth + 1e-9:
        return
    relevant = {"relevance": high, "similarity": 0, "importance": 0, "recency": 0, "use": 0}
    irrelevant = {"relevance": low, "similarity": 1, **dict(zip(("importance", "recency", "use"), others, strict=True))}
    scores = [
        float(ranking.scores({name: np.array([value]) for name, value in one.items()}, weights)[0])
        for one in (relevant, irrelevant)
    ]
    assert scores[0] > scores[1]


@pytest.mark.parametrize("weights", RECIPES.values(), ids=RECIPES)
def test_a_recipe_adds_up_and_explains_itself(weights: RankingWeights, sync: Engine) -> None:
    sync.remember("ada", "the gate is green")
    (hit,) = sync.recall("ada", "gate", k=1, weights=weights)
    assert sum(weights.weights().values()) == pytest.approx(1)
    assert sum(one.contribution for one in hit.explanation.values()) == pytest.approx(hit.score, abs=1e-6)
    told = {name for name, signal in hit.explanation.items() if signal.weight}
    assert told == {name for name, weight in weights.weights().items() if weight}
