"""Rolling summaries of sessions: what left the window, summed up behind the talk, never in its way.

`add`, `window` and `context` make none: `context` only reads what `maintain`, or an explicit call, made. Each step sums
up the summary so far and the messages that have left the window since; a step that fails leaves both as they were.

What is written is checked once more afterwards. Whoever clears a session or forgets a message removes the summaries
after that; so one of the two sees the other, and nothing that is gone is told by a summary that was on its way.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from langchain_tiered_memory.core.errors import ExtractionError, InvalidInput
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import StoredMessage, Summarizer
from langchain_tiered_memory.core.prompt import fit_summary, quote_message
from langchain_tiered_memory.core.sessions import Sessions, apart_id
from langchain_tiered_memory.core.summary import (
    TOLD_BY,
    Spending,
    State,
    Summary,
    allowance,
    block_of,
    by_rules,
    covers,
    extended,
    from_message,
    is_talk,
    place_of,
    summed_up,
    sure_tokens,
    to_message,
)

logger = logging.getLogger("langchain_tiered_memory.summaries")

_PAGE = 1_000
_LATEST = 8
"""Summaries looked at for the one that reaches furthest: two processes may have written at once."""
_MOST_KEPT = 64
"""After so many, the earlier ones are removed."""
_LONGEST_ANSWER = 50_000
_LOOKED = 10_000


class Summaries:
    """Reads, makes and removes summaries. Thread-safe; holds nothing but which sessions need no look."""

    def __init__(self, parts: Parts, sessions: Sessions) -> None:
        self._parts = parts
        self._sessions = sessions
        self._settings = parts.settings.working
        self._looked: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._lock = threading.Lock()

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self, user_id: str, session_id: str) -> Summary | None:
        """Return the session's summary as it was last made; None without one."""
        state = self._state(user_id, session_id)
        return None if state is None else state.shown

    def block(self, user_id: str, session_id: str, max_tokens: int) -> Message | None:
        """Return the summary as a message of quoted data for a context; None where there is none, or no need of it.

        Args:
            user_id: Whose.
            session_id: Which.
            max_tokens: The budget of the whole context.
        """
        state = self._state(user_id, session_id)
        if state is None:
            return None
        block = block_of(state, allowance(self._settings, max_tokens), self._parts.counter)
        if not block:
            return None
        sure = self._sessions.window(user_id, session_id, sure_tokens(self._settings, max_tokens))
        return None if covers(state, sure) else Message("system", block)

    def _state(self, user_id: str, session_id: str) -> State | None:
        """Return the summary that reaches furthest, if the transcript still has what it covers."""
        if not self._settings.summary_tokens:
            return None
        kept = self._kept(user_id, session_id)
        state = max(kept, key=lambda one: one.position, default=None)
        return state if state is not None and self._stands(user_id, session_id, state.position) else None

    def _kept(self, user_id: str, session_id: str) -> list[State]:
        rows = self._parts.transcripts.tail(user_id, place_of(session_id), before=None, limit=_LATEST)
        return [state for row in rows if (state := from_message(row.message)) is not None]

    def _stands(self, user_id: str, session_id: str, position: int) -> bool:
        rows = self._parts.transcripts.tail(user_id, session_id, before=position + 1, limit=1)
        return bool(rows) and rows[0].position == position

    # -- making ----------------------------------------------------------------------------------------------------

    def refresh(self, user_id: str, session_id: str) -> Spending:
        """Bring one session's summary up to date, and say what that took."""
        spending = Spending(self._settings.summary_calls)
        if self._settings.summary_tokens:
            self._refresh(user_id, session_id, spending)
        return spending

    def refresh_all(self, user_id: str, *, models: bool) -> Spending:
        """Bring up to date the summaries of all sessions in which something was said; remove those left of others.

        Args:
            user_id: Whose.
            models: Whether a model may be asked; otherwise its sessions wait.
        """
        spending = Spending(self._settings.summary_calls)
        counts = self._parts.transcripts.sessions(user_id)
        for place in counts:
            if summed_up(place) not in {None, *counts}:
                self._parts.transcripts.clear(user_id, place)
        if not self._settings.summary_tokens or (self._parts.summarizer is not None and not models):
            return spending
        for session_id, count in counts.items():
            if spending.over:
                break
            fresh = summed_up(session_id) is None and self._looked.get((user_id, session_id)) != count
            if fresh and self._refresh(user_id, session_id, spending):
                self._note(user_id, session_id, count)
        return spending

    def _note(self, user_id: str, session_id: str, count: int) -> None:
        with self._lock:
            self._looked[user_id, session_id] = count
            self._looked.move_to_end((user_id, session_id))
            if len(self._looked) > _LOOKED:
                self._looked.popitem(last=False)

    def _refresh(self, user_id: str, session_id: str, spending: Spending) -> bool:
        """Sum up what has left the window; return whether nothing is left to do."""
        state, summarizer = self._state(user_id, session_id), self._parts.summarizer
        if state is not None and summarizer is None and state.by != "rules":
            state = None  # without the model that made it, it is made anew
        try:
            rows = self._left(user_id, session_id, state)
        except InvalidInput:  # its system messages leave the window no room
            return True
        if summarizer is None:
            if not rows:
                return True
            made = by_rules(state, rows, self._settings.summary_tokens, self._parts.counter)
            return self._written(user_id, session_id, made, rows, spending)
        for chunk in self._chunks(rows):
            if spending.over:
                return False
            made_of_it = self._asked(summarizer, state, chunk, spending)
            if made_of_it is None or not self._written(user_id, session_id, made_of_it, chunk, spending):
                return False
            state = self._state(user_id, session_id)
        return True

    def _asked(
        self, summarizer: Summarizer, state: State | None, chunk: Sequence[StoredMessage], spending: Spending
    ) -> State | None:
        """Ask the model to sum up; None when it fails."""
        cap, counter = self._settings.summary_tokens, self._parts.counter
        spending.calls += 1
        spending.calls_left -= 1
        try:
            answer = summarizer.summarize("" if state is None else state.text, [one.message for one in chunk], cap)
            text = fit_summary(answer[:_LONGEST_ANSWER], cap, counter)[0]
            if not text:
                raise ExtractionError("the model gave no summary")
        except ExtractionError as error:
            logger.warning("a summary stays as it was: %s", error)
            spending.failed += 1
            spending.in_a_row += 1
            return None
        spending.in_a_row = 0
        return extended(state, chunk, text, "model")

    def _left(self, user_id: str, session_id: str, state: State | None) -> list[StoredMessage]:
        """Return what people said before what the window surely shows, and after what is summed up, oldest first."""
        budget = sure_tokens(self._settings, self._sessions.budget(user_id, session_id))
        window = self._sessions.window(user_id, session_id, budget)
        first = next((one.id for one in window if one.role not in SYSTEM_ROLES), None)
        last = 0 if state is None else state.position
        gone, left = False, list[StoredMessage]()
        for row in self._backwards(user_id, session_id):
            if row.position <= last:
                break
            if gone and row.message.role in TOLD_BY and row.message.text.strip():
                left.append(row)
            gone = gone or row.message.id == first
        forgotten = self._forgotten(user_id, session_id, left)
        return [row for row in reversed(left) if row.message.id not in forgotten]

    def _forgotten(self, user_id: str, session_id: str, rows: Iterable[StoredMessage]) -> frozenset[str | None]:
        """Return the ids of the messages whose memory was forgotten."""
        names = {
            row.message.id: (row.message.id, apart_id(session_id, row.message.id, row.message.text)) for row in rows
        }
        ids = [one for pair in names.values() for one in pair if one is not None]
        gone = self._parts.records.tombstones(user_id, ids) if ids else frozenset()
        return frozenset(one for one, pair in names.items() if not gone.isdisjoint(one for one in pair if one))

    def _backwards(self, user_id: str, session_id: str) -> Iterator[StoredMessage]:
        before: int | None = None
        while page := self._parts.transcripts.tail(user_id, session_id, before=before, limit=_PAGE):
            yield from page
            before = page[-1].position

    def _chunks(self, rows: Sequence[StoredMessage]) -> Iterator[list[StoredMessage]]:
        """Cut messages into questions of at most so many tokens; of a longer message only the beginning is read."""
        most = self._parts.settings.extraction.batch_tokens
        chunk, room = list[StoredMessage](), most
        for row in rows:
            shown, cost = self._within(row, most)
            if chunk and cost > room:
                yield chunk
                chunk, room = [], most
            chunk.append(shown)
            room -= cost
        if chunk:
            yield chunk

    def _within(self, row: StoredMessage, most: int) -> tuple[StoredMessage, int]:
        text = row.message.text[: 8 * most]
        while True:
            message = replace(row.message, content=text)
            cost = self._parts.counter.text(quote_message(message)) + 1
            if cost <= most or not text:
                return replace(row, message=message), cost
            text = text[: len(text) // 2]

    def _written(
        self, user_id: str, session_id: str, state: State, rows: Sequence[StoredMessage], spending: Spending
    ) -> bool:
        """Keep a summary, if all that it was made of is still there afterwards."""
        place, transcripts = place_of(session_id), self._parts.transcripts
        if not self._stands(user_id, session_id, state.position):
            return False
        if len(transcripts.tail(user_id, place, before=None, limit=_MOST_KEPT)) == _MOST_KEPT:
            transcripts.clear(user_id, place)
            state = replace(state, made_from=None)
        kept = StoredMessage(to_message(state), 0, 0, self._parts.counter.name, None, place)
        transcripts.append(user_id, place, [kept], placed=True)
        there = {one.id for one in self._kept(user_id, session_id)}
        true = (state.made_from is None or state.made_from in there) and self._stands(
            user_id, session_id, state.position
        )
        if not true or self._forgotten(user_id, session_id, rows):
            transcripts.clear(user_id, place)
            return False
        spending.made += 1
        return True

    # -- removing --------------------------------------------------------------------------------------------------

    def count(self, user_id: str) -> int:
        """Return how many messages keep summaries of the user's sessions."""
        sessions = self._parts.transcripts.sessions(user_id)
        return sum(many for session_id, many in sessions.items() if not is_talk(session_id))

    def drop(self, user_id: str, session_ids: Iterable[str] | None = None) -> None:
        """Remove the summaries of some sessions, or of all; they are made anew from what is left.

        Raises:
            BackendUnavailable: The store did not answer.
        """
        transcripts = self._parts.transcripts
        known = [place_of(one) for one in session_ids] if session_ids is not None else transcripts.sessions(user_id)
        for place in known:
            session_id = summed_up(place)
            if session_id is not None and transcripts.tail(user_id, place, before=None, limit=1):
                transcripts.clear(user_id, place)
                with self._lock:
                    self._looked.pop((user_id, session_id), None)
