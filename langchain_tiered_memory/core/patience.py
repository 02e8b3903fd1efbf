"""How long a call may wait for servers: one allowance for all its questions together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf


class Allowance:
    """Seconds that may still be waited. One call's own, used on its thread alone.

    Attributes:
        whole: How many there were in the beginning.
        left: How many are left; less than 0 when a little more was taken.
        silence: How long the database may be silent. It is not taken off: what answers at last is worth the wait.
    """

    __slots__ = ("left", "silence", "whole")

    def __init__(self, seconds: float, silence: float = inf) -> None:
        self.whole = self.left = seconds
        self.silence = silence

    def spend(self, seconds: float) -> None:
        """Take off what was waited."""
        self.left -= seconds


_current: ContextVar[Allowance | None] = ContextVar("langchain_tiered_memory_allowance", default=None)


@contextmanager
def waiting_at_most(seconds: float, silence: float = inf) -> Iterator[None]:
    """Let everything in the block wait so long at most, all waiting together; inside another such block: its rest.

    A server that was waited for in vain for as long is not asked again in the block. What holds to this are backends
    that a call can do without.

    Args:
        seconds: For all questions together, to backends that are not the database.
        silence: For each answer of the database. What fell silent is left alone by its breaker, so that it costs no
            more than one such wait.
    """
    if _current.get() is not None:
        yield
        return
    token = _current.set(Allowance(seconds, silence))
    try:
        yield
    finally:
        _current.reset(token)


def allowance() -> Allowance | None:
    """Return what the call under way may still wait; None when nobody has set a limit."""
    return _current.get()
