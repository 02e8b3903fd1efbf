"""Sessions: transcripts, the window over them, and the placing of their messages as episodes."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.admission import Admission, Origin
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.messages import to_message
from langchain_tiered_memory.core.model import Message, NewMemory, new_id
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import StoredMessage
from langchain_tiered_memory.core.search import Window
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.tails import Tails
from langchain_tiered_memory.core.working import prompt_tokens
from langchain_tiered_memory.core.writing import Writing

logger = logging.getLogger("langchain_tiered_memory.sessions")

_PAGE = 1_000
_BUDGETS = 10_000
"""Sessions whose budget is kept in mind; of another the settings' holds."""
_EPISODE_ROLES = frozenset({"user", "assistant"})


class Sessions:
    """Reads and writes transcripts. The window is a view of a transcript's tail; nothing moves when it overflows."""

    def __init__(self, parts: Parts, snapshots: Snapshots, admission: Admission, writing: Writing) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._admission = admission
        self._writing = writing
        self._tails = Tails(parts)
        snapshots.also_discard(self._tails.discard)
        self._budgets: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._lock = threading.Lock()

    def note_budget(self, user_id: str, session_id: str, max_tokens: int) -> None:
        """Keep in mind how large a session's window is: whoever recalls beside it names the session alone."""
        with self._lock:
            self._budgets[user_id, session_id] = max_tokens
            self._budgets.move_to_end((user_id, session_id))
            if len(self._budgets) > _BUDGETS:
                self._budgets.popitem(last=False)

    def add(
        self, user_id: str, session_id: str, agent_id: str | None, messages: Iterable[object]
    ) -> tuple[Message, ...]:
        """Append messages to the transcript, then place those of user and assistant as episodes under their own ids.

        A crash between the two, or a short-term memory that does not answer, leaves messages unplaced; the next `add`
        or `maintain` places them. They are acknowledged all the same: the transcript has them.
        """
        now = self._parts.clock()
        limit = self._parts.settings.placement.max_content_bytes
        stored = []
        for given in messages:
            message = to_message(given)
            if message.text:
                inputs.size("message.content", message.text, limit)
            message = replace(message, id=message.id or new_id(), created_at=message.created_at or now)
            stored.append(self._counted(message, agent_id, session_id))
        self._parts.transcripts.append(user_id, session_id, stored)
        try:
            self.place(user_id, session_id)
        except BackendUnavailable:
            logger.warning("%d messages are in the transcript and wait to be remembered", len(stored))
        return tuple(one.message for one in stored)

    def place(self, user_id: str, session_id: str | None, limit: int = 1_000) -> int:
        """Place unplaced messages as episodes; return how many messages were dealt with. Idempotent by message id."""
        done = 0
        while waiting := self._parts.transcripts.unplaced(user_id, session_id, limit):
            for session, group in groupby(waiting, key=lambda one: one.session_id):
                messages = list(group)
                told = self._apart(user_id, session, [_episode(one) for one in messages if _telling(one)])
                self._writing.episodes(user_id, self._admission.admit(user_id, told, _SESSION))
                self._parts.transcripts.mark_placed(user_id, session, [one.position for one in messages])
            done += len(waiting)
            if len(waiting) < limit:
                break
        return done

    def _apart(self, user_id: str, session_id: str, items: Sequence[NewMemory]) -> list[NewMemory]:
        """Give a message an id made from its own where a memory of other words or another session has that one.

        Ids need only be unique in a session, and after a `clear` they may begin anew.
        """
        snapshot, _ = self._snapshots.get(user_id)
        with snapshot.lock:
            taken = [item.id for item in items if item.id is not None and snapshot.row_of(item.id) is not None]
        stores = (self._parts.items, self._parts.records) if taken else ()
        standing = {memory.id: memory for store in stores for memory in store.get(user_id, taken)}
        same = {one for one, memory in standing.items() if memory.session_id == session_id}
        forgotten = self._parts.records.tombstones(user_id, [item.id for item in items if item.id is not None])
        clear = {item.id for item in items if item.id not in standing and item.id not in forgotten}
        return [
            item
            if item.id in clear or (item.id in same and standing[item.id].content == item.content)
            else replace(item, id=apart_id(session_id, item.id, item.content))
            for item in items
        ]

    def window(self, user_id: str, session_id: str, max_tokens: int) -> tuple[Message, ...]:
        """Return the window: the end of the transcript inside the budget, system messages first."""
        return self._tails.window(user_id, session_id, max_tokens)

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return what messages cost as a prompt."""
        return prompt_tokens(messages, self._parts.counter)

    def transcript(self, user_id: str, session_id: str) -> tuple[Message, ...]:
        """Return every message of the session, oldest first."""
        return tuple(one.message for one in self._backwards(user_id, session_id))[::-1]

    def seen(self, user_id: str, session_id: str) -> Window:
        """Return what the session's window shows, for a recall that need not repeat it.

        The window is as large as the session that was used last in this process made it; where none was, as the
        settings say.
        """
        return window_of(session_id, self.window(user_id, session_id, self.budget(user_id, session_id)))

    def budget(self, user_id: str, session_id: str) -> int:
        """Return how large a session's window is, as far as this process knows."""
        with self._lock:
            return self._budgets.get((user_id, session_id), self._parts.settings.working.max_tokens)

    def _backwards(self, user_id: str, session_id: str) -> Iterator[StoredMessage]:
        before: int | None = None
        while page := self._parts.transcripts.tail(user_id, session_id, before=before, limit=_PAGE):
            yield from page
            before = page[-1].position

    def _counted(self, message: Message, agent_id: str | None, session_id: str) -> StoredMessage:
        counter = self._parts.counter
        return StoredMessage(message, 0, counter.message(message), counter.name, agent_id, session_id)


def window_of(session_id: str, shown: Sequence[Message]) -> Window:
    """Return what these messages show, under every id that they may be remembered by."""
    words = [message.text for message in shown if message.role == "user" and message.text]
    ids = {message.id for message in shown} | {apart_id(session_id, message.id, message.text) for message in shown}
    return Window(session_id, frozenset(one for one in ids if one is not None), "\n".join(words[-2:]))


def apart_id(session_id: str, message_id: str | None, text: str) -> str:
    """Return the id under which a message is remembered whose own id is taken."""
    return digest("message", session_id, message_id, text)


_SESSION = Origin(by="session", embed=False)


def _telling(one: StoredMessage) -> bool:
    """Say whether a message is remembered as an episode: user and assistant messages with text are."""
    return one.message.role in _EPISODE_ROLES and bool(one.message.text.strip())


def _episode(one: StoredMessage) -> NewMemory:
    message = one.message
    return NewMemory(
        message.text,
        session_id=one.session_id,
        agent_id=one.agent_id,
        role=message.role,
        name=message.name,
        observed_at=message.created_at,
        id=message.id,
    )
