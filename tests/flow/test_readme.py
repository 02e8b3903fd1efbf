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


def run(script: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in its own folder."""
    command = [sys.executable, str(script)]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_blocks_run_as_printed(block: str, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(block, encoding="utf-8")

    done = run(script)

    assert done.returncode == 0, done.stderr


def test_the_first_block_recalls_what_it_remembered(tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(BLOCKS[0], encoding="utf-8")

    done = run(script)

    assert "I am allergic to peanuts" in done.stdout


def test_what_is_left_after_two_days_is_what_the_demo_leaves() -> None:
    printed = re.search(r"<!-- two-days-later -->\n(.*?)\n<!-- /two-days-later -->", TEXT, re.DOTALL)
    assert printed is not None
    assert printed[1] == two_days_later(run_demo(":memory:").left).strip()


def test_every_figure_is_filled_in() -> None:
    assert "FIG_" not in TEXT
