"""Tools with which a model looks after its own memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.v1 import ValidationError as OldValidationError

from langchain_tiered_memory.core import inputs as door
from langchain_tiered_memory.core.errors import NotFound, TieredMemoryError
from langchain_tiered_memory.core.model import Memory, RecallResult
from langchain_tiered_memory.core.prompt import format_memories
from langchain_tiered_memory.langchain.arguments import a_memory, a_question
from langchain_tiered_memory.langchain.failing import SET_UP_WRONG
from langchain_tiered_memory.langchain.running import running_thread, running_user
from langchain_tiered_memory.system import MemorySystem

__all__ = ["create_memory_tools"]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SaveMemory(_Arguments):
    """What `save_memory` takes."""

    content: str = Field(min_length=1, description="One self-contained statement, with names instead of pronouns.")
    memory_type: Literal["fact", "preference", "episode"] = Field(
        "fact",
        description="fact: something true of the user; preference: likes or wishes; episode: something that happened.",
    )
    slot: str | None = Field(
        None,
        min_length=1,
        description="For what has one value at a time, its name, such as 'employer': a new value replaces the old one.",
    )


class SearchMemories(_Arguments):
    """What `search_memories` takes."""

    query: str = Field(min_length=1, description="What to look for, in words.")


class ForgetMemory(_Arguments):
    """What `forget_memory` takes."""

    memory_id: str = Field(min_length=1, description="The id, exactly as search_memories or save_memory gave it.")


def create_memory_tools(
    memory: MemorySystem,
    user_id: str | Callable[[], str] | None = None,
    *,
    session_id: str | Callable[[], str | None] | None = None,
    agent_id: str | None = None,
    k: int = 5,
    filter: Mapping[str, Any] | None = None,
    min_score: float | str = 0.0,
    max_tokens: int | None = None,
) -> list[StructuredTool]:
    """Return `save_memory`, `search_memories` and `forget_memory`, each both blocking and asynchronous.

    What a model gets wrong, and a store that does not answer, is told it in words; it may try again. What the program
    got wrong (no user, another embedding model) is raised.

    Args:
        memory: The memory to look after.
        user_id: Whose; or a function that says so at each call. None takes `user_id` of the runtime context of the
            graph under way, or of the run's `configurable`; without one the call raises `ConfigError`.
        session_id: The conversation, or a function that says which; None takes the thread under way. What is saved
            bears its name, and what its window shows is not searched again.
        agent_id: The agent: what it saves is its own, and it sees its own and what is shared.
        k: How many memories a search returns at most.
        filter: Which memories may be found, as in `MemorySystem.recall`.
        min_score: The least score of what is found; "auto" finds only what is relevant enough to be an answer.
        max_tokens: Most tokens of the texts that a search returns together.

    Raises:
        InvalidInput: An argument cannot be used.
    """
    if isinstance(user_id, str):
        door.user(user_id)
    if isinstance(session_id, str):
        door.label("session_id", session_id)
    asked = a_question(k, agent_id=agent_id, filter=filter, min_score=min_score, max_tokens=max_tokens)
    calls = _Calls(
        a_memory(memory), user_id or running_user, running_thread if session_id is None else session_id, asked
    )
    return [
        _tool("save_memory", SaveMemory, calls.save, calls.asave),
        _tool("search_memories", SearchMemories, calls.search, calls.asearch),
        _tool("forget_memory", ForgetMemory, calls.forget, calls.aforget),
    ]


@dataclass(frozen=True, slots=True)
class _Calls:
    """What the tools do; the docstrings are what a model reads."""

    memory: MemorySystem
    user: str | Callable[[], str]
    session: str | Callable[[], str | None]
    asked: Mapping[str, Any]

    def save(self, content: str, memory_type: str = "fact", slot: str | None = None) -> str:
        """Save something worth knowing about the user in later conversations. Not for small talk."""
        user, about = self._user(), self._saved(memory_type, slot)
        with _in_words():
            return _said(self.memory.sync.remember(user, content, **about))

    async def asave(self, content: str, memory_type: str = "fact", slot: str | None = None) -> str:
        """Save, asynchronously."""
        user, about = self._user(), self._saved(memory_type, slot)
        with _in_words():
            return _said(await self.memory.remember(user, content, **about))

    def search(self, query: str) -> str:
        """Search what is remembered of the user from earlier conversations."""
        user, session = self._user(), self._session()
        with _in_words():
            return _found(self.memory.sync.recall(user, query, session_id=session, **self.asked))

    async def asearch(self, query: str) -> str:
        """Search, asynchronously."""
        user, session = self._user(), self._session()
        with _in_words():
            return _found(await self.memory.recall(user, query, session_id=session, **self.asked))

    def forget(self, memory_id: str) -> str:
        """Forget a memory for good: when the user asks for it, or when it is wrong."""
        user = self._user()
        with _in_words():
            self.memory.sync.forget(user, memory_id)
        return _FORGOTTEN

    async def aforget(self, memory_id: str) -> str:
        """Forget, asynchronously."""
        user = self._user()
        with _in_words():
            await self.memory.forget(user, memory_id)
        return _FORGOTTEN

    def _user(self) -> str:
        return door.user(self.user if isinstance(self.user, str) else self.user())

    def _session(self) -> str | None:
        return self.session if isinstance(self.session, str) else self.session()

    def _saved(self, memory_type: str, slot: str | None) -> dict[str, Any]:
        about = {"session_id": self._session(), "agent_id": self.asked["agent_id"]}
        return {**about, "memory_type": memory_type, "slot": slot, "tier": "long_term"}


_FORGOTTEN = "Forgotten."


def _said(memory: Memory) -> str:
    return f"Saved as {json.dumps(memory.id)}."


def _found(hits: RecallResult) -> str:
    if not hits:
        return "Nothing is remembered about that."
    return f"{format_memories(hits)}\nTheir ids, in the same order: {json.dumps([hit.id for hit in hits])}"


@contextmanager
def _in_words() -> Iterator[None]:
    """Let the model know what went wrong."""
    try:
        yield
    except SET_UP_WRONG:
        raise
    except NotFound as error:
        raise ToolException("There is no memory with this id; search_memories gives the ids.") from error
    except TieredMemoryError as error:
        raise ToolException(str(error)) from error


def _tool(name: str, arguments: type[BaseModel], call: Callable[..., str], later: Callable[..., Any]) -> StructuredTool:
    return StructuredTool.from_function(
        call,
        coroutine=later,
        name=name,
        args_schema=arguments,
        handle_tool_error=True,
        handle_validation_error=_refusal,
    )


def _refusal(error: ValidationError | OldValidationError) -> str:
    faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return f"These arguments cannot be used: {faults}."
