"""The prompt of a session: its window and what was recalled for it, inside one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS
from langchain_tiered_memory.core.cutting import cut_text
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Context, Memory, Message, ScoredMemory
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.prompt import fit_memories, transcript_text
from langchain_tiered_memory.core.question import Question
from langchain_tiered_memory.core.recall import Recall
from langchain_tiered_memory.core.search import Window
from langchain_tiered_memory.core.sessions import Sessions, window_of
from langchain_tiered_memory.core.standing import Standing
from langchain_tiered_memory.core.summaries import Summaries
from langchain_tiered_memory.core.working import prompt_tokens

_TRIES = 8
_LEAST_FOR_MEMORIES = 80
"""A budget below this belongs to the conversation alone."""


@dataclass(frozen=True, slots=True)
class _Notes:
    """What a prompt quotes from memory: the message, and which memories are in it."""

    block: Message | None
    hits: tuple[ScoredMemory, ...]
    standing: tuple[Memory, ...]


_NONE = _Notes(None, (), ())


@dataclass(frozen=True, slots=True)
class Contexts:
    """Builds contexts. Reads only, but for the access of the memories that found room.

    A summary of what left the window, where there is one, takes its part of the budget first.
    """

    parts: Parts
    sessions: Sessions
    recall: Recall
    standing: Standing
    summaries: Summaries

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
        notes = _NONE
        if recalled is not None:
            recalled = self.recall.still_there(user_id, recalled)
        earlier = self.summaries.block(user_id, session_id, max_tokens)
        room = max_tokens - (0 if earlier is None else self.parts.counter.message(earlier))
        if room >= _LEAST_FOR_MEMORIES:
            notes = self._notes(session_id, question, room, recalled)
        quoted = [one for one in (earlier, notes.block) if one is not None]
        budget = room - (0 if notes.block is None else self.parts.counter.message(notes.block))
        for _ in range(_TRIES):
            shown = self.sessions.window(user_id, session_id, budget)
            system = [message for message in shown if message.role in SYSTEM_ROLES]
            rest = [message for message in shown if message.role not in SYSTEM_ROLES]
            messages = (*system, *quoted, *rest)
            text = transcript_text(messages, speakers=speakers)
            over = self.parts.counter.text(text) - max_tokens
            if over <= 0:
                break
            budget = max(budget - over, LEAST_WINDOW_TOKENS)
        else:
            text = cut_text(text, max_tokens, self.parts.counter)
        hits = notes.hits
        if hits and recalled is None:
            hits = self.recall.count_access(user_id, hits)
        return Context(messages, text, prompt_tokens(messages, self.parts.counter), tuple(hits), notes.standing)

    def _notes(
        self, session_id: str, question: Question, max_tokens: int, recalled: Sequence[ScoredMemory] | None
    ) -> _Notes:
        """Return what is standing and what was recalled as one message: none that the window shows beside it.

        What the notes leave of their share goes to the window, which may then reach back to one of them. Nothing
        takes the place of such a one: the window could lose again what it showed.
        """
        share = int(max_tokens * self.parts.settings.working.memory_share)
        sure = self.sessions.window(question.user_id, session_id, max_tokens - share)
        window = window_of(session_id, sure)
        hits = self._hits(question, sure, window, recalled)
        standing = self._standing(question, window, max_tokens)
        first = {one.id for one in standing}
        notes: Sequence[Memory] = [*standing, *(hit for hit in hits if hit.id not in first)]
        while notes:
            block, kept = self._block(notes, share)
            if block is None:
                break
            budget = max_tokens - self.parts.counter.message(block)
            beside = window_of(session_id, self.sessions.window(question.user_id, session_id, budget))
            notes = [one for one in kept if not beside.shows(one)]
            if len(notes) == len(kept):
                there = {one.id for one in kept}
                return _Notes(
                    block,
                    tuple(hit for hit in hits if hit.id in there),
                    tuple(one for one in standing if one.id in there),
                )
        return _NONE

    def _standing(self, question: Question, window: Window, max_tokens: int) -> tuple[Memory, ...]:
        """Return the standing preferences that fit into their share of the budget."""
        share = int(max_tokens * self.parts.settings.working.standing_share)
        if share == 0:
            return ()
        found = self.standing.find(question, window)
        return fit_memories(found, share, self.parts.counter)[1]

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

    def _block(self, notes: Sequence[Memory], share: int) -> tuple[Message | None, tuple[Memory, ...]]:
        """Return the first notes as one message of quoted data that costs at most `share`, and which they are."""
        frame = self.parts.counter.message(Message("system", ""))
        block, kept = fit_memories(notes, share - frame, self.parts.counter)
        message = Message("system", block)
        if not kept or self.parts.counter.message(message) > share:
            return None, ()
        return message, kept
