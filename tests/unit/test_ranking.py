"""From signals to scores: pure functions, each signal in [0, 1], nothing that depends on its company."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core import ranking
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.errors import ConfigError
from langchain_tiered_memory.core.ranking import Evidence

NOW = 1_767_268_800.0
SIGNALS = ("relevance", "similarity", "importance", "recency", "use")
shares = st.floats(0, 1, width=32)
NUMBERS = [field.name for field in fields(Evidence) if field.name != "alone"]
"""The parts that are numbers; `alone` is a truth value."""


def evidence(rows: list[dict[str, float]]) -> Evidence:
    """Return evidence of rows; a part that is not given is 0, and who spoke counts fully."""
    usual = dict.fromkeys(NUMBERS, 0.0) | {"said_by": 1.0}
    columns = {name: np.array([{**usual, **row}[name] for row in rows]) for name in usual}
    return Evidence(**columns, alone=np.array([bool(row.get("alone", 0)) for row in rows]))


rows = st.fixed_dictionaries(dict.fromkeys(NUMBERS, shares) | {"alone": st.sampled_from([0.0, 1.0])})


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(0, 1.0), (24, 0.5), (48, 1 / 3), (240, 1 / 11), (6, 0.8), (-5, 1.0), (24 * 365 * 20, 1 / 7301)],
)
def test_recency_is_the_formula(hours: float, expected: float) -> None:
    """`recency = 1/(1 + hours since last access/24)`; an access in the future counts as one of now."""
    assert ranking.recency(np.array([NOW - hours * 3600]), NOW)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (1, 0.1), (9, 0.9), (10, 1), (11, 1), (10**12, 1)])
def test_use_saturates(count: int, expected: float) -> None:
    """`min(access_count/10, 1)`: nothing hot drowns a relevant item."""
    assert ranking.use(np.array([float(count)]))[0] == pytest.approx(expected)


def test_nothing_old_decays_to_zero() -> None:
    """Recency has a floor: nothing old decays to zero."""
    assert ranking.recency(np.array([-62_135_596_800.0]), NOW)[0] > 0  # the year 1


@given(st.lists(rows, min_size=1, max_size=8))
def test_relevance_lies_between_0_and_1(told: list[dict[str, float]]) -> None:
    """Every signal is a float in [0, 1], higher is better."""
    found = ranking.relevance(evidence(told))
    assert ((found >= 0) & (found <= 1)).all()


@given(rows, st.sampled_from(NUMBERS), shares)
def test_more_evidence_is_never_less_relevant(row: dict[str, float], part: str, value: float) -> None:
    """Higher is better, in every part."""
    more = {**row, part: max(row[part], value)}
    less, most = ranking.relevance(evidence([row, more]))
    assert most >= less - 1e-9


@given(st.lists(rows, min_size=1, max_size=8))
def test_relevance_does_not_depend_on_the_company(told: list[dict[str, float]]) -> None:
    """Every signal is … independent of which other candidates are there."""
    together = ranking.relevance(evidence(told))
    alone = [ranking.relevance(evidence([row]))[0] for row in told]
    assert together.tolist() == alone


def test_all_evidence_is_full_relevance_and_none_is_none() -> None:
    """The parts' weights add up to 1, with a session around the row and without."""
    full = dict.fromkeys(NUMBERS, 1.0)
    found = ranking.relevance(evidence([full, {**full, "alone": 1.0}, {}, {"alone": 1.0}]))
    assert found == pytest.approx([1, 1, 0, 0])


def test_meaning_alone_and_keywords_alone_count() -> None:
    """A hit found by only one of them can win: it beats a little of everything."""
    found = ranking.relevance(
        evidence([{"keywords": 1.0}, {"meaning": 1.0}, {name: 0.2 for name in NUMBERS if name != "said_by"}])
    )
    assert found[0] > found[2]
    assert found[1] > found[2]


