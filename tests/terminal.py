"""A command run on a terminal of its own: what it shows there, and what it writes to standard output."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_LONGEST_S = 120


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of a command; `drawn` is what its terminal got, with all codes."""

    code: int
    drawn: str
    written: str

    @property
    def seen(self) -> str:
        """What the terminal got, one line after the other."""
        return _MOVES.sub("\n", _COLOURS.sub("", self.drawn))


def on_terminal(*args: str, cwd: Path, stop_at: str | None = None, **environment: str) -> Shown:
    """Run `ltm` with a terminal as standard error.

    Args:
        args: The command.
        cwd: Where.
        stop_at: Send Ctrl-C once something was shown that this expression finds.
        environment: More of it.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    child = subprocess.Popen(
        [sys.executable, "-m", "langchain_tiered_memory", *args],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    drawn, until = b"", time.monotonic() + _LONGEST_S
    try:
        while block := _next(ours, until):
            drawn += block
            if stop_at is not None and re.search(stop_at.encode(), drawn):
                child.send_signal(signal.SIGINT)
                stop_at = None
        written = child.communicate(timeout=_LONGEST_S)[0]
    finally:
        os.close(ours)
        child.kill()
    return Shown(child.returncode, drawn.decode("utf-8", "replace"), written.decode())


def _next(terminal: int, until: float) -> bytes:
    """Return what comes next; nothing when the other side is closed."""
    ready, _, _ = select.select([terminal], [], [], max(until - time.monotonic(), 0))
    try:
        return os.read(terminal, 65_536) if ready else b""
    except OSError:  # what Linux says of a terminal that nobody holds open any more
        return b""
