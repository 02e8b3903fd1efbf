"""What `import` understands: our own export, memories as JSON Lines, and message lists as chat APIs write them.

A file is read as a stream of elements: the lines of JSON Lines, or the members of one JSON array. What the first one
is, all have to be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from langchain_tiered_memory.cli.imported import Kind
from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.messages import to_message
from langchain_tiered_memory.core.model import Message, NewMemory, Tier

MOST_BYTES = 16_000_000
"""Most bytes of one memory's text."""
MOST_CHARACTERS = 256_000_000
"""Most characters of a document that is not JSON Lines."""
_FIELDS = frozenset(one.name for one in fields(NewMemory))
_OF_MEMORIES_ONLY = frozenset({"memory_type", "type", "importance", "slot", "tier", "observed_at", "pinned", "origin"})
_EXPORTED = ("memory", "message")  # a tuple: what a file says may be anything, hashable or not
_LABELS = ("slot", "session_id", "agent_id", "role", "name", "origin", "id")


@dataclass(frozen=True, slots=True)
class Element:
    """One thing of a file.

    Attributes:
        where: Its place in words, for errors: "line 3", "item 3".
        value: The JSON object.
    """

    where: str
    value: Mapping[str, Any]


def read(lines: Iterable[str], seen: Callable[[float], object]) -> tuple[Kind, Iterator[Element]]:
    """Return what a file holds, and its elements one by one; they are read as they are taken.

    Args:
        lines: The file.
        seen: Told of the share of an array that was taken, in (0, 1].

    Raises:
        InvalidInput: It is neither JSON Lines nor one JSON document, or of no kind known here.
    """
    elements = _elements(iter(lines), seen)
    first = next(elements, None)
    if first is None:
        return Kind.MEMORY, iter(())
    kind = _kind(first)
    return kind, _alike(kind, chain([first], elements))


def memory(element: Element) -> NewMemory:
    """Return a memory, checked.

    Without an id and an instant of its own the element names it, so that importing a file twice adds nothing. Like
    every import it goes to long-term memory, unless it names a tier.

    Raises:
        InvalidInput: It cannot be one; the field names the place.
    """
    value = dict(element.value)
    if "type" in value:
        value.setdefault("memory_type", value.pop("type"))
    strangers = sorted(value.keys() - _FIELDS)
    if strangers:
        raise _wrong(element, ", ".join(strangers), "no such field: put it under metadata")
    try:
        value["observed_at"] = _instant(value.get("observed_at"))
        value["metadata"] = inputs.metadata(value.get("metadata"))
        inputs.content(value.get("content"), MOST_BYTES)
        inputs.memory_type(value.get("memory_type", "episode"))
        inputs.tier(value.setdefault("tier", "long_term"))
        inputs.flag("pinned", value.get("pinned", False))
        if value.get("importance") is not None:
            inputs.share("importance", value["importance"])
        for label in _LABELS:
            inputs.optional_label(label, value.get(label))
        if value.get("slot") is not None and value["tier"] == Tier.SHORT_TERM:
            raise InvalidInput("tier", value["tier"], "a value of a slot is kept in long-term memory: leave tier out")
    except InvalidInput as error:
        raise InvalidInput(f"{element.where}.{error.field}", error.value, error.remedy) from None
    if value.get("id") is None and value["observed_at"] is None:
        value["id"] = digest("import", json.dumps(element.value, sort_keys=True))
    return NewMemory(**{"origin": "import", **value})


def message(element: Element, session: str, place: int) -> Message:
    """Return a message, checked. Without an id, its session, place and words name it.

    Raises:
        InvalidInput: It cannot be one; the field names the place.
    """
    value = dict(element.value)
    try:
        value["created_at"] = _instant(value.get("created_at"))
        value["id"] = value.get("id") or digest("import", session, place, value.get("role"), value.get("content"))
        return to_message(value)
    except InvalidInput as error:
        raise InvalidInput(f"{element.where}.{error.field}", error.value, error.remedy) from None


def talk(element: Element) -> Iterator[Element]:
    """Yield the messages of a conversation.

    Raises:
        InvalidInput: Its messages are not a list of objects.
    """
    found = element.value["messages"]
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _wrong(element, "messages", "a list of objects with role and content is needed")
    for number, one in enumerate(found, 1):
        yield Element(f"{element.where}.messages[{number}]", one)


def _elements(lines: Iterator[str], seen: Callable[[float], object]) -> Iterator[Element]:
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    number, first = next(numbered, (0, ""))
    if not first:
        return
    first = first.removeprefix("\ufeff")  # some editors begin a file with it
    try:
        document = json.loads(first)
    except (ValueError, RecursionError):  # not one line, so it has to be one document
        document = _document("".join(_within(chain([first], lines))))
    if isinstance(document, list):
        for place, one in enumerate(document, 1):
            yield _element(f"item {place}", one)
            seen(place / len(document))
        return
    yield _element(f"line {number}", document)
    for at, line in numbered:
        try:
            yield _element(f"line {at}", json.loads(line))
        except InvalidInput:
            raise
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"line {at}", line, f"one JSON object per line is needed ({error})") from None


def _within(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of what has to be held at once, up to a limit."""
    held = 0
    for line in lines:
        held += len(line)
        if held > MOST_CHARACTERS:
            remedy = f"a document of at most {MOST_CHARACTERS} characters is possible: write it as JSON Lines"
            raise InvalidInput("file", line[:80], remedy)
        yield line


def _document(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("file", text[:80], f"JSON Lines or one JSON document is needed ({error})") from None


def _element(where: str, value: object) -> Element:
    if not isinstance(value, dict):
        raise InvalidInput(where, value, "a JSON object is needed")
    return Element(where, value)


def _kind(element: Element) -> Kind:
    value = element.value
    if value.get("kind") in _EXPORTED:
        return Kind.EXPORT
    if "messages" in value:
        return Kind.TALK
    if "role" in value and not _OF_MEMORIES_ONLY & value.keys():
        return Kind.MESSAGE
    if "content" in value:
        return Kind.MEMORY
    raise InvalidInput(
        element.where, dict(value), "a line of an export, a memory with content, or a message with role is needed"
    )


def _alike(kind: Kind, elements: Iterator[Element]) -> Iterator[Element]:
    for element in elements:
        if _kind(element) is not kind:
            raise InvalidInput(element.where, dict(element.value), f"the file began with {kind}: one kind a file")
        yield element


def _instant(value: object) -> datetime | None:
    """Read an instant as ISO 8601 or as seconds since 1970."""
    try:
        if isinstance(value, str):
            return inputs.instant("instant", datetime.fromisoformat(value))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except InvalidInput:
        raise
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("instant", value, "ISO 8601, or seconds since 1970, is needed") from None
    return inputs.instant("instant", value)


def _wrong(element: Element, field: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"{element.where}.{field}", element.value.get(field), remedy)
