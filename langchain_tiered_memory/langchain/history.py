"""A session as LangChain's chat message history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_tiered_memory.faces import Session
from langchain_tiered_memory.langchain.arguments import a_memory
from langchain_tiered_memory.langchain.messages import from_langchain, to_langchain
from langchain_tiered_memory.system import MemorySystem

__all__ = ["TieredChatMessageHistory"]


class TieredChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, kept until they are cleared, and remembered as they are added.

    `messages` is the whole transcript, every message as it was added, bit for bit, also after a restart. With
    `max_tokens` it is the window: the end of the transcript that fits, system messages first, in whole turns, no tool
    result without its call. The transcript itself is never cut; `transcript()` returns it in either case.

    Holds nothing but its address, so any number of them, in any process, may stand for one session.
    """

    def __init__(
        self,
        memory: MemorySystem,
        user_id: str,
        session_id: str,
        *,
        agent_id: str | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Say whose history it is; nothing is read or written yet.

        Args:
            memory: The memory that keeps it.
            user_id: Whose.
            session_id: Which conversation.
            agent_id: The agent that speaks in it.
            max_tokens: The budget of `messages`; None is no budget.

        Raises:
            InvalidInput: An argument cannot be used.
        """
        super().__init__()
        self._windowed = max_tokens is not None
        self._memory = a_memory(memory)
        self._address: dict[str, Any] = {
            "user_id": user_id,
            "session_id": session_id,
            "agent_id": agent_id,
            "max_tokens": max_tokens,
        }
        _ = self._session  # refuses what cannot be one

    @property
    def _session(self) -> Session:
        return self._memory.session(**self._address)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override] # a variable there, read only here
        """The transcript, or the window when there is a budget."""
        session = self._session.sync
        return to_langchain(session.window() if self._windowed else session.transcript())

    async def aget_messages(self) -> list[BaseMessage]:
        """Return what `messages` is."""
        session = self._session
        return to_langchain(await (session.window() if self._windowed else session.transcript()))

    def transcript(self) -> list[BaseMessage]:
        """Return every message of the session, oldest first."""
        return to_langchain(self._session.sync.transcript())

    async def atranscript(self) -> list[BaseMessage]:
        """Return every message of the session, oldest first."""
        return to_langchain(await self._session.transcript())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, all or none; one whose id is in the session already is the same message.

        Raises:
            InvalidInput: One of them cannot be kept; nothing was added.
            BackendUnavailable: The store did not take them.
        """
        self._session.sync.add(*from_langchain(*messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, as `add_messages` does."""
        await self._session.add(*from_langchain(*messages))

    def clear(self) -> None:
        """Remove the transcript. What was remembered from it stays, until it is forgotten."""
        self._session.sync.clear()

    async def aclear(self) -> None:
        """Remove the transcript, as `clear` does."""
        await self._session.clear()
