"""`TieredMemoryStore` where LangGraph hands it out: in nodes, in tools, in agents."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
)

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.langchain import TieredMemoryMiddleware, TieredMemoryStore
from tests.adapters.langchain.agents import Who, said, scripted

# -- in graphs and agents ----------------------------------------------------------------------------------------------


@tool
def note(text: str, runtime: ToolRuntime[Who, Any]) -> str:
    """Note something about the user."""
    assert runtime.store is not None
    runtime.store.put(("notes", str(runtime.context.user_id)), "last", {"text": text})
    return "Noted."


@tool
async def read(query: str, runtime: ToolRuntime[Who, Any]) -> str:
    """Read what was noted about the user."""
    assert runtime.store is not None
    found = await runtime.store.asearch(("notes", str(runtime.context.user_id)), query=query)
    return "; ".join(one.value["text"] for one in found)


async def test_an_agent_reads_in_one_thread_what_it_noted_in_another(
    store: TieredMemoryStore, memory: MemorySystem
) -> None:
    model = scripted(("note", {"text": "allergic to peanuts"}), "Noted.", ("read", {"query": "peanuts"}), "Careful.")
    agent: Any = create_agent(
        model,
        [note, read],
        store=store,
        checkpointer=InMemorySaver(),
        context_schema=Who,
        middleware=[TieredMemoryMiddleware(memory)],
    )
    who = Who("ada@example.com")

    agent.invoke(said("I am allergic to peanuts"), {"configurable": {"thread_id": "a"}}, context=who)
    state = await agent.ainvoke(said("A snack?"), {"configurable": {"thread_id": "b"}}, context=who)

    assert [one.content for one in state["messages"] if isinstance(one, ToolMessage)] == ["allergic to peanuts"]
    assert store.list_namespaces() == [("notes", "ada@example.com")]


class Counting(TypedDict):
    """The state of a graph that counts."""

    by: int


async def test_a_graph_has_it_in_its_runtime(store: TieredMemoryStore) -> None:
    async def count(state: Counting, runtime: Runtime[None]) -> Counting:
        assert isinstance(runtime.store, BaseStore)
        before = await runtime.store.aget(("counts",), "n")
        n = (before.value["n"] if before else 0) + state["by"]
        await runtime.store.aput(("counts",), "n", {"n": n})
        return {"by": n}

    graph: Any = StateGraph(Counting).add_node("count", count).add_edge(START, "count").compile(store=store)

    await graph.ainvoke({"by": 2})
    await graph.ainvoke({"by": 3})

    got = store.get(("counts",), "n")
    assert got is not None
    assert got.value == {"n": 5}
