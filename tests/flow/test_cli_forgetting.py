"""`ltm maintain` with a policy: a table of what would go and why, and nothing forgotten that was not asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.cli.app import app

Run = Callable[..., Any]


@pytest.fixture
def ltm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command on a memory with three records, of which one is dull and one is preferred."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LTM_VECTOR_DB", "exact")
    with MemorySystem.open("./memory", vector_db="exact").sync as memory:
        for content, importance in (("the [red] door", 0.3), ("the blue door", 0.9)):
            memory.remember("me", content, importance=importance, tier="long_term", id=content[:7])
        memory.remember("me", "tea", "preference", importance=0.1, tier="long_term", id="tea")

    def run(*args: object) -> Any:
        result = CliRunner().invoke(app, [str(one) for one in args])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


def ids(ltm: Run) -> set[str]:
    return {one["id"] for one in json.loads(ltm("list", "--json").stdout)}


def test_without_conditions_nothing_is_forgotten(ltm: Run) -> None:
    assert ltm("maintain").exit_code == 0
    assert len(ids(ltm)) == 3


def test_a_dry_run_shows_what_would_go_and_why_and_keeps_it(ltm: Run) -> None:
    shown = ltm("maintain", "--dry-run", "--importance-below", 0.5).stdout
    (row,) = [line for line in shown.splitlines() if "the [red] door" in line]
    assert [word in row for word in ("me", "the [re", "importance below 0.5")] == [True] * 3
    assert len(ids(ltm)) == 3


def test_a_run_forgets_it_and_says_so(ltm: Run) -> None:
    report = json.loads(ltm("maintain", "--importance-below", 0.5, "--json").stdout)
    assert (report["forgotten"], report["dry_run"]) == (1, False)
    assert [(one["user_id"], one["id"], one["rule"]) for one in report["chosen"]] == [
        ("me", "the [re", "importance below 0.5")
    ]
    assert ids(ltm) == {"the blu", "tea"}
    assert ltm("history", "the [re").exit_code == 0


def test_all_conditions_must_hold(ltm: Run) -> None:
    given = ("--importance-below", 0.5, "--older-than", 1, "--unused-for", 0.5)
    assert "the [red] door" not in ltm("maintain", "--dry-run", *given).stdout
    assert "the [red] door" not in ltm("maintain", "--dry-run", "--outdated").stdout


def test_a_most_keeps_what_is_of_most_worth(ltm: Run) -> None:
    shown = ltm("maintain", "--at-most", 2).stdout
    assert "most_per_user: more than 2 memories" in shown
    assert ids(ltm) == {"the blu", "tea"}


def test_many_are_shown_in_part(ltm: Run) -> None:
    with MemorySystem.open("./memory", vector_db="exact").sync as memory:
        for number in range(60):
            memory.remember("me", f"door {number}", importance=0.3, tier="long_term")
    shown = ltm("maintain", "--dry-run", "--importance-below", 0.5).stdout
    assert shown.count("importance below 0.5") == 50
    assert "and 11 more" in shown


@pytest.mark.parametrize(
    "given",
    [
        ("--older-than", 0),
        ("--older-than", "nan"),
        ("--older-than", 1e300),
        ("--importance-below", 7),
        ("--at-most", -1),
    ],
)
def test_conditions_that_cannot_be_are_refused_in_a_sentence(ltm: Run, given: tuple[object, ...]) -> None:
    result = ltm("maintain", *given)
    assert result.exit_code in {1, 2}
    assert result.stderr.startswith("error: ")
    assert len(ids(ltm)) == 3
