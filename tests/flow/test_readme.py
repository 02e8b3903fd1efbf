"""The README says what is true: its code runs, and its tables are what the programs print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from langchain_tiered_memory.cli.demo import run_demo
from langchain_tiered_memory.cli.showing import two_days_later

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


RUNNER = """
import contextlib, os, pathlib, runpy, sys, traceback

for script in map(pathlib.Path, sys.argv[1:]):
    os.chdir(script.parent)
    with open("printed", "w", encoding="utf-8") as printed, contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except Exception:
            pathlib.Path("failed").write_text(traceback.format_exc(), encoding="utf-8")
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A folder for each block, where it was run; by one process, which imports the frameworks once."""
    made = [tmp_path_factory.mktemp("block") for _ in BLOCKS]
    for folder, block in zip(made, BLOCKS, strict=True):
        (folder / "block.py").write_text(block, encoding="utf-8")
    scripts = [str(folder / "block.py") for folder in made]
    subprocess.run([sys.executable, "-c", RUNNER, *scripts], timeout=300, check=True)
    return made


def promised(block: str) -> list[str]:
    """Return what the comments of a block say that it prints, in order; "…" stands for anything."""
    lines = re.findall(r"^ *# prints (.+)$", block, re.MULTILINE)
    return [part.strip() for line in lines for part in line.split("…") if part.strip()]


def left_out(parts: list[str], text: str) -> list[str]:
    """Return which parts do not stand in a text, each after the one before."""
    missing = []
    for part in parts:
        before, found, after = text.partition(part)
        missing += [] if found else [part]
        text = after if found else before
    return missing


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_python_blocks_run_and_print_what_they_say(folders: list[Path], place: int) -> None:
    failed = folders[place] / "failed"
    printed = (folders[place] / "printed").read_text(encoding="utf-8")

    assert not failed.exists(), failed.read_text(encoding="utf-8")
    assert left_out(promised(BLOCKS[place]), printed) == [], printed


def test_a_block_that_prints_says_what() -> None:
    assert [block for block in BLOCKS if ("print(" in block) != bool(promised(block))] == []


def test_a_promise_that_is_not_kept_is_noticed() -> None:
    parts = promised("print(1)\n    # prints one … two\n# prints … three\n")

    assert left_out(parts, "one, two\nthree") == []
    assert left_out(parts, "two, one\nthree") == ["two"]


def test_what_is_left_after_two_days_is_what_the_demo_leaves() -> None:
    printed = re.search(r"<!-- two-days-later -->\n(.*?)\n<!-- /two-days-later -->", TEXT, re.DOTALL)
    assert printed is not None
    assert printed[1] == two_days_later(run_demo(":memory:").left).strip()


def test_every_figure_is_filled_in() -> None:
    assert "FIG_" not in TEXT
