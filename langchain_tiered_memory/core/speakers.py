"""Who speaks: the speaker of every row, and whom of them a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from langchain_tiered_memory.core.columns import Labels
from langchain_tiered_memory.core.postings import Scores
from langchain_tiered_memory.core.text import analyze

_WORD = re.compile(r"[^\W_]+(?:['\u2019]s)?")


class Speakers:
    """The speakers' names of rows, None for none. Not thread-safe."""

    def __init__(self) -> None:
        self._names = Labels()

    def append(self, name: str | None) -> None:
        """Add a row."""
        self._names.append(name)

    def named(self, terms: Iterable[str]) -> Scores:
        """Return 1 for every row whose speaker's name is among the terms, else 0."""
        return self._names.among(self._asked(terms)).astype("float32")

    def left_out(self, text: str, terms: Iterable[str]) -> str:
        """Return a question without the speakers' names in it, as it stands where it would say nothing else.

        Args:
            text: The question.
            terms: Its terms.
        """
        asked = frozenset(terms)
        names = asked.intersection(term for name in self._asked(asked) for term in analyze(name))
        if not names or names == asked:
            return text
        return " ".join(_WORD.sub(lambda word: "" if names.issuperset(analyze(word[0])) else word[0], text).split())

    def _asked(self, terms: Iterable[str]) -> list[str]:
        asked = frozenset(terms)
        return [name for name in self._names.known if not asked.isdisjoint(analyze(name))]
