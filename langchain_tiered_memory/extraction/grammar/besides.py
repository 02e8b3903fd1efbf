"""What makes a statement one of several, or of a while: then its slot would retire what is true beside it."""

from __future__ import annotations

import re
from typing import Final

_DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_BESIDE: Final = re.compile(
    rf"\b(?:also|too(?=\W*$|,)|as well(?! as)|part[- ]time|on the side|on {_DAYS}|(?:on|at) (?:the )?weekends?|"
    r"in the evenings?|rental|rented|borrowed|loaner|for (?:a|the|two|three|\d+) (?:days?|weeks?|weekend)|"
    r"this (?:week|weekend|morning|afternoon|evening))\b",
    re.IGNORECASE,
)
"""There may be more of it than this one, or it lasts no longer than it is told."""
_PASSING: Final = re.compile(r"\b(?:'m|am|are|is)\s\w+ing\b.*\b(?:today|tonight|right this minute)\b", re.IGNORECASE)
_IN_PART: Final = re.compile(
    rf"\b(?:full[- ]time|on {_DAYS}|(?:on|at) (?:the )?weekends?|in the (?:mornings?|evenings?|summers?|winters?)|"
    r"every (?:day|week)|because|for (?:the|fun|money)\b|just|only|always|alone)\b",
    re.IGNORECASE,
)
"""What is denied is this part of it, or the reason, and not the thing."""


def stands_beside(slot: str, told: str, *, negated: bool) -> bool:
    """Say whether a statement of an attribute of the speaker's leaves what is known of it as it was.

    Args:
        slot: The attribute; members of a family stand beside each other anyway.
        told: The clause, without what opens it.
        negated: Whether it is a denial.
    """
    if ":" in slot:
        return False
    return (_IN_PART if negated else _BESIDE).search(told) is not None or _PASSING.search(told) is not None
