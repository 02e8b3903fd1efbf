"""Chat engines from end to end, on LlamaIndex's mock models."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from langchain_tiered_memory import MemorySystem
from llamaindex_adapter import TieredMemory
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said
from tests.adapters.llamaindex.models import ANSWER, Recorder

SNACK = "Which snack can I buy, with peanuts or without?"
ENGINES = ["simple", "context", "condense"]
CALLS = ["chat", "achat", "stream_chat", "astream_chat"]


class Shelf(BaseRetriever):
    """What the engines look things up in."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="The shop sells oat bars."), score=1.0)]


def engine(kind: str, memory: TieredMemory, llm: Any, **options: Any) -> Any:
    """Return a chat engine of this kind."""
    if kind == "simple":
        return SimpleChatEngine.from_defaults(llm=llm, memory=memory, **options)
    made = ContextChatEngine if kind == "context" else CondensePlusContextChatEngine
    return made.from_defaults(retriever=Shelf(), llm=llm, memory=memory, **options)


async def talk(made: Any, call: str, message: str, **options: Any) -> str:
    """Say something, wait until the answer is in the memory, and return it."""
    response = getattr(made, call)(message, **options)
    if call.startswith("a"):
        response = await response
    if call == "stream_chat":
        return "".join(response.response_gen)
    if call == "astream_chat":
        return "".join([text async for text in response.async_response_gen()])
    return str(response.response)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ENGINES)
async def test_what_another_session_was_told_is_in_the_prompt(
    kind: str, call: str, chat: TieredMemory, memory: MemorySystem
) -> None:
    model = Recorder()

    answer = await talk(engine(kind, chat, model.llm), call, SNACK)

    assert answer == ANSWER
    assert PEANUTS in model.last()
    assert model.last().count(SNACK) == 1
    assert memory.sync.get(ADA, "peanuts").access_count == 1


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ENGINES)
async def test_a_talk_is_kept_in_order_and_shown_in_the_next_turn(kind: str, call: str, chat: TieredMemory) -> None:
    model = Recorder()
    made = engine(kind, chat, model.llm)

    for number in range(3):
        await talk(made, call, f"question {number}")

    expected = [text for number in range(3) for text in (f"question {number}", ANSWER)]
    assert contents(made.chat_history) == contents(chat.get_all()) == expected
    assert [message.role.value for message in made.chat_history] == ["user", "assistant"] * 3
    asked = contents(model.prompts[-1])
    assert [text for text in asked if text in expected] == expected[:-1]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ENGINES)
async def test_the_next_session_recalls_what_was_said_in_this_one(
    kind: str, call: str, chat: TieredMemory, memory: MemorySystem
) -> None:
    await talk(engine(kind, chat, Recorder().llm), call, "My cat is called Mia.")
    model = Recorder()

    await talk(engine(kind, TieredMemory(memory, ADA, "next"), model.llm), call, "What is my cat called?")

    assert "My cat is called Mia." in model.last()


@pytest.mark.parametrize("kind", ENGINES)
async def test_a_history_that_is_handed_over_again_and_again_is_one_history(
    kind: str, chat: TieredMemory, memory: MemorySystem
) -> None:
    made = engine(kind, chat, Recorder().llm)
    history = [said("My cat is called Mia."), said("Nice.", "assistant")]

    for number in range(3):
        await talk(made, "achat", f"question {number}", chat_history=history)
        history = made.chat_history

    assert contents(chat.get_all())[:2] == ["My cat is called Mia.", "Nice."]
    assert len(chat.get_all()) == 8
    assert [one.content for one in memory.sync.list(ADA)].count("My cat is called Mia.") == 1


@pytest.mark.parametrize("kind", ENGINES)
def test_a_reset_keeps_what_was_remembered(kind: str, chat: TieredMemory) -> None:
    model = Recorder()
    made = engine(kind, chat, model.llm)
    made.chat("My cat is called Mia.")

    made.reset()

    assert made.chat_history == []
    made.chat("What is my cat called?")
    assert "My cat is called Mia." in model.last()


@pytest.mark.parametrize("kind", ENGINES)
def test_an_empty_memory_is_not_replaced(kind: str, chat: TieredMemory) -> None:
    """Engines say `memory or Memory.from_defaults(…)`."""
    assert engine(kind, chat, MockLLM())._memory is chat


def test_the_system_prompt_is_taken_off_the_budget(memory: MemorySystem) -> None:
    model = Recorder()
    chat = TieredMemory(memory, ADA, "chat", max_tokens=300)
    chat.put_messages([said(f"The train number {number} leaves at {number}.") for number in range(60)])
    made = SimpleChatEngine.from_defaults(llm=model.llm, memory=chat, system_prompt="Be kind. " * 60)

    made.chat("When does it leave?")

    shown = sum(len(chat.tokenizer_fn(message.content or "")) + 4 for message in model.prompts[0])
    assert 250 < shown <= 300


def test_a_system_prompt_beyond_the_budget_breaks_no_talk(memory: MemorySystem) -> None:
    """llama_index #9371: "Initial token count exceeds token limit"."""
    model = Recorder()
    chat = TieredMemory(memory, ADA, "chat", max_tokens=100)
    made = SimpleChatEngine.from_defaults(llm=model.llm, memory=chat, system_prompt="Be kind. " * 400)

    assert str(made.chat("hello")) == ANSWER
    assert contents(model.prompts[0])[-1] == "hello"


def test_the_plain_mock_model_serves_too(chat: TieredMemory) -> None:
    made = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=4), memory=chat)

    assert str(made.chat("hello")) == "text text text text"
    assert contents(chat.get_all()) == ["hello", "text text text text"]
