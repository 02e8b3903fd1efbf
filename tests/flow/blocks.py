"""The Python blocks of a page: run as they are printed, and held to what their comments say that they print."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_RUNNER = """
import contextlib, os, pathlib, runpy, sys, traceback

for script in map(pathlib.Path, sys.argv[1:]):
    os.chdir(script.parent)
    with open("printed", "w", encoding="utf-8") as printed, contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except Exception:
            pathlib.Path("failed").write_text(traceback.format_exc(), encoding="utf-8")
"""


@dataclass(frozen=True)
class Ran:
    """A block after it was run: its code, what it printed, and with what it failed."""

    code: str
    printed: str
    failed: str | None


def blocks_of(page: Path) -> list[str]:
    """Return the Python blocks of a page, in order."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def run(blocks: Sequence[str], below: Path) -> list[Ran]:
    """Run blocks, each in a folder of its own; by one process, which imports the frameworks once."""
    folders = [below / str(number) for number in range(len(blocks))]
    for folder, block in zip(folders, blocks, strict=True):
        folder.mkdir(parents=True)
        (folder / "block.py").write_text(block, encoding="utf-8")
    scripts = [str(folder / "block.py") for folder in folders]
    subprocess.run([sys.executable, "-c", _RUNNER, *scripts], timeout=300, check=True)
    return [_ran(block, folder) for block, folder in zip(blocks, folders, strict=True)]


def _ran(block: str, folder: Path) -> Ran:
    failed = folder / "failed"
    printed = (folder / "printed").read_text(encoding="utf-8")
    return Ran(block, printed, failed.read_text(encoding="utf-8") if failed.exists() else None)


def promised(block: str) -> list[str]:
    """Return what the comments of a block say that it prints, in order; "…" stands for anything."""
    lines = re.findall(r"^ *# prints (.+)$", block, re.MULTILINE)
    return [part.strip() for line in lines for part in line.split("…") if part.strip()]


def left_out(parts: Sequence[str], text: str) -> list[str]:
    """Return which parts do not stand in a text, each after the one before."""
    missing = []
    for part in parts:
        before, found, after = text.partition(part)
        missing += [] if found else [part]
        text = after if found else before
    return missing
