"""So that the hits are not one thing said many times: which memories say nearly the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

from langchain_tiered_memory.core.entries import Vector

ALIKE = 0.95
"""Cosine from which two texts say nearly the same, with a model that nobody looked at."""
ALIKE_OF: Mapping[str, float] = {"all-MiniLM-L6-v2/int8/mean/8199be6f699a": 0.85}
"""The same where it was looked at. The default embedder: five ways to tell of an allergy lie at .85 to .95 of each
other, "I love hiking" and "I hate hiking" at .83, a home in Oslo and one in Bergen at .78."""

_NUMBER = re.compile(r"\d+")
_AGAINST = re.compile(
    r"\b(?:no|not|never|none|nor|hates?|dislikes?|without|stopped|quit|longer)\b|n't\b", re.IGNORECASE
)


def least_alike(model_id: str) -> float:
    """Return the cosine from which two texts say nearly the same to a model."""
    return ALIKE_OF.get(model_id, ALIKE)


class Crowd:
    """The hits taken so far, and whether one more like some of them would be one too many."""

    def __init__(self, model_id: str, most: int) -> None:
        """Let at most `most` say nearly the same; 0 lets any number."""
        self._alike = least_alike(model_id)
        self._most = most
        self._taken: list[tuple[Vector, str]] = []

    def takes(self, vector: Vector | None, content: str) -> bool:
        """Take a hit, unless as many as may be say nearly the same; one without a vector is like no other."""
        if not self._most or vector is None:
            return True
        like = sum(self._like(vector, content, *other) for other in self._taken)
        if like >= self._most:
            return False
        self._taken.append((vector, content))
        return True

    def _like(self, vector: Vector, content: str, other: Vector, said: str) -> bool:
        """Say whether two say nearly the same: other numbers or a denial make another statement, however similar."""
        return (
            float(vector @ other) >= self._alike
            and set(_NUMBER.findall(content)) == set(_NUMBER.findall(said))
            and bool(_AGAINST.search(content)) == bool(_AGAINST.search(said))
        )
