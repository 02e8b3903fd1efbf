"""How long a server may stay silent while something is done on it; the connections hold to it (`patient`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Patience:
    """How long the server may be silent in one operation: first until there is a connection, then on it.

    Attributes:
        connecting: Seconds that making a connection may still take.
        answer: Seconds without a word of an answer.
    """

    __slots__ = ("answer", "connecting")

    def __init__(self, seconds: float) -> None:
        """Give so many seconds to a connection: half to find that one is dead, and what is left to make another."""
        self.connecting = seconds
        self.answer = seconds / 2

    def gave_up(self) -> None:
        """Note that an answer was waited for in vain."""
        self.connecting = max(self.connecting - self.answer, 0.0)


_current: ContextVar[Patience | None] = ContextVar("langchain_tiered_memory_sql_patience", default=None)


@contextmanager
def patient(patience: Patience) -> Iterator[None]:
    """Let it hold for what is done in the block, on this thread."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def patience() -> Patience | None:
    """Return what holds for the operation under way; None when there is no limit."""
    return _current.get()
