"""Imports of other programs' exports into a real memory: once, in whole batches, and recalled with who and when."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory import InvalidInput, MemorySystem, importers
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.importers.remembering import NOT_AGAIN
from tests.unit.exports import ANDROID, LANGCHAIN, LLAMAINDEX, MEM0, conversation

Run = Callable[..., Any]
FILES: dict[str, tuple[str, int, int]] = {
    "WhatsApp Chat with Bob.txt": (ANDROID, 5, 4),
    "conversations.json": (json.dumps([conversation()]), 4, 8),
    "history.json": (json.dumps(LANGCHAIN), 3, 2),
    "chat_store.json": (json.dumps(LLAMAINDEX), 2, 2),
    "mem0.json": (json.dumps(MEM0), 2, 1),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with MemorySystem.open(tmp_path / "memory", vector_db="exact").sync as opened:
        yield opened


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command with --json in an empty folder and return what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LTM_VECTOR_DB", "exact")

    def run(*args: object, given: str | bytes | None = None) -> Any:
        result = CliRunner().invoke(app, [*map(str, args), "--json"], input=given)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


def held(memory: Engine, user: str = "ada") -> dict[str, str]:
    return {one.id: one.content for one in memory.list(user, limit=1_000)}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_imported_once_by_both_doors(memory: Engine, told: Run, tmp_path: Path, name: str) -> None:
    text, stored, skipped = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    first = importers.remember(memory, "ada", importers.read(tmp_path / name))
    again = importers.remember(memory, "ada", importers.read(tmp_path / name))

    assert (first.stored, first.merged, sum(first.skipped.values())) == (stored, 0, skipped)
    assert (again.stored, again.merged, again.skipped) == (0, stored, first.skipped)
    assert {one.tier for one in memory.list("ada")} == {"long_term"}
    memory.close()

    dry = told("import", name, "--dry-run")
    assert (dry["memories"], dry["skipped"], dry["dry_run"]) == (stored, skipped, True)
    assert dry["reasons"] == first.skipped
    assert told("import", name, "--user", "ada")["merged"] == stored
    assert told("import", name, "--user", "bob")["memories"] == stored


def test_a_zip_adds_nothing_to_what_was_imported_from_its_file(memory: Engine, told: Run, tmp_path: Path) -> None:
    for name, (text, stored, skipped) in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with ZipFile(tmp_path / f"{name}.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("photo.jpg", b"\xff\xd8")
            archive.writestr(name, text)
        importers.remember(memory, "ada", importers.read(tmp_path / name))
        memory.close()

        dry = told("import", f"{name}.zip", "--dry-run", "--user", "ada")
        assert (dry["memories"], dry["skipped"], dry["notes"][0]) == (
            stored,
            skipped,
            f"read from the ZIP: '{name}', of 2 files in it",
        )
        for file, given in ((f"{name}.zip", None), ("-", (tmp_path / f"{name}.zip").read_bytes())):
            report = told("import", file, "--user", "ada", given=given)
            assert (report["memories"], report["merged"]) == (0, stored)


def test_our_own_export_is_read_from_a_zip_too(memory: Engine, told: Run, tmp_path: Path) -> None:
    memory.remember("ada", "the \ud83d spare key", tier="long_term")
    memory.export_user("ada", tmp_path / "ada.jsonl")
    memory.close()
    with ZipFile(tmp_path / "ada.zip", "w", ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "ada.jsonl", "ada.jsonl")

    first, again = told("import", "ada.zip", "--user", "bob"), told("import", "ada.zip", "--user", "bob")

    assert (first["memories"], first["merged"], again["memories"], again["merged"]) == (1, 0, 0, 1)
    assert first["notes"] == ["read from the ZIP: 'ada.jsonl', of 1 file in it"]
    assert held(memory, "bob") == held(memory)


@pytest.mark.parametrize("kind", ["file", "stream", "zip"])
def test_it_is_told_how_far_the_file_was_read(tmp_path: Path, kind: str) -> None:
    lines = "".join(f"1.2.23, 9:00 - Ada: plum number {number}\n" for number in range(3_000))
    (tmp_path / "chat.txt").write_text(lines, encoding="utf-8")
    with ZipFile(tmp_path / "chat.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("chat.txt", lines)
    files = {"file": tmp_path / "chat.txt", "stream": io.StringIO(lines), "zip": tmp_path / "chat.zip"}
    shares: list[float] = []
    importers.remember(None, "ada", importers.read(files[kind]), shares.append)

    assert shares == sorted(shares)
    assert len(set(shares)) > 5
    assert (shares[0] < 0.3, shares[-1]) == (True, 1.0)


def test_recall_shows_who_said_it_and_when(memory: Engine) -> None:
    importers.remember(memory, "ada", importers.read(io.StringIO(ANDROID), me="Ada", timezone="UTC", session="trip"))
    (hit,) = memory.recall("ada", "Which nuts does Ada not tolerate?", k=1)

    assert (hit.role, hit.name, hit.session_id, hit.origin) == ("user", "Ada", "trip", "whatsapp")
    assert hit.observed_at.isoformat() == "2024-01-01T00:02:00+00:00"


def test_what_others_said_is_not_taken_for_the_users(memory: Engine) -> None:
    chat = "1.2.23, 9:00 - Ada: I live in Bergen.\n1.2.23, 9:01 - Bob: I live in Oslo.\n"
    importers.remember(memory, "ada", importers.read(io.StringIO(chat), "whatsapp", me="Ada"))
    memory.consolidate("ada")

    facts = memory.list("ada", memory_types=["fact"])
    assert facts
    assert not any("Oslo" in one.content for one in facts)


def test_a_longer_export_adds_the_rest(memory: Engine) -> None:
    longer = ANDROID + "2/1/2024, 9:00 - Bob: ok\n"
    importers.remember(memory, "ada", importers.read(io.StringIO(ANDROID), session="trip"))
    report = importers.remember(memory, "ada", importers.read(io.StringIO(longer), session="trip"))

    assert (report.stored, report.merged) == (1, 5)


def test_what_was_forgotten_or_has_other_words_stays_so_and_the_rest_is_stored(memory: Engine) -> None:
    importers.remember(memory, "ada", importers.read(io.StringIO(json.dumps(MEM0))))
    memory.forget("ada", next(id for id, text in held(memory).items() if text == "Lives in Bergen"))
    changed = {"results": [MEM0["results"][0], {**MEM0["results"][1], "memory": "Prefers coffee"}]}
    changed["results"].append({"id": "m-9", "memory": "Has a dog", "user_id": "ada"})
    report = importers.remember(memory, "ada", importers.read(io.StringIO(json.dumps(changed))))

    assert (report.stored, report.merged, report.skipped) == (1, 0, {NOT_AGAIN: 2})
    assert sorted(held(memory).values()) == ["Has a dog", "Prefers tea"]


def chat(number: int) -> str:
    return "".join(f"1.2.23, {9 + at // 60:02}:{at % 60:02} - Ada: plum number {at}\n" for at in range(number))


def test_an_import_that_fails_halfway_keeps_whole_batches_and_goes_on_later(memory: Engine) -> None:
    lines = chat(150)

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        importers.remember(memory, "ada", importers.read(io.StringIO(lines), session="s"), stop)
    assert len(held(memory)) == 100
    report = importers.remember(memory, "ada", importers.read(io.StringIO(lines), session="s"))
    assert (report.stored, report.merged) == (50, 100)


def test_what_stands_before_a_damaged_place_is_kept(memory: Engine) -> None:
    talk = {"conversation_id": "c", "mapping": {str(at): _said(at) for at in range(120)}, "current_node": "119"}
    text = json.dumps([talk, conversation()])[:-50]
    with pytest.raises(InvalidInput, match="item 2"):
        importers.remember(memory, "ada", importers.read(io.StringIO(text), "chatgpt"))

    assert len(held(memory)) == 100


def _said(at: int) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [f"plum {at}"]}
    return {"parent": str(at - 1) if at else None, "message": {"author": {"role": "user"}, "content": content}}


def test_ctrl_c_keeps_whole_batches_and_the_command_goes_on_later(tmp_path: Path, told: Run) -> None:
    (tmp_path / "chat.txt").write_text(chat(400), encoding="utf-8")
    command = [sys.executable, "-m", "langchain_tiered_memory", "import", "chat.txt"]
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=_interruptible,  # noqa: PLW1509
    )
    while not (tmp_path / "memory" / "memory.db").exists() or not _count(tmp_path):
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    said = child.communicate()[1].decode()

    assert child.returncode == 130
    assert re.fullmatch(r"stopped while reading chat\.txt, at \d+%: what was written until now stays, .+\n", said)
    before = _count(tmp_path)
    assert before % 100 == 0
    assert before < 400
    report = told("import", "chat.txt")
    assert (report["memories"], report["merged"]) == (400 - before, before)


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _count(folder: Path) -> int:
    result = CliRunner().invoke(app, ["status", "--path", str(folder / "memory"), "--user", "me", "--json"])
    return int(json.loads(result.stdout)["long_term"]) if result.exit_code == 0 else 0


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_table_says_why_what_was_skipped_was_skipped(told: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(ANDROID, encoding="utf-8")
    shown = CliRunner().invoke(app, ["import", "chat.txt", "--me", "Ada", "--dry-run"], env={"COLUMNS": "200"}).stdout

    assert "skipped 3: WhatsApp says it, nobody in the chat does (line 1, line 2, line 9)" in shown
    assert "dates are read day first: 7 dates can be read only day first" in shown
    assert "nothing was changed" in shown
    assert not (tmp_path / "memory").exists()


def test_options_reach_the_file_and_standard_input_is_one(told: Run) -> None:
    said = told("import", "-", "--me", "Ada", "--timezone", "Asia/Tokyo", "--session", "trip", given=ANDROID)
    assert (said["format"], said["memories"], said["sessions"]) == ("whatsapp", 5, 1)
    assert {one["role"] for one in told("list")} == {"user", "other"}

    told("import", "-", "--said-at", "2020-01-01T00:00Z", given=json.dumps(LLAMAINDEX))
    undated = [one for one in told("list") if one["origin"] == "llamaindex"]
    assert {one["observed_at"] for one in undated} == {"2020-01-01T00:00:00+00:00"}
    assert told("import", "-", "--all-branches", "--dry-run", given=json.dumps([conversation()]))["memories"] == 6


@pytest.mark.parametrize(
    ("given", "args", "words"),
    [
        ("nonsense", ["--format", "chatgpt"], "document 1='nonsense' cannot be used: JSON is needed"),
        (json.dumps(MEM0), ["--format", "openai"], "line 1="),
        ('{"content": "x"}', ["--format", "openai"], "--format='openai' cannot be used"),
        ('{"role": "user", "content": "x"}', ["--format", "jsonl"], "--format='jsonl' cannot be used"),
        (ANDROID, ["--me", "Eve"], "--me='Eve' cannot be used: a name of the chat is needed: Bob, Ada"),
        (ANDROID, ["--timezone", "Mars"], "--timezone='Mars' cannot be used"),
        ("SQLite format 3\x00", [], "give the path"),
        ('[{"mapping": {"a": "b"', ["--format", "chatgpt"], "ends in the middle"),
        ("[" * 10_000, ["--format", "langchain"], "at most 100 levels"),
    ],
)
def test_a_refusal_is_one_sentence_in_the_words_of_the_command(
    told: Run, given: str, args: list[str], words: str
) -> None:
    for more in ([], ["--dry-run"]):
        result = CliRunner().invoke(app, ["import", "-", *args, *more], input=given)

        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr
        assert result.stderr.count("\n") == 1


def test_the_same_format_may_be_named(told: Run) -> None:
    assert told("import", "-", "--format", "jsonl", given='{"content": "x"}')["format"] == "jsonl"
    assert told("import", "-", "--format", "openai", given='{"role": "user", "content": "x"}')["format"] == "openai"
