"""From signals to scores. Pure functions over arrays: no clock, no store, nothing that depends on its company."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.model import Signal

HOURS_TO_HALF = 24.0
"""Recency is one half this many hours after the last access."""
FULL_USE = 10
"""Accesses from which use counts no further."""
KEYWORDS, MEANING, SPEAKER, TIME = 0.34, 0.25, 0.08, 0.05
MEANING_BESIDE, SESSION_KEYWORDS, SESSION_MEANING = 0.05, 0.12, 0.11
"""How much each part counts in relevance; they add up to 1."""
SAID_BY_ASSISTANT = 0.8
"""What a user said counts fully, what an assistant said to them by this much: its answers are long and many."""
PARTS = (
    "keywords",
    "meaning",
    "meaning_beside",
    "session_keywords",
    "session_meaning",
    "speaker",
    "time",
    "said_by",
)
"""What relevance is joined from: fields of `Evidence`."""
LEAST_RELEVANCE = 0.3
"""Relevance below which `min_score="auto"` takes nothing for an answer, with a model that nobody measured."""
LEAST_RELEVANCE_OF: Mapping[str, float] = {"all-MiniLM-L6-v2/int8/mean/8199be6f699a": 0.27}
"""The same where it was measured. The default embedder on LoCoMo: of 760 questions 98.7 % keep their best hit, and
41 % still get one when asked of the next conversation's user; of 128 to BEAM's user messages 82 % and 14 %."""

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each row, all in [0, 1], shape `(rows,)`.

    Attributes:
        similarity: Cosine of the query and the nearest passage.
        meaning: The same of what the query says besides the speakers that it names, where passages after the first of a
            long text count less.
        keywords: BM25 of the row's own text and, fading, of the turns around it; a word that may stand for one of the
            query counts half.
        meaning_beside: The better meaning of the two neighbours in the session, as far as the row leans on them.
        session_keywords: BM25 of the whole session.
        session_meaning: The best meaning in the session.
        speaker: 1 where the query names the speaker.
        time: 1 where the query asks for a time and the row tells one.
        alone: True where there is no session around the row to judge it by.
        said_by: What the role of the speaker lets the rest count for.
    """

    similarity: Numbers
    meaning: Numbers
    keywords: Numbers
    meaning_beside: Numbers
    session_keywords: Numbers
    session_meaning: Numbers
    speaker: Numbers
    time: Numbers
    alone: Numbers
    said_by: Numbers


def relevance(evidence: Evidence) -> Numbers:
    """Join meaning and keywords, on the row and around it, to one number in [0, 1].

    A row that stands alone is judged by its own text, with the weight of what there is to judge by.
    """
    said = KEYWORDS * evidence.keywords + MEANING * evidence.meaning
    own = said + SPEAKER * evidence.speaker + TIME * evidence.time
    session = SESSION_KEYWORDS * evidence.session_keywords + SESSION_MEANING * evidence.session_meaning
    around = MEANING_BESIDE * evidence.meaning_beside + session
    joined = np.where(evidence.alone, own / (KEYWORDS + MEANING + SPEAKER + TIME), own + around)
    clipped: Numbers = np.clip(joined * evidence.said_by, 0, 1)
    return clipped


def least_relevance(model_id: str) -> float:
    """Return the relevance below which nothing is an answer, for the embedder in use."""
    return LEAST_RELEVANCE_OF.get(model_id, LEAST_RELEVANCE)


def recency(last_accessed: Numbers, now: float) -> Numbers:
    """Return `1/(1 + hours since last access/24)`; an access in the future counts as one of now."""
    hours = np.maximum(now - last_accessed, 0) / 3600
    return 1 / (1 + hours / HOURS_TO_HALF)


def use(access_count: Numbers) -> Numbers:
    """Return `min(access_count/10, 1)`."""
    return np.minimum(access_count / FULL_USE, 1)


def scores(signals: Mapping[str, Numbers], weights: RankingWeights) -> Numbers:
    """Return the weighted sum of the signals, in [0, 1]; signals without a weight count nothing."""
    total = sum(weight * signals[name] for name, weight in weights.weights().items() if weight)
    return np.clip(np.asarray(total, np.float64), 0, 1)


def explain(values: Mapping[str, float], parts: Mapping[str, float], weights: RankingWeights) -> Mapping[str, Signal]:
    """Return the signals of one row, weighted ones first; the contributions add up to its score.

    Args:
        values: Signal name to value.
        parts: What relevance was joined from; listed with weight and contribution 0 where relevance has a weight.
        weights: The recipe.
    """
    named = {name: weight for name, weight in weights.weights().items() if weight}
    told = {name: Signal(values[name], weight, values[name] * weight) for name, weight in named.items()}
    if "relevance" in told:
        told |= {name: Signal(value, 0.0, 0.0) for name, value in parts.items()}
    return told
