"""One memory, opened from LangChain and from LlamaIndex at once: what one is told, the other recalls."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ToolCallBlock

import llamaindex_adapter
from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.langchain import TieredChatMessageHistory
from langchain_tiered_memory.langchain import TieredMemory as ChainMemory
from langchain_tiered_memory.langchain import TieredMemoryRetriever as ChainRetriever
from llamaindex_adapter import TieredMemory, TieredMemoryRetriever
from tests.adapters.llamaindex.conftest import ADA, contents, said
from tests.flow.systems import House

ROOT = Path(__file__).parents[3]


def test_what_llamaindex_is_told_langchain_recalls(memory: MemorySystem) -> None:
    TieredMemory(memory, ADA, "engine").put(said("My cat is called Mia."))

    told = ChainMemory(memory=memory, user_id=ADA, session_id="chain").load_memory_variables({"input": "the cat?"})
    (first, *_) = ChainRetriever(memory=memory, user_id=ADA).invoke("What is my cat called?")

    assert "My cat is called Mia." in told["history"]
    assert first.page_content == "My cat is called Mia."


def test_what_langchain_is_told_llamaindex_recalls(memory: MemorySystem) -> None:
    chain = ChainMemory(memory=memory, user_id=ADA, session_id="chain")
    chain.save_context({"input": "My cat is called Mia."}, {"output": "Nice."})

    told = "".join(contents(TieredMemory(memory, ADA, "engine").get("What is my cat called?")))
    (first, *_) = TieredMemoryRetriever(memory, ADA).retrieve("What is my cat called?")

    assert "My cat is called Mia." in told
    assert first.text == "My cat is called Mia."


def test_one_session_is_one_talk_in_both(memory: MemorySystem) -> None:
    engine, chain = TieredMemory(memory, ADA, "chat"), TieredChatMessageHistory(memory, ADA, "chat")
    engine.put(said("look it up"))
    chain.add_messages(
        [
            AIMessage("", tool_calls=[{"name": "look_up", "args": {"at": 1}, "id": "c1"}]),
            ToolMessage("found", tool_call_id="c1"),
            AIMessage("There."),
        ]
    )
    engine.put(said("Thanks."))

    assert [message.type for message in chain.messages] == ["human", "ai", "tool", "ai", "human"]
    assert contents(engine.get_all()) == ["look it up", "", "found", "There.", "Thanks."]
    asks, answers = engine.get()[1:3]
    assert ToolCallBlock(tool_call_id="c1", tool_name="look_up", tool_kwargs={"at": 1}) in asks.blocks
    assert answers.additional_kwargs["tool_call_id"] == "c1"
    assert chain.messages[0] == HumanMessage("look it up", id=chain.messages[0].id)


def test_a_history_set_in_the_one_is_the_same_in_the_other(memory: MemorySystem) -> None:
    chain, engine = TieredChatMessageHistory(memory, ADA, "chat"), TieredMemory(memory, ADA, "chat")
    chain.add_messages([HumanMessage("hello", id="h1", additional_kwargs={"a": 1}), AIMessage("hi", id="a1")])
    before = chain.messages

    engine.set(engine.get_all())

    assert chain.messages == before


async def test_both_at_once(memory: MemorySystem) -> None:
    engine, chain = TieredMemory(memory, ADA, "engine"), TieredChatMessageHistory(memory, ADA, "chain")

    await asyncio.gather(
        *[engine.aput(said(f"engine {number}")) for number in range(20)],
        *[chain.aadd_messages([HumanMessage(f"chain {number}")]) for number in range(20)],
    )

    told = {one.content for one in await memory.list(ADA)}
    assert {f"{who} {number}" for who in ("engine", "chain") for number in range(20)} <= told


def test_two_systems_on_one_folder(folder_house: House) -> None:
    """As two programs on one machine would have it."""
    engine = TieredMemory(folder_house.system(), ADA, "engine")
    chain = ChainRetriever(memory=folder_house.system(), user_id=ADA)

    engine.put(said("My cat is called Mia."))

    assert [document.page_content for document in chain.invoke("cat")] == ["My cat is called Mia."]


class TestImport:
    def test_importing_the_adapter_loads_no_framework(self) -> None:
        script = (
            "import sys\n"
            "import llamaindex_adapter\n"
            "print([name for name in sys.modules if name.startswith(('llama_index', 'langchain_core', 'chromadb'))])\n"
        )

        run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT)

        assert run.stdout == "[]\n"

    def test_using_it_loads_nothing_of_langchain(self) -> None:
        script = (
            "import sys\n"
            f"from llamaindex_adapter import {', '.join(llamaindex_adapter.__all__)}\n"
            "print([name for name in sys.modules if name.startswith(('langchain_core', 'langchain_classic'))])\n"
        )

        run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT)

        assert run.stdout == "[]\n"

    def test_a_missing_llamaindex_is_said_with_what_to_install(self) -> None:
        script = (
            "import sys\n"
            "sys.modules['llama_index.core'] = None\n"
            "import llamaindex_adapter\n"
            "try:\n"
            "    llamaindex_adapter.TieredMemory\n"
            "except ImportError as error:\n"
            "    print(error)\n"
        )

        run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT)

        way = "pip install 'llama-index-core>=0.14,<0.15'"
        assert run.stdout == f"TieredMemory needs LlamaIndex, which is not installed: {way}\n"

    def test_the_public_names_are_there_and_no_others(self) -> None:
        assert llamaindex_adapter.__all__ == dir(llamaindex_adapter)
        assert all(callable(getattr(llamaindex_adapter, name)) for name in llamaindex_adapter.__all__)
        with pytest.raises(AttributeError, match="nothing"):
            _ = llamaindex_adapter.nothing
