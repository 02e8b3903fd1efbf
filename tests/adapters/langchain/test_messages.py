"""LangChain's messages come back as they were, and say in our terms what they say in theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    InvalidToolCall,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call, tool_call_chunk

from langchain_tiered_memory import InvalidInput, MemorySystem, Message
from langchain_tiered_memory.core.cutting import cut_mark
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.langchain.messages import from_langchain, to_langchain
from tests.flow.systems import QUIET

TEXTS = st.text(st.characters(codec=None), max_size=20)
LABELS = st.none() | TEXTS
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ANY = JSON | st.binary(max_size=8) | st.tuples(JSON, JSON) | st.dictionaries(st.integers(), JSON, max_size=3)
EXTRAS = st.dictionaries(TEXTS, ANY, max_size=3)
PARTS = st.lists(TEXTS | st.builds(dict, type=st.just("text"), text=TEXTS) | st.dictionaries(TEXTS, JSON), max_size=3)
CALLS = st.lists(st.builds(tool_call, name=TEXTS, args=st.dictionaries(TEXTS, JSON, max_size=3), id=LABELS), max_size=3)
BROKEN_CALLS = st.lists(
    st.builds(
        InvalidToolCall,
        name=LABELS,
        args=LABELS,
        id=LABELS,
        error=LABELS,
        type=st.just("invalid_tool_call"),
    ),
    max_size=2,
)
USAGE: st.SearchStrategy[Any] = st.none() | st.builds(
    dict,
    input_tokens=st.integers(0, 9),
    output_tokens=st.integers(0, 9),
    total_tokens=st.integers(0, 99),
    input_token_details=st.just({"cache_read": 3}),
)


def _built(kind: type[BaseMessage], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[BaseMessage]:
    return st.builds(
        kind,
        content=TEXTS | PARTS,
        id=LABELS,
        name=LABELS,
        additional_kwargs=EXTRAS,
        response_metadata=EXTRAS,
        **fields,
    )


MESSAGES = st.one_of(
    _built(HumanMessage),
    _built(HumanMessage, remark=JSON),
    _built(SystemMessage),
    _built(AIMessage, tool_calls=CALLS, invalid_tool_calls=BROKEN_CALLS, usage_metadata=USAGE),
    _built(ToolMessage, tool_call_id=TEXTS, artifact=ANY, status=st.sampled_from(["success", "error"])),
    _built(ChatMessage, role=TEXTS),
    st.builds(FunctionMessage, content=TEXTS, name=TEXTS),
)


@given(message=MESSAGES)
def test_every_message_comes_back_as_it_was(message: BaseMessage) -> None:
    (back,) = to_langchain(from_langchain(message))

    assert type(back) is type(message)
    assert back == message
    assert repr(dict(back)) == repr(dict(message))


@given(messages=st.lists(MESSAGES, max_size=3))
def test_every_message_comes_back_from_a_store_as_it_was(messages: list[BaseMessage]) -> None:
    """Also through the door, JSON and a database; but for ids, of which a session takes each once."""
    for message in messages:
        message.id = None
    with MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET).sync as memory:
        session = memory.session("ada", "s")
        session.add(*from_langchain(*messages))

        back = to_langchain(session.transcript())

    assert repr([dict(one) for one in back]) == repr([dict(one) for one in messages])


CALL = tool_call(name="look", args={"city": "Köln", "days": 2}, id="c1")
ANSWER = AIMessage(
    [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "c1", "name": "look", "input": {}}],
    id="m2",
    name="weather",
    tool_calls=[CALL],
)


def test_what_a_message_has_a_field_for_goes_there() -> None:
    """So a session that another framework goes on with is understood there."""
    person, model, result, rules = from_langchain(
        HumanMessage("Rain?", id="m1", name="Ada"),
        ANSWER,
        ToolMessage("12 mm", tool_call_id="c1", artifact={"raw": 12}),
        SystemMessage("Be brief."),
    )

    assert (person.role, person.content, person.id, person.name) == ("user", "Rain?", "m1", "Ada")
    assert (model.role, model.id, model.name, model.text) == ("assistant", "m2", "weather", "Let me see.")
    arguments = {"name": "look", "arguments": '{"city": "Köln", "days": 2}'}
    assert list(model.tool_calls) == [{"id": "c1", "type": "function", "function": arguments}]
    assert (result.role, result.content, result.tool_call_id) == ("tool", "12 mm", "c1")
    assert (rules.role, rules.content) == ("system", "Be brief.")


def test_text_is_kept_once_and_calls_are_too() -> None:
    (model,) = from_langchain(ANSWER)

    assert model.extra == {"langchain": {"type": "ai"}}


def test_bare_texts_among_the_parts_are_text_for_everyone_and_bare_again_on_the_way_back() -> None:
    mixed = HumanMessage(["look", {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, "here"])

    (ours,) = from_langchain(mixed)

    assert ours.text == "look\nhere"
    assert to_langchain([ours])[0].content == mixed.content


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, b"\x00\xff", (1, ("a",)), {1: "a", None: 2}, {"$python": "bytes", "value": "x"}],
)
def test_what_json_cannot_hold_comes_back_all_the_same(value: object) -> None:
    message = ToolMessage("x", tool_call_id="c", artifact=[value], response_metadata={"logprob": value})

    (back,) = to_langchain(from_langchain(message))

    assert repr(dict(back)) == repr(dict(message))


def test_documents_in_an_artifact_come_back_as_documents() -> None:
    """As `create_retriever_tool` leaves them."""
    found = [Document("Peanuts", id="d1", metadata={"score": 0.5})]
    message = ToolMessage("Peanuts", tool_call_id="c", artifact=found)

    (back,) = to_langchain(from_langchain(message))

    assert back == message
    assert isinstance(back, ToolMessage)
    assert isinstance(back.artifact[0], Document)


def test_an_object_of_somebody_else_comes_back_as_the_json_nearest_to_it() -> None:
    message = ToolMessage("x", tool_call_id="c", artifact={"at": datetime(2026, 1, 1, tzinfo=UTC), "by": object})

    (back,) = to_langchain(from_langchain(message))

    assert isinstance(back, ToolMessage)
    assert back.artifact == {"at": "2026-01-01T00:00:00Z", "by": "<class 'object'>"}


@dataclass
class Picture:
    """What a tool of somebody's may leave in an artifact."""

    data: bytes


