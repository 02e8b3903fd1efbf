"""From answers to figures: means by category, with intervals by bootstrap over conversations.

Questions about one conversation are not independent of each other, so conversations are drawn, with replacement, and
the means taken over the questions of those drawn (Efron & Tibshirani 1993, percentile intervals). The draws are the
same for every figure, so that a difference of two methods has an interval of its own, far narrower than theirs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.bench.recall import MEMORY, METHODS, Row

SEED = 1
DRAWS = 2_000
LEVEL = 0.95
_LEAST = 2
"""Conversations below which there is nothing to draw from."""
_DECIMALS = 6

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions, and between what it lies; None where fewer than two conversations were asked about."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of some questions.

    Attributes:
        name: A category, "all", or what became of the conversations.
        kind: "category", "all" or "split".
        questions: How many.
        conversations: How many these questions are about.
        methods: Method to measure to figure.
        lead: Baseline to measure to figure: how much the memory is above it.
    """

    name: str
    kind: str
    questions: int
    conversations: int
    methods: Mapping[str, Mapping[str, Figure]]
    lead: Mapping[str, Mapping[str, Figure]]


class Draws:
    """Conversations drawn with replacement, many times; the same for the same seed."""

    def __init__(self, conversations: int, seed: int = SEED, times: int = DRAWS) -> None:
        """Draw as many conversations as there are, so many times."""
        rng = random.Random(seed)
        everyone = range(conversations)
        drawn = [np.bincount(rng.choices(everyone, k=conversations), minlength=conversations) for _ in range(times)]
        self._counts: Numbers = np.array(drawn, np.float64)

    def means(self, talks: Sequence[int], values: Sequence[float]) -> Numbers:
        """Return the mean of the values of each draw, values that belong to conversations; NaN where it has none."""
        size = self._counts.shape[1]
        sums = self._counts @ np.bincount(talks, values, size)
        sizes = self._counts @ np.bincount(talks, minlength=size)
        means: Numbers = np.divide(sums, sizes, out=np.full(len(sums), np.nan), where=sizes > 0)
        return means


def grouped(rows: Sequence[Row], conversations: int, tuned: frozenset[int] = frozenset()) -> tuple[Group, ...]:
    """Return the figures by category, then those of all; and if only some conversations were tuned on, both parts'.

    Args:
        rows: All answers.
        conversations: How many conversations there are.
        tuned: The places of those that something was tuned on.
    """
    draws = Draws(conversations)
    categories = sorted({row.category for row in rows})
    wanted: list[tuple[str, str, Callable[[Row], bool]]] = [
        (name, "category", lambda row, name=name: row.category == name)  # type: ignore[misc] # bound
        for name in categories
    ]
    wanted.append(("all", "all", lambda _: True))
    if tuned and len(tuned) < conversations:
        wanted.append(("tuned on", "split", lambda row: row.talk in tuned))
        wanted.append(("not tuned on", "split", lambda row: row.talk not in tuned))
    return tuple(_group(name, kind, [row for row in rows if test(row)], draws) for name, kind, test in wanted)


def _group(name: str, kind: str, rows: Sequence[Row], draws: Draws) -> Group:
    by_method = {method: [row for row in rows if row.method == method] for method in METHODS}
    asked = by_method[MEMORY]
    talks = [row.talk for row in asked]
    values = {
        method: {measure: [row.measures[measure] for row in some] for measure in asked[0].measures}
        for method, some in by_method.items()
    }
    several = len(set(talks)) >= _LEAST
    means = {
        method: {measure: draws.means(talks, column) for measure, column in measures.items()}
        for method, measures in values.items()
    }

    def figure(value: float, drawn: Numbers) -> Figure:
        return _figure(value, drawn if several else None)

    return Group(
        name,
        kind,
        len(asked),
        len(set(talks)),
        {
            method: {one: figure(_mean(column), means[method][one]) for one, column in measures.items()}
            for method, measures in values.items()
        },
        {
            method: {
                one: figure(_mean(values[MEMORY][one]) - _mean(column), means[MEMORY][one] - means[method][one])
                for one, column in measures.items()
            }
            for method, measures in values.items()
            if method != MEMORY
        },
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _figure(value: float, drawn: Numbers | None) -> Figure:
    if drawn is None:
        return Figure(round(value, _DECIMALS), None, None)
    outside = (1 - LEVEL) / 2
    low, high = np.quantile(drawn[~np.isnan(drawn)], [outside, 1 - outside])
    return Figure(round(value, _DECIMALS), round(float(low), _DECIMALS), round(float(high), _DECIMALS))
