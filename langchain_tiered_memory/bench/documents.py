"""JSON documents of others: every value knows where it stands, so that what is wrong with it can be told."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a JSON document.

    Attributes:
        held: The value itself.
        file: The file it is from.
        wanted: What file is needed, in words, for errors: "a file like … is needed".
        place: Its place in the file: "[0].qa[2].evidence"; empty for the whole of it.
    """

    held: Any
    file: Path
    wanted: str
    place: str = ""

    def wrong(self, what: str) -> InvalidInput:
        """Return the error that names file and place, and says what is wrong and what is needed."""
        return InvalidInput(f"{self.place or 'the top level'} of {self.file}", self.held, f"{what}; {self.wanted}")

    def at(self, name: str) -> Value:
        """Return a field that has to be there, as null it may be."""
        if name not in self._fields():
            raise self.wrong(f"it has no {name!r}")
        return self._inside(self.held[name], f".{name}")

    def find(self, name: str) -> Value | None:
        """Return a field; None if it is not there, or null."""
        held = self._fields().get(name)
        return None if held is None else self._inside(held, f".{name}")

    def fields(self) -> tuple[tuple[str, Value], ...]:
        """Return all fields of an object, in their order."""
        return tuple((name, self._inside(held, f".{name}")) for name, held in self._fields().items())

    def each(self) -> tuple[Value, ...]:
        """Return the members of an array."""
        if not isinstance(self.held, list):
            raise self.wrong("it is no array")
        return tuple(self._inside(held, f"[{place}]") for place, held in enumerate(self.held))

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.held, str):
            raise self.wrong("it is no text")
        return self.held

    def whole(self) -> int:
        """Return a whole number."""
        if not isinstance(self.held, int) or isinstance(self.held, bool):
            raise self.wrong("it is no whole number")
        return self.held

    def _fields(self) -> dict[str, Any]:
        if not isinstance(self.held, dict):
            raise self.wrong("it is no object")
        return self.held

    def _inside(self, held: Any, step: str) -> Value:
        return Value(held, self.file, self.wanted, f"{self.place}{step}".removeprefix("."))


def read(file: Path, wanted: str) -> Value:
    """Return the whole of a JSON file.

    Args:
        file: The file; - is standard input.
        wanted: What file is needed, in words, for errors.

    Raises:
        InvalidInput: It is not JSON.
        OSError: It cannot be read.
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return Value(json.loads(content.decode("utf-8-sig")), file, wanted)
    except UnicodeDecodeError:
        reason = "it is not UTF-8; an archive has to be unpacked first"
    except (ValueError, RecursionError) as error:
        reason = f"it is not JSON ({error})"
    raise InvalidInput(f"the text of {file}", content[:40].decode("utf-8", "replace"), f"{reason}; {wanted}")
