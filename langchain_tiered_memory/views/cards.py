"""What there is to be seen of a value, before it is known where. Every text is one harmless line already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
"""Okabe and Ito's colours, which people see apart whatever colours they see."""
GREY = "#8C8C8C"
COLOURS: Mapping[str, str] = {
    "relevance": BLUE,
    "similarity": BLUE,
    "importance": ORANGE,
    "recency": GREEN,
    "use": PURPLE,
    "long-term": BLUE,
    "short-term": ORANGE,
    "superseded": GREY,
}
"""The colour of a signal, or of a tier, in every picture."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar.

    Attributes:
        name: What it is.
        share: How much of the whole bar it fills, in [0, 1].
        told: The same as a number, or how it comes about.
        minor: Whether it stands below another part, and counts as nothing beside it.
    """

    name: str
    share: float
    told: str
    minor: bool = False

    @property
    def colour(self) -> str:
        """Its colour."""
        return COLOURS.get(self.name, GREY if self.minor else SKY)


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory.

    Attributes:
        text: What it says.
        notes: The small print.
        number: Its score, or its importance.
        bar: The parts of the number, one after the other.
        reason: Why it is here, in a few words.
        why: How each part comes about.
    """

    text: str
    notes: tuple[str, ...] = ()
    number: str = ""
    bar: tuple[Part, ...] = ()
    reason: str = ""
    why: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """All there is to be seen.

    Attributes:
        title: What it is.
        notes: What is to be known of the whole.
        warnings: What went wrong.
        bar: A bar for the whole.
        entries: The memories, in their order.
        figures: Name, value, and how long its bar is, in [0, 1]; None where there is none.
    """

    title: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    bar: tuple[Part, ...] = ()
    entries: tuple[Entry, ...] = ()
    figures: tuple[tuple[str, str, float | None], ...] = ()


def share(value: float, whole: float = 1.0) -> float:
    """Return how much of the whole a value is, in [0, 1]; what is no number is nothing."""
    part = value / whole if whole else 0.0
    return min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0
