"""What every test has: a clock it moves itself, servers of its own, and no way out of this machine."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import settings

from tests import servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

T = TypeVar("T")

# The large sizes have their own run.
collect_ignore = [] if os.environ.get("LTM_FULL") else ["full"]

_SECRETS = ("_API_KEY", "_API_TOKEN", "_ACCESS_KEY")
_PREFIXES = ("LANGCHAIN_", "LANGSMITH_", "CHROMA_")
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "ORT_DISABLE_TELEMETRY": "1",
    "OTEL_SDK_DISABLED": "true",
}


def pytest_configure() -> None:
    """Settle the environment before any library reads it, and let a polite kill stop the servers too."""
    for name in list(os.environ):
        if name.endswith(_SECRETS) or name.startswith(_PREFIXES):
            del os.environ[name]
    os.environ.update(_QUIET)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A shell lets what it starts in the background ignore Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A property holds or not; how busy the machine is has no say in it.
    settings.register_profile("patient", settings(), deadline=None)
    settings.load_profile("patient")


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        """Return the present, an aware UTC datetime."""
        return self.now

    def advance(self, **duration: float) -> None:
        """Move on by a `timedelta` given in its own keywords, such as `hours=3`."""
        self.now += timedelta(**duration)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    yield from _url_of(servers.redis_server)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    yield from _url_of(servers.postgres_server)


@pytest.fixture(scope="session")
def chroma_url() -> Iterator[str]:
    yield from _url_of(servers.chroma_server)


def _url_of(server: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    with ExitStack() as stack:
        yield need(stack, server)


def need(stack: ExitStack, server: Callable[[], AbstractContextManager[T]]) -> T:
    """Start a server that a test cannot do without, until the stack is left."""
    try:
        return stack.enter_context(server())
    except servers.ServerUnavailableError as reason:
        if os.environ.get("CI"):
            pytest.fail(f"in CI every server has to run: {reason}", pytrace=False)
        pytest.skip(str(reason))


class NetworkForbiddenError(OSError):
    """A test tried to reach another machine."""


@pytest.fixture(autouse=True)
def network_guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Refuse every connection but those to this machine, and fail the test even if it swallowed the refusal.

    Yields:
        The hosts that were tried.
    """
    tried: list[str] = []

    def guard(host: object) -> None:
        if not _is_local(host):
            tried.append(str(host))
            message = f"a test may not reach {host}"
            raise NetworkForbiddenError(message)

    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        guard(_host(self, address))
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        guard(_host(self, address))
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        guard(host)
        return getaddrinfo(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield tried
    if tried:
        pytest.fail(f"the test tried to reach {', '.join(tried)}", pytrace=False)


def _host(connecting: socket.socket, address: Any) -> object:
    return None if connecting.family == socket.AF_UNIX else address[0]


def _is_local(host: object) -> bool:
    if host in {None, "", "localhost", b"localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:  # a name that would have to be looked up
        return False
