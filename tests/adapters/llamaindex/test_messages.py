"""LlamaIndex's messages come back as they were, and say in our terms what they say in theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.schema import ImageDocument
from llama_index.core.tools import ToolSelection

from langchain_tiered_memory import MemorySystem, Message
from langchain_tiered_memory.embedding import HashedEmbedder
from llamaindex_adapter.messages import from_llamaindex, to_llamaindex
from tests.flow.systems import QUIET, House

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
TEXTS = st.text(st.characters(codec=None), max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.builds(
    ToolCallBlock,
    tool_call_id=st.none() | TEXTS,
    tool_name=TEXTS,
    tool_kwargs=st.dictionaries(TEXTS, JSON, max_size=3) | TEXTS,
)
OTHERS = st.sampled_from(
    [
        ImageBlock(image=PNG),
        ImageBlock(url="https://example.org/a.png", detail="low"),
        AudioBlock(audio=b"\xff\xfb\x90\x00", format="mp3"),
        VideoBlock(video=b"\x00\x00\x00\x18ftypmp42\xff"),
        DocumentBlock(data=b"%PDF-1.4 \xff", title="offer"),
        CachePoint(cache_control=CacheControl(type="ephemeral")),
        CitableBlock(title="t", source="s", content=[TextBlock(text="cited")]),
        CitationBlock(cited_content=TextBlock(text="x"), source="s", title="t", additional_location_info={"a": 1}),
        ThinkingBlock(content="hm", num_tokens=3, additional_information={"signature": "sig"}),
    ],
)
MESSAGES = st.builds(
    ChatMessage,
    role=st.sampled_from(MessageRole),
    blocks=st.lists(st.builds(TextBlock, text=TEXTS) | CALLS | OTHERS, max_size=4),
    additional_kwargs=st.dictionaries(TEXTS, JSON, max_size=3)
    | st.fixed_dictionaries({"tool_call_id": TEXTS, "name": TEXTS}),
)


def there_and_back(message: ChatMessage) -> ChatMessage:
    (back,) = to_llamaindex(from_llamaindex(message))
    return back


@given(MESSAGES)
def test_any_message_comes_back_as_it_was(message: ChatMessage) -> None:
    before = message.model_copy(deep=True)

    assert there_and_back(message) == before
    assert message == before


@given(st.lists(MESSAGES.filter(lambda one: one.role is not MessageRole.SYSTEM), min_size=1, max_size=3))
def test_any_message_comes_back_out_of_a_session_as_it_was(messages: list[ChatMessage]) -> None:
    with MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET).sync as memory:
        session = memory.session("ada", "chat")
        session.add(*from_llamaindex(*messages))

        assert to_llamaindex(session.transcript()) == messages


def test_messages_come_back_after_a_restart(folder_house: House) -> None:
    messages = [
        ChatMessage(role="user", blocks=[TextBlock(text="who is this?"), ImageBlock(image=PNG)]),
        ChatMessage(
            role="assistant",
            blocks=[
                ThinkingBlock(content="hm", additional_information={"signature": "sig"}),
                ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": ["face", 1]}),
                TextBlock(text="Let me look."),
            ],
        ),
        ChatMessage(role="tool", content="Ada", additional_kwargs={"tool_call_id": "c1", "name": "look"}),
    ]
    folder_house.open().session("ada", "chat").add(*from_llamaindex(*messages))
    folder_house.close()

    assert to_llamaindex(folder_house.open().session("ada", "chat").transcript()) == messages


def test_our_terms_say_what_theirs_say() -> None:
    asks, answers, says = from_llamaindex(
        ChatMessage(
            role="assistant",
            blocks=[
                TextBlock(text="one"),
                ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": "ä"}),
                TextBlock(text="two"),
            ],
        ),
        ChatMessage(role="tool", content="done", additional_kwargs={"tool_call_id": "c1", "name": "look"}),
        ChatMessage(role="chatbot", content="hello"),
    )

    assert (asks.role, asks.text) == ("assistant", "one\ntwo")
    assert list(asks.tool_calls) == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "ä"}'}},
    ]
    assert (answers.role, answers.content, answers.tool_call_id, answers.name) == ("tool", "done", "c1", "look")
    assert (says.role, says.content) == ("assistant", "hello")


@pytest.mark.parametrize(
    "calls",
    [
        [ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={"at": 1})],
        [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}],
    ],
    ids=["selections", "mappings"],
)
def test_calls_that_stand_among_the_keywords_are_calls_in_our_terms(calls: list[Any]) -> None:
    message = ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls})

    (ours,) = from_llamaindex(message)
    (back,) = to_llamaindex([ours])

    assert [call["id"] for call in ours.tool_calls] == ["c1"]
    assert back.model_dump() == message.model_dump()


def test_what_json_cannot_hold_becomes_the_json_nearest_to_it() -> None:
    odd = {"raw": b"\xff", "pair": (1, 2), "score": float("nan"), "object": object}

    back = there_and_back(ChatMessage(role="user", content="hi", additional_kwargs=odd))

    assert back.additional_kwargs == {"raw": "_w==", "pair": [1, 2], "score": "NaN", "object": repr(object)}


def test_no_text_of_json_is_refused() -> None:
    odd = {"\ud800": [{"\udfff": "\ud800"}, {"a\0": 1}]}
    call = ToolCallBlock(tool_call_id="c1", tool_name="look_up", tool_kwargs=odd)
    message = ChatMessage(role="assistant", blocks=[call], additional_kwargs=odd)

    assert there_and_back(message) == message


def test_images_of_the_old_kind_are_not_doubled() -> None:
    message = ChatMessage(role="user", content="who?", additional_kwargs={"images": [ImageDocument(image=PNG)]})

    back = there_and_back(message)

    assert [block.block_type for block in message.blocks] == ["text", "image"]
    assert back.blocks == message.blocks


def test_a_label_that_is_too_long_for_us_stays_where_it_was() -> None:
    message = ChatMessage(role="tool", content="x", additional_kwargs={"tool_call_id": "c" * 513})

    (ours,) = from_llamaindex(message)

    assert ours.tool_call_id is None
    assert to_llamaindex([ours]) == [message]


def test_every_call_gives_new_messages() -> None:
    ours = from_llamaindex(ChatMessage(role="user", content="hi", additional_kwargs={"a": 1}))
    first, second = to_llamaindex(ours), to_llamaindex(ours)

    first[0].blocks[0].text = "changed"  # type: ignore[union-attr]
    first[0].additional_kwargs["a"] = 2

    assert second == to_llamaindex(ours) == [ChatMessage(role="user", content="hi", additional_kwargs={"a": 1})]


class TestCut:
    """When the window has cut a message, the cut content is what comes back; the rest is as it was."""

    def test_a_text(self) -> None:
        (ours,) = from_llamaindex(ChatMessage(role="user", content="long", additional_kwargs={"a": 1}))

        (back,) = to_llamaindex([ours.with_text("l…")])

        assert back == ChatMessage(role="user", content="l…", additional_kwargs={"a": 1})

    def test_parts(self) -> None:
        message = ChatMessage(
            role="user",
            blocks=[TextBlock(text="long"), ImageBlock(image=PNG), DocumentBlock(data=b"%PDF", title="t")],
        )
        (ours,) = from_llamaindex(message)
        assert not isinstance(ours.content, str)
        cut = replace(ours, content=[*(ours.content or ())[:1], {"type": "text", "text": "[cut]"}])

        (back,) = to_llamaindex([cut])

        assert back.blocks == [TextBlock(text="long"), TextBlock(text="[cut]")]

    def test_the_result_of_a_tool_in_a_window(self, memory: MemorySystem) -> None:
        messages = [
            ChatMessage(role="user", content="look it up"),
            ChatMessage(
                role="assistant",
                blocks=[ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": "it"})],
            ),
            ChatMessage(role="tool", content="word " * 2_000, additional_kwargs={"tool_call_id": "c1"}),
        ]
        session = memory.sync.session("ada", "chat", max_tokens=100)
        session.add(*from_llamaindex(*messages))

        window = to_llamaindex(session.window())

        assert window[:2] == messages[:2]
        assert window[2].additional_kwargs == {"tool_call_id": "c1"}
        assert "tokens cut" in (window[2].content or "")
        assert to_llamaindex(session.transcript()) == messages


class TestForeign:
    """Messages that were added without LlamaIndex."""

    @pytest.mark.parametrize("role", ["system", "user", "assistant", "tool", "developer"])
    def test_roles_are_kept(self, role: str) -> None:
        assert to_llamaindex([Message(role, "hi")]) == [ChatMessage(role=role, content="hi")]

    def test_a_role_that_llamaindex_lacks_is_a_users(self) -> None:
        (message,) = to_llamaindex([Message("critic", "no", name="Bob")])

        assert (message.role, message.additional_kwargs) == (MessageRole.USER, {"name": "Bob"})

    def test_calls_and_their_results(self) -> None:
        calls = [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}},
            {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{broken"}},
        ]

        asks, answers = to_llamaindex(
            [Message("assistant", None, tool_calls=calls), Message("tool", "it", tool_call_id="c1")],
        )

        assert asks.blocks == [
            ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": 1}),
            ToolCallBlock(tool_call_id="c2", tool_name="look", tool_kwargs="{broken"),
        ]
        assert answers == ChatMessage(role="tool", content="it", additional_kwargs={"tool_call_id": "c1"})

    def test_parts_of_others(self) -> None:
        parts: list[dict[str, Any]] = [
            {"type": "input_text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image", "url": "https://example.org/b.png"},
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "input_audio", "input_audio": {"data": "x"}},
        ]

        (message,) = to_llamaindex([Message("user", parts)])

        assert [block.block_type for block in message.blocks] == ["text", "image", "image", "text"]
        assert message.content == "see\n[input_audio]"
