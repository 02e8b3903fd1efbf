"""The asynchronous calls of the adapters leave the event loop free, and carry the caller's context to the stores."""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.langchain import (
    TieredChatMessageHistory,
    TieredMemory,
    TieredMemoryMiddleware,
    TieredMemoryRetriever,
    TieredMemoryStore,
    create_memory_tools,
)
from tests.adapters.langchain.agents import said, scripted
from tests.flow.systems import House

Call = Callable[[], Awaitable[Any]]


def _calls(memory: MemorySystem) -> dict[str, Call]:
    history = TieredChatMessageHistory(memory, "ada", "s")
    chain = TieredMemory(memory=memory, user_id="ada")
    retriever = TieredMemoryRetriever(memory=memory, user_id="ada")
    save, search, _ = create_memory_tools(memory, "ada")
    store = TieredMemoryStore(memory)
    agent: Any = create_agent(scripted("ok"), middleware=[TieredMemoryMiddleware(memory, "ada")])
    return {
        "history, add": lambda: history.aadd_messages([HumanMessage("peanuts"), AIMessage("no")]),
        "history, read": history.aget_messages,
        "memory, save": lambda: chain.asave_context({"input": "peanuts"}, {"output": "no"}),
        "memory, load": lambda: chain.aload_memory_variables({"input": "peanuts"}),
        "memory, clear": chain.aclear,
        "retriever": lambda: retriever.ainvoke("peanuts"),
        "tool, save": lambda: save.ainvoke({"content": "Ada eats no peanuts"}),
        "tool, search": lambda: search.ainvoke({"query": "peanuts"}),
        "store, put": lambda: store.aput(("a",), "k", {"n": 1}),
        "store, search": lambda: store.asearch(("a",), query="n"),
        "middleware": lambda: agent.ainvoke(said("peanuts?"), {"configurable": {"thread_id": "t"}}),
    }


NAMES = list(_calls(MemorySystem.open(":memory:")))


@pytest.fixture
async def opened(folder_house: House) -> AsyncIterator[MemorySystem]:
    """A memory in files, open and used once, so that all its modules are loaded."""
    async with folder_house.system() as memory:
        await memory.remember("ada", "I am allergic to peanuts")
        await memory.recall("ada", "peanuts")
        yield memory


@pytest.mark.parametrize("name", NAMES)
async def test_the_event_loop_is_never_blocked(opened: MemorySystem, name: str) -> None:
    call = _calls(opened)[name]
    await call()

    with blockbuster_ctx():
        await call()


async def test_blocking_would_be_noticed(opened: MemorySystem) -> None:
    with blockbuster_ctx(), pytest.raises(BlockingError):
        TieredChatMessageHistory(opened, "ada", "s").add_user_message("peanuts")


@pytest.mark.parametrize("name", NAMES)
async def test_context_variables_reach_the_stores(
    memory: MemorySystem, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    request = contextvars.ContextVar("request", default="none")
    seen: set[str] = set()
    rooms = memory.sync._opening.rooms

    def noting() -> Any:
        seen.add(request.get())
        return rooms()

    monkeypatch.setattr(memory.sync._opening, "rooms", noting)
    request.set("r-1")

    await _calls(memory)[name]()

    assert seen == {"r-1"}
