"""LlamaIndex's messages as ours and back.

What a `Message` has a field for goes there, so that this package and every other framework understands it: the role,
the content with all its visible text, name, tool calls in OpenAI's style, the call that is answered. The rest stays in
`extra["llamaindex"]`. Content is not kept twice: when a window has cut it, the cut content is what comes back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ContentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_jsonable_python

from langchain_tiered_memory import InvalidInput, Message

__all__ = ["from_llamaindex", "to_llamaindex", "visible"]

_KEY = "llamaindex"
_LABEL_CHARS = 512
"""Longest label that a `Message` takes; a longer one stays where it is."""
_ROLES = {"chatbot": "assistant", "model": "assistant", "function": "tool"}
"""Roles by other names."""
_KNOWN_ROLES = frozenset(role.value for role in MessageRole)
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Parts of other frameworks that are void anywhere but at the model that made them."""
_UNSENT = re.compile("[\0\ud800-\udfff]")
_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)


def from_llamaindex(*messages: ChatMessage) -> tuple[Message, ...]:
    """Return LlamaIndex's messages as ours.

    Raises:
        InvalidInput: One of them is something else.
    """
    for message in messages:
        given: object = message
        if not isinstance(given, ChatMessage):
            raise InvalidInput("message", type(given), "a ChatMessage of LlamaIndex is needed")
    return tuple(map(_ours, messages))


def to_llamaindex(messages: Iterable[Message]) -> list[ChatMessage]:
    """Return messages as LlamaIndex's, new ones every time: those that came from there as they were."""
    return [_theirs(message) for message in messages]


def visible(text: str) -> str:
    """Return a text as models see it: without NUL and lone surrogates, which no model is sent."""
    return _UNSENT.sub("\ufffd", text) if _UNSENT.search(text) else text


def _ours(message: ChatMessage) -> Message:
    role = message.role.value
    blocks = list(enumerate(message.blocks))
    asked = [(place, block) for place, block in blocks if isinstance(block, ToolCallBlock)]
    rest = [block for _, block in blocks if not isinstance(block, ToolCallBlock)]
    kwargs = {name: _plain(one) for name, one in message.additional_kwargs.items() if name != "images"}
    record: dict[str, Any] = {"role": role} if role in _ROLES else {}
    if kwargs:
        record["additional_kwargs"] = kwargs
    if asked:
        record["calls"] = [place for place, _ in asked]
        record["as_text"] = [n for n, (_, block) in enumerate(asked) if isinstance(block.tool_kwargs, str)]
    calls = [_openai_call(block) for _, block in asked] or _calls_in(kwargs)
    single = rest[0].text if len(rest) == 1 and isinstance(rest[0], TextBlock) else None
    return Message(
        _ROLES.get(role, role),
        (single if single is not None else [_part(block) for block in rest]) if rest else None,
        name=_label(kwargs.get("name")),
        tool_calls=calls,
        tool_call_id=_label(kwargs.get("tool_call_id")),
        extra={_KEY: record} if record else {},
    )


def _theirs(message: Message) -> ChatMessage:
    known = _KEY in message.extra
    record: Mapping[str, Any] = message.extra[_KEY] if known else {}
    role = record.get("role", message.role if message.role in _KNOWN_ROLES else MessageRole.USER.value)
    blocks = _blocks(message.content)
    if "calls" in record or not known:
        as_text = record.get("as_text", ())
        made = [_call_block(call, as_text=n in as_text) for n, call in enumerate(message.tool_calls)]
        for place, block in zip(record.get("calls", ()), made, strict=False):
            blocks.insert(place, block)
        blocks += made[len(record.get("calls", ())) :]
    made_of = ChatMessage(role=MessageRole(role), blocks=blocks)
    labels = {"tool_call_id": message.tool_call_id, "name": message.name}
    # Set afterwards: some keywords make the constructor add blocks.
    made_of.additional_kwargs = dict(record.get("additional_kwargs", {})) or {
        name: label for name, label in labels.items() if label is not None and not known
    }
    return made_of


def _plain(value: object) -> Any:
    """Return a value as JSON can hold it; what JSON does not know as the JSON nearest to it."""
    # Not left to pydantic, which refuses lone surrogates in keys.
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str.__str__(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    held = to_jsonable_python(value, fallback=repr, bytes_mode="base64")
    return json.loads(json.dumps(held, ensure_ascii=False), parse_constant=str)


def _label(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LABEL_CHARS else None


# -- tool calls ----------------------------------------------------------------------------------------------------


def _openai_call(block: ToolCallBlock) -> Mapping[str, Any]:
    return _call(block.tool_call_id, block.tool_name, block.tool_kwargs)


def _call(call_id: object, name: object, arguments: object) -> Mapping[str, Any]:
    if not isinstance(arguments, str):
        arguments = json.dumps(_plain(arguments), ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _calls_in(kwargs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the calls that a class of models keeps among a message's keywords, in OpenAI's style."""
    calls = kwargs.get("tool_calls")
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        return []
    return [
        _call(call["tool_id"], call.get("tool_name"), call.get("tool_kwargs", {})) if "tool_id" in call else call
        for call in calls
    ]


def _call_block(call: Mapping[str, Any], *, as_text: bool) -> ToolCallBlock:
    function = call.get("function")
    asked: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    arguments = asked.get("arguments", asked.get("args", {}))
    if isinstance(arguments, str) and not as_text:
        with suppress(ValueError):
            parsed = json.loads(arguments)
            arguments = parsed if isinstance(parsed, dict) else arguments
    return ToolCallBlock(tool_call_id=call.get("id"), tool_name=asked.get("name") or "", tool_kwargs=arguments)


# -- content -------------------------------------------------------------------------------------------------------


def _part(block: BaseModel) -> Mapping[str, Any]:
    held = block.model_dump(mode="json", exclude_none=True)
    kind = held.pop("block_type")
    return {"type": kind, "text": held["text"]} if isinstance(block, TextBlock) else {"type": kind, _KEY: held}


def _blocks(content: str | Sequence[Mapping[str, Any]] | None) -> list[Any]:
    if content is None or isinstance(content, str):
        return [] if content is None else [TextBlock(text=content)]
    return [block for part in content if (block := _block(part)) is not None]


def _block(part: Mapping[str, Any]) -> Any:
    kind, text = part.get("type", "text"), part.get("text")
    if _KEY in part:
        return _BLOCK.validate_python({"block_type": kind, **part[_KEY]})
    if kind in Message.TEXT_PARTS and isinstance(text, str):
        return TextBlock(text=text)
    if kind in _REASONING:
        return None
    url = part.get("image_url", part.get("url") if kind == "image" else None)
    url = url.get("url") if isinstance(url, Mapping) else url
    if isinstance(url, str):
        return ImageBlock(url=url)
    return TextBlock(text=text if isinstance(text, str) else f"[{kind}]")
