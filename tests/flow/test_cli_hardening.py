"""The command line on narrow terminals, with servers, with hostile text and files, and when it is stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.cli.words import in_words
from langchain_tiered_memory.core.errors import ConfigError, InvalidInput, ModelMismatch, NotFound, TieredMemoryError
from langchain_tiered_memory.system import MemorySystem

ROOT = Path(__file__).parents[2]
SENTENCE = "the spare key is under the blue pot, by the third window on the left of the old red door"
APART = "\ud83d\ude00"
"""Two halves of a character, stored apart: not the character."""

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, and no settings of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("PATH", "REDIS", "VECTOR_DB", "POSTGRES", "USER"):
        monkeypatch.delenv(f"LTM_{name}", raising=False)
    return tmp_path


@pytest.fixture
def ltm(folder: Path) -> Run:
    """Run one command in this process."""

    def run(*args: object, given: str | bytes | None = None) -> Any:
        result = CliRunner().invoke(app, [str(one) for one in args], input=given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


def started(*args: str, **how: Any) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "langchain_tiered_memory", *args]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **how.pop("env", {})}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **how)


# -- narrow terminals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [["list"], ["recall", "spare key"], ["history"], ["status"]], ids=lambda one: one[0]
)
@pytest.mark.parametrize("columns", [30, 40, 60])
def test_a_narrow_terminal_breaks_no_words_and_no_ids(
    ltm: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    stored = json.loads(ltm("remember", SENTENCE, "--id", "x" * 28, "--json").stdout)["id"]
    monkeypatch.setenv("COLUMNS", str(columns))

    shown = ltm(*command, *([stored] if command == ["history"] else [])).stdout

    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    if command != ["status"]:
        assert set(SENTENCE.split()) <= set(shown.split())
    if command in (["list"], ["recall", "spare key"]):
        assert stored in shown.split()


def test_a_wide_terminal_has_a_table(ltm: Run) -> None:
    ltm("remember", SENTENCE)
    assert ltm("list").stdout.splitlines()[0].split() == ["importance", "memory"]


def test_help_fits_a_narrow_terminal(folder: Path) -> None:
    with started("recall", "--help", env={"COLUMNS": "40"}) as child:
        shown = child.communicate()[0].decode()
    assert "╭" not in shown
    assert "…" not in shown
    assert "--known-at" in shown


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_the_ends_of_the_calendar_are_days_in_every_zone(ltm: Run, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    for at in ("0001-01-01T00:00Z", "9999-12-31T23:59:59Z"):
        ltm("remember", f"a plum {at}", "--observed-at", at)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        shown = ltm("list").stdout
    finally:
        monkeypatch.undo()
        time.tzset()
    assert re.search(r"\b1 Jan 1\b", shown)
    assert re.search(r"\b31 Dec 9999\b", shown)


@pytest.mark.parametrize("args", [["--help"], ["recall", "x", "--k", "0"], ["status"]], ids=" ".join)
def test_no_color_holds_for_help_and_errors_too(folder: Path, args: list[str]) -> None:
    coloured = r"\x1b\[(?:\d+;)*(?:3|4|9|10)[0-7]m"
    forced = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    seen = []
    for more in ({}, {"NO_COLOR": "1"}):
        with started(*args, env={**forced, **more}) as child:
            seen.append(b"".join(child.communicate()).decode())
    assert re.search(coloured, seen[0])
    assert re.search(coloured, seen[1]) is None


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def three_servers(folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Name a server of each kind in the environment."""
    for name, kind in (("REDIS", "redis"), ("VECTOR_DB", "chroma"), ("POSTGRES", "postgres")):
        monkeypatch.setenv(f"LTM_{name}", request.getfixturevalue(f"{kind}_url"))


def test_with_three_servers_no_folder_is_made(ltm: Run, folder: Path, three_servers: None) -> None:
    user = ("--user", str(folder))

    for command in (["remember", "I play the violin"], ["recall", "violin"], ["list"], ["status"], ["export"]):
        result = ltm(*command, *user)
        assert result.exit_code == 0, result.stderr
    assert json.loads(ltm("forget", "--everything-of-user", "--yes", "--json", *user).stdout)["short_term"] == 1
    assert list(folder.iterdir()) == []


