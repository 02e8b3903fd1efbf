"""The arithmetic of a measurement: what counts as found, the baselines, and the intervals; all worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from langchain_tiered_memory import Memory, MemoryType
from langchain_tiered_memory.bench.baselines import Remembering, bm25, dense
from langchain_tiered_memory.bench.figures import Draws, Figure, grouped
from langchain_tiered_memory.bench.recall import METHODS, Row, cutoffs, judged
from langchain_tiered_memory.embedding import HashedEmbedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AT = datetime(2026, 1, 1, tzinfo=UTC)


def turns(*ids: str) -> list[frozenset[str]]:
    return [frozenset(one.split("+")) - {""} for one in ids]


# -- what is found -----------------------------------------------------------------------------------------------------


def test_recall_is_the_share_of_the_gold_turns_among_the_first_hits() -> None:
    found = turns("x", "x", "a", "x", "x", "b", "x", "x", "x", "x")

    assert judged(found, frozenset("abcd"), 10) == {
        "R@5": 0.25,
        "R@10": 0.5,
        "hit@10": 1.0,
        "MRR": pytest.approx(1 / 3),
    }


def test_a_hit_may_stand_for_several_turns_and_for_none() -> None:
    assert judged(turns("", "a+b"), frozenset("ab"), 10) == {"R@5": 1.0, "R@10": 1.0, "hit@10": 1.0, "MRR": 0.5}


@pytest.mark.parametrize("found", [[], turns("x", "y")])
def test_what_is_not_found_counts_nothing(found: list[frozenset[str]]) -> None:
    assert judged(found, frozenset("a"), 10) == {"R@5": 0.0, "R@10": 0.0, "hit@10": 0.0, "MRR": 0.0}


@pytest.mark.parametrize(("k", "cuts"), [(1, (1,)), (5, (5,)), (7, (5, 7)), (10, (5, 10)), (20, (5, 10, 20))])
def test_recall_is_measured_at_5_at_10_and_at_k(k: int, cuts: tuple[int, ...]) -> None:
    assert cutoffs(k) == cuts


# -- baselines ---------------------------------------------------------------------------------------------------------


def said(content: str, name: str | None = None) -> Memory:
    return Memory(content, MemoryType.EPISODE, 0.5, AT, AT, 0, observed_at=AT, name=name)


def test_bm25_is_the_formula() -> None:
    """Day and speaker count as words of a turn: three of "1 January 2026", so the lengths are 5, 4 and 5."""
    memories = [said("apple apple"), said("pear"), said("apple pear")]
    by_hand = {}
    for place, (times, length) in {0: (2, 5), 2: (1, 5)}.items():
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        by_hand[place] = idf * times * 2.2 / (times + 1.2 * (1 - 0.3 + 0.3 * length / (14 / 3)))

    assert by_hand[0] > by_hand[2]
    assert bm25(memories)("Apple?", 10) == [0, 2]
    assert bm25(memories)("apple", 1) == [0]
    assert bm25(memories)("nothing of it", 10) == []


def test_bm25_knows_day_and_speaker_and_takes_the_earlier_of_equals() -> None:
    memories = [said("yes", "Ada"), said("yes", "Ben"), said("yes", "Ben")]

    assert bm25(memories)("what did Ben say?", 10) == [1, 2]
    assert bm25(memories)("in January 2026", 10) == [0, 1, 2]


class Directions:
    """An embedder that points where it is told."""

    model_id = "directions"

    def __init__(self, **directions: tuple[float, float]) -> None:
        self._directions = directions

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.array(next(at for word, at in self._directions.items() if word in text), np.float32)


def test_dense_is_the_cosine_of_the_whole_turn() -> None:
    """The second turn is long, and one text all the same: north, whatever it ends with."""
    embedder = Directions(north=(0, 1), east=(1, 0), middle=(0.6, 0.8))
    memories = [said("middle"), said("north " * 200 + "\n\n" + "east " * 200), said("east")]

    assert dense(memories, embedder)("east", 2) == [2, 0]
    assert dense(memories, embedder)("north", 10) == [1, 0, 2]


def test_no_text_is_embedded_twice_and_every_new_one_is_told_of() -> None:
    ticks: list[int] = []
    remembering = Remembering(HashedEmbedder(), ticks.append)

    first = remembering.embed_documents([f"text {number}" for number in range(20)] + ["text 3"])
    assert (len(first), ticks) == (21, [16, 4])
    assert np.array_equal(first[3], first[20])
    assert np.array_equal(remembering.embed_documents(["text 7"])[0], first[7])
    assert ticks == [16, 4]

    remembering.forget()
    remembering.embed_documents(["text 7"])
    assert ticks == [16, 4, 1]


# -- intervals ---------------------------------------------------------------------------------------------------------


def rows(values: Mapping[str, Sequence[tuple[int, float]]], category: str = "one") -> list[Row]:
    """Return answers: method to conversation and value of each question."""
    return [Row(talk, category, method, {"R@1": value}) for method, some in values.items() for talk, value in some]


def equal(*asked: tuple[int, float]) -> dict[str, list[tuple[int, float]]]:
    return {method: list(asked) for method in METHODS}


def test_the_mean_is_over_questions_and_the_draws_over_conversations() -> None:
    """Of two conversations one is drawn twice in half of the draws: three questions of 1, or one of 0."""
    category, whole = grouped(rows(equal((0, 1.0), (0, 1.0), (0, 1.0), (1, 0.0))), 2)

    assert (category.kind, category.name, whole.kind, whole.name) == ("category", "one", "all", "all")
    assert (whole.questions, whole.conversations) == (4, 2)
    assert whole.methods["memory"]["R@1"] == Figure(0.75, 0.0, 1.0)


def test_a_difference_has_an_interval_of_its_own() -> None:
    """The memory is above BM25 by the same in every conversation: that is certain, whatever is drawn."""
    asked = [(0, 0.9), (1, 0.3), (2, 0.5)]
    above = {"memory": asked, "BM25": [(talk, value - 0.25) for talk, value in asked], "dense": asked}

    whole = grouped(rows(above), 3)[-1]

    memory = whole.methods["memory"]["R@1"]
    assert memory.low is not None
    assert memory.low < memory.value
    assert whole.lead == {"BM25": {"R@1": Figure(0.25, 0.25, 0.25)}, "dense": {"R@1": Figure(0.0, 0.0, 0.0)}}


def test_intervals_are_the_same_every_time() -> None:
    asked = rows(equal(*((talk, (talk * 7 % 10) / 10) for talk in range(10))))

    assert grouped(asked, 10) == grouped(asked, 10)
    assert np.array_equal(Draws(10).means([0, 1], [0.0, 1.0]), Draws(10).means([0, 1], [0.0, 1.0]), equal_nan=True)


def test_an_interval_is_that_of_the_draws() -> None:
    """Of ten conversations each draw has so many of value 1: binomial, whose 2.5 % and 97.5 % points are 2 and 8."""
    figure = grouped(rows(equal(*((talk, float(talk < 5)) for talk in range(10)))), 10)[-1].methods["memory"]["R@1"]

    assert figure == Figure(0.5, 0.2, 0.8)


def test_one_conversation_says_nothing_of_others() -> None:
    apart = rows(equal((0, 1.0), (0, 0.0)), "here") + rows(equal((0, 1.0), (1, 1.0)), "there")

    here, there, whole = grouped(apart, 2)

    assert here.methods["memory"]["R@1"] == Figure(0.5, None, None)
    assert here.lead["BM25"]["R@1"] == Figure(0.0, None, None)
    assert there.methods["memory"]["R@1"] == Figure(1.0, 1.0, 1.0)
    assert whole.methods["memory"]["R@1"].low is not None


def test_draws_without_a_question_of_a_category_do_not_count_for_it() -> None:
    draws = Draws(3)

    means = draws.means([0], [1.0])

    assert set(means[~np.isnan(means)]) == {1.0}
    assert 0 < np.isnan(means).sum() < len(means)


def test_conversations_that_were_tuned_on_are_told_from_the_others() -> None:
    asked = rows(equal((0, 1.0), (1, 0.0), (2, 0.5)))

    *_, tuned, others = grouped(asked, 3, frozenset({0, 2}))

    assert (tuned.name, tuned.kind, tuned.conversations) == ("tuned on", "split", 2)
    assert tuned.methods["memory"]["R@1"].value == 0.75
    assert (others.name, others.methods["memory"]["R@1"]) == ("not tuned on", Figure(0.0, None, None))
    assert [group.kind for group in grouped(asked, 3, frozenset({0, 1, 2}))] == ["category", "all"]
