"""One command to Redis and its answer: how long it may take, whether it is tried again, and whether it is tried at all.

Redis is what a recall can do without. So whoever waits for a memory waits for Redis as long as its deadline says, for
all commands of a recall together, and after that not at all for a while.
"""

from __future__ import annotations

import os
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextvars import ContextVar
from typing import Any

import redis
from redis.client import NEVER_DECODE

from langchain_tiered_memory.backends.breaker import Breaker
from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.patience import Allowance, allowance

NAME = "redis"
_REASON_LENGTH = 200
_THREADS = 8
_PER_ROW = 0.001
"""Seconds more for each row that one command writes or removes: a batch of thousands takes the server a while."""
_PER_BYTE = 1 / 10_000_000
"""Seconds more for each byte that is sent."""
_NEARLY = 0.9
"""Who waited for this share of the deadline has waited long enough to know."""
_OF_AUTHORITIES = "name the file of the authority that issued it, as in rediss://host:6379/0?ssl_ca_certs=/path/ca.pem"
_OF_NAMES = "connect to a name or an address that it holds"

Ask = Callable[[tuple[Any, ...]], Any]


class Wait:
    """How long the command under way may still be waited for.

    Attributes:
        streaming: Whether an answer that is arriving may take longer: only silence counts then.
    """

    def __init__(self, seconds: float, *, streaming: bool) -> None:
        self._own = Allowance(seconds)
        self._shared = allowance()
        self.streaming = streaming

    @property
    def left(self) -> float:
        """Seconds, 0 or less when there are none."""
        return self._own.left if self._shared is None else min(self._own.left, self._shared.left)

    @property
    def telling(self) -> bool:
        """Whether a command that was given up had nearly all the time that a command may have here."""
        whole = self._own.whole if self._shared is None else min(self._own.whole, self._shared.whole)
        return self._own.whole - self._own.left >= _NEARLY * whole

    def spend(self, seconds: float) -> None:
        """Take off what was waited."""
        self._own.spend(seconds)
        if self._shared is not None:
            self._shared.spend(seconds)


_waiting: ContextVar[Wait | None] = ContextVar("langchain_tiered_memory_redis_wait", default=None)


