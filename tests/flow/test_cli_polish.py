"""What makes the command line pleasant: help that fits, completion, JSON everywhere, colours only where wanted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app

ROOT = Path(__file__).parents[2]
NARROW = 80


def commands(group: object = None, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the names of all commands, those of groups too."""
    inside = getattr(group or typer.main.get_command(app), "commands", None)
    if inside is None:
        return [path]
    return [found for name, one in inside.items() for found in commands(one, (*path, name))]


def helped(*command: str) -> str:
    """Return the help of a command in a terminal of 80 columns."""
    environment = {**os.environ, "COLUMNS": str(NARROW), "TERMINAL_WIDTH": str(NARROW)}
    asked = [sys.executable, "-m", "langchain_tiered_memory", *command, "--help"]
    return subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True, env=environment).stdout


def test_help_fits_into_80_columns_and_breaks_its_lines_only_there() -> None:
    """A paragraph is filled: no line but its last ends before the next word would fit."""
    shown = helped("import")
    about = "\n".join(line.strip() for line in shown.split("\u256d")[0].splitlines()).strip()

    assert max(map(len, shown.splitlines())) <= NARROW
    for paragraph in about.split("\n\n"):
        for line, following in pairwise(paragraph.splitlines()):
            assert len(line) + 1 + len(following.split()[0]) > NARROW - 2, line


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_writes_json_on_request(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "120"})

    assert result.exit_code == 0
    assert "--json" in result.stdout or command == ("export",)  # what it writes is JSON Lines in any case


def test_a_shell_can_be_told_to_complete() -> None:
    environment = {**os.environ, "_LTM_COMPLETE": "complete_bash", "COMP_WORDS": "ltm im", "COMP_CWORD": "1"}
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv = ['ltm']; from langchain_tiered_memory.cli import main; main()",
    ]
    shown = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment).stdout

    assert shown.split() == ["import"]
    assert "--install-completion" in CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).stdout


@pytest.mark.parametrize("setting", ["NO_COLOR", "nothing"])
def test_errors_are_coloured_unless_no_colour_is_wanted(setting: str, tmp_path: Path) -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"} | (
        {setting: "1"} if setting == "NO_COLOR" else {}
    )
    command = [sys.executable, "-m", "langchain_tiered_memory", "list", "--path", str(tmp_path / "none")]
    said = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment).stderr

    assert "there is no memory" in said
    assert (re.search(r"\x1b\[(?:\d+;)*3[0-7]m", said) is None) == (setting == "NO_COLOR")
