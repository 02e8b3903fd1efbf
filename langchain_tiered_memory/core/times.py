"""Whether a question asks for a time or for the past, and whether a memory tells a time. English, by its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from langchain_tiered_memory.core.text import analyze

_ASKING: Final = re.compile(
    r"\b(?:when|how long|how many (?:days|weeks|months|years)|what (?:date|day|month|time|year)|"
    r"which (?:date|day|month|year))\b",
    re.IGNORECASE,
)
_RELATIVE: Final = frozenset(
    analyze(
        "yesterday today tonight tomorrow last next ago week weekend month year "
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    )
)
_MONTHS: Final = dict(
    zip(
        (1, 2, 4, *range(6, 13)),
        analyze("January February April June July August September October November December"),
        strict=True,
    )
)
"""March and May are other words as well."""
_MONTH_TERMS: Final = frozenset(_MONTHS.values())
_OF_THE_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|used to|first|ago|last|previous\w*|original\w*|before|earlier)\b", re.IGNORECASE
)
_YEAR: Final = re.compile("(?:19|20)[0-9]{2}")


def asks_when(text: str) -> bool:
    """Say whether a question asks for a time or a span of time."""
    return _ASKING.search(text) is not None


def asks_of_the_past(text: str) -> bool:
    """Say whether a question asks for what was, not for what is."""
    return _OF_THE_PAST.search(text) is not None


def tells_when(terms: Mapping[str, int], said: datetime) -> bool:
    """Say whether a memory tells a time: a day of the week, "last week", a month or a year.

    Args:
        terms: Its analysed terms, which hold the day on which it was said.
        said: That day: a month or year counts where it stands once more, or is another.
    """
    if not _RELATIVE.isdisjoint(terms):
        return True
    own = {_MONTHS.get(said.month), str(said.year)}
    dates = (term for term in terms if term in _MONTH_TERMS or _YEAR.fullmatch(term))
    return any(terms[term] > (term in own) for term in dates)
