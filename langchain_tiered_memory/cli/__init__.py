"""The command line: `ltm`, also `python -m langchain_tiered_memory`.

Drivers are loaded by the commands that need them.
"""

from __future__ import annotations

import io
import sys

__all__ = ["main"]

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended: 128 and the number of the signal."""


def main() -> None:
    """Run the command line on `sys.argv` and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a letter for it shows "?"
    try:
        from langchain_tiered_memory.cli.app import app

        app(prog_name="ltm")
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(INTERRUPTED)