@given(st.fixed_dictionaries(dict.fromkeys(SIGNALS, shares)))
def test_a_score_is_the_weighted_sum_and_its_explanation_adds_up(values: dict[str, float]) -> None:
    """The contributions add up to the score."""
    arrays = {name: np.array([value]) for name, value in values.items()}
    for weights in (RankingWeights.CLASSIC, RankingWeights.DEFAULT, RankingWeights(recency=1.0)):
        (score,) = ranking.scores(arrays, weights)
        expected = math.fsum(weight * values[name] for name, weight in weights.weights().items())
        assert score == pytest.approx(expected, abs=1e-9)
        told = ranking.explain(values, dict.fromkeys(ranking.PARTS, 0.5), weights)
        assert math.fsum(signal.contribution for signal in told.values()) == pytest.approx(score, abs=1e-9)
        assert {name for name, signal in told.items() if signal.weight} == {
            name for name, weight in weights.weights().items() if weight
        }


def test_classic_is_the_named_recipe() -> None:
    """`CLASSIC` is exactly `0.4·importance + 0.3·recency + 0.2·min(access_count/10, 1) + 0.1·similarity`."""
    values = {"importance": 0.9, "recency": 0.5, "use": 0.3, "similarity": 0.7, "relevance": 1.0}
    (score,) = ranking.scores({name: np.array([value]) for name, value in values.items()}, RankingWeights.CLASSIC)
    assert score == pytest.approx(0.4 * 0.9 + 0.3 * 0.5 + 0.2 * 0.3 + 0.1 * 0.7)
    told = ranking.explain(values, {}, RankingWeights.CLASSIC)
    assert {name: signal.weight for name, signal in told.items()} == {
        "importance": 0.4,
        "recency": 0.3,
        "use": 0.2,
        "similarity": 0.1,
    }


def test_in_default_relevance_leads() -> None:
    """DEFAULT is relevance first with small bounded boosts for importance, recency and use."""
    weights = RankingWeights.DEFAULT.weights()
    assert weights["relevance"] > 0.9
    boosts = [weights[name] for name in ("importance", "recency", "use")]
    assert min(boosts) > 0
    assert sum(boosts) < 0.1
    assert weights["similarity"] == 0


@given(
    shares, st.fixed_dictionaries(dict.fromkeys(SIGNALS, shares)), st.fixed_dictionaries(dict.fromkeys(SIGNALS, shares))
)
def test_no_irrelevant_memory_passes_a_relevant_one(
    less: float, one: dict[str, float], other: dict[str, float]
) -> None:
    """Importance, recency and use together never make up for 0.09 of relevance."""
    less = min(less, 0.9)
    told = [{**one, "relevance": less}, {**other, "relevance": less + 0.09}]
    signals = {name: np.array([row[name] for row in told]) for name in SIGNALS}
    irrelevant, relevant = ranking.scores(signals, RankingWeights.DEFAULT)
    assert relevant > irrelevant


@pytest.mark.parametrize("weights", [RankingWeights.CLASSIC, RankingWeights.DEFAULT])
@pytest.mark.parametrize("signal", ["importance", "recency", "use"])
def test_all_else_equal_more_ranks_higher(weights: RankingWeights, signal: str) -> None:
    """All else equal, more important, more recent, more used ranks higher under both."""
    values = {name: np.array([0.5, 0.5]) for name in SIGNALS}
    values[signal] = np.array([0.4, 0.6])
    less, more = ranking.scores(values, weights)
    assert more > less


def test_the_parts_told_are_those_of_the_evidence() -> None:
    """`DEFAULT` … may list its parts with weight and contribution 0."""
    assert set(ranking.PARTS) == set(NUMBERS) - {"similarity"}  # a signal of its own
    told = ranking.explain(dict.fromkeys(SIGNALS, 0.5), dict.fromkeys(ranking.PARTS, 0.25), RankingWeights.DEFAULT)
    for name in ranking.PARTS:
        assert (told[name].value, told[name].weight, told[name].contribution) == (0.25, 0, 0)


def test_a_floor_is_known_for_every_model() -> None:
    """`min_score="auto"` applies a floor on relevance calibrated for the embedder in use."""
    assert 0 < ranking.least_relevance("a model nobody measured") < 1
    for model in ranking.LEAST_RELEVANCE_OF:
        assert 0 < ranking.least_relevance(model) < 1


@pytest.mark.parametrize("changed", [{"importance": 0.5}, {"relevance": -0.1}, {"recency": math.nan}, {"pool": 0}])
def test_weights_that_cannot_work_are_refused(changed: dict[str, Any]) -> None:
    """The weights are used as they stand and must add up to 1."""
    with pytest.raises(ConfigError, match="weights"):
        replace(RankingWeights.DEFAULT, **changed)
