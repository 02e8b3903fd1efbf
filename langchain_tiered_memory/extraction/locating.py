"""Where in a text a statement was made. Pure."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import Final

from langchain_tiered_memory.core.languages import ENGLISH
from langchain_tiered_memory.core.text import analyze

_WORD: Final = re.compile("[\u0e00-\u0eff\u2e80-\U0003ffff]|[^\\W\u0e00-\u0eff\u2e80-\U0003ffff]{1,64}")
"""A word, or a character of a script without spaces."""
_MOST_WORDS: Final = 100
"""Words of a statement that are looked for."""
_UNSPACED: Final = "\u0e00"
"""From here on a character alone may be a word."""


def located(statement: str, text: str, telling: Container[str]) -> tuple[int, int] | None:
    """Return the first character of the longest run of a statement's words in a text, and the one after its last.

    The longest is the one with the most words that matter, then with the most words, then the first.

    Args:
        statement: What was drawn from the text, in other words perhaps.
        text: The text.
        telling: The terms that matter; a run without any is none.
    """
    wanted: dict[str, list[int]] = {}
    for place, word in enumerate(_words(statement)[:_MOST_WORDS]):
        wanted.setdefault(word[0], []).append(place)
    best, found = (0, 0), None
    ending: dict[int, tuple[int, int, int]] = {}  # place in the statement to matter, words and first character
    for stem, start, end in _words(text):
        matters = stem in telling or (len(stem) == 1 and stem >= _UNSPACED)
        now = {}
        for place in wanted.get(stem, ()):
            more, length, first = ending.get(place - 1, (0, 0, start))
            now[place] = one = (more + matters, length + 1, first)
            if one[0] and one[:2] > best:
                best, found = one[:2], (one[2], end)
        ending = now
    return found


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(_stem(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    return next(iter(analyze(word, ENGLISH)), word)