class Mute:
    """An object that cannot say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


def _nested(levels: int) -> Any:
    value: Any = "the bottom"
    for _ in range(levels):
        value = {"in": [value]}
    return value


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("artifact", [_nested(60), {1: {2: _nested(60)}}, ("\ud83d" + "\ude00", _nested(60))])
def test_many_levels_come_back_from_a_store_as_they_were(memory: MemorySystem, artifact: object) -> None:
    message = ToolMessage("x", tool_call_id="c", artifact=artifact)
    session = memory.sync.session("ada", "s")

    session.add(*from_langchain(message))

    assert to_langchain(session.transcript())[0].artifact == artifact  # type: ignore[attr-defined] # a tool's


@pytest.mark.parametrize("artifact", [Picture(b"\xff\xd8"), {"one": Mute()}, _endless(), _nested(5_000)])
def test_no_artifact_keeps_a_message_from_being_kept(memory: MemorySystem, artifact: object) -> None:
    session = memory.sync.session("ada", "s")

    session.add(*from_langchain(ToolMessage("Rain", tool_call_id="c", artifact=artifact)))

    (back,) = to_langchain(session.transcript())
    assert back.text == "Rain"
    assert back.artifact  # type: ignore[attr-defined] # a tool's


def test_a_chunk_of_a_stream_stays_one() -> None:
    chunk = AIMessageChunk(
        content="Sun", tool_call_chunks=[tool_call_chunk(name="look", args='{"a": 1}', id="c", index=0)]
    )

    (back,) = to_langchain(from_langchain(chunk))

    assert back == chunk
    assert isinstance(back, AIMessageChunk)


def test_a_call_whose_arguments_json_cannot_hold_comes_back_exactly() -> None:
    message = AIMessage("", tool_calls=[tool_call(name="f", args={"x": (1, 2), "y": {3: b"4"}}, id="c")])

    (back,) = to_langchain(from_langchain(message))

    assert back == message


def test_a_class_of_somebody_else_comes_back_as_the_one_it_descends_from() -> None:
    class Spoken(HumanMessage):
        """Somebody's own message."""

        voice: str

    (back,) = to_langchain(from_langchain(Spoken(content="hi", voice="alto")))

    assert back == HumanMessage("hi", voice="alto")


