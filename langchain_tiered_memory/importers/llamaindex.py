"""LlamaIndex's chat stores as JSON: `SimpleChatStore.persist`, a memory's dump around one, and rows of the SQL one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers.found import Found, Limits, Options, Skipped, Tell
from langchain_tiered_memory.importers.making import ODD, Maker, role_of, text_of
from langchain_tiered_memory.importers.scanning import values

_INSIDE = ("chat_store", "sql_store")
_DEEPEST = 3


def fits(value: object) -> bool:
    """Say whether a value is a chat store, or holds one."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("store"), Mapping) and all(isinstance(one, list) for one in value["store"].values()):
        return True
    return isinstance(value.get("db_data"), list) or any(value.get(name) for name in _INSIDE) or _is_message(value)


def _is_message(value: object) -> bool:
    blocks = value.get("blocks") if isinstance(value, Mapping) else None
    if isinstance(blocks, list) and isinstance(value, Mapping) and "role" in value:
        return True
    return isinstance(value, Mapping) and "role" in value and isinstance(value.get("additional_kwargs"), Mapping)


def read(elements: Iterable[tuple[str, Any]], options: Options, maker: Maker, tell: Tell) -> Found:  # noqa: ARG001
    """Yield what the messages say, in their order; each key of a store is a session."""
    for where, value in elements:
        for place, one, session, at in _messages(where, value, options.session or "", 0, options.limits):
            yield _made(place, one, session, at, maker)


_Place = tuple[str, object, str, object]


def _messages(where: str, value: object, session: str, depth: int, limits: Limits) -> Iterator[_Place]:
    """Yield the messages in a value with place, session and date; what holds none is yielded itself."""
    inside = _store_in(value) if depth < _DEEPEST else None
    if inside is not None:
        for _, one in values([inside], limits) if isinstance(inside, str) else [("", inside)]:
            yield from _messages(f"{where}.store", one, session, depth + 1, limits)
    elif isinstance(value, Mapping) and isinstance(value.get("store"), Mapping):
        for key, held in value["store"].items():
            for at, one in enumerate(held if isinstance(held, list) else [held], 1):
                yield f"{where}.{key[:40]}[{at}]", one, key or session, None
    elif isinstance(value, Mapping) and isinstance(value.get("db_data"), list):
        for at, row in enumerate(value["db_data"], 1):
            yield f"{where}.row {at}", *_row(row, session)
    elif isinstance(value, list) and depth < _DEEPEST:
        for at, one in enumerate(value, 1):
            yield f"{where}[{at}]", one, session, None
    else:
        yield where, value, session, None


def _row(row: object, session: str) -> tuple[object, str, object]:
    """Return the message of a row of the SQL store, its session and its date."""
    if not isinstance(row, Mapping):
        return row, session, None
    key = row.get("key")
    return row.get("data"), key if isinstance(key, str) and key else session, row.get("timestamp")


def _store_in(value: object) -> object:
    if not isinstance(value, Mapping) or isinstance(value.get("store"), Mapping):
        return None
    return next((value[name] for name in _INSIDE if value.get(name)), None)


def _made(where: str, value: object, session: str, at: object, maker: Maker) -> NewMemory | Skipped:
    role = role_of(value.get("role")) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or role is None:
        return Skipped(where, ODD, "a message with role is needed")
    text = text_of(value.get("blocks")) or text_of(value.get("content"))
    return maker.message(where, role, text, session=session, at=maker.instant(at))
