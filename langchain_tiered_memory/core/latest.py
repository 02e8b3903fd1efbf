"""Of what is said alike at different times, the latest stands first: which hit gives way to which.

"Where does she live?" is asked in the words of "I live in Utrecht" and answered by "we got the keys in Haarlem". Where
the rules read no fact in either, what is left is that the two are about the same: of all hits, each is most like the
other. The best hit alone gives way, and only to one that is relevant itself: nothing is retired on so little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_tiered_memory.core.entries import Vector
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.text import analyze

AMONG: Final = 10
"""So many of the best are looked at, whatever `k` is: the first hits are the same for every `k`."""
WORDS: Final = 1.0
"""What shared words count beside meaning, whose cosine counts 1."""
CLOSE: Final = 0.8
"""From here on two are about the same; the most is 2."""
LEAST: Final = 0.6
"""The later one has at least this part of the best one's score."""
APART: Final = 10
"""Closer turns of one session follow each other: the later takes the earlier up, and does not replace it."""

_NAMES = re.compile(r"(?<!^)\b[A-Z]\w+|\b\d[\d.,:]*")


@dataclass(frozen=True, slots=True)
class Said:
    """What one hit says.

    Attributes:
        row: Its row in the snapshot.
        head: The memory, without its text.
        order: When it was written, among what was said at the same time.
        terms: The terms of its text, without day and speaker.
        vector: The vector of its first passage, of length 1; None while it has none.
        beside: The rows up to `APART` turns away in its session; none for what is no turn.
    """

    row: int
    head: Memory
    order: int
    terms: frozenset[str]
    vector: Vector | None
    beside: frozenset[int]

    @property
    def turn(self) -> str:
        """The message that it is, or was drawn from first."""
        return self.head.source_ids[0] if self.head.source_ids else self.head.id


def names_in(question: str) -> frozenset[str]:
    """Return the terms of the names and numbers in a question: words with a capital, but for the first."""
    return frozenset(analyze(" ".join(_NAMES.findall(question))))


def may_give_way(heads: Sequence[Memory], scores: Sequence[float]) -> bool:
    """Say, before more is read of them, whether any hit is relevant enough, and not older than the first."""
    return any(
        score >= LEAST * scores[0] and head.observed_at >= heads[0].observed_at
        for head, score in zip(heads[1:], scores[1:], strict=True)
    )


def latest(hits: Sequence[Said], scores: Sequence[float], named: frozenset[str] = frozenset()) -> int | None:
    """Return the place of the hit that says later what the first one says; None when there is none.

    Facts and the message that they were drawn from are one. What an assistant said is left where it is.

    Args:
        hits: Best first, at most `AMONG`.
        scores: Theirs, in [0, 1].
        named: The terms of what the question names: what gives way to another is about no more of it.
    """
    if not may_give_way([hit.head for hit in hits], scores):
        return None
    by_turn: dict[str, list[int]] = {}
    for place, hit in enumerate(hits):
        by_turn.setdefault(hit.turn, []).append(place)
    first, *others = by_turn.values()
    later = [other for other in others if _later(hits, first, other)]
    if not later:
        return None
    found = max(later, key=lambda other: _closest(hits, first, other))
    close = _closest(hits, first, found)
    if close < CLOSE or scores[found[0]] < LEAST * scores[0]:
        return None
    if not named & hits[0].terms <= frozenset[str]().union(*(hits[place].terms for place in found)):
        return None
    rivals = (other for other in others if other is not found and _later(hits, other, found))
    return None if any(_closest(hits, rival, found) > close for rival in rivals) else found[0]


def _later(hits: Sequence[Said], one: Sequence[int], other: Sequence[int]) -> bool:
    """Say whether the same speaker says the other later, on another occasion."""
    before, after = hits[one[0]], hits[other[0]]
    voices = {(hit.head.name, hit.head.role or "user") for hit in (before, after)}
    if len(voices) > 1 or before.head.role == "assistant" or not _of_a_kind(before.head, after.head):
        return False
    if (before.head.observed_at, before.order) >= (after.head.observed_at, after.order):
        return False
    if before.head.session_id is None or before.head.session_id != after.head.session_id:
        return True
    near = frozenset[int]().union(*(hits[place].beside for place in one))
    return bool(near) and near.isdisjoint(hits[place].row for place in other)


def _of_a_kind(one: Memory, other: Memory) -> bool:
    """Say whether two may say the same: a preference is no fact, and a message may be either."""
    kinds = {one.memory_type, other.memory_type}
    return len(kinds) == 1 or MemoryType.EPISODE in kinds


def _closest(hits: Sequence[Said], ones: Sequence[int], others: Sequence[int]) -> float:
    return max(_alike(hits[one], hits[other]) for one in ones for other in others)


def _alike(one: Said, other: Said) -> float:
    """Return how alike two are: the cosine of their vectors, and that of their terms as sets."""
    meaning = 0.0 if one.vector is None or other.vector is None else float(one.vector @ other.vector)
    shared = len(one.terms & other.terms)
    return meaning + (WORDS * shared / (len(one.terms) * len(other.terms)) ** 0.5 if shared else 0.0)
