"""JSON values out of a text of any size: the members of a list, or documents one after the other.

Only one of them is held at a time, and how deep it nests is known before it is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.importers.found import Limits

_OUTSIDE = re.compile(r'["\[\]{},]')
_INSIDE = re.compile(r'["\\]')


def values(chunks: Iterable[str], limits: Limits) -> Iterator[tuple[str, Any]]:
    """Yield each value with its place in words: "item 3" of a list, "document 2".

    Raises:
        InvalidInput: It is no JSON, is cut off, nests too deeply, or one value is too large.
    """
    for where, raw in _Scanner(limits).raw(chunks):
        yield where, parsed(raw, where)


def parsed(raw: str, where: str) -> Any:
    """Return a text of JSON as its value. The depth was checked.

    Raises:
        InvalidInput: It is none.
    """
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(where, raw[:80], f"JSON is needed ({error})") from None


class _Scanner:
    """Finds where values begin and end, without parsing them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._text = ""
        self._at = self._began = self._depth = self._number = 0
        self._quoted = self._listed = False

    @property
    def where(self) -> str:
        return f"{'item' if self._listed else 'document'} {self._number + 1}"

    def raw(self, chunks: Iterable[str]) -> Iterator[tuple[str, str]]:
        for chunk in chunks:
            self._text = self._text[self._began :] + chunk
            self._at -= self._began
            self._began = 0
            yield from self._values()
            self._fit(len(self._text))
        if self._depth or self._quoted:
            raise self._wrong("the file ends in the middle of it")
        if self._text[self._began :].strip():
            yield self.where, self._text[self._began :]

    def _values(self) -> Iterator[tuple[str, str]]:
        while (token := (_INSIDE if self._quoted else _OUTSIDE).search(self._text, self._at)) is not None:
            if self._quoted:
                if token[0] == "\\" and token.end() == len(self._text):
                    return  # what it escapes is still to come
                self._at = token.end() + (token[0] == "\\")
                self._quoted = token[0] == "\\"
                continue
            self._at = token.end()
            yield from self._outside(token[0])
        self._at = len(self._text)

    def _outside(self, mark: str) -> Iterator[tuple[str, str]]:
        if mark == '"':
            self._quoted = True
        elif mark in "[{":
            if mark == "[" and not self._depth and not self._text[self._began : self._at - 1].strip():
                self._listed, self._began, self._number = True, self._at, 0
            self._depth += 1
            if self._depth > self._limits.depth:
                raise self._wrong(f"at most {self._limits.depth} levels of lists and objects are possible")
        elif mark == ",":
            if self._listed and self._depth == 1:
                yield from self._value(self._at - 1)
        else:
            self._depth -= 1
            if self._depth < 0:
                raise self._wrong("JSON is needed: more is closed than was opened")
            if not self._depth:
                yield from self._value(self._at - self._listed)
                self._listed = False

    def _value(self, end: int) -> Iterator[tuple[str, str]]:
        self._fit(end)
        raw = self._text[self._began : end]
        if raw.strip():
            yield self.where, raw
            self._number += 1
        self._began = self._at

    def _fit(self, end: int) -> None:
        if end - self._began > self._limits.characters:
            raise self._wrong(f"one value of at most {self._limits.characters} characters is possible")

    def _wrong(self, remedy: str) -> InvalidInput:
        return InvalidInput(self.where, self._text[self._began : self._began + 80], remedy)
