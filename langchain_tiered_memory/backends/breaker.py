"""A server that does not answer is left alone for a while, so that nobody has to find out anew each time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable


class Breaker:
    """Says whether a server may be asked. Thread-safe; a child after a fork begins anew.

    Closed, it lets every call pass. A failure opens it: for `pause` seconds no call passes. Then one does and finds out
    for all: while it asks the others still do not pass, and its outcome closes the breaker or opens it again.

    A class of our own, because pybreaker holds a lock for as long as a call takes, so that threads would ask one after
    the other.

    Attributes:
        failures: How many calls failed.
        refused: How many calls were not let pass.
    """

    def __init__(self, pause: float, now: Callable[[], float] = time.monotonic) -> None:
        """Begin closed.

        Args:
            pause: Seconds during which a server that failed is not asked, more than a call of it may take.
            now: Tells the time in seconds.
        """
        self._pause = pause
        self._now = now
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._shut_until: float | None = None
        self.failures = 0
        self.refused = 0

    @property
    def closed(self) -> bool:
        """Whether the last that was heard of the server was an answer."""
        return self._shut_until is None

    def passes(self) -> bool:
        """Say whether a call may be made; its outcome is then told by `answered` or `failed`."""
        return self._shut_until is None or self._probes()

    def _probes(self) -> bool:
        self._inherit()
        with self._lock:
            if self._shut_until is not None and self._now() < self._shut_until:
                self.refused += 1
                return False
            if self._shut_until is not None:
                self._shut_until = self._now() + self._pause
            return True

    def answered(self) -> None:
        """Note that the server answered, be it with an error."""
        if self._shut_until is not None:
            self._inherit()
            with self._lock:
                self._shut_until = None

    def failed(self) -> None:
        """Note that the server did not answer."""
        self._inherit()
        with self._lock:
            self.failures += 1
            self._shut_until = self._now() + self._pause

    def failed_this_once(self) -> None:
        """Count a failure that says little of the next call, as when there was hardly time to wait."""
        self._inherit()
        with self._lock:
            self.failures += 1

    def _inherit(self) -> None:
        """Leave a lock alone that a thread of the parent may have held."""
        if self._process != os.getpid():
            self._begin()
