"""Exports of other programs, small and made up, in the shapes that they really have."""

from __future__ import annotations

import io
import json
from typing import Any

from langchain_tiered_memory import importers
from langchain_tiered_memory.core.model import NewMemory

ANDROID = """\
\ufeff31/12/2023, 18:05 - Messages and calls are end-to-end encrypted. Tap to learn more.
31/12/2023, 18:05 - Bob created group "Trip"
31/12/2023, 18:05 - Ada: Hello
and a second line

31/12/2023, 18:06 - Bob: <Media omitted>
31/12/2023, 18:06 - Bob: ok
31/12/2023, 18:06 - Bob: ok
31/12/2023, 18:07 - Bob changed the subject to "Trip: Rome"
1/1/2024, 0:01 - Bob: IMG-20240101-WA0001.jpg (file attached)
Look at this
1/1/2024, 0:02 - Ada: I am allergic to peanuts: all of them
"""
IOS = (
    "[1/14/23, 7:02:05\u202fPM] Bob: \u200eMessages and calls are end-to-end encrypted.\r\n"
    "[2/2/23, 12:51:01\u202fAM] Ada: Hi \u200e<This message was edited>\r\n"
    "\u200e[2/2/23, 12:51:09\u202fPM] Ada: \u200eimage omitted\r\n"
    "[2/3/23, 12:00:00\u202fPM] ~\u202fCarl: see you\r\n"
)


def node(key: str, parent: str | None, role: str = "user", text: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a node of a conversation of ChatGPT."""
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    message = {"id": key, "author": {"role": role, "name": None}, "content": content, **more}
    return {"id": key, "parent": parent, "children": [], "message": message}


def conversation() -> dict[str, Any]:
    """Return a conversation with an edited branch, hidden and empty messages, a tool and a picture."""
    thought = {"content_type": "thoughts", "thoughts": [{"summary": "hm"}]}
    seen = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "What is this?"]}
    only = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
    hidden = {"is_visually_hidden_from_conversation": True}
    nodes = [
        {"id": "root", "parent": None, "children": ["s"], "message": None},
        node("s", "root", "system", "", metadata=hidden),
        node("old", "s", text="Where is Bergne?", create_time=1700000001.25),
        node("oldanswer", "old", "assistant", "Nowhere", create_time=1700000002.0),
        node("a", "s", text="Where is Bergen?", create_time=1700000003.5),
        node("think", "a", "assistant", content=thought),
        node("call", "think", "assistant", content={"content_type": "code", "text": "look()"}, recipient="browser"),
        node("found", "call", "tool", "a map", create_time=1700000004.0),
        node("b", "found", "assistant", "In Norway", create_time=1700000005.0, metadata={"model_slug": "m-1"}),
        node("c", "b", content=seen, create_time=1700000006.0),
        node("d", "c", content=only, create_time=1700000007.0),
        node("e", "d", text="", create_time=1700000008.0),
        node("f", "e", "assistant", "A fjord", create_time=None),
    ]
    return {
        "title": "Norway",
        "create_time": 1700000000.0,
        "conversation_id": "c-1",
        "current_node": "f",
        "mapping": {one["id"]: one for one in nodes},
    }


LANGCHAIN = [
    {"type": "system", "data": {"content": "Be kind"}},
    {"type": "human", "data": {"content": "I live in Bergen", "name": "Ada", "id": None, "type": "human"}},
    {"type": "ai", "data": {"content": [{"type": "text", "text": "Lovely"}], "tool_calls": [], "id": "run-1"}},
    {"type": "tool", "data": {"content": "42", "tool_call_id": "c"}},
    {"type": "human", "data": {"content": "I live in Bergen", "name": "Ada"}},
]
LLAMAINDEX = {
    "store": {
        "monday": [
            {"role": "user", "content": "I live in Bergen", "additional_kwargs": {}},
            {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Lovely"}]},
        ],
        "friday": [{"role": "tool", "content": "42", "additional_kwargs": {}}, {"role": "user", "content": ""}],
    },
    "class_name": "SimpleChatStore",
}
MEM0: dict[str, list[dict[str, Any]]] = {
    "results": [
        {
            "id": "m-1",
            "memory": "Lives in Bergen",
            "hash": "x",
            "metadata": {"topic": "home"},
            "created_at": "2024-07-20T01:30:36.275141-07:00",
            "updated_at": None,
            "user_id": "ada",
            "run_id": "r-1",
            "agent_id": "cook",
        },
        {"id": "m-2", "memory": "Prefers tea", "categories": ["user_preferences"], "user_id": "ada"},
        {"id": "m-3", "memory": " ", "user_id": "ada"},
    ]
}


def taken(text: object, format: str = "auto", **options: Any) -> tuple[list[NewMemory], importers.Reading]:
    """Return the memories in a text, or in the JSON of a value, and the reading."""
    written = text if isinstance(text, str) else json.dumps(text)
    reading = importers.read(io.BytesIO(written.encode("utf-8", "surrogatepass")), format, **options)
    return list(reading), reading
