"""The memory of LlamaIndex's chat engines and agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, field_serializer
from llama_index.core.memory import BaseMemory
from llama_index.core.memory.memory import generate_chat_store_key
from llama_index.core.utils import get_tokenizer

from langchain_tiered_memory import InvalidInput, MemorySystem, ScoredMemory, Session, TieredMemoryError
from langchain_tiered_memory.core.model import new_id
from llamaindex_adapter.failing import OnError, Unsaved, Write, forgive, unsaved_of
from llamaindex_adapter.messages import from_llamaindex, to_llamaindex
from llamaindex_adapter.recalls import Recall, Recalls
from llamaindex_adapter.talk import acarry_out, as_seen, carry_out, shown, words

__all__ = ["TieredMemory"]

_LEAST_TOKENS = 64
"""What a conversation gets when the prompt before it takes the whole budget: its last message, cut."""


class TieredMemory(BaseMemory):
    """Gives a chat engine or an agent the end of its conversation, and what is remembered of the user.

    Pass it as `memory=`. What is put is kept in the session's transcript and remembered at once; another session of
    the user recalls it. `get` shows both inside `max_tokens`: the window, and right before the message they were
    recalled for a message of quoted notes. That is a user's message and not a system's, because what somebody once
    said is no instruction, and because agents drop or replace system messages that are not their own.

    Serialised (`to_dict`, JSON, pickle, a workflow's context) it keeps whose conversation it is and `memory.reference`,
    a folder or a name registered with `MemorySystem.register`; restored it reconnects there.

    Attributes:
        memory: The memory that keeps it.
        user_id: Whose conversation it is.
        session_id: Which conversation.
        agent_id: The agent that speaks in it.
        k: How many memories to recall at most.
        filter: Which memories may be recalled, as in `MemorySystem.recall`.
        min_score: The least score of what is recalled; "auto" recalls only what is relevant enough to be an answer.
        max_tokens: The budget of `get` in tokens; None is the memory's own setting.
        on_error: When a store fails, "warn" logs it and lets the turn go on: `get` gives what was said of late without
            notes, and what was put or set waits in this process for the next call, which stores it; "raise" raises.
            What will never work always raises, and so do `get_all` and `reset`, on which no answer depends.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: MemorySystem
    user_id: str
    session_id: str
    agent_id: str | None = None
    k: int = Field(default=5, ge=1)
    filter: dict[str, Any] | None = None
    min_score: float | str = 0.0
    max_tokens: int | None = None
    on_error: OnError = "warn"

    _recalls: Recalls = PrivateAttr(default_factory=Recalls)
    _unsaved: Unsaved = PrivateAttr()

    def __init__(
        self,
        memory: MemorySystem | str | Path,
        user_id: str,
        session_id: str | None = None,
        *,
        agent_id: str | None = None,
        k: int = 5,
        filter: dict[str, Any] | None = None,
        min_score: float | str = 0.0,
        max_tokens: int | None = None,
        on_error: OnError = "warn",
        class_name: object = None,
    ) -> None:
        """Say whose conversation it is; nothing is read or written yet.

        Args:
            memory: The memory, or what `MemorySystem.at` finds it by.
            user_id: Whose.
            session_id: Which conversation; None starts a new one.
            agent_id: The agent that speaks in it.
            k: How many memories to recall at most.
            filter: Which memories may be recalled.
            min_score: The least score of what is recalled.
            max_tokens: The budget of `get` in tokens.
            on_error: What to do when a store fails.
            class_name: What LlamaIndex adds when it serialises; ignored.

        Raises:
            ConfigError: No memory is found by that name.
            InvalidInput: An argument cannot be used.
        """
        found = memory if isinstance(memory, MemorySystem) else MemorySystem.at(memory)
        session = session_id or generate_chat_store_key()
        found.session(user_id, session, agent_id=agent_id, max_tokens=max_tokens)  # refuses what cannot be used
        values: dict[str, Any] = {"memory": found, "user_id": user_id, "session_id": session, "agent_id": agent_id}
        asked = {"k": k, "filter": filter, "min_score": min_score, "max_tokens": max_tokens, "on_error": on_error}
        super().__init__(**values, **asked)
        self._unsaved = unsaved_of(found, user_id, session, agent_id)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises the class under."""
        return "TieredMemory"

    @classmethod
    def from_defaults(cls, chat_history: list[ChatMessage] | None = None, llm: object = None, **fields: Any) -> Self:
        """Return a memory.

        Args:
            chat_history: What the conversation is set to, if given.
            llm: Taken because LlamaIndex hands it to every memory; none is needed here.
            **fields: As in the constructor.
        """
        made = cls(**fields)
        if chat_history is not None:
            made.set(chat_history)
        return made

    @property
    def tokenizer_fn(self) -> Callable[[str], list[Any]]:
        """What engines count their own part of a prompt with, before they say it as `initial_token_count`."""
        return get_tokenizer()

    # -- reading -------------------------------------------------------------------------------------------------------

    def get(
        self, input: str | ChatMessage | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """Return copies of the messages to show the model, with the notes recalled for the latest one.

        Args:
            input: The message to recall for; None takes the user's latest. A message causes one recall, and counts
                one access, however often it is asked for.
            initial_token_count: What the prompt before these messages costs, in tokens; it is taken off the budget.
            **kwargs: What other memories take, ignored.
        """
        query, asked = words(input), self._asked(initial_token_count)
        self._save()
        if self._unsaved:
            return self._meanwhile(asked)
        try:
            known = self._recalls.again(query)
            context = self._session.sync.context(query, recalled=_memories(known), **asked)
            if known is not None and not known.stands(context):
                known, context = None, self._session.sync.context(query, **asked)
        except TieredMemoryError as error:
            forgive(error, "be read", self.on_error)
            return self._meanwhile(asked)
        return shown(context, known or self._recalls.note(context, query))

    async def aget(
        self, input: str | ChatMessage | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """Return what `get` does."""
        query, asked = words(input), self._asked(initial_token_count)
        await self._asave()
        if self._unsaved:
            return self._meanwhile(asked)
        try:
            known = self._recalls.again(query)
            context = await self._session.context(query, recalled=_memories(known), **asked)
            if known is not None and not known.stands(context):
                known, context = None, await self._session.context(query, **asked)
        except TieredMemoryError as error:
            forgive(error, "be read", self.on_error)
            return self._meanwhile(asked)
        return shown(context, known or self._recalls.note(context, query))

    def _meanwhile(self, asked: dict[str, Any]) -> list[ChatMessage]:
        return as_seen(self._unsaved.shown(asked["max_tokens"]))

    def get_all(self) -> list[ChatMessage]:
        """Return the whole conversation as it was put, oldest first, without any notes."""
        return to_llamaindex(self._session.sync.transcript())

    async def aget_all(self) -> list[ChatMessage]:
        """Return what `get_all` does."""
        return to_llamaindex(await self._session.transcript())

    # -- writing -------------------------------------------------------------------------------------------------------

    def put(self, message: ChatMessage) -> None:
        """Add a message to the conversation, and remember it."""
        self.put_messages([message])

    async def aput(self, message: ChatMessage) -> None:
        """Add a message, as `put` does."""
        await self.aput_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages, all or none."""
        self._save(_added(messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages, all or none."""
        await self._asave(_added(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Make the conversation consist of these messages.

        Those that it has already are the same messages still; only the others are remembered anew. What was remembered
        from messages that go stays, as it does on `reset`. Notes that `get` has shown are left out.
        """
        self._save(Write(from_llamaindex(*messages), anew=True))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Make the conversation consist of these messages, as `set` does."""
        await self._asave(Write(from_llamaindex(*messages), anew=True))

    def reset(self) -> None:
        """Remove the conversation. What was remembered from it stays, until it is forgotten."""
        self._session.sync.clear()
        self._cleared()

    async def areset(self) -> None:
        """Remove the conversation, as `reset` does."""
        await self._session.clear()
        self._cleared()

    def _cleared(self) -> None:
        self._recalls.clear()
        self._unsaved.clear()

    def _save(self, *said: Write) -> None:
        """Write what waits, and this; what the store does not take waits for the next call."""
        writes = self._unsaved.due(*said)
        for done, write in enumerate(writes):
            try:
                self._recalls.heard(carry_out(self._session, write))
            except TieredMemoryError as error:
                self._unwritten(writes[done:], error)
                return
            self._unsaved.written(write)

    async def _asave(self, *said: Write) -> None:
        writes = self._unsaved.due(*said)
        for done, write in enumerate(writes):
            try:
                self._recalls.heard(await acarry_out(self._session, write))
            except TieredMemoryError as error:
                self._unwritten(writes[done:], error)
                return
            self._unsaved.written(write)

    def _unwritten(self, writes: Sequence[Write], error: TieredMemoryError) -> None:
        if isinstance(error, InvalidInput):  # it must keep no other back
            self._unsaved.written(writes[0])
            self._unsaved.wait(writes[1:])
        forgive(error, "store what was said", self.on_error)
        self._unsaved.wait(writes)

    # -- serialising ---------------------------------------------------------------------------------------------------

    @field_serializer("memory")
    def _by_reference(self, memory: MemorySystem) -> str:
        return memory.reference

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return what `from_dict` makes the same memory of, in this process or in another.

        Raises:
            ConfigError: The memory cannot be found again; registering it under a name mends that.
        """
        _ = self.memory.reference  # said here, because pydantic would wrap the error
        return super().to_dict(**{"mode": "json", **kwargs})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what `to_dict` says."""
        return type(self).from_dict, (self.to_dict(),)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return another object for the same conversation of the same memory."""
        return self.model_copy()

    @property
    def _session(self) -> Session:
        return self.memory.session(self.user_id, self.session_id, agent_id=self.agent_id, max_tokens=self.max_tokens)

    def _asked(self, initial_token_count: int) -> dict[str, Any]:
        """Return what every context is asked for."""
        budget = self.memory.sync.settings.working.max_tokens if self.max_tokens is None else self.max_tokens
        left = min(budget, max(budget - initial_token_count, _LEAST_TOKENS))
        return {"max_tokens": left, "k": self.k, "filter": self.filter, "min_score": self.min_score}


def _memories(known: Recall | None) -> tuple[ScoredMemory, ...] | None:
    return None if known is None else known.memories


def _added(messages: Sequence[ChatMessage]) -> Write:
    return Write(tuple(replace(message, id=new_id()) for message in from_llamaindex(*messages)))
