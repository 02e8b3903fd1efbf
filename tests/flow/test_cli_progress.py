"""Progress on a terminal, and on it alone; and Ctrl-C, which loses nothing and says where it stood."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from langchain_tiered_memory import NewMemory
from langchain_tiered_memory.core.config import MaintenanceSettings, Settings
from langchain_tiered_memory.system import MemorySystem
from tests.terminal import ROOT, on_terminal

ITEMS = 500
QUIET = Settings(maintenance=MaintenanceSettings(automatic=False))
AGAIN = ("consolidate", "--everything")
STEPS = re.compile(r"while consolidating, at (\d+) of (\d+): what was written until now stays")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with short-term items, of which every fourth states a preference."""
    folder = tmp_path_factory.mktemp("filled")
    said = ("I like tea of kind {}", "the path to hut {} was wet", "lunch {} was late", "train {} was full")
    items = [NewMemory(said[n % 4].format(n), tier="short_term", importance=0.6) for n in range(ITEMS)]
    with MemorySystem(path=folder / "memory", vector_db="exact", settings=QUIET).sync as memory:
        memory.remember_many("me", items)
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(filled / "memory", tmp_path / "memory")
    return tmp_path


def ltm(*args: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal."""
    command = [sys.executable, "-m", "langchain_tiered_memory", *args]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True, env=given)


def held(folder: Path) -> list[tuple[str, str, str]]:
    """Return what is remembered: tier, text and kind."""
    with MemorySystem(path=folder / "memory", vector_db="exact", settings=QUIET).sync as memory:
        found = memory.list("me", limit=10_000, include_superseded=True)
    return sorted((str(one.tier), one.content, str(one.memory_type)) for one in found)


def test_a_terminal_is_shown_how_far_it_is_and_how_long_it_will_take(folder: Path) -> None:
    shown = on_terminal(*AGAIN, cwd=folder)

    assert shown.code == 0
    assert re.search(r"consolidating .+ [1-9]\d%", shown.seen)
    assert re.search(r"consolidating .+ \d:\d\d:\d\d left", shown.seen)
    assert re.search(r"indexing .+100%", shown.seen)
    assert re.search(r"\x1b\[(?:\d+;)*3\d", shown.drawn)
    assert shown.written.startswith(f"{ITEMS} short-term items moved")


def test_no_color_leaves_the_bars_and_takes_their_colours(folder: Path) -> None:
    shown = on_terminal(*AGAIN, cwd=folder, NO_COLOR="1")

    assert "100%" in shown.seen
    assert re.search(r"\x1b\[(?:\d+;)*3\d", shown.drawn) is None


def test_json_and_a_terminal_that_cannot_draw_have_no_bars(folder: Path) -> None:
    for more, environment in ((["--json"], {}), ([], {"TERM": "dumb"})):
        shown = on_terminal(*AGAIN, *more, cwd=folder, **environment)
        assert (shown.code, shown.drawn) == (0, "")


@pytest.mark.parametrize(
    "args",
    [
        AGAIN,
        ("reindex",),
        ("maintain",),
        ("export", "me.jsonl"),
        ("import", "x.jsonl"),
        ("forget", "--everything-of-user", "--yes"),
    ],
    ids=lambda args: args[0],
)
def test_a_log_has_no_bars_even_where_colours_are_forced(folder: Path, args: tuple[str, ...]) -> None:
    (folder / "x.jsonl").write_text('{"content": "x"}\n', encoding="utf-8")
    done = ltm(*args, cwd=folder, FORCE_COLOR="1", TERM="xterm-256color")
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_says_where_it_stands_and_the_next_run_does_the_rest(folder: Path, filled: Path) -> None:
    stopped = on_terminal(*AGAIN, cwd=folder, stop_at=r" [1-9]\d%")

    assert (stopped.code, stopped.written) == (130, "")
    told = STEPS.search(stopped.seen)
    assert told, stopped.seen
    done, total = map(int, told.groups())
    assert (0 < done < total, total) == (True, ITEMS)
    kept = sum(tier == "long_term" and kind == "episode" for tier, _, kind in held(folder))
    assert done <= kept <= done + 100  # a batch may have been written before it could be told of
    assert json.loads(ltm(*AGAIN, "--json", cwd=folder).stdout)["promoted"] >= ITEMS - kept

    shutil.copytree(filled / "memory", folder / "other" / "memory")
    ltm(*AGAIN, cwd=folder / "other")
    assert sum(kind == "preference" for _, _, kind in held(folder)) == ITEMS // 4
    assert held(folder) == held(folder / "other")


def test_an_export_that_is_stopped_leaves_the_file_as_it_was(folder: Path) -> None:
    (folder / "me.jsonl").write_text("precious", encoding="utf-8")
    stopped = on_terminal("export", "me.jsonl", "--force", cwd=folder, stop_at="exporting")

    if stopped.code == 130:  # it may have been faster
        assert "me.jsonl was not written" in stopped.seen
        assert (folder / "me.jsonl").read_text(encoding="utf-8") == "precious"
    else:
        assert len((folder / "me.jsonl").read_text(encoding="utf-8").splitlines()) == ITEMS
    assert not list(folder.glob("*.part"))
