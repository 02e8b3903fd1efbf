"""The door: every argument is checked here once; behind it, types are trusted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput, shown
from langchain_tiered_memory.core.lives import VALUES
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier, to_utc
from langchain_tiered_memory.core.stated import CONFIRMED, NEGATED, SPANS, VALUE, is_instant, is_span

MAX_ID_CHARS = 512
"""Longest id of a memory, session or agent, and longest slot, role, name or origin, in characters."""
MAX_METADATA_BYTES = 1_000_000
"""Most JSON in one metadata."""
MAX_DEPTH = 64
"""Most levels of mappings and lists in metadata, and in a message's parts, calls and extra."""
MAX_COUNT = 2**63 - 1
"""Largest whole number; every store holds it."""
MAX_ACCESSES = 2**52
"""Most accesses that a memory can bring along: every store can count on from there."""
END_OF_TIME = datetime(2262, 1, 1, tzinfo=UTC)
"""Nothing is written at or after this instant: the order of writing is kept in nanoseconds since 1970."""


def user(value: object) -> str:
    """Return a user id as it is: any non-empty str."""
    if not isinstance(value, str) or not value:
        raise InvalidInput("user_id", value, "a non-empty str is needed; it is used exactly as given")
    return value


def label(field: str, value: object) -> str:
    """Return an id or label: a non-empty str of at most `MAX_ID_CHARS` characters."""
    if not isinstance(value, str) or not value:
        raise InvalidInput(field, value, "a non-empty str is needed")
    if len(value) > MAX_ID_CHARS:
        raise InvalidInput(field, value, f"at most {MAX_ID_CHARS} characters are possible, this has {len(value)}")
    return value


def optional_label(field: str, value: object) -> str | None:
    """Return a label, or None."""
    return None if value is None else label(field, value)


def content(value: object, max_bytes: int, field: str = "content") -> str:
    """Return a text that is not blank and has at most `max_bytes` of UTF-8."""
    if not isinstance(value, str):
        raise InvalidInput(field, value, "a str is needed")
    if not value.strip():
        raise InvalidInput(field, value, "a blank text says nothing that could be remembered")
    return size(field, value, max_bytes)


def size(field: str, value: str, max_bytes: int) -> str:
    """Return a text that has at most `max_bytes` of UTF-8."""
    found = len(value.encode("utf-8", "surrogatepass"))
    if found > max_bytes:
        raise InvalidInput(field, value, f"at most {max_bytes} bytes are possible, this has {found}: split it")
    return value


def items(value: object) -> list[Any]:
    """Return what `remember_many` was given as a list."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInput("items", value, "an iterable of NewMemory is needed")
    return list(value)


def query(value: object) -> str:
    """Return a query; it may be blank, which asks for nothing in particular."""
    if not isinstance(value, str):
        raise InvalidInput("query", value, "a str is needed")
    return value


def memory_type(value: object, field: str = "memory_type") -> MemoryType:
    """Return the memory type that a name stands for."""
    try:
        return MemoryType(value)  # type: ignore[arg-type] # any object may be tried; a stranger raises
    except ValueError:
        raise InvalidInput(field, value, f"one of {', '.join(MemoryType)} is needed") from None


def memory_types(value: object) -> frozenset[MemoryType] | None:
    """Return the memory types asked for; None for all of them."""
    if value is None:
        return None
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInput("memory_types", value, "a list of memory types, or None, is needed")
    return frozenset(memory_type(one, "memory_types") for one in value)


def tier(value: object) -> Tier | None:
    """Return the tier that a name stands for, or None."""
    if value is None:
        return None
    try:
        return Tier(value)  # type: ignore[arg-type] # any object may be tried; a stranger raises
    except ValueError:
        raise InvalidInput("tier", value, f"one of {', '.join(Tier)}, or None, is needed") from None


def share(field: str, value: object) -> float:
    """Return a finite number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(field, value, "a number from 0 to 1 is needed")
    return float(value)


def count(field: str, value: object, least: int = 1, most: int = MAX_COUNT) -> int:
    """Return a whole number from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidInput(field, value, f"a whole number of at least {least} is needed")
    if value > most:
        raise InvalidInput(field, value, f"at most {most} is possible")
    return value


def flag(field: str, value: object) -> bool:
    """Return a truth value that is one."""
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "True or False is needed")
    return value


def instant(field: str, value: object) -> datetime | None:
    """Return an instant as aware UTC, or None; a naive one is read as local time."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidInput(field, value, "a datetime is needed")
    try:
        return to_utc(value)
    except (OverflowError, OSError, ValueError):
        raise InvalidInput(field, value, "an instant that exists in UTC is needed") from None


