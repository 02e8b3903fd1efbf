"""Servers that can be killed, frozen and started again on their own data, and a memory system on them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, SearchSettings, ServerSettings, Settings
from langchain_tiered_memory.embedding import HashedEmbedder
from tests import servers
from tests.proxy import Proxy

PAUSE = timedelta(seconds=0.3)
LIMITS = ServerSettings(
    redis_timeout=timedelta(seconds=1),
    redis_deadline=timedelta(milliseconds=250),
    chroma_deadline=timedelta(seconds=1),
    sql_deadline=timedelta(seconds=1),
    sql_timeout=timedelta(seconds=1),
    pause=PAUSE,
)
_LIMITED = ("sh", "-c", 'ulimit -f "$1"; shift; exec "$@"', "sh")
SETTINGS = Settings(
    maintenance=MaintenanceSettings(automatic=False), search=SearchSettings(exact_up_to=0), servers=LIMITS
)


@dataclass
class Machine:
    """A server and the way to it.

    Attributes:
        url: Where it is reached, through the proxy.
        proxy: The way.
    """

    _command: Sequence[str]
    _folder: Path
    _answers: Callable[[], bool]
    _account: Any
    url: str
    proxy: Proxy
    _process: Any = field(default=None)

    def make_room(self) -> None:
        """Let its files grow from its next start on."""
        self._command = self._command[len(_LIMITED) + 1 :]

    def start(self) -> None:
        """Start it on the data it left, and wait for its first answer.

        Raises:
            ServerUnavailableError: It did not come.
        """
        self._process = servers._start(self._command, self._folder, self._account)
        deadline = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                message = f"{self._command[0]} does not answer:\n{servers._log(self._folder)}"
                raise servers.ServerUnavailableError(message)
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a power cut does."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it for good."""
        if self._process is not None and self._process.poll() is None:
            servers._stop(self._process)


@contextmanager
def redis_machine(*options: str) -> Iterator[Machine]:
    """Run a Redis that writes every command to its disk before it answers."""
    port = servers._free_port()
    with servers._folder() as folder, Proxy(("127.0.0.1", port)) as proxy:
        lasting = ("--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir", str(folder))
        binary = str(servers.find_binary("redis-server"))
        command = [binary, "--port", str(port), "--bind", "127.0.0.1", *lasting, *options]

        def answers() -> bool:
            with suppress(redis.ConnectionError), redis.Redis(port=port, retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
            return False

        yield from _running(Machine(command, folder, answers, None, f"redis://127.0.0.1:{proxy.port}/0", proxy))


@contextmanager
def postgres_machine(most: int | None = None) -> Iterator[Machine]:
    """Run a PostgreSQL that waits for its disk, as outside of tests; no file of it has more than `most` bytes."""
    port, account = servers._free_port(), servers._unprivileged()
    with servers._folder(account) as folder, Proxy(("127.0.0.1", port)) as proxy:
        binaries = servers._reachable(servers.find_binary("postgres").resolve().parent, account, folder)
        create = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "tests", "--auth=trust", "--no-sync"]
        servers._run([*create, "-E", "UTF8", "--locale=C"], folder, account)
        command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port)]
        command += ["-c", "unix_socket_directories="]
        if most is not None:
            command = [*_LIMITED, str(most // 512), *command]

        def answers() -> bool:
            with suppress(psycopg.OperationalError):
                psycopg.connect(f"postgresql://tests@127.0.0.1:{port}/postgres").close()
                return True
            return False

        url = f"postgresql+psycopg://tests@127.0.0.1:{proxy.port}/postgres?connect_timeout=2"
        yield from _running(Machine(command, folder, answers, account, url, proxy))


@contextmanager
def chroma_machine() -> Iterator[Machine]:
    """Run a Chroma server."""
    port = servers._free_port()
    with servers._folder() as folder, Proxy(("127.0.0.1", port)) as proxy:
        binary = str(servers.find_binary("chroma"))
        command = [binary, "run", "--path", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)]
        answers = servers.answering(f"http://127.0.0.1:{port}")
        yield from _running(Machine(command, folder, answers, None, f"http://127.0.0.1:{proxy.port}", proxy))


def _running(machine: Machine) -> Iterator[Machine]:
    try:
        machine.start()
        yield machine
    finally:
        machine.stop()


@dataclass
class Place:
    """The three servers, and systems on them.

    Attributes:
        redis: Keeps short-term memory.
        postgres: Keeps long-term memory.
        chroma: Keeps the vector index.
    """

    redis: Machine
    postgres: Machine
    chroma: Machine
    _opened: ExitStack = field(default_factory=ExitStack)

    def machines(self) -> dict[str, Machine]:
        """Return them by name."""
        return {"redis": self.redis, "postgres": self.postgres, "chroma": self.chroma}

    def system(self, **options: Any) -> MemorySystem:
        """Return a system on them; options as of `MemorySystem`."""
        made: dict[str, Any] = {"embedder": HashedEmbedder(32), "settings": SETTINGS, **options}
        system = MemorySystem(self.redis.url, self.chroma.url, self.postgres.url, **made)
        self._opened.callback(system.sync.close)
        return system

    def heal(self) -> None:
        """Let every server be reached again, by new connections, and whoever gave it up ask again."""
        for machine in self.machines().values():
            machine.proxy.frozen, machine.proxy.delay = False, 0
            machine.proxy.break_connections()
        time.sleep(1.05 * max(one.total_seconds() for one in (PAUSE, LIMITS.redis_timeout, LIMITS.chroma_deadline)))

    def close(self) -> None:
        """Close every system."""
        self._opened.close()
