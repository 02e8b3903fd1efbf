"""`ltm worker`: serves, goes on, stops when it is told to, and says what it could not do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.core.agenda import StuckUser
from langchain_tiered_memory.embedding import HashedEmbedder, default_embedder
from tests.flow.world import QUIET

ROOT = Path(__file__).parents[2]
OWN = """
import os, pathlib
from datetime import timedelta
from langchain_tiered_memory import MaintenanceSettings, MemorySystem, Settings
from langchain_tiered_memory.embedding import HashedEmbedder

class Slow(HashedEmbedder):
    def embed_documents(self, texts):
        if os.environ.get("SLOW"):
            pathlib.Path("begun").touch()
            while not pathlib.Path("go").exists():
                pass
        return super().embed_documents(texts)

def memory():
    quiet = MaintenanceSettings(automatic=False, every=timedelta(0))
    return MemorySystem(path="own", vector_db="exact", embedder=Slow(16), settings=Settings(maintenance=quiet))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("PATH", "REDIS", "VECTOR_DB", "POSTGRES", "USER"):
        monkeypatch.delenv(f"LTM_{name}", raising=False)
    return tmp_path


@pytest.fixture
def ltm(folder: Path) -> Callable[..., Any]:
    def run(*args: object) -> Any:
        return CliRunner().invoke(app, [str(one) for one in args])

    return run


def filled(folder: Path, *users: str) -> None:
    """Leave items that are past their lives: the clock of who wrote them was two days behind."""
    then = datetime.now(UTC) - timedelta(days=2)
    system = MemorySystem(
        path=folder / "memory", vector_db="exact", embedder=default_embedder(), settings=QUIET, clock=lambda: then
    )
    with system.sync as memory:
        for user in users:
            memory.remember(user, "The key lies under the pot", importance=0.6)


def test_once_does_what_is_due_and_leaves(folder: Path, ltm: Callable[..., Any]) -> None:
    filled(folder, "ada", "bob")

    said = ltm("worker", "--once")
    again = json.loads(ltm("worker", "--once", "--json").stdout)
    status = json.loads(ltm("status", "--json").stdout)

    assert said.exit_code == 0, said.output
    assert said.stdout == "2 users served; 2 items moved to long-term memory\n"
    assert (again["users"], again["failed"], again["unavailable"]) == (0, 0, [])
    assert (status["due_users"], status["oldest_due_user_s"], status["stuck_users"]) == (0, None, 0)


def test_status_tells_what_waits_and_who_is_stuck_and_retry_tries_again(folder: Path, ltm: Callable[..., Any]) -> None:
    filled(folder, "ada", "bob")
    with MemorySystem.open(folder / "memory", settings=QUIET).sync as memory:
        agenda = memory._opening.rooms().parts.agenda
        assert agenda is not None
        now = datetime.now(UTC)
        claim = agenda.claim(now, now + timedelta(minutes=1))
        assert claim is not None
        agenda.failed(claim, "it [broke]", None)
        assert agenda.stuck(1) == (StuckUser(claim.user_id, 1, "it [broke]"),)

    status = json.loads(ltm("status", "--json").stdout)
    assert (status["due_users"], status["stuck_users"]) == (1, 1)
    assert status["oldest_due_user_s"] > 86_400
    assert f"{claim.user_id} (1 times: it [broke])" in ltm("status").stdout
    assert ltm("worker", "--once").stdout.startswith("1 user served")
    assert ltm("worker", "--once", "--retry", "--user", "nobody").stdout.startswith("0 users served")
    tried = ltm("worker", "--once", "--retry")
    assert tried.stdout.startswith("1 user served")
    assert "1 user will be tried again" in tried.stderr


def test_everybody_is_served_who_was_not_noted(folder: Path, ltm: Callable[..., Any]) -> None:
    filled(folder, "ada")
    ltm("worker", "--once")

    assert ltm("worker", "--once").stdout.startswith("0 users served")
    assert ltm("worker", "--once", "--everybody").stdout.startswith("1 user served")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--user", "ada"), 2, "--user goes with --retry only"),
        (("--memory", "nothing_there:memory"), 1, "names nothing"),
        (("--memory", "own:MemorySystem.open"), 1, "names nothing"),
        (("--memory", "own:OWN"), 1, "is no MemorySystem"),
        (("--users-at-once", "0"), 2, "--users-at-once"),
        ((), 1, "there is no memory in"),
    ],
)
def test_what_cannot_work_is_said(
    folder: Path, ltm: Callable[..., Any], args: tuple[str, ...], code: int, said: str
) -> None:
    (folder / "own.py").write_text("OWN = 3\nfrom langchain_tiered_memory import MemorySystem\n", encoding="utf-8")
    sys.modules.pop("own", None)

    result = ltm("worker", "--once", *args)

    assert result.exit_code == code
    assert said in result.stderr


def start(folder: Path, *args: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "langchain_tiered_memory", "worker", "--memory", "own:memory", *args]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)


def told(folder: Path, code: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", "from own import memory\n" + code], cwd=folder, env=env, check=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_when_told_to_stop_it_serves_whom_it_is_serving_to_the_end(folder: Path, number: signal.Signals) -> None:
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    told(folder, 'memory().sync.session("ada", "chat").add({"role": "user", "content": "The key is under the pot"})')
    process = start(folder, "--every", "0.1", "--json", SLOW="1")
    while not (folder / "begun").exists():
        assert process.poll() is None, process.communicate()

    process.send_signal(number)
    (folder / "go").touch()
    out, err = process.communicate(timeout=120)

    assert process.returncode == 0, err
    (line,) = out.splitlines()
    report = json.loads(line)
    assert (report["users"], report["embedded"]) == (1, 1)


def test_processes_on_one_folder_serve_each_user_once_though_one_is_killed(folder: Path) -> None:
    """What the killed one had begun is not due again before its lease is over, and all else is served."""
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    fill = (
        'with memory().sync as m:\n for n in range(60): m.session(f"u{n}", "s").add({"role": "user", "content": "x y"})'
    )
    told(folder, fill)
    doomed = start(folder, "--users-at-once", "1", SLOW="1")
    while not (folder / "begun").exists():
        assert doomed.poll() is None, doomed.communicate()
    doomed.kill()
    doomed.communicate(timeout=60)

    processes = [start(folder, "--once", "--json") for _ in range(2)]
    ended = [process.communicate(timeout=120) for process in processes]
    reports = [json.loads(out) for out, _ in ended]

    assert [process.returncode for process in processes] == [0, 0], ended
    with MemorySystem(
        path=folder / "own", vector_db="exact", embedder=HashedEmbedder(16), settings=QUIET
    ).sync as memory:
        left = memory.status()

    assert sum(report["users"] for report in reports) == 60 - 1
    assert (left.due_users, left.pending) == (0, 1)


def test_it_goes_on_and_serves_who_comes_later(folder: Path) -> None:
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    told(folder, 'memory().sync.remember("ada", "The key is under the pot", importance=0.9)')
    process = start(folder, "--every", "0.1", "--json")
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    told(folder, 'memory().sync.remember("bob", "The key is under the pot", importance=0.9)')
    second = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)

    assert process.returncode == 0, err
    assert (first["users"], second["users"]) == (1, 1)
