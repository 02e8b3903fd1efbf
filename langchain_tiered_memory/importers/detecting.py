"""Which format a file is in, and what makes it look like that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.importers import chatgpt, langchain, llamaindex, mem0, whatsapp
from langchain_tiered_memory.importers.found import Format
from langchain_tiered_memory.importers.scanning import values
from langchain_tiered_memory.importers.source import Source, is_database, refuse_no_text

_LINES = 30
_VALUES = 3
_SIGNS: tuple[tuple[Format, Callable[[object], bool], str], ...] = (
    (Format.CHATGPT, chatgpt.fits, "it holds conversations with a mapping of messages"),
    (Format.MEM0, mem0.fits, "it holds objects with id and memory"),
    (Format.LANGCHAIN, langchain.fits, "it holds messages with a type, such as human or ai"),
    (Format.LLAMAINDEX, llamaindex.fits, "it holds a chat store, or messages with blocks"),
)


@dataclass(frozen=True, slots=True)
class Detected:
    """A format, and the reason in words."""

    format: Format
    because: str


def detect(source: Source) -> Detected | None:
    """Return the format of a file; None when it is none of those known here.

    Raises:
        InvalidInput: It is no text, and no database either.
    """
    head = source.head()
    refuse_no_text(head)
    if is_database(head):
        return Detected(Format.MEM0, "it is an SQLite database")
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    if whatsapp.begins(text.splitlines()[:_LINES]):
        return Detected(Format.WHATSAPP, "its lines begin with a date, a time and an author")
    if not text.lstrip().startswith(("[", "{")):
        return None
    for value in _first(source):
        for one, fits, because in _SIGNS:
            if fits(value) or (isinstance(value, list) and any(map(fits, value[:_VALUES]))):
                return Detected(one, because)
        if isinstance(value, dict) and "conversations" in value:
            return Detected(Format.CHATGPT, "it holds conversations")
    return None


def _first(source: Source) -> list[Any]:
    found = []
    try:
        for _, value in islice(values(source.peeked(), source.limits), _VALUES):
            found.append(value)
            if value:
                break  # the first that says anything; a stream may not have more yet
    except InvalidInput:
        pass  # whoever reads it as the format that it is told to be says what is wrong with it
    return found
