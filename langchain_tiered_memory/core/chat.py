"""A session of a user, blocking: what one talks to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_tiered_memory.core import asking, inputs
from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS
from langchain_tiered_memory.core.model import Context, Message, ScoredMemory
from langchain_tiered_memory.core.observing import observed
from langchain_tiered_memory.core.opening import Opening
from langchain_tiered_memory.core.patience import waiting_at_most
from langchain_tiered_memory.core.shown import Shown
from langchain_tiered_memory.core.summary import Summary


@dataclass(frozen=True, slots=True)
class Address:
    """Which conversation, and how much of it fits.

    Attributes:
        user_id: Whose.
        session_id: Which.
        agent_id: The agent that speaks in it.
        max_tokens: Budget of its windows and contexts.
    """

    user_id: str
    session_id: str
    agent_id: str | None
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Used:
    """What of a budget was taken when it was counted last.

    Attributes:
        what: "window" or "context".
        tokens: What it cost.
        max_tokens: The budget.
    """

    what: str
    tokens: int
    max_tokens: int


_MOST_USED = 10_000
"""Sessions of which it is kept in mind."""


@observed(add="add", context="context")
class Chats:
    """What sessions do, by address; sessions themselves hold nothing else."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._used: OrderedDict[tuple[str, str], Used] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, at: Address, messages: Sequence[object]) -> tuple[Message, ...]:
        """Append messages; see `SyncSession.add`."""
        rooms = self._opening.writable(at.user_id)
        rooms.sessions.note_budget(at.user_id, at.session_id, at.max_tokens)
        added = rooms.sessions.add(at.user_id, at.session_id, at.agent_id, messages)
        rooms.background.wake(at.user_id)
        return added

    def window(self, at: Address) -> tuple[Message, ...]:
        """Return the window; see `SyncSession.window`."""
        rooms = self._opening.rooms()
        rooms.sessions.note_budget(at.user_id, at.session_id, at.max_tokens)
        return rooms.sessions.window(at.user_id, at.session_id, at.max_tokens)

    def transcript(self, at: Address) -> tuple[Message, ...]:
        """Return the transcript; see `SyncSession.transcript`."""
        return self._opening.rooms().sessions.transcript(at.user_id, at.session_id)

    def tokens(self, at: Address) -> int:
        """Return what the window costs; see `SyncSession.tokens`."""
        tokens = self._opening.rooms().sessions.tokens(self.window(at))
        self._note(at, Used("window", tokens, at.max_tokens))
        return tokens

    def context(
        self,
        at: Address,
        query: str | None,
        max_tokens: int | None,
        k: int,
        *,
        filter: Mapping[str, Any] | None,
        min_score: float | str,
        speakers: Mapping[str, str] | None,
        recalled: Sequence[ScoredMemory] | None,
    ) -> Context:
        """Return the context; see `SyncSession.context`."""
        budget = at.max_tokens if max_tokens is None else inputs.count("max_tokens", max_tokens, LEAST_WINDOW_TOKENS)
        rooms = self._opening.ready()
        rooms.sessions.note_budget(at.user_id, at.session_id, at.max_tokens)
        asked = "" if query is None else query
        question = asking.question(
            at.user_id,
            asked,
            k,
            session_id=at.session_id,
            agent_id=at.agent_id,
            filter=filter,
            min_score=min_score,
            weights=rooms.parts.weights,
        )
        hits = None if recalled is None else asking.hits("recalled", recalled, at.user_id)
        called = asking.names("speakers", speakers)
        limits = rooms.parts.settings.servers
        with waiting_at_most(limits.redis_deadline.total_seconds(), limits.sql_deadline.total_seconds()):
            built = rooms.contexts.build(at.session_id, question, budget, called, hits)
        self._note(at, Used("context", built.tokens, budget))
        return built

    def clear(self, at: Address) -> int:
        """Remove the transcript; see `SyncSession.clear`."""
        with self._lock:
            self._used.pop((at.user_id, at.session_id), None)
        rooms = self._opening.rooms()
        rooms.summaries.drop(at.user_id, [at.session_id])
        cleared = rooms.parts.transcripts.clear(at.user_id, at.session_id)
        rooms.summaries.drop(at.user_id, [at.session_id])  # one that was made meanwhile
        return cleared

    def summary(self, at: Address, *, refresh: bool) -> Summary | None:
        """Return the summary; see `SyncSession.summary`."""
        if inputs.flag("refresh", refresh):
            rooms = self._opening.writable(at.user_id)
            rooms.sessions.note_budget(at.user_id, at.session_id, at.max_tokens)
            rooms.summaries.refresh(at.user_id, at.session_id)
        return self._opening.rooms().summaries.read(at.user_id, at.session_id)

    def used(self, at: Address) -> Used | None:
        """Return what was counted last, in this process; see `SyncSession.used`."""
        return self._used.get((at.user_id, at.session_id))

    def _note(self, at: Address, used: Used) -> None:
        with self._lock:
            self._used[at.user_id, at.session_id] = used
            self._used.move_to_end((at.user_id, at.session_id))
            if len(self._used) > _MOST_USED:
                self._used.popitem(last=False)


