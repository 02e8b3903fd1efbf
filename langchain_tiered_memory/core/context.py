"""The prompt of a session: its window and what was recalled for it, inside one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS
from langchain_tiered_memory.core.cutting import cut_text
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Context, Message, ScoredMemory
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.prompt import fit_memories, transcript_text
from langchain_tiered_memory.core.question import Question
from langchain_tiered_memory.core.recall import Recall
from langchain_tiered_memory.core.search import Window
from langchain_tiered_memory.core.sessions import Sessions, window_of
from langchain_tiered_memory.core.working import prompt_tokens

_TRIES = 8
_LEAST_FOR_MEMORIES = 80
"""A budget below this belongs to the conversation alone."""


@dataclass(frozen=True, slots=True)
class Contexts:
    """Builds contexts. Reads only, but for the access of the memories that found room."""

    parts: Parts
    sessions: Sessions
    recall: Recall

    def build(
        self,
        session_id: str,
        question: Question,
        max_tokens: int,
        speakers: Mapping[str, str] | None = None,
        recalled: Sequence[ScoredMemory] | None = None,
    ) -> Context:
        """Return window and memories for a question; one without words is about the last user message.

        Args:
            session_id: The session.
            question: What to recall for, and whose.
            max_tokens: The budget of everything together, in tokens.
            speakers: What the text calls a role instead of its own name.
            recalled: What to show instead of recalling, with no access counted.
        """
        user_id = question.user_id
        share = int(max_tokens * self.parts.settings.working.memory_share)
        block: Message | None = None
        kept: tuple[ScoredMemory, ...] = ()
        if recalled is not None:
            recalled = self.recall.still_there(user_id, recalled)
        if max_tokens >= _LEAST_FOR_MEMORIES:
            block, kept = self._memories(session_id, question, max_tokens, share, recalled)
        cost = 0 if block is None else self.parts.counter.message(block)
        budget = max_tokens - cost
        for _ in range(_TRIES):
            shown = self.sessions.window(user_id, session_id, budget)
            system = [message for message in shown if message.role in SYSTEM_ROLES]
            rest = [message for message in shown if message.role not in SYSTEM_ROLES]
            messages = (*system, *([block] if block else []), *rest)
            text = transcript_text(messages, speakers=speakers)
            over = self.parts.counter.text(text) - max_tokens
            if over <= 0:
                break
            budget = max(budget - over, LEAST_WINDOW_TOKENS)
        else:
            text = cut_text(text, max_tokens, self.parts.counter)
        if kept and recalled is None:
            kept = self.recall.count_access(user_id, kept)
        return Context(messages, text, prompt_tokens(messages, self.parts.counter), tuple(kept))

    def _memories(
        self,
        session_id: str,
        question: Question,
        max_tokens: int,
        share: int,
        recalled: Sequence[ScoredMemory] | None,
    ) -> tuple[Message | None, tuple[ScoredMemory, ...]]:
        """Return the recalled memories as one message, and which they are: none that the window shows beside them.

        What the memories leave of their share goes to the window, which may then reach back to one of them. Nothing
        takes the place of such a one: the window could lose again what it showed.
        """
        sure = self.sessions.window(question.user_id, session_id, max_tokens - share)
        hits = self._hits(question, sure, window_of(session_id, sure), recalled)
        while hits:
            block, kept = self._block(hits, share)
            if block is None:
                break
            budget = max_tokens - self.parts.counter.message(block)
            beside = window_of(session_id, self.sessions.window(question.user_id, session_id, budget))
            hits = [hit for hit in kept if not beside.shows(hit)]
            if len(hits) == len(kept):
                return block, kept
        return None, ()

    def _hits(
        self,
        question: Question,
        sure: tuple[Message, ...],
        window: Window,
        recalled: Sequence[ScoredMemory] | None,
    ) -> Sequence[ScoredMemory]:
        if recalled is not None:
            return [hit for hit in recalled if not window.shows(hit)]
        words = [message.text for message in sure if message.role == "user" and message.text]
        text = question.text or (words[-1] if words else "")
        return self.recall.look_up(question, text, window) if text.strip() else ()

    def _block(self, hits: Sequence[ScoredMemory], share: int) -> tuple[Message | None, tuple[ScoredMemory, ...]]:
        """Return the best hits as one message of quoted data that costs at most `share`, and which they are."""
        frame = self.parts.counter.message(Message("system", ""))
        block, kept = fit_memories(hits, share - frame, self.parts.counter)
        found = tuple(hit for hit in hits if any(hit.id == one.id for one in kept))
        message = Message("system", block)
        if not found or self.parts.counter.message(message) > share:
            return None, ()
        return message, found
