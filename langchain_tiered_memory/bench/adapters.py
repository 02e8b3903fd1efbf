"""What the adapters of LangChain and LlamaIndex cost over the calls of the memory that they make.

    python -m langchain_tiered_memory.bench.adapters [--memories 1000] [--calls 200]

One user, a store in a temporary folder, a free embedder. Each pair of calls alternates in one run; printed are the
p50 of both and of their differences, in milliseconds. What is asynchronous is waited for on one event loop, both sides
alike.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable, Coroutine
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage

import llamaindex_adapter as llama
from langchain_tiered_memory import (
    MemorySystem,
    TieredChatMessageHistory,
    TieredMemory,
    TieredMemoryRetriever,
    TieredMemoryStore,
    create_memory_tools,
)
from langchain_tiered_memory.bench.speed import USER, fill, texts
from langchain_tiered_memory.embedding import HashedEmbedder

Work = Callable[[str], object]


def of_langchain(memory: MemorySystem) -> dict[str, tuple[Work, Work]]:
    """Return, by name, what a user calls and what that comes down to; each is given a text."""
    bare = memory.sync
    beside_chain, beside_history = bare.session(USER, "beside the chain"), bare.session(USER, "beside the history")
    chain = TieredMemory(memory=memory, user_id=USER, session_id="chain")
    history = TieredChatMessageHistory(memory, USER, "history")
    retriever = TieredMemoryRetriever(memory=memory, user_id=USER)
    search = create_memory_tools(memory, USER)[1]
    store, space = TieredMemoryStore(memory), ("bench", USER)
    user = store.user_of(space)

    def turn(text: str) -> tuple[dict[str, str], dict[str, str]]:
        return {"role": "user", "content": text}, {"role": "assistant", "content": text}

    return {
        "TieredMemory, save": (
            lambda text: chain.save_context({"input": text}, {"output": text}),
            lambda text: beside_chain.add(*turn(text)),
        ),
        "TieredMemory, load": (
            lambda text: chain.load_memory_variables({"input": text}),
            lambda text: bare.session(USER, "chain").context(text),
        ),
        "TieredChatMessageHistory, add": (
            lambda text: history.add_messages([HumanMessage(text), AIMessage(text)]),
            lambda text: beside_history.add(*turn(text)),
        ),
        "TieredMemoryRetriever, invoke": (retriever.invoke, lambda text: bare.recall(USER, text)),
        "search_memories, invoke": (
            lambda text: search.invoke({"query": text}),
            lambda text: bare.recall(USER, text),
        ),
        "TieredMemoryStore, put": (
            lambda text: store.put(space, text[:9], {"text": text}),
            lambda text: bare.values.put(user, text[:9], {"text": text}, text=text),
        ),
        "TieredMemoryStore, get": (
            lambda text: store.get(space, text[:9]),
            lambda text: bare.values.get(user, text[:9]),
        ),
        "TieredMemoryStore, search": (
            lambda text: store.search(space, query=text),
            lambda text: bare.values.search(user, text),
        ),
    }


def of_llamaindex(
    memory: MemorySystem, wait: Callable[[Coroutine[Any, Any, object]], object]
) -> dict[str, tuple[Work, Work]]:
    """Return the same of LlamaIndex's side; `wait` runs what is asynchronous."""
    bare = memory.sync
    beside, nowhere = bare.session(USER, "beside the engine"), memory.session(USER, "nowhere")
    engine = llama.TieredMemory(memory=memory, user_id=USER, session_id="engine")
    retriever = llama.TieredMemoryRetriever(memory, USER)
    block = llama.TieredMemoryBlock(memory, USER, accept_short_term_memory=False)
    search = llama.create_memory_tools(memory, USER)[1]

    async def noted(text: str) -> None:
        await nowhere.context(recalled=())
        await memory.recall(USER, text)

    return {
        "TieredMemory, put": (
            lambda text: engine.put(ChatMessage(role="user", content=text)),
            lambda text: beside.add({"role": "user", "content": text}),
        ),
        "TieredMemory, get": (engine.get, lambda text: bare.session(USER, "engine").context(text)),
        "TieredMemoryBlock, aget": (
            lambda text: wait(block.aget([ChatMessage(role="user", content=text)])),
            lambda text: wait(noted(text)),
        ),
        "TieredMemoryRetriever, retrieve": (retriever.retrieve, lambda text: bare.recall(USER, text)),
        "search_memories, call": (lambda text: search(query=text), lambda text: bare.recall(USER, text)),
    }


def measured(work: Work, bare: Work, said: list[str]) -> tuple[float, float, float]:
    """Return the p50 of both, and of the differences, in milliseconds."""
    took: list[tuple[float, float]] = []
    for number, text in enumerate(said):
        both = [0.0, 0.0]
        for which in ((0, 1), (1, 0))[number % 2]:
            start = time.perf_counter()
            (work, bare)[which](text)
            both[which] = (time.perf_counter() - start) * 1e3
        took.append((both[0], both[1]))
    whole, alone = zip(*took, strict=True)
    return statistics.median(whole), statistics.median(alone), statistics.median(w - a for w, a in took)


def main() -> None:
    """Measure, and print a table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--memories", type=int, default=1_000)
    asked.add_argument("--calls", type=int, default=200)
    given = asked.parse_args()
    rng = random.Random(1)
    memory = MemorySystem.open(embedder=HashedEmbedder())
    with memory.sync, asyncio.Runner() as loop:
        fill(memory.sync, given.memories, rng)
        sides = {"LangChain": of_langchain(memory), "LlamaIndex": of_llamaindex(memory, loop.run)}
        for side, pairs in sides.items():
            print(f"{side:34s} {'adapter':>9s} {'bare':>9s} {'over':>9s}   p50 in ms")
            for name, (work, bare) in pairs.items():
                whole, alone, over = measured(work, bare, texts(given.calls, rng))
                print(f"{name:34s} {whole:9.3f} {alone:9.3f} {over:9.3f}")


if __name__ == "__main__":
    main()
