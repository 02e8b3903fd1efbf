"""Transcripts of sessions in this process."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from langchain_tiered_memory.core.model import SYSTEM_ROLES
from langchain_tiered_memory.core.ports import StoredMessage


@dataclass
class _Session:
    """Position to message, in order; and which positions wait for their place as an episode."""

    messages: dict[int, StoredMessage] = field(default_factory=dict)
    ids: set[str | None] = field(default_factory=set)
    unplaced: set[int] = field(default_factory=set)


class InMemoryTranscriptStore:
    """A `TranscriptStore` in this process's memory; it is lost with the object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users: dict[str, dict[str, _Session]] = {}
        self._last = 0

    @property
    def name(self) -> str:
        """What serves it."""
        return "memory"

    def append(
        self, user_id: str, session_id: str, messages: Sequence[StoredMessage], *, placed: bool = False
    ) -> tuple[bool, ...]:
        """See `TranscriptStore.append`."""
        mine = [replace(_own(one), session_id=session_id) for one in messages]
        if not mine:
            return ()
        with self._lock:
            session = self._users.setdefault(user_id, {}).setdefault(session_id, _Session())
            return tuple(self._add(session, one, placed=placed) for one in mine)

    def _add(self, session: _Session, new: StoredMessage, *, placed: bool) -> bool:
        if new.message.id in session.ids:
            return False
        self._last += 1
        session.messages[self._last] = replace(new, position=self._last)
        session.ids.add(new.message.id)
        if not placed:
            session.unplaced.add(self._last)
        return True

    def tail(self, user_id: str, session_id: str, *, before: int | None, limit: int) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.tail`."""
        with self._lock:
            newest_first = reversed(self._session(user_id, session_id).messages.values())
            wanted = (one for one in newest_first if before is None or one.position < before)
            return tuple(_own(one) for one in islice(wanted, max(limit, 0)))

    def system(self, user_id: str, session_id: str) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.system`."""
        with self._lock:
            messages = self._session(user_id, session_id).messages.values()
            return tuple(_own(one) for one in messages if one.message.role in SYSTEM_ROLES)

    def unplaced(self, user_id: str, session_id: str | None, limit: int) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.unplaced`."""
        with self._lock:
            sessions = self._users.get(user_id, {})
            chosen = sessions.values() if session_id is None else [self._session(user_id, session_id)]
            waiting = {at: one.messages[at] for one in chosen for at in one.unplaced}
            return tuple(_own(waiting[at]) for at in sorted(waiting)[: max(limit, 0)])

    def mark_placed(self, user_id: str, session_id: str, positions: Iterable[int]) -> None:
        """See `TranscriptStore.mark_placed`."""
        with self._lock:
            self._session(user_id, session_id).unplaced.difference_update(positions)

    def sessions(self, user_id: str) -> Mapping[str, int]:
        """See `TranscriptStore.sessions`."""
        with self._lock:
            return {name: len(one.messages) for name, one in self._users.get(user_id, {}).items()}

    def clear(self, user_id: str, session_id: str) -> int:
        """See `TranscriptStore.clear`."""
        with self._lock:
            return self._remove(user_id, [session_id])

    def forget(self, user_id: str) -> int:
        """See `TranscriptStore.forget`."""
        with self._lock:
            return self._remove(user_id, list(self._users.get(user_id, ())))

    def expire(self, before: datetime) -> int:
        """See `TranscriptStore.expire`."""
        with self._lock:
            due = {user: [n for n, one in sessions.items() if _ended(one, before)] for user, sessions in self._all()}
            return sum(self._remove(user, names) for user, names in due.items())

    def users(self) -> tuple[str, ...]:
        """See `TranscriptStore.users`."""
        with self._lock:
            return tuple(self._users)

    def close(self) -> None:
        """Keep everything: there is nothing to release."""

    def _session(self, user_id: str, session_id: str) -> _Session:
        return self._users.get(user_id, {}).get(session_id) or _Session()

    def _all(self) -> list[tuple[str, dict[str, _Session]]]:
        return list(self._users.items())

    def _remove(self, user_id: str, names: Sequence[str]) -> int:
        sessions = self._users.get(user_id, {})
        removed = [sessions.pop(name) for name in names if name in sessions]
        if not sessions:
            self._users.pop(user_id, None)
        return sum(len(one.messages) for one in removed)


def _ended(session: _Session, before: datetime) -> bool:
    said = [one.message.created_at for one in session.messages.values() if one.message.created_at is not None]
    return bool(said) and max(said) < before


def _own(stored: StoredMessage) -> StoredMessage:
    """Return a message that shares nothing with the one given."""
    message = stored.message
    content = message.content if message.content is None or isinstance(message.content, str) else list(message.content)
    mine = replace(
        message,
        content=copy.deepcopy(content),
        tool_calls=copy.deepcopy(tuple(message.tool_calls)),
        extra=copy.deepcopy(dict(message.extra)),
    )
    return replace(stored, message=mine)
