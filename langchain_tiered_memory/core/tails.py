"""The ends of the sessions used last, kept in mind: a window then reads only what was said since the one before.

A transcript only ever grows at its end, or goes as a whole, and no place in it is ever given again. So as long as the
last message that is known stands where it stood, everything before it is as it was, whoever else has written meanwhile.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import StoredMessage
from langchain_tiered_memory.core.talk import Talk
from langchain_tiered_memory.core.working import Counted, window_of_talk

_FIRST_PAGE = 16
_PAGE = 64
_LARGEST_PAGE = 1024
_CHARACTERS = 50_000_000
"""Most characters that all ends together may have; the session that was not used for longest goes first."""
_SESSIONS = 1_000


@dataclass(slots=True, eq=False)
class _Tail:
    """What is known of the end of one session.

    Attributes:
        talk: The end.
        newest: The position of the last message in it.
        reach: The largest window that was asked for.
        weight: Characters held.
        lock: Held while it grows or is looked at.
    """

    talk: Talk
    newest: int
    reach: int = 0
    weight: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, rows: Iterable[tuple[int, Counted]]) -> None:
        for position, counted in rows:
            if position > self.newest:
                self.talk.add(counted)
                self.newest = position


class Tails:
    """Builds windows. Thread-safe; no store is asked inside a lock."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._held: OrderedDict[tuple[str, str], _Tail] = OrderedDict()
        self._lock = threading.Lock()

    def window(self, user_id: str, session_id: str, max_tokens: int) -> tuple[Message, ...]:
        """Return the window: the end of the transcript inside the budget, system messages first."""
        system = [self._recounted(one) for one in self._parts.transcripts.system(user_id, session_id)]
        tail = self._tail(user_id, session_id, max_tokens)
        with tail.lock:
            shown = window_of_talk(
                tail.talk,
                system,
                max_tokens=max_tokens,
                counter=self._parts.counter,
                system_share=self._parts.settings.working.system_share,
            )
            tail.reach = max(tail.reach, max_tokens)
            tail.talk.trim(tail.reach)
            tail.weight = tail.talk.weight
        self._keep(user_id, session_id, tail)
        return tuple(map(_own, shown))

    def discard(self, user_id: str | None = None) -> None:
        """Let go of one user's sessions, or of all."""
        with self._lock:
            for key in [key for key in self._held if user_id in {None, key[0]}]:
                del self._held[key]

    def _tail(self, user_id: str, session_id: str, reach: int) -> _Tail:
        """Return the session's end as it now stands, as far back as a window of so many tokens reaches."""
        tail = self._held.get((user_id, session_id))
        fresh = None if tail is None else self._since(user_id, session_id, tail.newest)
        if tail is not None and fresh is not None:
            with tail.lock:
                tail.take(fresh)
                enough = not tail.talk.wants_more(reach)
            if enough:
                return tail
        return self._read(user_id, session_id, reach)

    def _since(self, user_id: str, session_id: str, newest: int) -> list[tuple[int, Counted]] | None:
        """Return what was added after a message; None when that is gone, or so much was that all may be read anew."""
        fresh: list[StoredMessage] = []
        before: int | None = None
        for limit in (_FIRST_PAGE, _PAGE, _LARGEST_PAGE):
            for one in self._parts.transcripts.tail(user_id, session_id, before=before, limit=limit):
                if one.position <= newest:
                    known = one.position == newest
                    return [(one.position, self._recounted(one)) for one in reversed(fresh)] if known else None
                fresh.append(one)
                before = one.position
        return None

    def _read(self, user_id: str, session_id: str, reach: int) -> _Tail:
        positions: list[int] = []

        def backwards() -> Iterator[Counted]:
            before, limit = None, _PAGE
            while page := self._parts.transcripts.tail(user_id, session_id, before=before, limit=limit):
                positions.append(page[0].position)
                yield from map(self._recounted, page)
                before, limit = page[-1].position, min(2 * limit, _LARGEST_PAGE)

        talk = Talk.reaching(backwards(), reach)
        return _Tail(talk, positions[0] if positions else 0)

    def _keep(self, user_id: str, session_id: str, tail: _Tail) -> None:
        key = user_id, session_id
        with self._lock:
            if not tail.newest:
                self._held.pop(key, None)
                return
            self._held[key] = tail
            self._held.move_to_end(key)
            total = sum(one.weight for one in self._held.values())
            while self._held and (total > _CHARACTERS or len(self._held) > _SESSIONS):
                total -= self._held.popitem(last=False)[1].weight

    def _recounted(self, one: StoredMessage) -> Counted:
        counter = self._parts.counter
        return Counted(one.message, one.tokens if one.counter == counter.name else counter.message(one.message))


def _own(message: Message) -> Message:
    """Return a message that shares nothing that can be changed with the one given."""
    return Message(
        message.role,
        _copied(message.content),
        id=message.id,
        name=message.name,
        tool_calls=tuple(map(_copied, message.tool_calls)),
        tool_call_id=message.tool_call_id,
        created_at=message.created_at,
        extra=_copied(message.extra),
    )


def _copied(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: _copied(one) for name, one in value.items()}
    return type(value)(map(_copied, value)) if isinstance(value, (list, tuple)) else value
