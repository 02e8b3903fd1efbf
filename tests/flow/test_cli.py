"""The command line: what it does, what it says where, and how it ends."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from langchain_tiered_memory import BackendUnavailable, RankingWeights
from langchain_tiered_memory.cli import asking
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.cli.screen import plain
from langchain_tiered_memory.system import MemorySystem
from tests import import_cost

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "demo", "import", "export", "remember", "recall", "list", "consolidate", "maintain", "forget", "history",
    "status", "reindex", "bench", "worker",
)  # fmt: skip
HOSTILE = "red \x1b[31malert\x1b[0m \x07[bold]loud[/bold]\u202egnirts\u202c nul\x00 half \udcff :smile:"

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, with a wide terminal and no settings of this machine."""
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


@pytest.fixture
def told(ltm: Run) -> Run:
    """Run one command with --json and return what it says."""

    def run(*args: object, given: str | bytes | None = None) -> Any:
        result = ltm(*args, "--json", given=given)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


def test_python_dash_m_shows_every_command() -> None:
    command = [sys.executable, "-m", "langchain_tiered_memory", "--help"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert [name for name in COMMANDS if not re.search(rf"\b{name}\b", shown)] == []


def test_help_loads_no_driver() -> None:
    look = (
        "import sys; sys.argv = ['ltm', 'recall', '--help']\n"
        "from langchain_tiered_memory.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print(*[one for one in {(*import_cost.HEAVY, 'numpy')} if one in sys.modules], sep='!')"
    )
    shown = subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert shown.splitlines()[-1] == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(ltm: Run, command: str) -> None:
    result = ltm(command, "--help")

    assert result.exit_code == 0
    assert re.search(rf"Example: +ltm {command}\b", result.stdout)


def test_the_version_is_the_packages(ltm: Run) -> None:
    import langchain_tiered_memory

    assert ltm("--version").stdout.strip() == langchain_tiered_memory.__version__


# -- a life ------------------------------------------------------------------------------------------------------------


def test_a_memory_is_remembered_recalled_listed_told_of_and_forgotten(told: Run, ltm: Run) -> None:
    stored = told("remember", "I am allergic to peanuts", "--type", "preference", "--metadata", '{"topic": "food"}')
    assert (stored["tier"], stored["memory_type"], stored["metadata"]) == ("long_term", "preference", {"topic": "food"})

    (hit,) = told("recall", "Am I allergic to anything?", "--filter", '{"metadata.topic": "food"}')["hits"]
    assert (hit["id"], hit["access_count"]) == (stored["id"], 1)
    assert sum(one["contribution"] for one in hit["explanation"].values()) == pytest.approx(hit["score"], abs=1e-5)

    assert [one["access_count"] for one in told("list", "--tier", "long_term")] == [1]
    assert [one["kind"] for one in told("history", stored["id"])] == ["created"]
    assert told("status")["long_term"] == 1
    assert told("forget", stored["id"])["long_term"] == 1
    assert told("list") == []
    assert ltm("list").stdout.strip() == "Nothing is remembered."


def test_the_table_of_a_recall_shows_the_parts_of_each_score(ltm: Run) -> None:
    ltm("remember", "the spare key is under the blue pot")

    shown = ltm("recall", "spare key").stdout.splitlines()

    assert shown[0].split() == ["score", "relevance", "importance", "recency", "use", "memory"]
    score, *parts = [float(number) for number in shown[1].split()[:5]]
    assert sum(parts) == pytest.approx(score, abs=0.003)
    assert "the spare key is under the blue pot" in shown[1]
    assert "short-term" in shown[2]
    assert "read 1 time" in shown[2]


def test_the_classic_recipe_has_its_own_parts_and_a_look_need_not_count(told: Run) -> None:
    told("remember", "the spare key is under the blue pot")

    (hit,) = told("recall", "key", "--weights", "classic", "--no-touch")["hits"]

    assert set(hit["explanation"]) == {"importance", "recency", "use", "similarity"}
    assert [one["access_count"] for one in told("list")] == [0]


def test_slots_supersede_and_the_past_can_be_asked(told: Run) -> None:
    """`as_of` answers with what held then; what is superseded is listed on request."""
    for year, city in ((2020, "Bergen"), (2024, "Stavanger")):
        told("remember", f"I live in {city}", "--type", "fact", "--slot", "home", "--observed-at", f"{year}-05-01")

    def answer(*more: str) -> str:
        return str(told("recall", "Where do I live?", "--k", "1", *more)["hits"][0]["content"])

    assert (answer(), answer("--as-of", "2021-01-01")) == ("I live in Stavanger", "I live in Bergen")
    assert (len(told("list")), len(told("list", "--superseded"))) == (1, 2)


def test_users_are_apart_and_a_user_and_a_folder_may_come_from_the_environment(
    told: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LTM_PATH", str(folder / "elsewhere"))
    monkeypatch.setenv("LTM_USER", "ada")

    told("remember", "I play the violin")

    assert (folder / "elsewhere" / "memory.db").is_file()
    assert len(told("list", "--user", "ada")) == 1
    assert told("list", "--user", "bob") == []


def test_a_text_comes_from_standard_input_without_its_last_line_break(told: Run) -> None:
    assert told("remember", "-", given="two\nlines\r\n")["content"] == "two\nlines"


def test_consolidation_tells_what_it_did(ltm: Run) -> None:
    ltm("remember", "Good day. I live in Bergen.", "--tier", "short_term")

    assert (
        ltm("consolidate", "--everything").stdout.strip()
        == "1 short-term item moved to long-term memory; 1 fact was added."
    )
    assert ltm("consolidate").stdout.strip() == "There was nothing to do."


def test_looking_after_the_store_reports_figures(told: Run) -> None:
    told("remember", "I play the violin")

    assert told("maintain", "--dry-run")["dry_run"] is True
    assert told("maintain")["failed"] == []
    assert told("reindex")["failed"] == []
    assert told("status", "--user", "me")["users"] == 1


# -- hostile text ------------------------------------------------------------------------------------------------------


def test_stored_text_is_shown_and_never_obeyed(ltm: Run, told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """No escape, control or direction mark of a stored text reaches the terminal; markup stays what it is."""
    told("import", "-", given=json.dumps({"content": HOSTILE, "id": "h\x1b[2J", "slot": "s[red]"}))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    for command in (["list"], ["recall", "alert"], ["history", "h\x1b[2J"]):
        shown = ltm(*command).stdout
        ours = re.sub(r"\x1b\[[\d;]*m", "", shown)
        assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ours) is None
        assert "red [31malert[0m [bold]loud[/bold]gnirts nul half \ufffd :smile:" in ours


def test_json_is_ascii_and_holds_no_lone_surrogate(ltm: Run) -> None:
    ltm("import", "-", given=json.dumps({"content": HOSTILE}))

    shown = ltm("list", "--json").stdout

    assert shown.isascii()
    assert json.loads(shown)[0]["content"] == HOSTILE.replace("\udcff", "\ufffd")


def test_a_long_text_is_cut_before_it_is_looked_through() -> None:
    assert plain("a" * 10_000_000) == "a" * 299 + "…"
    assert plain("a\n\t b\u2028c") == "a b c"


def test_no_color_is_respected(ltm: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ltm("remember", "the spare key is under the blue pot")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = r"\x1b\[(?:\d+;)*3[0-7]m"
    assert re.search(coloured, ltm("list").stdout)

    monkeypatch.setenv("NO_COLOR", "1")

    assert re.search(coloured, ltm("list").stdout) is None


# -- endings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["recall", "x", "--path", "nowhere"], 1, "there is no memory in nowhere"),
        (["history", "nope"], 1, "this user has no memory 'nope'"),
        (["forget", "nope"], 1, "this user has no memory 'nope'"),
        (["remember", " "], 2, "a blank text says nothing"),
        (["remember", "x", "--user", ""], 2, "--user='' cannot be used"),
        (["remember", "x", "--importance", "nan"], 2, "a number from 0 to 1 is needed"),
        (["recall", "x", "--k", "0"], 2, "a whole number of at least 1"),
        (["recall", "x", "--min-score", "much"], 2, "a number from 0 to 1, or 'auto'"),
        (["recall", "x", "--filter", '{"content_is": 1}'], 2, "cannot be used"),
        (["list", "--limit", "0"], 2, "a whole number of at least 1"),
        (["forget"], 2, "give ids to forget, or --everything-of-user"),
        (["forget", "x", "--everything-of-user"], 2, "and not both"),
        (["import", "nofile"], 1, "nofile: No such file or directory"),
        (["export", "no/such/folder/file"], 1, "No such file or directory"),
        (["status", "--postgres", "sqlite:////no/such/folder/memory.db"], 1, "sqlite"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_on_standard_error(
    ltm: Run, args: list[str], code: int, words: str
) -> None:
    ltm("remember", "something, so that there is a memory")

    result = ltm(*args)

    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["nonsense"],
        ["recall"],
        ["recall", "x", "--as-of", "yesterday"],
        ["recall", "x", "--filter", "no json"],
        ["recall", "x", "--filter", "[1]"],
        ["remember", "x", "--type", "rumour"],
        ["list", "--tier", "attic"],
    ],
    ids=" ".join,
)
def test_misuse_ends_with_2_and_says_how(ltm: Run, args: list[str]) -> None:
    result = ltm(*args)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_looking_for_a_memory_makes_none(ltm: Run, folder: Path) -> None:
    for command in (["list"], ["recall", "x"], ["status"], ["maintain"], ["consolidate"], ["reindex"], ["export"]):
        assert ltm(*command).exit_code == 1

    assert list(folder.iterdir()) == []


def test_a_store_that_does_not_answer_is_one_sentence(ltm: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ltm("remember", "something")

    def refuse(*_: object, **__: object) -> None:
        raise BackendUnavailable("redis", "connect", "nobody listens")

    monkeypatch.setattr(MemorySystem, "__init__", refuse)
    result = ltm("list")

    assert (result.exit_code, result.stderr) == (1, "error: redis could not connect: nobody listens\n")


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["table", "json"])
def test_a_reader_that_leaves_is_no_error_to_speak_of(ltm: Run, folder: Path, more: list[str]) -> None:
    """`ltm list | head -0` says nothing on standard error."""
    ltm("remember", "something")
    command = [sys.executable, "-m", "langchain_tiered_memory", "list", "--path", str(folder / "memory"), *more]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""

    assert child.returncode == 1


def test_a_tier_that_did_not_answer_is_named_beside_the_hits(ltm: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_tiered_memory.core.engine import Engine
    from langchain_tiered_memory.core.model import RecallResult

    ltm("remember", "something")
    monkeypatch.setattr(Engine, "recall", lambda *_, **__: RecallResult([], ["short_term"]))
    result = ltm("recall", "x", "--json")

    assert json.loads(result.stdout) == {"hits": [], "failed": ["short_term"]}
    assert "short_term did not answer" in result.stderr


def test_every_recipe_of_the_package_can_be_asked_for(ltm: Run, told: Run) -> None:
    offered = {name for name in dir(RankingWeights) if isinstance(getattr(RankingWeights, name), RankingWeights)}
    assert offered >= {"DEFAULT", "CLASSIC", "RECENT"}
    assert {str(one) for one in asking.Recipe} == offered

    ltm("remember", "I play the violin")
    scores = {name: told("recall", "violin", "--weights", name.lower())["hits"][0]["score"] for name in offered}
    assert len(set(scores.values())) == len(offered)
    refused = ltm("recall", "violin", "--weights", "none")
    assert refused.exit_code == 2
    assert all(name.lower() in refused.stderr.lower() for name in offered)


def test_every_command_is_known_to_these_tests() -> None:
    assert set(typer.main.get_command(app).commands) == set(COMMANDS)  # type: ignore[attr-defined] # it is a group


# -- forgetting a user -------------------------------------------------------------------------------------------------


def test_everything_of_a_user_goes_only_after_a_yes(ltm: Run, told: Run) -> None:
    told("remember", "I play the violin", "--user", "ada")
    everything = ["forget", "--everything-of-user", "--user", "ada"]

    refused = ltm(*everything, given="n\n")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Erase everything of ada" in refused.stderr
    assert ltm(*everything, given="").exit_code == 1
    assert len(told("list", "--user", "ada")) == 1

    assert told(*everything, given="y\n")["short_term"] == 1
    assert told(*everything, "--yes")["short_term"] == 0


# -- carrying memories in and out --------------------------------------------------------------------------------------

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "My name is Ada and I live in London.", "created_at": "2026-01-05T10:00:00Z"},
    {"role": "assistant", "content": "Hello Ada!", "created_at": 1767607260},
    {"role": "tool", "tool_call_id": "c1", "content": "42"},
]
MEMORIES: list[dict[str, Any]] = [
    {"content": "I like tea", "type": "preference"},
    {"content": "We met in Rome", "observed_at": "2025-05-01", "metadata": {"trip": 1}, "importance": 0.4},
    {"content": "just an episode", "tier": "short_term"},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMS = {
    "array of messages": (json.dumps(CHAT, indent=1), "messages", 0, 4),
    "lines of messages": (lines(CHAT), "messages", 0, 4),
    "one document with messages": (json.dumps({"model": "m", "messages": CHAT}, indent=1), "conversations", 0, 4),
    "lines of conversations": (lines([{"messages": CHAT}, {"messages": CHAT[:2]}]), "conversations", 0, 6),
    "lines of memories": (lines(MEMORIES) + "\n \n", "memories", 3, 0),
    "array of memories": (json.dumps(MEMORIES), "memories", 3, 0),
    "nothing": ("\n", "memories", 0, 0),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_imported_once(told: Run, folder: Path, form: str) -> None:
    """A dry run counts and changes nothing; the import adds as many; the same again adds nothing."""
    text, kind, memories, messages = FORMS[form]
    (folder / "file.json").write_text(text, encoding="utf-8")
    report = {"kind": kind, "memories": memories, "messages": messages, "merged": 0, "skipped": 0, "dry_run": True}

    def held() -> object:
        return {one["id"]: one["content"] for one in told("list")}, told("status")["messages"]

    def imported(*args: object, **given: Any) -> object:
        found = told("import", *args, **given)
        return {name: found[name] for name in report}

    assert imported("file.json", "--dry-run") == report
    assert not (folder / "memory").exists()
    assert imported("file.json") == {**report, "dry_run": False}
    before = held()
    again = {**report, "memories": 0, "messages": 0, "merged": memories + messages, "dry_run": False}
    assert imported("-", "--session", "file", given=text) == again
    assert held() == before


def test_messages_go_through_the_session_that_is_named(told: Run, folder: Path) -> None:
    """They stand in its transcript, and those of user and assistant are remembered as said then."""
    told("import", "-", "--session", "chat-7", given=json.dumps(CHAT))

    with MemorySystem.open(folder / "memory").sync as memory:
        transcript = memory.session("me", "chat-7").transcript()
    assert [one.role for one in transcript] == ["system", "user", "assistant", "tool"]
    assert {one["observed_at"] for one in told("list")} == {"2026-01-05T10:00:00+00:00", "2026-01-05T10:01:00+00:00"}


def test_a_longer_export_of_the_same_conversation_adds_its_end(told: Run) -> None:
    told("import", "-", given=json.dumps(CHAT[:2]))

    report = told("import", "-", given=json.dumps(CHAT))

    assert (report["messages"], report["merged"]) == (2, 2)


def test_imported_memories_go_to_long_term_memory_unless_they_name_a_tier(told: Run) -> None:
    told("import", "-", given=lines(MEMORIES))

    assert {one["content"]: one["tier"] for one in told("list")} == {
        "I like tea": "long_term",
        "We met in Rome": "long_term",
        "just an episode": "short_term",
    }


def test_an_export_is_imported_under_another_user_and_what_was_forgotten_stays_so(
    told: Run, ltm: Run, folder: Path
) -> None:
    told("import", "-", given=lines(MEMORIES))
    told("import", "-", given=json.dumps(CHAT))
    assert told("export", "me.jsonl")["memories"] == 5
    exported = (folder / "me.jsonl").read_text(encoding="utf-8")
    result = ltm("export")
    assert (result.stdout, result.stderr) == (exported, "5 memories and 4 messages exported\n")

    assert told("import", "me.jsonl", "--dry-run")["memories"] == 5
    first = told("import", "me.jsonl", "--user", "bob")
    assert (first["kind"], first["memories"], first["messages"]) == ("export", 5, 4)
    assert told("import", "me.jsonl", "--user", "bob")["merged"] == 9
    told("forget", told("list", "--user", "bob", "--limit", "1")[0]["id"], "--user", "bob")
    assert told("import", "me.jsonl", "--user", "bob")["skipped"] == 1


def test_a_memory_that_was_forgotten_is_skipped_and_the_others_are_not(told: Run) -> None:
    told("import", "-", given=lines(MEMORIES[:2]))
    told("forget", next(one["id"] for one in told("list") if one["content"] == "We met in Rome"))

    report = told("import", "-", given=lines(MEMORIES))

    assert (report["memories"], report["merged"], report["skipped"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "JSON Lines or one JSON document is needed"),
        ("42", "line 1=42 cannot be used: a JSON object is needed"),
        ('{"nothing": 1}', "line 1"),
        ('{"content": "x", "colour": "red"}', "line 1.colour='red' cannot be used: no such field"),
        ('{"content": "x"}\n{"content": "y", "importance": 7}', "line 2.importance=7"),
        ('{"content": "x"}\n\n{"content": "y"', "line 3"),
        ('{"content": "x"}\n{"role": "user", "content": "y"}', "the file began with memories"),
        ('[{"content": "x"}, {"content": " "}]', "item 2.content"),
        ('[{"content": "x", "observed_at": "soon"}]', "item 1.instant='soon'"),
        ('[{"role": "user", "content": "x", "created_at": [1]}]', "item 1.instant=[1]"),
        ('[{"role": 7, "content": "x"}]', "item 1.message.role=7"),
        ('{"messages": "none"}', "line 1.messages='none'"),
        ('{"messages": [{"role": "user", "content": 7}]}', "line 1.messages[1].message.content cannot be used"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["for real", "dry run"])
def test_what_cannot_be_imported_is_named_with_its_place(ltm: Run, text: str, words: str, more: list[str]) -> None:
    result = ltm("import", "-", *more, given=text)

    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
