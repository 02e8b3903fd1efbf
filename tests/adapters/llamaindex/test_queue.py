"""The cases of LlamaIndex's own tests of its memories, written anew for ours: queue, tools, blocks, sizes."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    VideoBlock,
)

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.tokens import TiktokenCounter
from llamaindex_adapter import TieredMemory
from llamaindex_adapter.messages import from_llamaindex
from tests.adapters.llamaindex.conftest import ADA, contents, said
from tests.adapters.llamaindex.models import calls
from tests.flow.systems import QUIET

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
USER = "bob"
"""Somebody of whom nothing is remembered, so that a window is all there is."""


def cost(messages: list[ChatMessage]) -> int:
    counter = TiktokenCounter()
    return sum(counter.message(message) for message in from_llamaindex(*messages)) + 3


def tools(messages: list[ChatMessage]) -> tuple[set[str], set[str]]:
    """Return the ids of the calls and of the results."""
    ours = from_llamaindex(*messages)
    asked = {str(call["id"]) for message in ours for call in message.tool_calls}
    return asked, {str(message.tool_call_id) for message in ours if message.role == "tool"}


@pytest.fixture
def small(memory: MemorySystem) -> TieredMemory:
    """A conversation with a budget of 100 tokens."""
    return TieredMemory(memory, USER, "chat", max_tokens=100)


class TestQueue:
    def test_below_the_limit_everything_is_shown(self, small: TieredMemory) -> None:
        messages = [said("hello"), said("hi", "assistant"), said("how are you?")]

        small.put_messages(messages)

        assert small.get() == messages

    def test_above_it_the_oldest_are_left_out_and_kept(self, memory: MemorySystem) -> None:
        small = TieredMemory(memory, USER, "chat", max_tokens=100, filter={"memory_type": "fact"})
        messages = [said(f"message {number} " * 5) for number in range(20)]

        small.put_messages(messages)

        shown = small.get()
        assert 0 < len(shown) < 20
        assert shown == messages[-len(shown) :]
        assert small.get_all() == messages
        assert cost(shown) <= 100

    def test_what_is_left_out_comes_back_when_it_matters(self, memory: MemorySystem) -> None:
        small = TieredMemory(memory, USER, "chat", max_tokens=200)
        small.put(said("My cat is called Mia."))
        small.put_messages([said(f"The train number {number} leaves at noon.") for number in range(40)])

        *window, notes = contents(small.get("What is my cat called?"))

        assert "My cat is called Mia." not in window
        assert "My cat is called Mia." in notes

    def test_the_first_message_is_a_users(self, small: TieredMemory) -> None:
        for number in range(10):
            small.put(said(f"question {number} " * 4))
            small.put(said(f"answer {number} " * 4, "assistant"))

            assert small.get()[0].role == "user"

    def test_the_last_turn_stays_whole(self, small: TieredMemory) -> None:
        small.put_messages([said("word " * 60), said("word " * 60, "assistant"), said("now"), said("yes", "assistant")])

        assert [text for text in contents(small.get()) if len(text) < 10] == ["now", "yes"]

    def test_one_message_larger_than_the_budget_is_cut_and_shown(self, small: TieredMemory) -> None:
        """letta #1635, LlamaIndex's `chat_history[-1:]`."""
        small.put(said("word " * 1_000))

        (shown,) = small.get()

        assert cost([shown]) <= 100
        assert "tokens cut" in (shown.content or "")
        assert small.get_all() == [said("word " * 1_000)]

    def test_an_answer_alone_is_never_shown(self, small: TieredMemory) -> None:
        """`ChatMemoryBuffer.get` returns the last message whatever it is."""
        small.put_messages([said("hello"), said("word " * 1_000, "assistant")])

        assert [message.role.value for message in small.get()] == ["user", "assistant"]

    def test_system_messages_stay_first(self, small: TieredMemory) -> None:
        small.put(said("be kind", "system"))
        small.put_messages([said(f"message {number} " * 5) for number in range(20)])

        assert small.get()[0] == said("be kind", "system")

    def test_nothing_is_an_empty_list(self, small: TieredMemory) -> None:
        small.put_messages([])

        assert small.get() == small.get_all() == []


