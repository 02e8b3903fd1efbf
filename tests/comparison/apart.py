"""Keeps a run to itself: no way out of this machine, nothing in the home directory, and processes of its own to end."""

from __future__ import annotations

import atexit
import importlib
import ipaddress
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from tests.comparison.findings import ScriptOutdatedError

ROOT = Path(__file__).parents[2]
KILLED = 70
refused: list[str] = []
"""The hosts that something tried to reach."""

_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "OTEL_SDK_DISABLED": "true",
}


def settle() -> None:
    """Settle the environment before any library reads it: no key, no telemetry, no network, no noise."""
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_TOKEN"))]:
        del os.environ[name]
    home = tempfile.mkdtemp(prefix="comparison-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ.update(_QUIET, MEM0_DIR=home)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    _refuse_network()


def _refuse_network() -> None:
    connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            _guard(address[0])
        connect(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _guard(host)
        return getaddrinfo(host, *args, **kwargs)

    # For good: the process does nothing else.
    mock.patch.object(socket.socket, "connect", guarded_connect).start()
    mock.patch.object(socket, "getaddrinfo", guarded_getaddrinfo).start()


def _guard(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        local = name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:  # a name that would have to be looked up
        local = False
    if not local:
        refused.append(name)
        message = f"{name} is out of reach"
        raise OSError(message)


def elsewhere(function: Callable[[Path], Any], folder: Path) -> Any:
    """Call a function in a process of its own, and return what it returned, as JSON carries it."""
    done = _run(function, folder)
    if done.returncode:
        raise ScriptOutdatedError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def killed(function: Callable[[Path], Any], folder: Path) -> None:
    """Call a function in a process of its own, which it is to end by `die`."""
    done = _run(function, folder)
    if done.returncode != KILLED:
        message = f"{function.__name__} did not die: {done.stdout}{done.stderr}"
        raise ScriptOutdatedError(message)


def _run(function: Callable[[Path], Any], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", __name__, function.__module__, function.__name__, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def die(*_: object, **__: object) -> None:
    """End the process at once, as a crash does."""
    os._exit(KILLED)


def files(folder: Path) -> bytes:
    """Return the bytes of all files of a folder."""
    return b"\n".join(one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file())


if __name__ == "__main__":
    settle()
    module, name, path = sys.argv[1:]
    answer = getattr(importlib.import_module(module), name)(Path(path))
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)  # threads that a library leaves behind have no say in how this ends
