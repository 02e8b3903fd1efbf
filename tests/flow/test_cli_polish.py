"""What makes the command line pleasant: help that fits, completion, JSON everywhere, colours only where wanted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app

ROOT = Path(__file__).parents[2]
NARROW = 80
_BLOCK = re.MULTILINE | re.DOTALL


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


def of_name(command: tuple[str, ...]) -> Any:
    """Return a command as it is parsed."""
    found: Any = typer.main.get_command(app)
    for name in command:
        found = found.commands[name]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_writes_json_on_request(command: tuple[str, ...]) -> None:
    (option,) = [one for one in of_name(command).params if "--json" in one.opts]
    assert (option.is_flag, option.default) == (True, False)


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_and_option_is_explained_and_has_an_example_that_can_be_given(command: tuple[str, ...]) -> None:
    found = of_name(command)
    about = " ".join(found.help.split("\n\n")[0].split())
    unexplained = [one.name for one in found.params if len((one.help or "").split()) < 3 or one.help[-1] != "."]
    example = shlex.split(found.epilog.removeprefix("Example:  ").partition(" >")[0].partition(" (")[0])

    assert unexplained == []
    assert 20 < len(about) <= 160
    assert about[0].isupper()
    assert tuple(example[1 : 1 + len(command)]) == command
    with found.make_context(" ".join(command), example[1 + len(command) :]) as context:
        assert context.params.keys() >= {"json"}


def test_the_help_shows_the_commands_in_groups_as_one_gets_to_know_them() -> None:
    shown = helped()
    headings = re.findall(r"^╭─ (.+?) ─", shown, re.MULTILINE)
    names = re.findall(r"^│ ([a-z]+) ", shown, re.MULTILINE)

    assert headings == ["Options", "Begin", "Every day", "Look after it", "Carry it in and out", "Measure it"]
    assert set(names) == {command[0] for command in commands()}
    assert names[:6] == ["demo", "remember", "recall", "list", "history", "forget"]


def lines() -> list[tuple[str, ...]]:
    """Return the calls of `ltm` in the code blocks of the README and the documentation."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in re.findall(r"^```(?:bash|console)\n(.*?)^```", page.read_text(encoding="utf-8"), _BLOCK):
            calls = re.findall(r"(?:^|[|;$]|&&)\s*ltm (.*?)(?=[|;\n]|&&)", block.replace("\\\n", ""), re.MULTILINE)
            found += [tuple(shlex.split(call, comments=True)) for call in calls]
    return found


@pytest.mark.parametrize("line", lines(), ids=" ".join)
def test_what_the_documentation_tells_to_type_can_be_typed(line: tuple[str, ...]) -> None:
    command = next(one for one in sorted(commands(), key=len, reverse=True) if line[: len(one)] == one)
    given = list(line[len(command) :])

    with of_name(command).make_context(" ".join(command), given) as context:
        assert context.args == []


def test_there_are_such_lines() -> None:
    assert {line[0] for line in lines()} >= {"remember", "recall", "export", "import", "worker"}


@pytest.mark.parametrize("name", ["remember", "recall", "import", "bench locomo", "bench longmemeval"])
def test_what_takes_a_text_or_a_file_takes_standard_input(name: str) -> None:
    told = [one.help for one in of_name(tuple(name.split())).params if one.param_type_name == "argument"]
    assert [text for text in told if "- is standard input" in text or "- reads it from standard input" in text] == told


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
