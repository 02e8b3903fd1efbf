"""Five ways to say one thing do not fill the hits, and nothing is lost by that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from langchain_tiered_memory import MemorySystem, RankingWeights
from langchain_tiered_memory.core.diversity import Crowd
from langchain_tiered_memory.core.engine import Engine
from tests.flow.systems import QUIET

ONE_THING = [
    "I am allergic to peanuts.",
    "Peanuts give me an allergic reaction.",
    "I can't eat peanuts, I'm allergic.",
    "I have a peanut allergy.",
    "My allergy is to peanuts.",
]
OTHERS = ["I bought peanuts for the birds.", "We ate Thai food with peanuts and rice.", "The peanut harvest was poor."]
QUESTION = "What is it with me and peanuts?"


@pytest.fixture(scope="module")
def memory() -> Iterator[Engine]:
    """A memory with the default embedder: what is nearly the same is a question of meaning."""
    with MemorySystem.open(":memory:", settings=QUIET).sync as opened:
        for text in (*ONE_THING, *OTHERS):
            opened.remember("ada", text, importance=0.5)
        yield opened


def found(memory: Engine, k: int, weights: RankingWeights | None = None) -> list[str]:
    return [hit.content for hit in memory.recall("ada", QUESTION, k, weights=weights, touch=False)]


def test_paraphrases_do_not_fill_k(memory: Engine) -> None:
    plain = RankingWeights(relevance=1.0, most_alike=0)
    assert len(set(ONE_THING) & set(found(memory, 5, plain))) >= 4
    hits = found(memory, 5)
    assert len(hits) == 5
    assert len(set(OTHERS) & set(hits)) >= 2


def test_the_hits_stay_in_the_order_of_their_scores(memory: Engine) -> None:
    scores = [hit.score for hit in memory.recall("ada", QUESTION, 5, touch=False)]
    assert scores == sorted(scores, reverse=True)


def test_where_there_is_nothing_else_they_are_all_returned(memory: Engine) -> None:
    assert set(found(memory, 8)) == {*ONE_THING, *OTHERS}


def test_a_recipe_may_let_any_number(memory: Engine) -> None:
    weights = RankingWeights(relevance=1.0, most_alike=0)
    assert len(set(ONE_THING) & set(found(memory, 5, weights))) > 2
    assert RankingWeights.CLASSIC.most_alike == 0


def test_explain_says_who_came_before(memory: Engine) -> None:
    two = replace(RankingWeights.DEFAULT, latest_first=False)
    (lost,) = {hit.id for hit in memory.recall("ada", QUESTION, 3, weights=replace(two, most_alike=0), touch=False)} - {
        hit.id for hit in memory.recall("ada", QUESTION, 3, weights=two, touch=False)
    }
    reason = memory.explain("ada", QUESTION, lost, k=3, weights=two).reason
    assert reason.endswith("Others that say nearly the same come before it.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My PIN is 1234.", "My PIN is 9876."),
        ("I love hiking.", "I do not love hiking."),
        ("I love hiking.", "I hate hiking."),
        ("I can come.", "I can't come."),
    ],
)
def test_other_numbers_and_denials_are_other_statements(one: str, other: str) -> None:
    vector = np.array([1, 0], np.float32)
    crowd = Crowd("any model", 1)
    assert crowd.takes(vector, one)
    assert crowd.takes(vector, other)
    assert not crowd.takes(vector, one)


def test_what_has_no_vector_is_like_no_other() -> None:
    crowd = Crowd("any model", 1)
    assert all(crowd.takes(None, "the same") for _ in range(3))
