"""What a memory is measured against: keywords alone, and meaning alone, on the same turns.

Both see what the memory sees of a turn: day, speaker and text. Neither knows sessions, neighbours or roles.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.derive import passage_texts, terms
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Embedder, Vector
from langchain_tiered_memory.core.text import analyze

Ranking = Callable[[str, int], list[int]]
"""Given a question and k, returns the places of the best turns, best first."""

K1, B = 1.2, 0.3
"""BM25's own numbers: the best of those tried on LoCoMo, and better there than the usual 1.5 and 0.75."""
_AT_ONCE = 16
"""Texts that are embedded between two movements of a progress bar."""


class Remembering:
    """An embedder that embeds no text twice, and tells how far it is; what it makes is that of the one inside."""

    def __init__(self, inside: Embedder, tick: Callable[[int], object]) -> None:
        """Take the embedder, and what is told how many texts were embedded."""
        self._inside = inside
        self._tick = tick
        self._made: dict[str, Vector] = {}

    @property
    def model_id(self) -> str:
        """Identity of the model inside."""
        return self._inside.model_id

    def forget(self) -> None:
        """Let go of all texts and vectors."""
        self._made.clear()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed those of the texts that are new."""
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            self._made.update(zip(some, self._inside.embed_documents(some), strict=True))
            self._tick(len(some))
        return np.array([self._made[text] for text in texts], np.float32)

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        return self._inside.embed_query(text)


def bm25(turns: Sequence[Memory]) -> Ranking:
    """Rank by BM25 over the terms of the package's own analyser; a turn that shares no term is not found.

    Robertson & Zaragoza 2009, with the non-negative idf `ln(1 + (N - n + 0.5)/(n + 0.5))`; each term of the question
    counts once.
    """
    documents = [terms(turn) for turn in turns]
    lengths = [sum(one.values()) for one in documents]
    average = max(sum(lengths) / max(len(lengths), 1), 1.0)
    scale = [K1 * (1 - B + B * length / average) for length in lengths]
    postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, one in enumerate(documents):
        for term, times in one.items():
            postings[term].append((place, times))

    def best(question: str, k: int) -> list[int]:
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(analyze(question)):
            found = postings.get(term, ())
            idf = math.log1p((len(documents) - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found:
                scores[place] += idf * times * (K1 + 1) / (times + scale[place])
        return sorted(scores, key=lambda place: (-scores[place], place))[:k]

    return best


def dense(turns: Sequence[Memory], embedder: Embedder) -> Ranking:
    """Rank by the cosine of the question and the turn as one text, of which the embedder reads what it can.

    The best of many passages would favour long turns: on BEAM it finds far less.
    """
    vectors = embedder.embed_documents([text for turn in turns for text in passage_texts(turn, 1)])

    def best(question: str, k: int) -> list[int]:
        return [int(place) for place in np.argsort(-(vectors @ embedder.embed_query(question)), kind="stable")[:k]]

    return best