class _Hurried:
    """A socket on which nothing takes longer than the command under way has time left."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._limit: float | None = inner.gettimeout()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def settimeout(self, value: float | None) -> None:
        self._limit = value
        self._inner.settimeout(value)

    def recv(self, *args: Any) -> Any:
        return self._timed(self._inner.recv, *args)

    def recv_into(self, *args: Any) -> Any:
        return self._timed(self._inner.recv_into, *args)

    def sendall(self, *args: Any) -> Any:
        return self._timed(self._inner.sendall, *args)

    def _timed(self, work: Callable[..., Any], *args: Any) -> Any:
        wait = _waiting.get()
        if wait is None or self._limit == 0:
            return work(*args)
        self._inner.settimeout(_time_left(wait))
        with_answer = False
        began = time.monotonic()
        try:
            answer = work(*args)
            with_answer = True
            return answer
        finally:
            if not (wait.streaming and with_answer):
                wait.spend(time.monotonic() - began)


def _time_left(wait: Wait) -> float:
    left = wait.left
    if left <= 0:
        raise TimeoutError("no time is left to wait for it")
    return left


class _HurriedMixin:
    """A connection that is made, and spoken over, in the time that the command under way has left.

    It tells Redis no name of the driver, which would be two answers more to wait for.
    """

    socket_connect_timeout: float | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("driver_info", "lib_name", "lib_version"):  # as releases of the driver name it
            setattr(self, name, None)

    def _connect(self) -> Any:
        wait = _waiting.get()
        if wait is not None:
            self.socket_connect_timeout = _time_left(wait)
        began = time.monotonic()
        try:
            return _Hurried(super()._connect())  # type: ignore[misc]
        finally:
            if wait is not None:
                wait.spend(time.monotonic() - began)


class HurriedConnection(_HurriedMixin, redis.Connection):
    """Over TCP."""


class HurriedSSLConnection(_HurriedMixin, redis.SSLConnection):
    """Over TLS."""


class HurriedUnixConnection(_HurriedMixin, redis.UnixDomainSocketConnection):
    """Over a socket of this machine."""


HURRIED: dict[type, type] = {
    redis.Connection: HurriedConnection,
    redis.SSLConnection: HurriedSSLConnection,
    redis.UnixDomainSocketConnection: HurriedUnixConnection,
}


class Caller:
    """Sends commands through a client of ours, whose connections are hurried. Thread-safe."""

    tries = 2
    """A connection that broke says nothing of the server: it may have been idle for too long."""

    def __init__(self, client: Any, seconds: float, pause: float) -> None:
        """Take a client.

        Args:
            client: A redis-py client.
            seconds: How long one command may take.
            pause: How long Redis is not asked after it did not answer, in seconds.
        """
        self.client = client
        self.breaker = Breaker(pause)
        self._seconds = seconds

    def call(
        self, operation: str, *command: Any, repeatable: bool = False, streaming: bool = False, rows: int = 0
    ) -> Any:
        """Send a command and return the answer, as bytes whatever the client decodes.

        Args:
            operation: What it is for, for people.
            command: Its words.
            repeatable: Whether doing it twice is the same as once: it is tried again when a connection breaks.
            streaming: Whether the answer may be long: then only silence counts as waiting.
            rows: How many rows it writes or removes; many may take longer.

        Raises:
            BackendUnavailable: Redis did not answer in time, or refused, or is not asked for a while.
        """
        if not self.breaker.passes():
            raise BackendUnavailable(NAME, operation, "it did not answer a moment ago, and is not asked for a while")
        size = sum(len(word) for word in command if isinstance(word, bytes))
        wait = Wait(self._seconds + rows * _PER_ROW + size * _PER_BYTE, streaming=streaming)
        tries = self.tries if repeatable else 1
        while True:
            tries -= 1
            try:
                answer = self._ask(command, wait)
            except redis.TimeoutError as error:
                (self.breaker.failed if wait.telling else self.breaker.failed_this_once)()
                raise BackendUnavailable(NAME, operation, _reason(error)) from error
            except redis.ConnectionError as error:
                distrust = _distrust(error)
                refused = distrust or isinstance(error, redis.AuthenticationError | redis.BusyLoadingError)
                if tries and not refused:
                    continue
                (self.breaker.answered if refused else self.breaker.failed)()
                raise BackendUnavailable(NAME, operation, distrust or _reason(error)) from error
            except redis.RedisError as error:
                self.breaker.answered()
                raise BackendUnavailable(NAME, operation, _reason(error)) from error
            self.breaker.answered()
            return answer

    def close(self) -> None:
        """Close the client's connections; a later command opens new ones."""
        try:
            self.client.close()
        except redis.RedisError as error:
            raise BackendUnavailable(NAME, "close", _reason(error)) from error

    def _ask(self, command: tuple[Any, ...], wait: Wait) -> Any:
        if wait.left <= 0:
            raise redis.TimeoutError("no time is left to wait for it")
        token = _waiting.set(wait)
        try:
            return self.client.execute_command(*command, **{NEVER_DECODE: True})
        finally:
            _waiting.reset(token)


class GivenCaller(Caller):
    """Sends commands through a client of the caller's, which is used as it is and never closed.

    It may wait for as long as it was told to, and try as often: on a thread of its own, which is not waited for.
    """

    tries = 1

    def __init__(self, client: Any, seconds: float, pause: float) -> None:
        super().__init__(client, seconds, pause)
        self._process = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let the threads go."""
        with self._lock:
            if self._process == os.getpid():
                self._threads.shutdown(wait=False)
            self._process = 0

    def _ask(self, command: tuple[Any, ...], wait: Wait) -> Any:
        left = wait.left
        if left <= 0:
            raise redis.TimeoutError("no time is left to wait for it")
        future: Future[Any] = self._pool().submit(self.client.execute_command, *command, **{NEVER_DECODE: True})
        began = time.monotonic()
        try:
            return future.result(left)
        except FutureTimeoutError as error:
            future.cancel()
            raise redis.TimeoutError("Timeout reading from server") from error
        finally:
            wait.spend(time.monotonic() - began)

    def _pool(self) -> ThreadPoolExecutor:
        if self._process != os.getpid():  # at first, after a close, and in a child after a fork
            with self._lock:
                if self._process != os.getpid():
                    self._threads = ThreadPoolExecutor(_THREADS, "tiered-memory-redis")
                    self._process = os.getpid()
        return self._threads


def _distrust(error: BaseException) -> str | None:
    """Say what is wrong with the server's certificate, and what to do, if that is why there is no connection."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    remedy = _OF_NAMES if "mismatch" in cause.verify_message else _OF_AUTHORITIES
    return f"its certificate is not trusted ({cause.verify_message.rstrip('.')[:_REASON_LENGTH]}): {remedy}"


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:_REASON_LENGTH] or type(error).__name__
