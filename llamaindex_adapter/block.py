"""The memory as a block of LlamaIndex's own `Memory`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, field_serializer
from llama_index.core.memory import BaseMemoryBlock

from langchain_tiered_memory import InvalidInput, MemorySystem, Message, TieredMemoryError
from langchain_tiered_memory.core.prompt import fit_memories, shorten_block
from llamaindex_adapter.counting import LlamaIndexCounter
from llamaindex_adapter.failing import forgive
from llamaindex_adapter.messages import from_llamaindex

__all__ = ["TieredMemoryBlock"]

logger = logging.getLogger("llamaindex_adapter.block")

_SESSION = "session_id"
"""The keyword under which LlamaIndex writes a message's session."""
_NO_SESSION = "llamaindex"
"""The session of messages that bear no other."""
_NOWHERE = "llamaindex: no conversation"
"""A session in which nothing is ever said: its window hides nothing."""
_MOST_SEEN = 10_000
"""So many messages are known to be stored without asking the store again."""

_Said = tuple[str, Message]
"""A message and the session in which it was said."""


class TieredMemoryBlock(BaseMemoryBlock[str]):
    """Gives LlamaIndex's `Memory` what is remembered of a user, and remembers what is said there.

    `Memory.from_defaults(memory_blocks=[TieredMemoryBlock(memory, "ada")])`. Messages are remembered when the block
    first sees them, in the prompt of the next turn or on their way out of the short-term memory, so that another
    session knows of them at once. LlamaIndex gives its messages no ids: equal messages of one session are one.

    The user's standing preferences are noted whatever is asked, and after them what is recalled. A store that fails
    costs the notes of a turn and never the turn: it is logged, and messages that could not be stored are stored with
    the next ones; only what will never work, such as a filter that means nothing, raises. Where LlamaIndex has too
    little room, the block becomes shorter, the least relevant notes first.

    An agent's `Context` does not keep LlamaIndex's `Memory` from one run to the next: pass it to every run.

    Attributes:
        memory: The memory that is asked and told.
        user_id: Whose; one block belongs to one user, in any number of sessions.
        agent_id: The agent that speaks there.
        k: How many memories to recall at most.
        filter: Which memories may be recalled, as in `MemorySystem.recall`.
        min_score: The least score of what is recalled; "auto" recalls only what is relevant enough to be an answer.
        max_tokens: The most that the block may cost, in tokens as LlamaIndex counts them.
        priority: LlamaIndex shortens blocks in this order, and never one of priority 0.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = "tiered_memory"
    priority: int = 1
    memory: MemorySystem
    user_id: str
    agent_id: str | None = None
    k: int = Field(default=5, ge=1)
    filter: dict[str, Any] | None = None
    min_score: float | str = 0.0
    max_tokens: int = Field(default=1000, ge=1)

    _counter: LlamaIndexCounter = PrivateAttr(default_factory=LlamaIndexCounter)
    _seen: OrderedDict[str, None] = PrivateAttr(default_factory=OrderedDict)
    _unsaved: deque[_Said] = PrivateAttr(default_factory=deque)

    def __init__(self, memory: MemorySystem | str | Path, user_id: str, **fields: Any) -> None:
        """Say whose memory it is; nothing is read or written yet.

        Args:
            memory: The memory, or what `MemorySystem.at` finds it by.
            user_id: Whose.
            **fields: The other attributes, and those of every block of LlamaIndex: `name`, `description`, `priority`,
                `accept_short_term_memory` (False: nothing is remembered, only recalled).

        Raises:
            ConfigError: No memory is found by that name.
            InvalidInput: An argument cannot be used.
        """
        found = memory if isinstance(memory, MemorySystem) else MemorySystem.at(memory)
        found.session(user_id, _NO_SESSION, agent_id=fields.get("agent_id"))  # refuses what cannot be used
        values: dict[str, Any] = {"memory": found, "user_id": user_id, **fields}
        super().__init__(**values)

    @field_serializer("memory")
    def _by_reference(self, memory: MemorySystem) -> str:
        return memory.reference

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what stands and what is recalled for the latest user message, but nothing that is shown anyway."""
        shown = _said(messages or [], block_kwargs.get(_SESSION))
        asked = [message.text for _, message in shown if message.role == "user"]
        notes = await self._noted(asked[-1], [str(message.id) for _, message in shown]) if asked else ""
        if self.accept_short_term_memory:
            await self._remember(shown)
        return notes

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self._remember(_said(messages, None))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the notes shortened by so many tokens; None when there is no room for any."""
        given: object = content
        if not isinstance(given, str):  # LlamaIndex passes [] for a block that had nothing to say
            return None
        left = self._counter.text(content) - tokens_to_truncate
        return shorten_block(content, left, self._counter) or None

    async def _noted(self, query: str, shown: Sequence[str]) -> str:
        filters: list[Any] = [{"id": {"$nin": shown}}, *([] if self.filter is None else [self.filter])]
        asked: dict[str, Any] = {"filter": {"$and": filters}, "min_score": self.min_score}
        try:
            nowhere = self.memory.session(self.user_id, _NOWHERE, agent_id=self.agent_id)
            standing = (await nowhere.context(recalled=(), **asked)).standing
            hits = await self.memory.recall(self.user_id, query, self.k, agent_id=self.agent_id, **asked)
        except TieredMemoryError as error:
            forgive(error, "be read", "warn")
            return ""
        fresh = {one.id: one for one in standing if not {*one.source_ids} & {*shown}}
        notes = [*fresh.values(), *(hit for hit in hits if hit.id not in fresh)]
        block, _ = await asyncio.to_thread(fit_memories, notes, self.max_tokens, self._counter)
        return block

    async def _remember(self, said: Iterable[_Said]) -> None:
        waiting: list[_Said] = []
        with suppress(IndexError):  # other threads may take some
            while True:
                waiting.append(self._unsaved.popleft())
        fresh = {one.id: (session, one) for session, one in (*waiting, *said) if one.id not in self._seen}
        try:
            for session, group in groupby(fresh.values(), key=lambda one: one[0]):
                try:
                    await self._store(session, [message for _, message in group])
                except TieredMemoryError as error:
                    forgive(error, "store what was said", "warn")
        finally:  # also when this was given up
            self._unsaved.extend(one for name, one in fresh.items() if name not in self._seen)

    async def _store(self, session_id: str, messages: Sequence[Message]) -> None:
        session = self.memory.session(self.user_id, session_id, agent_id=self.agent_id)
        try:
            await session.add(*messages)
        except InvalidInput as error:
            if len(messages) > 1:
                for message in messages:
                    await self._store(session_id, [message])
                return
            logger.warning("a message cannot be remembered: %s", error)
        self._seen.update((str(message.id), None) for message in messages)
        while len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)


def _said(messages: Sequence[ChatMessage], session_id: str | None) -> list[_Said]:
    """Return messages as ours, each with the session it was said in and an id that follows from what it says there."""
    return [_one(message, session_id) for message in messages]


def _one(message: ChatMessage, session_id: str | None) -> _Said:
    kwargs = {name: value for name, value in message.additional_kwargs.items() if name != _SESSION}
    session = session_id or str(message.additional_kwargs.get(_SESSION) or _NO_SESSION)
    (ours,) = from_llamaindex(message.model_copy(update={"additional_kwargs": kwargs}))
    words = [session, ours.role, ours.content, list(ours.tool_calls), ours.tool_call_id]
    return session, replace(ours, id=sha256(json.dumps(words).encode()).hexdigest())
