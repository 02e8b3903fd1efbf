"""The README says what is true: its code runs, and its tables are what the programs print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from langchain_tiered_memory.cli.demo import run_demo
from langchain_tiered_memory.cli.showing import two_days_later
from tests.flow.blocks import Ran, blocks_of, left_out, promised, run

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = blocks_of(README)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[Ran]:
    """The blocks after they were run."""
    return run(BLOCKS, tmp_path_factory.mktemp("readme"))


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_python_blocks_run_and_print_what_they_say(ran: list[Ran], place: int) -> None:
    block = ran[place]

    assert block.failed is None
    assert left_out(promised(block.code), block.printed) == [], block.printed


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
