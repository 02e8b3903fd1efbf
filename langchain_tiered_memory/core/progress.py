"""How far long work is: told to whoever listens in the thread of the call, and to nobody by default.

What shows it, a bar or a log, is put in from outside (`told_to`): the core knows no terminal. Only names of steps and
counts are told, nothing of what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Listener(Protocol):
    """Somebody who wants to know how far long work is. What it raises ends the work, as an interruption would."""

    def __call__(self, step: str, done: int, total: int | None) -> object:
        """Take note of a step under way.

        Args:
            step: What is being done, such as "embedding". Steps may lie in one another, and come again.
            done: How much of it is done: what was written by then stays, whatever happens next.
            total: Of how much, as far as that is known; None: that is not known.
        """


_LISTENER: ContextVar[Listener | None] = ContextVar("LISTENER", default=None)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Let a listener be told of all that is done within the block, by this thread and on its behalf."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


class Progress:
    """One step of long work. Without a listener it counts, and nothing else."""

    def __init__(self, step: str, total: Callable[[], int] | None = None) -> None:
        """Begin a step.

        Args:
            step: Its name.
            total: Counts what there is to do; asked only where somebody listens. None: nobody knows.
        """
        self._step = step
        self._listener = _LISTENER.get()
        self._done = 0
        self._total = None if total is None or self._listener is None else total()
        self.advance(0)

    def advance(self, by: int) -> None:
        """Tell that so much more is done; where there is more than was counted, the total grows."""
        self._done += by
        if self._listener is not None:
            total = None if self._total is None else max(self._total, self._done)
            self._listener(self._step, self._done, total)


def one_by_one(step: str, things: Sequence[T]) -> Iterator[T]:
    """Yield things, and tell how many are done. Of a single one nothing is told: what is done for it tells enough."""
    progress = Progress(step, lambda: len(things)) if len(things) > 1 else None
    for thing in things:
        yield thing
        if progress is not None:
            progress.advance(1)
