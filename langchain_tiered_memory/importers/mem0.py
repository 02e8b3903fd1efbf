"""What mem0 keeps: `get_all` or an export as JSON, and the SQLite database of its history.

A memory there is a statement that a model drew, with the day it was written; the history tells of each one what became
of it, and not whose it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import MemoryType, NewMemory
from langchain_tiered_memory.importers.found import Found, Options, Skipped, Tell
from langchain_tiered_memory.importers.making import EMPTY, ODD, Maker, listed, mapping, role_of

DELETED = "it was deleted in mem0"
ANOTHERS = "it is another user's"
_LISTS = ("results", "memories")
_USERS_NAMED = 5


def fits(value: object) -> bool:
    """Say whether a value is a memory of mem0's, or a list of them under "results"."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("memory"), str) and "id" in value:
        return True
    return any(isinstance(value.get(name), list) and any(map(fits, value[name])) for name in _LISTS)


def read(elements: Iterable[tuple[str, Any]], options: Options, maker: Maker, tell: Tell) -> Found:  # noqa: ARG001
    """Yield the memories of a JSON, as facts; what mem0 calls a preference is one."""
    for place, one in _items(elements):
        owner = mapping(one).get("user_id")
        if options.source_user is not None and owner != options.source_user:
            yield Skipped(place, ANOTHERS)
        else:
            yield _made(place, one, maker)


def only_user(elements: Iterable[tuple[str, Any]]) -> None:
    """Refuse a file with memories of several users: they would become one user's.

    Raises:
        InvalidInput: There are several.
    """
    users: dict[str, None] = {}
    for _, one in _items(elements):
        owner = mapping(one).get("user_id")
        if isinstance(owner, str):
            users.setdefault(owner)
        if len(users) > _USERS_NAMED:
            break
    if len(users) > 1:
        remedy = "the file holds memories of several users: name the one whose are taken"
        raise InvalidInput("source_user", ", ".join(list(users)[:_USERS_NAMED]), remedy)


def _items(elements: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, object]]:
    for where, value in elements:
        held = next((value[name] for name in _LISTS if isinstance(mapping(value).get(name), list)), None)
        if held is None:
            yield where, value
        for at, one in enumerate(held or (), 1):
            yield f"{where}[{at}]", one


def _made(where: str, value: object, maker: Maker) -> NewMemory | Skipped:
    one = mapping(value)
    text = one.get("memory", one.get("text"))
    if not isinstance(text, str):
        return Skipped(where, ODD, "an object with memory is needed")
    if not text.strip():
        return Skipped(where, EMPTY)
    given = one.get("metadata")
    categories = [name for name in listed(one.get("categories")) if isinstance(name, str)]
    about = {**mapping(given), **({"categories": categories} if categories else {})}
    if isinstance(one.get("expiration_date"), str):
        about["expiration_date"] = one["expiration_date"]
    kinds = {*categories, mapping(given).get("type") if isinstance(mapping(given).get("type"), str) else None}
    preferred = any("preference" in kind for kind in kinds if kind)
    key = one.get("id")
    return maker.memory(
        where,
        text,
        key=key if isinstance(key, (str, int)) and key != "" else ["text", one.get("user_id"), text],
        at=maker.instant(one.get("updated_at")) or maker.instant(one.get("created_at")),
        memory_type=str(MemoryType.PREFERENCE if preferred else MemoryType.FACT),
        session_id=_label(one.get("run_id")),
        agent_id=_label(one.get("agent_id")),
        role=role_of(one.get("role")),
        name=_label(one.get("actor_id")),
        metadata=about,
    )


def _label(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def read_history(path: Path, maker: Maker, tell: Tell) -> Found:
    """Yield what each memory of a history said last; the database is only read.

    Raises:
        InvalidInput: It is no history of mem0's.
    """
    tell("mem0's history does not say whose a memory is: all that stands in it was taken")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            columns = {row[1] for row in database.execute("PRAGMA table_info(history)")}
            new = "new_memory" if "new_memory" in columns else "new_value"
            if not {"memory_id", "event", new} <= columns:
                raise InvalidInput("file", path.name, "a database with mem0's table history is needed")
            known = [name for name in _COLUMNS if name in columns]
            said = ", ".join([f"{new} AS memory", *known])
            rows = database.execute(f"SELECT {said} FROM history ORDER BY memory_id, rowid")  # noqa: S608 - our names
            told = (dict(zip(["memory", *known], row, strict=True)) for row in rows)
            for number, (_, events) in enumerate(groupby(told, itemgetter("memory_id")), 1):
                (*_, last) = events
                yield _last(f"memory {number}", last, maker)
    except sqlite3.Error as error:
        raise InvalidInput("file", path.name, f"a database with mem0's history is needed ({error})") from None


_COLUMNS = ("memory_id", "event", "created_at", "updated_at", "timestamp", "is_deleted", "actor_id", "role")


def _last(where: str, row: Mapping[str, Any], maker: Maker) -> NewMemory | Skipped:
    if row["event"] == "DELETE" or row.get("is_deleted"):
        return Skipped(where, DELETED)
    dated = row.get("updated_at") or row.get("timestamp")
    return _made(where, {**row, "id": row["memory_id"], "updated_at": dated}, maker)
