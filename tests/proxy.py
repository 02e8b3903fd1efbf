"""A network that fails when it is told to: a TCP proxy that stops answering, is slow, refuses, or cuts a connection."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

_CHUNK = 65_536
_WAIT = 0.02


class Proxy:
    """Stands between a client and a server on this machine, on a port of its own, from the beginning of a block.

    What it is told holds at once, also for the connections that are open.

    Attributes:
        port: Where it listens.
        frozen: Whether nothing passes, in either direction; connections are taken, and answered by nobody.
        delay: Seconds that every piece of an answer is held back.
        accepted: How many connections there were.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        """Take the server's address."""
        self._server = server
        self._listening: socket.socket | None = None
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._stranded: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._cut_after: int | None = None
        self._cut_answers = False
        self.port = 0
        self.frozen = False
        self.delay = 0.0
        self.accepted = 0

    def __enter__(self) -> Self:
        """Listen."""
        self.accept()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everything."""
        self.frozen = False
        self.refuse()

    def accept(self) -> None:
        """Take connections, after `refuse` on the same port."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._serve, args=(self._listening,), daemon=True).start()

    def refuse(self) -> None:
        """Break every connection and take none, as a machine does on which nothing listens."""
        if self._listening is not None:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            self._listening = None
        self.break_connections()

    def break_connections(self) -> None:
        """Break every connection; new ones are taken."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for one in pair:
                _shut(one)

    def strand(self) -> None:
        """Let nothing more pass on the connections that are open, as when a firewall forgot them; new ones are fine."""
        with self._lock:
            self._stranded |= self._pairs

    def cut(self, after: int, *, answers: bool = False) -> None:
        """Break a connection once so many bytes more have passed on any, of commands or of answers; once."""
        with self._lock:
            self._cut_after, self._cut_answers = after, answers

    def cut_nothing(self) -> None:
        """Take back a cut that was ordered and did not come about."""
        with self._lock:
            self._cut_after = None

    @property
    def refusing(self) -> bool:
        """Whether no connection is taken."""
        return self._listening is None

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        self._hold()
        try:
            server = socket.create_connection(self._server, timeout=10)
        except OSError:
            _shut(client)
            return
        server.settimeout(None)
        pair = (client, server)
        with self._lock:
            self._pairs.add(pair)
        ways = ((client, server, False), (server, client, True))
        threads = [threading.Thread(target=self._pass, args=(*way, pair), daemon=True) for way in ways]
        for thread in threads:
            thread.start()

    def _pass(
        self,
        source: socket.socket,
        target: socket.socket,
        answers: bool,  # noqa: FBT001 - which of the two ways
        pair: tuple[socket.socket, socket.socket],
    ) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                self._hold(pair)
                if answers and self.delay:
                    time.sleep(self.delay)
                kept = self._kept(len(data), answers=answers)
                target.sendall(data[:kept])
                if kept < len(data):
                    break
        with self._lock:
            self._pairs.discard(pair)
        for one in pair:
            _shut(one)

    def _kept(self, count: int, *, answers: bool) -> int:
        """Return how many of so many bytes pass; fewer than all if the connection is to be cut among them."""
        with self._lock:
            if self._cut_after is None or self._cut_answers != answers:
                return count
            if self._cut_after < count:
                kept, self._cut_after = self._cut_after, None
                return kept
            self._cut_after -= count
            return count

    def _hold(self, pair: tuple[socket.socket, socket.socket] | None = None) -> None:
        while self.frozen or (pair in self._stranded and pair in self._pairs):
            time.sleep(_WAIT)


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
