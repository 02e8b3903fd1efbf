"""The documentation says what is true: its code runs, its links lead somewhere, and it is built without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.flow.blocks import Ran, blocks_of, left_out, promised, run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "notebooks" not in page.parts)
BLOCKS = [(page.relative_to(DOCS).with_suffix("").as_posix(), block) for page in PAGES for block in blocks_of(page)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[Ran]:
    """The blocks of all pages after they were run."""
    return run([block for _, block in BLOCKS], tmp_path_factory.mktemp("docs"))


@pytest.mark.parametrize("place", range(len(BLOCKS)), ids=lambda place: f"{BLOCKS[place][0]}-{place}")
def test_python_blocks_run_and_print_what_they_say(ran: list[Ran], place: int) -> None:
    block = ran[place]

    assert block.failed is None
    assert left_out(promised(block.code), block.printed) == [], block.printed


def test_a_block_that_prints_says_what() -> None:
    assert [place for place, block in BLOCKS if ("print(" in block) != bool(promised(block))] == []


def test_it_is_built_offline_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(tmp_path / "trees")]
    built = subprocess.run([*command, str(DOCS), str(tmp_path / "site")], capture_output=True, text=True, check=False)

    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "index.html").exists()