class TestTools:
    def test_a_result_is_never_shown_without_its_call(self, memory: MemorySystem) -> None:
        """langmem #126: a provider refuses a result without a call, and a call without a result."""
        chat = TieredMemory(memory, USER, "chat")
        chat.put(said("look it up"))
        for number in range(9):
            chat.put(calls("look_up", id=f"c{number}", snack="bar " * 10))
            chat.put(said("found " * 10, "tool", tool_call_id=f"c{number}"))
        chat.put(said("There.", "assistant"))

        for budget in range(64, 900, 7):
            shown = TieredMemory(memory, USER, "chat", max_tokens=budget).get()
            asked, answered = tools(shown)
            assert asked == answered
            assert cost(shown) <= budget
            assert shown[0].role == "user"

    def test_nine_calls_at_once_stay_together(self, memory: MemorySystem) -> None:
        blocks: list[Any] = [block for n in range(9) for block in calls("look_up", id=f"c{n}", snack="bar").blocks]
        chat = TieredMemory(memory, USER, "chat")
        chat.put(said("look it up"))
        chat.put(ChatMessage(role="assistant", blocks=blocks))
        for number in (4, 2, 8, 0, 1, 3, 5, 7, 6):
            chat.put(said("found " * 10, "tool", tool_call_id=f"c{number}"))

        for budget in range(64, 600, 11):
            asked, answered = tools(TieredMemory(memory, USER, "chat", max_tokens=budget).get())
            assert asked == answered
            assert len(asked) in {0, 9}

    def test_only_results_are_left(self, small: TieredMemory) -> None:
        small.put(said("found", "tool", tool_call_id="lost"))

        assert small.get() == []
        assert small.get_all() == [said("found", "tool", tool_call_id="lost")]

    def test_calls_that_wait_for_their_results_are_shown(self, small: TieredMemory) -> None:
        small.put_messages([said("look it up"), calls("look_up", snack="bar")])

        assert small.get() == [said("look it up"), calls("look_up", snack="bar")]

    def test_calls_among_the_keywords_stay_with_their_results(self, memory: MemorySystem) -> None:
        """As older classes of models keep them."""
        old = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        chat = TieredMemory(memory, USER, "chat")
        chat.put_messages(
            [said("look it up"), said("", "assistant", tool_calls=[old]), said("it", "tool", tool_call_id="c1")]
        )
        chat.put_messages([said("word " * 30), said("yes", "assistant")])

        for budget in range(64, 160, 3):
            asked, answered = tools(TieredMemory(memory, USER, "chat", max_tokens=budget).get())
            assert asked == answered

    def test_thinking_stays_with_its_turn(self, memory: MemorySystem) -> None:
        """langchain PR #34609: a thinking block without its turn is refused."""
        thinking = ThinkingBlock(content="hm " * 30, additional_information={"signature": "sig"})
        chat = TieredMemory(memory, USER, "chat")
        for number in range(5):
            chat.put(said(f"question {number}"))
            chat.put(ChatMessage(role="assistant", blocks=[thinking, TextBlock(text="answer " * 5)]))

        for budget in range(150, 700, 50):
            for message in TieredMemory(memory, USER, "chat", max_tokens=budget).get():
                assert message.role == "user" or message.blocks[0] == thinking

    def test_what_tools_said_is_not_remembered_as_said(self, small: TieredMemory, memory: MemorySystem) -> None:
        small.put_messages([said("look"), calls("look_up"), said("a secret", "tool", tool_call_id="c1")])

        assert [one.content for one in memory.sync.list(USER)] == ["look"]