def metadata(value: object, field: str = "metadata", max_bytes: int = MAX_METADATA_BYTES) -> dict[str, Any]:
    """Return a deep copy of what JSON can hold; {} for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(field, value, "a mapping of names to JSON values is needed")
    try:
        copy: dict[str, Any] = _json(value, MAX_DEPTH)
        text = json.dumps(copy, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(field, value, f"JSON cannot hold it ({error})") from None
    if len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise InvalidInput(field, value, f"at most {max_bytes} bytes of JSON are possible")
    return copy


def stated(slot: str | None, metadata: Mapping[str, Any]) -> None:
    """Refuse what a value of a slot cannot state in its metadata; see `core/stated.py` for the keys."""
    if slot is None:
        return
    if VALUE in metadata:
        value = label(f"metadata.{VALUE}", metadata[VALUE])
        if not value.strip():
            raise InvalidInput(f"metadata.{VALUE}", value, "a blank text is no value: leave the key out")
    if NEGATED in metadata:
        flag(f"metadata.{NEGATED}", metadata[NEGATED])
    for source, span in _told(SPANS, metadata):
        if not is_span(span):
            raise InvalidInput(f"metadata.{SPANS}", span, f"first and end in the text of {shown(source)} are needed")
    for at, words in _told(CONFIRMED, metadata):
        if not is_instant(at):
            raise InvalidInput(f"metadata.{CONFIRMED}", at, "an instant of ISO 8601 with its time zone is needed")
        if not isinstance(words, dict) or not all(one is None or isinstance(one, str) for one in words.values()):
            raise InvalidInput(f"metadata.{CONFIRMED}", words, "a mapping of source ids to words, or None, is needed")


def _told(key: str, metadata: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    told = metadata.get(key, {})
    if not isinstance(told, dict):
        raise InvalidInput(f"metadata.{key}", told, "a mapping is needed")
    return told.items()


def _json(value: object, depth: int) -> Any:
    """Return a copy in the types of JSON. A way through text would join surrogates that stand apart."""
    if not depth:
        raise ValueError(f"it is more than {MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number of JSON")
        return float(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys must be str")
        return {str.__str__(key): _json(one, depth - 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(one, depth - 1) for one in value]
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def memory(value: object, max_bytes: int) -> Memory:
    """Return a plain memory with every field checked and every instant in UTC."""
    if not isinstance(value, Memory):
        raise InvalidInput("memory", value, "a Memory is needed")
    sources: object = value.source_ids
    if isinstance(sources, str) or not isinstance(sources, Sequence):
        raise InvalidInput("source_ids", sources, "a sequence of ids is needed")
    return Memory(
        content(value.content, max_bytes),
        memory_type(value.memory_type),
        share("importance", value.importance),
        created_at=_written_at("created_at", value.created_at),
        last_accessed=_moment("last_accessed", value.last_accessed),
        access_count=count("access_count", value.access_count, 0, MAX_ACCESSES),
        id="" if value.id == "" else label("id", value.id),
        user_id=value.user_id,
        tier=tier(value.tier),
        observed_at=_moment("observed_at", value.observed_at),
        valid_to=instant("valid_to", value.valid_to),
        superseded_by=optional_label("superseded_by", value.superseded_by),
        slot=optional_label("slot", value.slot),
        session_id=optional_label("session_id", value.session_id),
        agent_id=optional_label("agent_id", value.agent_id),
        role=optional_label("role", value.role),
        name=optional_label("name", value.name),
        origin=optional_label("origin", value.origin),
        source_ids=tuple(label("source_ids", one) for one in sources),
        metadata=metadata(value.metadata, max_bytes=max_bytes if value.origin == VALUES else MAX_METADATA_BYTES),
        pinned=flag("pinned", value.pinned),
    )


def _moment(field: str, value: object) -> datetime:
    found = instant(field, value)
    if found is None:
        raise InvalidInput(field, value, "a datetime is needed")
    return found


def _written_at(field: str, value: object) -> datetime:
    found = _moment(field, value)
    if found >= END_OF_TIME:
        raise InvalidInput(field, value, f"an instant before the year {END_OF_TIME.year} is needed")
    return found


def path(field: str, value: object) -> Path | None:
    """Return what was given as a path; None when it is no path."""
    if not isinstance(value, (str, PathLike)):
        return None
    name = fspath(value)
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidInput(field, value, "the path of a file is needed")
    return Path(name)