def test_looking_into_a_database_makes_no_folder_for_the_rest(ltm: Run, folder: Path) -> None:
    database = ("--postgres", f"sqlite:///{folder / 'long.db'}")
    ltm("remember", "I play the violin", "--tier", "long_term", "--path", folder / "rest", *database)

    for command in (["list"], ["recall", "violin"], ["status"]):
        result = ltm(*command, "--path", folder / "nowhere", *database)
        assert (result.exit_code, result.stderr) == (0, "")
    assert "violin" in ltm("list", "--path", folder / "nowhere", *database).stdout
    assert not (folder / "nowhere").exists()


def test_a_home_is_found(ltm: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    ltm("remember", "I play the violin", "--path", "~/memory")
    assert "violin" in ltm("list", "--path", "~/memory").stdout


# -- exports -----------------------------------------------------------------------------------------------------------


def test_an_export_replaces_nothing_unasked(ltm: Run, folder: Path) -> None:
    ltm("remember", "I play the violin")
    file = folder / "me.jsonl"
    file.write_text("precious", encoding="utf-8")

    for given in ("", "n\n"):
        refused = ltm("export", file, given=given)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "Replace" in refused.stderr
        assert "--force" in refused.stderr
        assert file.read_text(encoding="utf-8") == "precious"

    assert ltm("export", file, given="y\n").exit_code == 0
    assert "violin" in file.read_text(encoding="utf-8")
    file.write_text("precious", encoding="utf-8")
    assert ltm("export", file, "--force").exit_code == 0
    assert "violin" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("through", ["file", "standard output"])
def test_what_is_exported_is_imported_to_the_last_byte(ltm: Run, folder: Path, through: str) -> None:
    """Also half characters, and where the terminal knows ASCII only."""
    with MemorySystem.open(folder / "memory").sync as memory:
        memory.remember("me", f"apart {APART}", id="apart")
    if through == "file":
        ltm("export", "me.jsonl")
    else:
        with started("export", env={"PYTHONIOENCODING": "ascii"}) as child:
            (folder / "me.jsonl").write_bytes(child.communicate()[0])

    assert ltm("import", "me.jsonl", "--user", "bob").exit_code == 0
    assert ltm("import", "-", "--user", "eve", given=(folder / "me.jsonl").read_bytes()).exit_code == 0

    with MemorySystem.open(folder / "memory").sync as memory:
        for user in ("bob", "eve"):
            assert memory.get(user, "apart").content == f"apart {APART}"


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def test_ctrl_c_says_that_nothing_is_lost(ltm: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ltm("remember", "something")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MemorySystem, "__init__", interrupt)
    result = ltm("list")

    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.startswith("stopped: ")
    assert result.stderr.count("\n") == 1


def test_an_import_that_is_stopped_keeps_what_it_wrote_and_goes_on_later(ltm: Run, folder: Path) -> None:
    rows = [json.dumps({"content": f"plum number {number}"}) + "\n" for number in range(150)]
    with started("import", "-", stdin=subprocess.PIPE, cwd=folder) as child:
        assert child.stdin is not None
        child.stdin.write("".join(rows).encode())
        child.stdin.flush()
        while not ((folder / "memory" / "memory.db").exists() and held(ltm) >= 100):
            assert child.poll() is None
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        said = child.communicate()[1].decode()

    assert child.returncode == 130
    assert said.startswith("stopped while reading standard input: what was written until now stays")
    assert said.count("\n") == 1
    assert held(ltm) == 100
    assert json.loads(ltm("import", "-", "--json", given="".join(rows)).stdout)["memories"] == 50
    assert held(ltm) == 150


def held(ltm: Run) -> int:
    """Return how many memories there are; 0 while the store is being made."""
    result = ltm("list", "--limit", "1000", "--json")
    return len(json.loads(result.stdout)) if result.exit_code == 0 else 0


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InvalidInput("user_id", "", "x"), "--user='' cannot"),
        (InvalidInput("k", 0, "x"), "--k=0 cannot"),
        (InvalidInput("min_score", 7, "x"), "--min-score=7 cannot"),
        (InvalidInput("memory_types", 7, "x"), "--type=7 cannot"),
        (InvalidInput("filter.importance", 7, "x"), "--filter.importance=7 cannot"),
        (InvalidInput("content", " ", "x"), "TEXT cannot"),
        (InvalidInput("line 3.importance", 7, "x"), "line 3.importance=7 cannot"),
        (NotFound("nope"), "this user has no memory 'nope'; `ltm list` shows those that exist"),
        (ConfigError("vector_db is text but no URL"), "--vector-db is text but no URL"),
        (ConfigError("path='x' cannot be a folder"), "--path='x' cannot be a folder"),
    ],
    ids=str,
)
def test_errors_speak_of_options_and_commands(error: TieredMemoryError, words: str) -> None:
    assert in_words(error).startswith(words)