class TestBlocks:
    @pytest.mark.parametrize(
        "block",
        [
            TextBlock(text="hello"),
            ImageBlock(image=PNG),
            ImageBlock(url="https://example.org/a.png"),
            AudioBlock(audio=b"\xff\xfb", format="mp3"),
            VideoBlock(video=b"\x00\x00"),
            DocumentBlock(data=b"%PDF-1.4", title="t"),
            ThinkingBlock(content="hm"),
        ],
        ids=["text", "image", "image elsewhere", "audio", "video", "document", "thinking"],
    )
    def test_every_kind_of_block_costs_something_and_is_kept(self, small: TieredMemory, block: Any) -> None:
        message = ChatMessage(role="user", blocks=[TextBlock(text="see"), block])

        small.put(message)

        assert small.get_all() == [message]
        assert cost([message]) > cost([said("see")])
        assert cost(small.get()) <= 100

    @pytest.mark.parametrize("blocks", [[], [TextBlock(text="")], [ImageBlock(image=PNG)]], ids=["none", "", "image"])
    def test_messages_without_text_are_messages(self, memory: MemorySystem, blocks: list[Any]) -> None:
        """mem0 #4799: content of lists, or none, breaks `add`."""
        chat = TieredMemory(memory, USER, "chat")
        message = ChatMessage(role="user", blocks=blocks)

        chat.put(message)

        assert chat.get_all() == [message]
        assert chat.get() == [message]

    @pytest.mark.parametrize("text", ["a\0b", "a\ud83db", "\u202eabc", "👩‍👩‍👧", "<|endoftext|>", "x" * 1_000_000])
    def test_hostile_text_is_ordinary(self, memory: MemorySystem, text: str) -> None:
        chat = TieredMemory(memory, USER, "chat", max_tokens=200)

        chat.put(said(text))

        (shown,) = chat.get()
        assert chat.get_all() == [said(text)]
        (shown.content or "").encode()
        assert "\0" not in (shown.content or "")
        assert cost([shown]) <= 200


class TestConcurrency:
    async def test_puts_at_once_are_all_there_and_in_an_order(self, small: TieredMemory) -> None:
        await asyncio.gather(*[small.aput(said(f"message {number}")) for number in range(50)])

        assert sorted(contents(await small.aget_all())) == sorted(f"message {number}" for number in range(50))

    async def test_reading_while_writing(self, small: TieredMemory) -> None:
        async def write() -> None:
            for number in range(20):
                await small.aput(said(f"message {number}"))

        async def read() -> None:
            for _ in range(20):
                shown = await small.aget()
                assert cost(shown) <= 100

        await asyncio.gather(write(), read(), read())

        assert len(await small.aget_all()) == 20

    async def test_setting_while_others_put_loses_no_memory(self, small: TieredMemory, memory: MemorySystem) -> None:
        history = [said("one"), said("two", "assistant")]

        await asyncio.gather(*[small.aset(history) for _ in range(5)], *[small.aput(said(f"m {n}")) for n in range(5)])

        remembered = [one.content for one in memory.sync.list(USER)]
        assert {"one", "two", *(f"m {n}" for n in range(5))} <= set(remembered)

    async def test_a_put_that_is_cancelled_is_whole_or_not_there(self, small: TieredMemory) -> None:
        puts = [asyncio.create_task(small.aput_messages([said(f"{n} a"), said(f"{n} b")])) for n in range(20)]
        await asyncio.sleep(0.005)
        for put in puts[::2]:
            put.cancel()
        await asyncio.gather(*puts, return_exceptions=True)
        await asyncio.sleep(0.2)

        texts = contents(await small.aget_all())
        assert {text[:-2] for text in texts if text.endswith("a")} == {t[:-2] for t in texts if t.endswith("b")}


@given(st.lists(st.sampled_from(["user", "assistant", "system", "call", "tool"]), max_size=12), st.integers(64, 300))
def test_any_talk_fits_its_budget_and_starts_with_a_user(roles: list[str], budget: int) -> None:
    messages = []
    for number, role in enumerate(roles):
        if role == "call":
            messages.append(calls("look_up", id=f"c{number}", snack="bar"))
        elif role == "tool":
            messages.append(said("found " * 5, "tool", tool_call_id=f"c{number - 1}"))
        else:
            messages.append(said("word " * (3 * number), role))
    memory = MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET)
    chat = TieredMemory(memory, USER, "chat", max_tokens=budget, filter={"memory_type": "fact"})
    chat.put_messages(messages)

    shown = chat.get()

    memory.sync.close()
    assert cost(shown) <= budget
    talk = [message for message in shown if message.role != "system"]
    assert not talk or talk[0].role == "user"
    asked, answered = tools(shown)
    assert answered <= asked


def test_a_long_history_is_no_slow_one(memory: MemorySystem) -> None:
    """llama_index #12264: 217,000 tokens of history took a minute for every `get`."""
    chat = TieredMemory(memory, ADA, "chat")
    chat.put_messages([said(f"The train number {number} leaves at noon.") for number in range(5_000)])
    chat.get("When does number 17 leave?")
    times = []

    for number in range(5):
        started = time.perf_counter()
        chat.get(f"When does number {number} leave?")
        times.append(time.perf_counter() - started)

    assert min(times) < 0.2
