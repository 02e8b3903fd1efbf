"""LangChain's messages as ours and back, bit for bit.

What a `Message` has a field for goes there, so that this package and every other framework understands it: the role,
the content with all its visible text, id, name, tool calls in OpenAI's style, the call that is answered. The rest
stays in `extra["langchain"]`. Content is not kept twice: when a window has cut it, the cut content is what comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    InvalidToolCall,
    SystemMessage,
    SystemMessageChunk,
    ToolCall,
    ToolMessage,
    ToolMessageChunk,
)
from pydantic_core import PydanticUndefined

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.inputs import MAX_ID_CHARS
from langchain_tiered_memory.core.model import Message, new_id
from langchain_tiered_memory.langchain.exact import freed, held, nearly_held

__all__ = ["from_langchain", "said", "to_langchain"]

_KEY = "langchain"
_BARE = "$bare"
"""Places of the parts of a content that were bare text."""
_LABELS = ("id", "name", "tool_call_id")
_DEVELOPER = {"__openai_role__": "developer"}
"""How LangChain marks a system message as a developer's."""
_ROLES: Mapping[type[BaseMessage], str] = {
    AIMessage: "assistant",
    AIMessageChunk: "assistant",
    ChatMessage: "chat",
    ChatMessageChunk: "chat",
    FunctionMessage: "function",
    FunctionMessageChunk: "function",
    HumanMessage: "user",
    HumanMessageChunk: "user",
    SystemMessage: "system",
    SystemMessageChunk: "system",
    ToolMessage: "tool",
    ToolMessageChunk: "tool",
}
_CLASSES = {one.model_fields["type"].default: one for one in _ROLES}
_TYPES = {one: name for name, one in _CLASSES.items()}
_DEFAULTS: Mapping[type[BaseMessage], Mapping[str, Any]] = {
    one: {name: field.get_default(call_default_factory=True) for name, field in one.model_fields.items()}
    for one in _ROLES
}
"""Looked up once: pydantic takes long to tell. Not to be changed."""


def from_langchain(*messages: BaseMessage) -> tuple[Message, ...]:
    """Return LangChain messages as ours.

    Raises:
        InvalidInput: One is of no kind that can be said, such as a `RemoveMessage`.
    """
    return tuple(map(_ours, messages))


def to_langchain(messages: Iterable[Message]) -> list[BaseMessage]:
    """Return messages as LangChain's: those that came from there as they were, others by their role."""
    return [_restored(one, one.extra[_KEY]) if _KEY in one.extra else _foreign(one) for one in messages]


def said(role: str, value: object) -> tuple[Message, ...]:
    """Return what a chain's input or output says, as messages with ids.

    Args:
        role: Who says it, unless the value is messages, which know.
        value: A text, a message, messages, parts of content, or anything else, which is said by its `str`.
    """
    many = value if isinstance(value, (list, tuple)) else [value]
    if many and all(isinstance(one, BaseMessage) for one in many):
        messages = from_langchain(*many)
    elif isinstance(value, list) and all(isinstance(one, (str, Mapping)) for one in value):
        messages = (Message(role, [_text_part(one) if isinstance(one, str) else held(one) for one in value]),)
    else:
        messages = (Message(role, value if isinstance(value, str) else str(value)),)
    return tuple(replace(one, id=one.id or new_id()) for one in messages)


def _ours(message: BaseMessage) -> Message:
    kind = _kind(message)
    values = dict(message)
    content = values.pop("content")
    role = _role(kind, values)
    labels = {name: values.pop(name) for name in _LABELS if _usable(values.get(name))}
    calls = [_openai_call(call) for call in values.get("tool_calls") or ()]
    if calls and [_call(one) for one in calls] == values["tool_calls"]:
        del values["tool_calls"]
    kept = {name: nearly_held(one) for name, one in values.items() if not _default(kind, name, one)}
    record = {"type": _TYPES[kind], **({} if "id" in labels else {"id": message.id})}
    if isinstance(content, str):
        return Message(role, content, **labels, tool_calls=calls, extra={_KEY: {**record, **kept}})
    bare = [place for place, part in enumerate(content) if isinstance(part, str)]
    parts = [_text_part(part) if isinstance(part, str) else held(part) for part in content]
    record |= {_BARE: bare} if bare else {}
    return Message(role, parts, **labels, tool_calls=calls, extra={_KEY: {**record, **kept}})