def test_another_model_is_answered_by_a_command() -> None:
    told = in_words(ModelMismatch("one", "two"))
    assert "'one'" in told
    assert "'two'" in told
    assert "`ltm reindex`" in told


@pytest.mark.parametrize(
    "args",
    [
        ["remember", "x", "--user", ""],
        ["remember", "x", "--slot", "x" * 600],
        ["remember", "x", "--path", ""],
        ["remember", "x", "--redis", "localhost"],
        ["remember", "x", "--vector-db", "localhost"],
        ["remember", "x", "--postgres", "localhost"],
        ["recall", "x", "--neighbors", "-1"],
        ["recall", "x", "--session", ""],
        ["list", "--after", ""],
        ["history", ""],
        ["forget", ""],
    ],
    ids=lambda args: " ".join(args)[:30],
)
def test_no_sentence_speaks_of_python(ltm: Run, args: list[str]) -> None:
    ltm("remember", "something")
    result = ltm(*args)
    assert result.exit_code in {1, 2}
    assert re.search(r"\w\(\)|MemorySystem|user_id|session_id|vector_db|\bNone\b", result.stderr) is None, result.stderr


# -- hostile files -----------------------------------------------------------------------------------------------------

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DEEP, "JSON Lines or one JSON document is needed"),
        ('{"content": "x"}\n' + DEEP, "line 2"),
        ('{"kind": ["memory"], "content": "x"}', "line 1.kind"),
        ('{"kind": "memory"}', "line 1"),
        ('{"kind": "message", "session_id": "s", "role": "user", "content": "x"}', "line 1"),
        ('[{"content": "x"}, {"content": "y", "slot": 5}]', "item 2.slot=5"),
        ('{"content": "x", "id": ""}', "line 1.id=''"),
        ('{"content": "x", "session_id": ["s"]}', "line 1.session_id=['s']"),
        ('{"content": "x", "slot": "s", "tier": "short_term"}', "line 1.tier='short_term'"),
        ('{"content": "x", "observed_at": "0001-01-01T00:00:00+23:59"}', "line 1.instant=0001-01-01T00:00:00+23:59"),
    ],
    ids=lambda given: given[:30],
)
@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["for real", "dry run"])
def test_a_hostile_file_is_named_with_its_place_by_a_dry_run_too(
    ltm: Run, text: str, words: str, more: list[str]
) -> None:
    result = ltm("import", "-", *more, given=text)

    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert "x" not in ltm("list").stdout


def test_a_document_without_end_is_not_read_to_it(ltm: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_tiered_memory.cli import formats

    monkeypatch.setattr(formats, "MOST_CHARACTERS", 1_000)
    result = ltm("import", "-", given="[\n" + '{"content": "x"},\n' * 100 + '{"content": "y"}]')

    assert (result.exit_code, result.stdout) == (2, "")
    assert "at most 1000 characters is possible: write it as JSON Lines" in result.stderr


@pytest.mark.parametrize("option", ["--metadata", "--filter"])
def test_an_option_nested_without_end_is_misuse(ltm: Run, option: str) -> None:
    result = ltm("recall" if option == "--filter" else "remember", "x", option, '{"a":' * 100_000)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_a_mark_at_the_beginning_of_a_file_is_none_of_its_text(ltm: Run) -> None:
    assert ltm("import", "-", given='\ufeff{"content": "marked"}\n').exit_code == 0
    assert "marked" in ltm("list").stdout


def test_a_session_without_a_name_is_refused(ltm: Run) -> None:
    result = ltm("import", "-", "--session", "", given='{"role": "user", "content": "x"}')
    assert (result.exit_code, result.stderr[:19]) == (2, "error: --session=''")
