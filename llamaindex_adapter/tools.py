"""Tools with which an agent looks after its own memory."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.tools import FunctionTool

from langchain_tiered_memory import Memory, MemorySystem, NotFound, RecallResult
from langchain_tiered_memory.core.prompt import format_memories

__all__ = ["create_memory_tools"]


class SaveMemory(BaseModel):
    """What `save_memory` takes."""

    content: str = Field(description="One self-contained statement, with names instead of pronouns.")
    memory_type: Literal["fact", "preference", "episode"] = Field(
        "fact",
        description="fact: something true of the user; preference: likes or wishes; episode: something that happened.",
    )
    slot: str | None = Field(
        None,
        description="For what has one value at a time, its name, such as 'employer': a new value replaces the old one.",
    )


class SearchMemories(BaseModel):
    """What `search_memories` takes."""

    query: str = Field(description="What to look for, in words.")


class ForgetMemory(BaseModel):
    """What `forget_memory` takes."""

    memory_id: str = Field(description="The id, exactly as search_memories or save_memory gave it.")


def create_memory_tools(
    memory: MemorySystem | str | Path,
    user_id: str | Callable[[], str],
    *,
    session_id: str | Callable[[], str | None] | None = None,
    agent_id: str | None = None,
    k: int = 5,
    filter: Mapping[str, Any] | None = None,
    min_score: float | str = 0.0,
    max_tokens: int | None = None,
) -> list[FunctionTool]:
    """Return `save_memory`, `search_memories` and `forget_memory`, each both blocking and asynchronous.

    What goes wrong is raised; agents tell it their model in words, which may try again.

    Args:
        memory: The memory to look after, or what `MemorySystem.at` finds it by.
        user_id: Whose; or a function that says so at each call.
        session_id: The conversation, or a function that says which. What is saved bears its name, and what its window
            shows is not searched again.
        agent_id: The agent: what it saves is its own, and it sees its own and what is shared.
        k: How many memories a search returns at most.
        filter: Which memories may be found, as in `MemorySystem.recall`.
        min_score: The least score of what is found; "auto" finds only what is relevant enough to be an answer.
        max_tokens: Most tokens of the texts that a search returns together.

    Raises:
        ConfigError: No memory is found by that name.
        InvalidInput: An argument cannot be used.
    """
    found = memory if isinstance(memory, MemorySystem) else MemorySystem.at(memory)
    user = "any" if callable(user_id) else user_id
    session = "any" if session_id is None or callable(session_id) else session_id
    found.session(user, session, agent_id=agent_id)  # refuses what cannot be used
    asked = {"k": k, "agent_id": agent_id, "filter": filter, "min_score": min_score, "max_tokens": max_tokens}
    calls = _Calls(found, user_id, session_id, asked)
    return [
        _tool("save_memory", SaveMemory, calls.save, calls.asave),
        _tool("search_memories", SearchMemories, calls.search, calls.asearch),
        _tool("forget_memory", ForgetMemory, calls.forget, calls.aforget),
    ]


@dataclass(frozen=True, slots=True)
class _Calls:
    """What the tools do; the docstrings are what a model reads."""

    memory: MemorySystem
    user_id: str | Callable[[], str]
    session_id: str | Callable[[], str | None] | None
    asked: Mapping[str, Any]

    def save(self, content: str, memory_type: str = "fact", slot: str | None = None) -> str:
        """Save something worth knowing about the user in later conversations. Not for small talk."""
        return _said(self.memory.sync.remember(self._user(), content, **self._saved(memory_type, slot)))

    async def asave(self, content: str, memory_type: str = "fact", slot: str | None = None) -> str:
        """Save, asynchronously."""
        return _said(await self.memory.remember(self._user(), content, **self._saved(memory_type, slot)))

    def search(self, query: str) -> str:
        """Search what is remembered of the user from earlier conversations."""
        return _found(self.memory.sync.recall(self._user(), query, session_id=self._session(), **self.asked))

    async def asearch(self, query: str) -> str:
        """Search, asynchronously."""
        return _found(await self.memory.recall(self._user(), query, session_id=self._session(), **self.asked))

    def forget(self, memory_id: str) -> str:
        """Forget a memory for good: when the user asks for it, or when it is wrong."""
        try:
            self.memory.sync.forget(self._user(), memory_id)
        except NotFound:
            return _UNKNOWN
        return _FORGOTTEN

    async def aforget(self, memory_id: str) -> str:
        """Forget, asynchronously."""
        try:
            await self.memory.forget(self._user(), memory_id)
        except NotFound:
            return _UNKNOWN
        return _FORGOTTEN

    def _user(self) -> str:
        return self.user_id() if callable(self.user_id) else self.user_id

    def _session(self) -> str | None:
        return self.session_id() if callable(self.session_id) else self.session_id

    def _saved(self, memory_type: str, slot: str | None) -> dict[str, Any]:
        about = {"session_id": self._session(), "agent_id": self.asked["agent_id"]}
        return {**about, "memory_type": memory_type, "slot": slot, "tier": "long_term"}


_FORGOTTEN = "Forgotten."
_UNKNOWN = "There is no memory with this id; search_memories gives the ids."


def _said(memory: Memory) -> str:
    return f"Saved as {json.dumps(memory.id)}."


def _found(hits: RecallResult) -> str:
    if not hits:
        return "Nothing is remembered about that."
    return f"{format_memories(hits)}\nTheir ids, in the same order: {json.dumps([hit.id for hit in hits])}"


def _tool(
    name: str, arguments: type[BaseModel], call: Callable[..., str], later: Callable[..., Awaitable[str]]
) -> FunctionTool:
    return FunctionTool.from_defaults(call, async_fn=later, name=name, description=call.__doc__, fn_schema=arguments)
