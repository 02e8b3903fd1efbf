"""LangChain's messages as JSON: `messages_to_dict`, `dumps`, the models' own dumps, and what holds lists of them.

They say who said what, and mostly not when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers.found import Found, Options, Skipped, Tell
from langchain_tiered_memory.importers.making import ODD, Maker, mapping, role_of, text_of

_TYPES = frozenset("human ai system tool function chat remove user assistant developer".split())
_LISTS = ("messages", "chat_memory", "history", "store", "buffer")
_DEEPEST = 4


def fits(value: object) -> bool:
    """Say whether a value is a message of this format, or holds a list of them."""
    return any(True for _ in _messages("", value, "", 0, only_fitting=True))


def read(elements: Iterable[tuple[str, Any]], options: Options, maker: Maker, tell: Tell) -> Found:  # noqa: ARG001
    """Yield what the messages say, in their order; a mapping from names to lists holds a session under each name."""
    for where, value in elements:
        for place, one, session in _messages(where, value, options.session or "", 0):
            fields = _fields(one)
            yield Skipped(place, ODD, "a message is needed") if fields is None else _made(place, fields, session, maker)


def _messages(
    where: str, value: object, session: str, depth: int, *, only_fitting: bool = False
) -> Iterator[tuple[str, object, str]]:
    """Yield the messages in a value, with place and session; what is no message too, unless only fitting ones."""
    if _fields(value) is not None:
        yield where, value, session
        return
    inside: Iterable[tuple[str, object, str]] = ()
    if isinstance(value, list) and depth < _DEEPEST:
        inside = ((f"{where}[{at}]", one, session) for at, one in enumerate(value, 1))
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        held = [name for name in _LISTS if isinstance(value.get(name), (list, Mapping))]
        own = value.get("session_id")
        session = own if isinstance(own, str) and own else session
        named = [name for name in value if isinstance(value[name], list) and name not in _LISTS] if not held else []
        inside = [(f"{where}.{name}", value[name], session) for name in held[:1]]
        inside += [(f"{where}.{name[:40]}", value[name], name or session) for name in named]
    empty = True
    for place, one, belongs in inside:
        empty = False
        yield from _messages(place, one, belongs, depth + 1, only_fitting=only_fitting)
    if empty and not only_fitting and value != []:
        yield where, value, session


def _fields(value: object) -> Mapping[str, Any] | None:
    """Return the fields of a message, with its type; None when it is none of LangChain's."""
    if not isinstance(value, Mapping):
        return None
    kind, data = value.get("type"), value.get("data")
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), Mapping):
        path = value.get("id")
        named = path[-1] if isinstance(path, list) and path else None
        return {"type": role_of(named), **value["kwargs"]} if _is_type(named) else None
    if not _is_type(kind):
        return None
    if isinstance(data, Mapping):
        return {**data, "type": kind}
    return value if "content" in value else None


def _is_type(kind: object) -> bool:
    name = kind.lower().removesuffix("chunk").removesuffix("message") if isinstance(kind, str) else ""
    return name in _TYPES


def _made(where: str, fields: Mapping[str, Any], session: str, maker: Maker) -> NewMemory | Skipped:
    role = role_of(fields["type"])
    if role == "chat":
        role = role_of(fields.get("role")) or "user"
    if role == "remove":
        return Skipped(where, ODD, "it removes another message")
    own, name = fields.get("id"), fields.get("name")
    about, extra = mapping(fields.get("response_metadata")), mapping(fields.get("additional_kwargs"))
    dates = (extra.get("timestamp"), extra.get("created_at"), about.get("created_at"), about.get("created"))
    text = text_of(fields.get("content"))
    return maker.message(
        where,
        role,
        text,
        session=session,
        at=next((at for at in map(maker.instant, dates) if at is not None), None),
        stamp=None,
        key=["id", own, digest(text)] if isinstance(own, str) and own else None,
        name=name if isinstance(name, str) else None,
    )