def test_a_message_that_says_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="message"):
        from_langchain(RemoveMessage(id="m1"))


@pytest.mark.parametrize(
    "content",
    ["word " * 2_000, [{"type": "text", "text": "word " * 2_000}], ["word " * 2_000]],
)
def test_what_a_window_cut_comes_back_cut(memory: MemorySystem, content: str | list[str | dict[Any, Any]]) -> None:
    """No whole text hides behind the cut one; the transcript is whole."""
    session = memory.sync.session("ada", "s", max_tokens=200)
    asked = HumanMessage(content, id="m1", additional_kwargs={"lang": "en"})
    session.add(*from_langchain(asked))

    (shown,) = to_langchain(session.window())

    assert "tokens cut" in shown.text
    assert len(shown.text) < 1_500
    assert (shown.id, shown.additional_kwargs, type(shown.content)) == ("m1", {"lang": "en"}, type(content))
    assert to_langchain(session.transcript()) == [asked]


def test_an_image_that_a_window_left_out_is_a_text_that_says_so(memory: MemorySystem) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    session = memory.sync.session("ada", "s", max_tokens=100)
    session.add(*from_langchain(HumanMessage(["what is this?", image])))

    (shown,) = to_langchain(session.window())

    assert shown.content == ["what is this?", {"type": "text", "text": cut_mark(765)}]


OPENAI = [
    ({"role": "user", "content": "hi", "name": "Ada"}, HumanMessage("hi", name="Ada")),
    ({"role": "system", "content": "rules"}, SystemMessage("rules")),
    (
        {"role": "developer", "content": "rules"},
        SystemMessage("rules", additional_kwargs={"__openai_role__": "developer"}),
    ),
    ({"role": "tool", "content": "12", "tool_call_id": "c"}, ToolMessage("12", tool_call_id="c")),
    ({"role": "critic", "content": "no"}, ChatMessage(content="no", role="critic")),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        },
        AIMessage("", tool_calls=[tool_call(name="f", args={"a": 1}, id="c")]),
    ),
]


@pytest.mark.parametrize(("theirs", "expected"), OPENAI)
def test_messages_from_elsewhere_become_what_their_role_says(
    memory: MemorySystem, theirs: dict[str, Any], expected: BaseMessage
) -> None:
    (added,) = memory.sync.session("ada", "s").add(theirs)

    (back,) = to_langchain([added])

    assert back.id == added.id
    back.id = None
    assert back == expected


def test_a_call_from_elsewhere_with_broken_arguments_is_an_invalid_call() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}]

    (back,) = to_langchain([Message("assistant", None, tool_calls=calls)])

    assert isinstance(back, AIMessage)
    assert back.tool_calls == []
    assert [(one["name"], one["args"], one["id"]) for one in back.invalid_tool_calls] == [("f", '{"a": ', "c")]


def test_a_developer_message_of_langchain_is_one_for_everyone() -> None:
    rules = SystemMessage("rules", additional_kwargs={"__openai_role__": "developer"})

    (ours,) = from_langchain(rules)

    assert ours.role == "developer"
    assert to_langchain([ours]) == [rules]
