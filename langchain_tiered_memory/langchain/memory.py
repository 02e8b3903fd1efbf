"""The memory of a classic chain: `ConversationChain`, `LLMChain`, `ConversationalRetrievalChain`, `AgentExecutor`."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import ConfigDict, PrivateAttr

from langchain_tiered_memory.core.errors import (
    InvalidInput,
    NotInstalled,
    TieredMemoryError,
)
from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.faces import Session
from langchain_tiered_memory.langchain.arguments import a_question
from langchain_tiered_memory.langchain.failing import OnError, forgive
from langchain_tiered_memory.langchain.messages import said, to_langchain
from langchain_tiered_memory.system import MemorySystem

try:
    from langchain_classic.base_memory import BaseMemory
    from langchain_classic.memory.utils import get_prompt_input_key
except ImportError as error:
    raise NotInstalled("TieredMemory", "LangChain's classic chains", "langchain-classic") from error

__all__ = ["TieredMemory"]

logger = logging.getLogger("langchain_tiered_memory.langchain")


class _Turn(NamedTuple):
    """A turn, and where it belongs, which a copy of the memory or a new `user_id` must not change."""

    user_id: str
    session_id: str
    agent_id: str | None
    max_tokens: int | None
    messages: tuple[Message, ...]

    def session(self, memory: MemorySystem) -> Session:
        return memory.session(self.user_id, self.session_id, agent_id=self.agent_id, max_tokens=self.max_tokens)


class TieredMemory(BaseMemory):
    """Gives a chain the end of its conversation and what is remembered of the user, and remembers each turn.

    Both together stay inside `max_tokens`, exactly. A turn is kept in the session's transcript and remembered at once;
    only what the user said and the chain answered is stored, never what was recalled for it.

    Attributes:
        memory: The memory that keeps it.
        user_id: Whose conversation it is.
        session_id: Which conversation; another session of the user recalls what was said in this one.
        agent_id: The agent that speaks in it.
        k: How many memories to recall at most.
        filter: Which memories may be recalled, as in `MemorySystem.recall`.
        min_score: The least score of what is recalled; "auto" recalls only what is relevant enough to be an answer.
        max_tokens: The budget of what the chain is given; None is the memory's own setting.
        memory_key: The prompt's variable.
        input_key: Which input is what the user said; None finds the only one there is.
        output_key: Which output is the answer; None finds the only one there is, or the one named "output".
        return_messages: Whether the prompt takes messages instead of text.
        human_prefix: What the text calls the user.
        ai_prefix: What the text calls the model.
        on_error: When a store fails, "warn" logs it and lets the chain answer, without memories if need be, and keeps
            the turn to store it with the next one; "raise" raises. What is set up in a way that cannot work always
            raises.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: MemorySystem
    user_id: str
    session_id: str = "default"
    agent_id: str | None = None
    k: int = 5
    filter: dict[str, Any] | None = None
    min_score: float | str = 0.0
    max_tokens: int | None = None
    memory_key: str = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    on_error: OnError = "warn"

    _unsaved: deque[_Turn] = PrivateAttr(default_factory=deque)

    def model_post_init(self, context: Any, /) -> None:
        """Refuse at once what cannot work; nothing is read or written yet."""
        super().model_post_init(context)
        a_question(self.k, agent_id=self.agent_id, filter=self.filter, min_score=self.min_score)
        if self.memory_key in {self.input_key, self.output_key}:
            raise InvalidInput("memory_key", self.memory_key, "a variable of its own is needed")
        _ = self._session

    @property
    def memory_variables(self) -> list[str]:
        """The one variable that the prompt is given."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the window and what is recalled for the input, inside the budget: text, or messages.

        Raises:
            TieredMemoryError: Reading failed, and `on_error` is "raise".
        """
        session = self._session
        self._save(self._taken())
        try:
            found = session.sync.context(self._query(inputs), **self._asked)
        except TieredMemoryError as error:
            forgive(error, "be read", self.on_error)
            return {self.memory_key: [] if self.return_messages else ""}
        return {self.memory_key: to_langchain(found.messages) if self.return_messages else found.text}

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what `load_memory_variables` does."""
        session = self._session
        await self._asave(self._taken())
        try:
            found = await session.context(self._query(inputs), **self._asked)
        except TieredMemoryError as error:
            forgive(error, "be read", self.on_error)
            return {self.memory_key: [] if self.return_messages else ""}
        return {self.memory_key: to_langchain(found.messages) if self.return_messages else found.text}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Remember a turn: what the user said and what the chain answered, and nothing else of its inputs.

        Raises:
            ValueError: It is not clear which input or output is meant.
            TieredMemoryError: Storing failed, and `on_error` is "raise".
        """
        self._save(self._taken(self._turn(inputs, outputs)))

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Remember a turn, as `save_context` does."""
        await self._asave(self._taken(self._turn(inputs, outputs)))

    def clear(self) -> None:
        """Remove the session's transcript. What was remembered from it is kept, until it is forgotten."""
        self._drop()
        self._cleared(self._session.sync.clear())

    async def aclear(self) -> None:
        """Remove the session's transcript, as `clear` does."""
        self._drop()
        self._cleared(await self._session.clear())

    @property
    def _session(self) -> Session:
        return self._said(()).session(self.memory)

    def _said(self, messages: tuple[Message, ...]) -> _Turn:
        return _Turn(self.user_id, self.session_id, self.agent_id, self.max_tokens, messages)

    @property
    def _asked(self) -> dict[str, Any]:
        speakers = {"user": self.human_prefix, "assistant": self.ai_prefix, "system": "System", "tool": "Tool"}
        return {"k": self.k, "filter": self.filter, "min_score": self.min_score, "speakers": speakers}

    def _query(self, inputs: dict[str, Any]) -> str | None:
        """Return what the user says now, if it is clear which input that is."""
        keys = [key for key in inputs if key not in {self.memory_key, "stop"}]
        key = self.input_key or (keys[0] if len(keys) == 1 else None)
        texts = [message.text for message in said("user", inputs[key])] if key in inputs else []
        return "\n".join(texts) or None

    def _turn(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> _Turn:
        _ = self._session  # a copy of a memory may have been given what cannot be one
        asked = self.input_key or get_prompt_input_key(inputs, self.memory_variables)
        return self._said((*said("user", inputs[asked]), *said("assistant", outputs[self._output_key(outputs)])))

    def _output_key(self, outputs: dict[str, Any]) -> str:
        if self.output_key is not None:
            return self.output_key
        if len(outputs) == 1:
            return next(iter(outputs))
        if "output" in outputs:
            return "output"
        raise ValueError(f"Got multiple output keys: {list(outputs)}, cannot tell which to store: set output_key")

    # -- turns that a failing store has not taken yet ----------------------------------------------------------------

    def _taken(self, *turns: _Turn) -> list[_Turn]:
        """Return the turns to store now: those that wait, then these."""
        waiting = []
        with suppress(IndexError):
            while True:
                waiting.append(self._unsaved.popleft())
        return [*waiting, *turns]

    def _drop(self) -> None:
        """Let no turn of this session wait any longer."""
        others = [one for one in self._taken() if one[:2] != (self.user_id, self.session_id)]
        self._unsaved.extendleft(reversed(others))

    def _save(self, turns: Sequence[_Turn]) -> None:
        for done, turn in enumerate(turns):
            try:
                turn.session(self.memory).sync.add(*turn.messages)
            except TieredMemoryError as error:
                self._unstored(turns[done:], error)
                return

    async def _asave(self, turns: Sequence[_Turn]) -> None:
        for done, turn in enumerate(turns):
            try:
                await turn.session(self.memory).add(*turn.messages)
            except TieredMemoryError as error:
                self._unstored(turns[done:], error)
                return

    def _unstored(self, turns: Sequence[_Turn], error: TieredMemoryError) -> None:
        """Let turns wait for the next call; their ids make a turn that was stored all the same no second one."""
        forgive(error, "store a turn", self.on_error)
        kept = turns[1:] if isinstance(error, InvalidInput) else turns  # one that never can be stored must not wait
        self._unsaved.extendleft(reversed(kept))

    @staticmethod
    def _cleared(messages: int) -> None:
        logger.info("%d messages of the session are gone; what was remembered from them stays", messages)