@dataclass(frozen=True, slots=True)
class SyncSession(Shown):
    """One conversation of a user. Holds nothing but its address: any number of objects may stand for one session.

    Attributes:
        address: Which conversation it is.
    """

    _chats: Chats
    address: Address

    @property
    def used(self) -> Used | None:
        """What the window or context that was counted last in this process cost; None before. Nothing is read."""
        return self._chats.used(self.address)

    def add(self, *messages: Any) -> tuple[Message, ...]:
        """Append messages (`Message` or OpenAI-style dicts) to the transcript, and return them with ids and times.

        Messages of user and assistant with text are remembered as episodes under their own ids at once. Each call
        adds its messages, even when equal to earlier ones; only a message with an id that is in the session already
        is the same message. All or none reach the transcript.

        Raises:
            InvalidInput: A message cannot be used; nothing was added.
        """
        return self._chats.add(self.address, messages)

    def window(self) -> tuple[Message, ...]:
        """Return the end of the transcript inside the budget: system messages, then whole turns, oldest first."""
        return self._chats.window(self.address)

    def transcript(self) -> tuple[Message, ...]:
        """Return every message of the session, oldest first, as it was added."""
        return self._chats.transcript(self.address)

    def tokens(self) -> int:
        """Return what the window costs as a prompt, in tokens."""
        return self._chats.tokens(self.address)

    def context(
        self,
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        min_score: float | str = 0.0,
        speakers: Mapping[str, str] | None = None,
        recalled: Sequence[ScoredMemory] | None = None,
    ) -> Context:
        """Return what to show the model: the window, and what is recalled for the query, inside one budget.

        The user's current preferences are in it whatever is asked, within `WorkingSettings.standing_share`: they
        resemble no question that they matter for. What an assistant said is none, and the filter holds for them too.

        Args:
            query: What to recall for; None takes the last user message.
            max_tokens: The budget, by default the session's.
            k: How many memories to recall at most.
            filter: Which memories may be recalled, as in `recall`.
            min_score: The least score, as in `recall`: "auto" lets a prompt go without notes that answer nothing.
            speakers: What `text` calls a role instead of its own name, such as `{"user": "Human"}`.
            recalled: The `memories` of an earlier context, to show again instead of recalling: no model is asked and
                no access counted, which a framework that asks several times a turn should cause once.
        """
        return self._chats.context(
            self.address,
            query,
            max_tokens,
            k,
            filter=filter,
            min_score=min_score,
            speakers=speakers,
            recalled=recalled,
        )

    def summary(self, *, refresh: bool = False) -> Summary | None:
        """Return the summary of what left the window, as it was last made; None without one.

        There are summaries where `WorkingSettings.summary_tokens` says so. `maintain` makes them, in the background
        too, from the summary so far and what has left since: a language model's (`MemorySystem(llm=…)`), or without one
        the most important statements. The transcript is never changed, and messages that were forgotten are left out.

        Args:
            refresh: Bring it up to date first, which may ask the model; where that fails, the old one is returned.
        """
        return self._chats.summary(self.address, refresh=refresh)

    def clear(self) -> int:
        """Remove the transcript and return how many messages it had. What was remembered from it stays."""
        return self._chats.clear(self.address)