def _kind(message: BaseMessage) -> type[BaseMessage]:
    """Return the class of LangChain's own that the message is of, by itself or by descent."""
    for one in type(message).__mro__:
        if one in _ROLES:
            return cast("type[BaseMessage]", one)
    raise InvalidInput("message", message, "a message of a person, model, system or tool is needed")


def _role(kind: type[BaseMessage], values: dict[str, Any]) -> str:
    """Return the role of a message, and take it out of its values when nothing more need be known."""
    if kind is SystemMessage and values["additional_kwargs"].get("__openai_role__") == "developer":
        return "developer"
    if issubclass(kind, ChatMessage) and _usable(values["role"]):
        return str(values.pop("role"))
    return _ROLES[kind]


def _usable(label: object) -> bool:
    return isinstance(label, str) and 0 < len(label) <= MAX_ID_CHARS


def _default(kind: type[BaseMessage], name: str, value: object) -> bool:
    """Say whether a field has the value that it has when it is not given."""
    default = _DEFAULTS[kind].get(name, PydanticUndefined)
    return type(value) is type(default) and value == default


def _text_part(text: str) -> Mapping[str, str]:
    return {"type": "text", "text": text}


def _restored(message: Message, record: Mapping[str, Any]) -> BaseMessage:
    values = {name: freed(one) for name, one in record.items() if name not in {"type", _BARE}}
    kind = _CLASSES[record["type"]]
    given = {name: copy(value) for name, value in _DEFAULTS[kind].items() if value is not PydanticUndefined}
    given |= {name: getattr(message, name) for name in (*_LABELS, "role") if name in _DEFAULTS[kind]}
    if message.tool_calls:
        given["tool_calls"] = [_call(one) for one in message.tool_calls]
    content = _content(message, record.get(_BARE, ()))
    # As it was when it came, which validation need not leave it.
    return kind.model_construct(**{**given, **values, "content": content})


def _content(message: Message, bare: Sequence[int]) -> str | list[Any]:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    parts = [freed(part) for part in message.content]
    return [part["text"] if place in bare else part for place, part in enumerate(parts)]


def _foreign(message: Message) -> BaseMessage:
    content = _content(message, ())
    if message.role == "user":
        return HumanMessage(content, id=message.id, name=message.name)
    if message.role == "assistant":
        calls = [_call(one) for one in message.tool_calls]
        good = [one for one in calls if isinstance(one["args"], dict)]
        bad = [_invalid(one) for one in calls if one not in good]
        return AIMessage(content, id=message.id, name=message.name, tool_calls=good, invalid_tool_calls=bad)
    if message.role == "tool":
        return ToolMessage(content, id=message.id, name=message.name, tool_call_id=message.tool_call_id or "")
    if message.role in {"system", "developer"}:
        marks = dict(_DEVELOPER) if message.role == "developer" else {}
        return SystemMessage(content, id=message.id, name=message.name, additional_kwargs=marks)
    return ChatMessage(content=content, role=message.role, id=message.id, name=message.name)


def _openai_call(call: ToolCall) -> Mapping[str, Any]:
    arguments = json.dumps(call["args"], ensure_ascii=False, default=repr)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call in OpenAI's style as LangChain's; arguments that do not parse stay the text they are."""
    function = call.get("function")
    asked: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    arguments = asked.get("arguments", asked.get("args", {}))
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return {"name": asked.get("name") or "", "args": arguments, "id": call.get("id"), "type": "tool_call"}


def _invalid(call: Mapping[str, Any]) -> InvalidToolCall:
    arguments = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])
    why = "the arguments are no JSON object"
    return InvalidToolCall(name=call["name"], args=arguments, id=call["id"], error=why, type="invalid_tool_call")
