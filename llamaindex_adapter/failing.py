"""What an adapter does when its memory fails: an answer is worth more than what could not be recalled for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from langchain_tiered_memory import (
    ConfigError,
    InvalidInput,
    MemorySystem,
    Message,
    ModelMismatch,
    SchemaMismatch,
    TieredMemoryError,
)
from llamaindex_adapter.counting import LlamaIndexCounter

__all__ = ["NEVER_PASSES", "OnError", "Unsaved", "Write", "forgive", "unsaved_of"]

logger = logging.getLogger("llamaindex_adapter")

NEVER_PASSES = (ConfigError, InvalidInput, ModelMismatch, SchemaMismatch)
"""These will not pass by themselves, so nobody may go on without noticing."""

OnError = Literal["warn", "raise"]


def forgive(error: TieredMemoryError, doing: str, on_error: OnError) -> None:
    """Log what could not be done, or raise when that was asked for or it will never be possible.

    Args:
        error: What happened; its message holds no text of a memory.
        doing: What the memory could not do, as it follows "could not".
        on_error: "warn" or "raise".
    """
    if on_error == "raise" or isinstance(error, NEVER_PASSES):
        raise error
    logger.warning("this goes on, but the memory could not %s: %s", doing, error)


@dataclass(eq=False, slots=True)
class Write:
    """What is done to a conversation.

    Attributes:
        messages: What is added; with ids, so that it is added once however often that is tried.
        anew: Whether the conversation is to consist of them instead.
        cleared: What this has removed for that; messages of it that come back are themselves.
    """

    messages: tuple[Message, ...]
    anew: bool = False
    cleared: tuple[Message, ...] = ()


class Unsaved:
    """The writes of a conversation that a failing store has not taken yet, and its latest turn. Any thread may call."""

    def __init__(self, waiting: set[Unsaved]) -> None:
        """Begin with nothing.

        Args:
            waiting: Where this is found as long as anything waits, so that it outlives whoever asked for it.
        """
        self._waiting = waiting
        self._writes: tuple[Write, ...] = ()
        self._turn: tuple[Message, ...] = ()
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Say whether anything waits."""
        return bool(self._writes)

    def due(self, *said: Write) -> tuple[Write, ...]:
        """Return what to write now: what waits, then this. It waits on until it is written."""
        with self._lock:
            for write in said:
                self._turn = _last_turn(write.messages if write.anew else (*self._turn, *write.messages))
            return (*self._writes, *said)

    def written(self, write: Write) -> None:
        """Let a write wait no longer."""
        with self._lock:
            self._hold(one for one in self._writes if one is not write)

    def wait(self, writes: Sequence[Write]) -> None:
        """Let writes wait for the next call."""
        with self._lock:
            self._hold([*self._writes, *(one for one in writes if not any(one is known for known in self._writes))])

    def clear(self) -> None:
        """Let nothing wait."""
        with self._lock:
            self._hold(())
            self._turn = ()

    def _hold(self, writes: Iterable[Write]) -> None:
        self._writes = tuple(writes)
        if self._writes:
            self._waiting.add(self)
        else:
            self._waiting.discard(self)

    def shown(self, max_tokens: int) -> tuple[Message, ...]:
        """Return what of the conversation is known here: of what waits as many turns as fit, but all of the last."""
        talk: tuple[Message, ...] = ()
        for write in self._writes:
            talk = write.messages if write.anew else (*talk, *write.messages)
        counter, cost, best = LlamaIndexCounter(), 0, self._turn
        for at in range(len(talk) - 1, -1, -1):
            cost += counter.message(talk[at])
            if cost > max_tokens:
                break
            if talk[at].role == "user" and len(talk) - at > len(best):
                best = talk[at:]
        return best


_Rooms = WeakKeyDictionary[MemorySystem, tuple[WeakValueDictionary[tuple[str | None, ...], Unsaved], set[Unsaved]]]
_rooms: _Rooms = WeakKeyDictionary()
"""Of each memory: by conversation, and those that wait."""
_lock = threading.Lock()


def unsaved_of(memory: MemorySystem, *conversation: str | None) -> Unsaved:
    """Return what a memory has not taken of a conversation: the same for all who ask in this process."""
    with _lock:
        known, waiting = _rooms.setdefault(memory, (WeakValueDictionary(), set()))
        found = known.get(conversation)
        if found is None:
            found = known[conversation] = Unsaved(waiting)
        return found


def _last_turn(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages from the user's last one on."""
    starts = [at for at, message in enumerate(messages) if message.role == "user"]
    return messages[starts[-1] :] if starts else messages
