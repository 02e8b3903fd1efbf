"""The door for messages; see `core/inputs.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import MESSAGE_FIELDS, Message

MAX_MESSAGE_BYTES = 64_000_000
"""Most JSON in one message's parts, calls and extra: a few images."""


def to_message(value: object) -> Message:
    """Return a message from a `Message` or an OpenAI-style mapping.

    Keys of a mapping that `Message` has no field for are kept in `extra`.
    """
    if isinstance(value, Message):
        return _checked(value)
    if not isinstance(value, Mapping):
        raise InvalidInput("message", value, "a Message or a mapping with role and content is needed")
    known = {k: v for k, v in value.items() if k in MESSAGE_FIELDS}
    rest = {k: v for k, v in value.items() if k not in MESSAGE_FIELDS}
    role = known.pop("role", None)
    extra = {**_held(known.pop("extra", None) or {}), **_held(rest)}
    known["tool_calls"] = known.get("tool_calls") or ()
    return _checked(Message(role, known.pop("content", None), extra=extra, **known))


def _checked(message: Message) -> Message:
    inputs.label("message.role", message.role)
    inputs.optional_label("message.id", message.id)
    inputs.optional_label("message.name", message.name)
    inputs.optional_label("message.tool_call_id", message.tool_call_id)
    calls: object = message.tool_calls
    if isinstance(calls, str) or not isinstance(calls, Sequence) or not all(isinstance(one, Mapping) for one in calls):
        raise InvalidInput("message.tool_calls", calls, "a sequence of mappings is needed")
    extra: object = message.extra
    if not isinstance(extra, Mapping):
        raise InvalidInput("message.extra", extra, "a mapping of names to JSON values is needed")
    body: object = message.content
    if isinstance(body, str):
        held = _held({"tool_calls": list(calls), "extra": message.extra})
    else:
        held = _held({"content": _parts(body), "tool_calls": list(calls), "extra": message.extra})
        body = held["content"]
        for part in held["content"] or ():
            _text_or_none("message.content.type", part.get("type"))
    for call in held["tool_calls"]:
        _text_or_none("message.tool_calls.id", call.get("id"))
    return Message(
        message.role,
        body,  # type: ignore[arg-type] # checked just above
        id=message.id,
        name=message.name,
        tool_calls=tuple(held["tool_calls"]),
        tool_call_id=message.tool_call_id,
        created_at=inputs.instant("message.created_at", message.created_at),
        extra=held["extra"],
    )


def _held(values: Mapping[str, Any]) -> dict[str, Any]:
    return inputs.metadata(values, "message", MAX_MESSAGE_BYTES)


def _parts(body: object) -> list[Mapping[str, Any]] | None:
    if body is None:
        return None
    if not isinstance(body, Sequence) or not all(isinstance(part, (str, Mapping)) for part in body):
        raise InvalidInput("message.content", body, "a str, a sequence of parts, or None is needed")
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in body]


def _text_or_none(field: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InvalidInput(field, value, "a str, or none, is needed")
