"""Numbers in words: "nineteen", "twenty-four", "a hundred and five"."""

from __future__ import annotations

import re
from typing import Final

_SMALL: Final = {
    one: count
    for count, one in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    one: count * 10 for count, one in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SIZES: Final = {"hundred": 100, "thousand": 1_000}


def _any(names: list[str]) -> str:
    return "|".join(sorted(names, key=lambda one: (-len(one), one)))


_ONES: Final = _any(list(_SMALL)[1:10])
_BELOW: Final = rf"(?:(?:{_any(list(_TENS))})(?:[- ](?:{_ONES}))?|{_any(list(_SMALL)[1:])})"
NUMERAL: Final = rf"(?:(?:(?:a|{_BELOW}) )?(?:hundred|thousand)(?:(?: and)? {_BELOW})?|{_BELOW})"
"""A whole number in words, from one to some hundred thousand."""
_WORD: Final = re.compile(r"[a-z]+")


def numeral(text: str) -> str | None:
    """Return a number in words as digits; None where the text is no number in words.

    Args:
        text: In lower case.
    """
    total, now = 0, None
    for word in _WORD.findall(text):
        if word in _SIZES:
            total, now = total + (1 if now is None else now) * _SIZES[word], None
        elif word in _TENS or word in _SMALL:
            now = (now or 0) + (_TENS.get(word) or _SMALL.get(word, 0))
        elif word not in {"and", "a"}:
            return None
    return str(total + (now or 0)) if total or now is not None else None
