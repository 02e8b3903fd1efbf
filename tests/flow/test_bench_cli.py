"""`ltm bench`: the figures of a corpus worked out by hand, the files it writes, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.progress import TimeRemainingColumn
from typer.testing import CliRunner

from langchain_tiered_memory import EmbeddingError, __version__
from langchain_tiered_memory.bench import chart
from langchain_tiered_memory.bench.readers import locomo
from langchain_tiered_memory.bench.recall import measured, work
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.cli.screen import Screen
from langchain_tiered_memory.embedding import HashedEmbedder
from tests import import_cost
from tests.public_data import LOCOMO, LONGMEMEVAL, NEUTRAL, chat, written

ROOT = Path(__file__).parents[2]
BENCHMARKS = ("locomo", "longmemeval", "beam")
METHODS = ("memory", "BM25", "dense")

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, with a wide terminal and an embedder that costs nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("langchain_tiered_memory.embedding.default_embedder", HashedEmbedder)
    return tmp_path


@pytest.fixture
def bench(folder: Path) -> Run:
    """Run one measurement in this process."""

    def run(*args: object, given: str | None = None) -> Any:
        result = CliRunner().invoke(app, ["bench", *(str(one) for one in args)], input=given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


@pytest.fixture
def told(bench: Run) -> Run:
    """Run one measurement and return its results."""

    def run(*args: object) -> Any:
        result = bench(*args, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


def group(report: Any, name: str) -> Any:
    (found,) = [one for one in report["groups"] if one["name"] == name]
    return found


def values(report: Any, name: str, measure: str) -> list[float]:
    return [group(report, name)["methods"][method][measure]["value"] for method in METHODS]


# -- figures -----------------------------------------------------------------------------------------------------------


def test_the_figures_are_those_worked_out_by_hand(told: Run, folder: Path) -> None:
    """One memory is asked for, and each question says the words of one turn alone; see `LOCOMO`."""
    report = told("locomo", written(folder / "locomo10.json", LOCOMO), "--k", 1)

    assert values(report, "single-hop", "R@1") == [1.0, 1.0, 1.0]
    assert values(report, "multi-hop", "R@1") == [0.5, 0.5, 0.5]
    assert values(report, "temporal", "R@1") == [0.0, 0.0, 0.0]
    assert values(report, "all", "R@1") == [0.625, 0.625, 0.625]
    assert values(report, "all", "hit@1") == values(report, "all", "MRR") == [0.75, 0.75, 0.75]
    assert group(report, "all")["methods"]["memory"]["R@1"] == {"value": 0.625, "low": 0.5, "high": 1.0}
    assert group(report, "multi-hop")["methods"]["memory"]["R@1"] == {"value": 0.5, "low": None, "high": None}
    assert group(report, "all")["lead"]["BM25"]["R@1"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_with_room_for_all_turns_all_evidence_is_recalled(told: Run, folder: Path) -> None:
    report = told("locomo", written(folder / "locomo10.json", LOCOMO))

    memory = group(report, "all")["methods"]["memory"]
    assert (memory["R@5"]["value"], memory["R@10"]["value"], memory["hit@10"]["value"]) == (1.0, 1.0, 1.0)


def test_conversations_that_were_tuned_on_are_reported_apart(told: Run, folder: Path) -> None:
    report = told("locomo", written(folder / "locomo10.json", LOCOMO), "--k", 1)

    assert report["tuned_on"] == ["conv-26"]
    assert "the first five conversations of LoCoMo-10" in report["tuned"]
    assert values(report, "tuned on", "R@1") == [0.5, 0.5, 0.5]
    assert values(report, "not tuned on", "R@1") == [1.0, 1.0, 1.0]


def test_longmemeval_and_beam_are_measured_too(told: Run, folder: Path) -> None:
    history = told("longmemeval", written(folder / "longmemeval_s.json", LONGMEMEVAL), "--k", 1)
    chats = told("beam", chat(folder / "chats" / "100K" / "1").parent, "--k", 1)
    neutral = told("beam", written(folder / "beam-dev.json", NEUTRAL), "--k", 1)

    assert values(history, "single-session-user", "R@1") == [1.0, 1.0, 1.0]
    assert (history["turns"], history["left_out"]) == (3, {"abstention": 1, "without evidence": 1})
    assert values(chats, "information_extraction", "R@1") == [1.0, 1.0, 1.0]
    assert values(chats, "knowledge_update", "R@1") == [0.5, 0.5, 0.5]
    assert (chats["conversations"], chats["turns"], chats["tuned_on"]) == (1, 4, ["100K/1"])
    assert values(neutral, "preference", "R@1") == [1.0, 1.0, 1.0]


def test_only_what_some_said_may_be_remembered(told: Run, folder: Path) -> None:
    report = told("beam", chat(folder / "1"), "--role", "user")

    assert (report["roles"], report["turns"]) == (["user"], 3)


def test_the_results_say_all_that_has_to_be_known(told: Run, folder: Path) -> None:
    report = told("locomo", written(folder / "locomo10.json", LOCOMO), "--weights", "classic", "--limit", 1)

    assert list(report) == [
        "benchmark", "source", "version", "embedder", "recipe", "weights", "k", "roles", "conversations", "turns",
        "questions", "left_out", "baselines", "intervals", "tuned", "tuned_on", "groups",
    ]  # fmt: skip
    assert (report["benchmark"], report["source"], report["version"]) == ("locomo", "locomo10.json", __version__)
    assert (report["embedder"], report["recipe"], report["k"], report["roles"]) == (
        HashedEmbedder().model_id,
        "CLASSIC",
        10,
        [],
    )
    assert report["weights"] == {"relevance": 0.0, "similarity": 0.1, "importance": 0.4, "recency": 0.3, "use": 0.2}
    assert (report["conversations"], report["turns"], report["questions"]) == (1, 4, 3)
    assert report["left_out"] == {"adversarial": 1, "without evidence": 2}
    assert report["intervals"] == {"level": 0.95, "by": "bootstrap over conversations", "draws": 2000, "seed": 1}
    assert set(report["baselines"]) == {"BM25", "dense"}
    for one in report["groups"]:
        assert list(one) == ["name", "kind", "questions", "conversations", "methods", "lead"]
        assert list(one["methods"]) == list(METHODS)
        assert {tuple(measures) for measures in one["methods"].values()} == {("R@5", "R@10", "hit@10", "MRR")}
    assert [(one["name"], one["kind"]) for one in report["groups"]] == [
        ("multi-hop", "category"),
        ("single-hop", "category"),
        ("temporal", "category"),
        ("all", "all"),
    ]


def test_equal_measurements_have_equal_results(told: Run, folder: Path) -> None:
    file = written(folder / "locomo10.json", LOCOMO)

    assert told("locomo", file) == told("locomo", file)


def test_all_of_a_long_text_is_embedded_before_the_first_question(folder: Path) -> None:
    """A memory in use embeds later passages in the background; here no figure may hang on how soon it does."""
    data = json.loads(json.dumps(LOCOMO[:1]))
    data[0]["conversation"]["session_2"][0]["text"] = " ".join(f"sentence {number}." for number in range(2_000))
    calls: list[str] = []

    class Written(HashedEmbedder):
        def embed_documents(self, texts: Any) -> Any:
            calls.extend("text" for _ in texts)
            return np.array([HashedEmbedder().embed_query(text) for text in texts])

        def embed_query(self, text: str) -> Any:
            calls.append("question")
            return super().embed_query(text)

    corpus = locomo(written(folder / "locomo10.json", data))
    assert len(tuple(measured(corpus, Written()))) == 3 * len(METHODS)

    texts = work(corpus.talks[0]) - 3
    assert calls == ["text"] * texts + ["question"] * (2 * 3)  # the memory and the baseline ask apart
    assert texts > 30


def test_the_work_that_is_told_of_is_the_work_that_is_done(folder: Path) -> None:
    """Six turns that say something and four questions; with a turn of three passages, those and the whole of it."""
    longer = json.loads(json.dumps(LOCOMO))
    longer[1]["conversation"]["session_1"][0]["text"] = " ".join(f"I bake loaf {n} on Sunday." for n in range(75))

    for data, steps in ((LOCOMO, 10), (longer, 13)):
        corpus = locomo(written(folder / "locomo10.json", data))
        done: list[int] = []

        rows = tuple(measured(corpus, HashedEmbedder(), tick=done.append))

        assert sum(done) == sum(work(talk) for talk in corpus.talks) == steps
        assert len(rows) == 4 * len(METHODS)


# -- what it says and writes -------------------------------------------------------------------------------------------


def test_the_tables_show_figures_baselines_intervals_and_what_they_rest_on(bench: Run, folder: Path) -> None:
    result = bench("locomo", written(folder / "locomo10.json", LOCOMO), "--k", 1)

    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == (
        "LoCoMo, locomo10.json: 2 conversations, 6 turns, 4 questions; left out: 1 adversarial, 2 without evidence"
    )
    assert "multi-hop 1 0.500 0.500 0.500 1.000 1.000 1.000" in lines
    assert "all 4 0.625 0.625 0.625 0.750 0.750 0.750" in lines
    assert "1 conversation tuned on 3 0.500 0.500 0.500 0.667 0.667 0.667" in lines
    assert any(line.startswith("memory 0.625 [0.500, 1.000]") for line in lines)
    assert any(line.startswith("memory above BM25 +0.000 [+0.000, +0.000]") for line in lines)
    for words in (HashedEmbedder().model_id, "DEFAULT (relevance 0.92", "k1=1.2, b=0.3", "1 of 2 here", "seed 1"):
        assert words in result.stdout


@pytest.mark.parametrize("width", ["40", "80"])
def test_on_a_narrow_terminal_no_line_is_wider(
    bench: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    result = bench("locomo", written(folder / "locomo10.json", LOCOMO))

    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= int(width)


def test_results_and_chart_are_written_beside_the_tables_and_nothing_else_is(bench: Run, folder: Path) -> None:
    file = written(folder / "locomo10.json", LOCOMO)

    result = bench("locomo", file, "--output", "results.json", "--plot", "chart.svg")

    assert result.exit_code == 0  # a machine that draws for the first time may be told so on standard error
    assert "memory above BM25" in result.stdout
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["source"] == "locomo10.json"
    assert (folder / "chart.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert sorted(one.name for one in folder.iterdir()) == ["chart.svg", "locomo10.json", "results.json"]


def test_a_name_in_the_data_is_no_formula_in_the_chart(bench: Run, folder: Path) -> None:
    data = json.loads(json.dumps(NEUTRAL).replace("preference", "worth $1 and $\\\\frac$"))

    result = bench("beam", written(folder / "$x_$.json", data), "--plot", "chart.png")

    assert result.exit_code == 0
    assert (folder / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_files_that_exist_are_replaced_after_a_yes_or_by_force(bench: Run, folder: Path) -> None:
    file = written(folder / "locomo10.json", LOCOMO)
    before = file.read_bytes()

    result = bench("locomo", file, "-o", file, given="\n")
    assert (result.exit_code, file.read_bytes()) == (1, before)
    assert "exists and stays as it is" in result.stderr

    for more, given in (([], "y\n"), (["--force"], None)):
        (folder / "results.json").write_text("old", encoding="utf-8")
        assert bench("locomo", file, "--output", "results.json", *more, given=given).exit_code == 0
        assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["questions"] == 4


@pytest.mark.parametrize(("name", "data"), [("locomo", LOCOMO), ("longmemeval", LONGMEMEVAL)])
def test_the_data_may_come_from_standard_input(bench: Run, told: Run, folder: Path, name: str, data: Any) -> None:
    by_name = told(name, written(folder / "data.json", data))
    result = bench(name, "-", "--json", given=json.dumps(data))

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["groups"] == by_name["groups"]


def test_where_the_data_come_from_standard_input_nobody_is_asked_there(bench: Run, folder: Path) -> None:
    (folder / "results.json").write_text("old", encoding="utf-8")
    refused = bench("locomo", "-", "--output", "results.json", given="y\n" + json.dumps(LOCOMO))

    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "results.json exists and stays as it is: --force, or a yes, is needed" in refused.stderr
    assert "Replace" not in refused.stderr
    assert bench("locomo", "-", "--output", "results.json", "--force", given=json.dumps(LOCOMO)).exit_code == 0
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["questions"] == 4


def test_the_progress_tells_how_long_it_will_take() -> None:
    assert any(isinstance(column, TimeRemainingColumn) for column in Screen().progress().columns)


# -- endings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["locomo", "nofile"], 1, "nofile: No such file or directory"),
        (["locomo", "longmemeval.json"], 2, "[0] of longmemeval.json={'question_id': 'q1'"),
        (["locomo", "longmemeval.json"], 2, "it has no 'conversation'; a file like locomo10.json of github.com/"),
        (["longmemeval", "locomo.json"], 2, "it has no 'question_id'; a file like longmemeval_s.json of github.com/"),
        (["beam", "locomo.json"], 2, "the top level of locomo.json"),
        (["beam", "empty"], 2, "no chat.json is in it; a folder like chats/100K of github.com/"),
        (["locomo", "page.json"], 2, "the text of page.json='<!DOCTYPE html>' cannot be used: it is not JSON"),
        (["locomo", "none.json"], 2, "it has no question whose evidence is known"),
        (["locomo", "locomo.json", "--role", "system"], 2, "nothing in the conversation 'conv-26' was said by them"),
        (["locomo", "locomo.json", "--output", "no/such/results.json"], 2, "--output='no/such/results.json'"),
        (["locomo", "locomo.json", "--plot", "chart.gif"], 2, "a name that ends with .png, .svg, .pdf is needed"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    bench: Run, folder: Path, args: list[str], code: int, words: str
) -> None:
    written(folder / "locomo.json", LOCOMO)
    written(folder / "longmemeval.json", LONGMEMEVAL)
    written(folder / "none.json", [{**LOCOMO[0], "qa": LOCOMO[0]["qa"][3:]}])
    (folder / "page.json").write_text("<!DOCTYPE html>", encoding="utf-8")
    (folder / "empty").mkdir()

    result = bench(*args)

    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["--k", "0"], ["--limit", "0"], ["--weights", "best"]], ids=" ".join)
def test_misuse_ends_with_2_and_says_how(bench: Run, args: list[str]) -> None:
    result = bench("locomo", "locomo10.json", *args)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_a_chart_without_matplotlib_is_refused_before_anything_is_measured(
    bench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart, "find_spec", lambda _: None)

    result = bench("locomo", "nofile", "--plot", "chart.png")

    assert result.exit_code == 1
    way = "pip install 'langchain-tiered-memory[notebooks]'"
    assert result.stderr == f"error: a chart needs matplotlib, which is not installed: {way}\n"


def test_an_embedder_that_fails_ends_the_measurement(bench: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of keywords alone would pass for those of the memory."""

    class Broken(HashedEmbedder):
        def embed_query(self, text: str) -> Any:
            if text.endswith("?"):
                raise EmbeddingError("the model is gone")
            return super().embed_query(text)

    monkeypatch.setattr("langchain_tiered_memory.embedding.default_embedder", Broken)

    result = bench("locomo", written(folder / "locomo10.json", LOCOMO))

    assert (result.exit_code, result.stdout) == (1, "")
    assert "not all could be searched: embedder failed" in result.stderr


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_explains_itself_with_an_example(bench: Run, name: str) -> None:
    result = bench(name, "--help")

    assert result.exit_code == 0
    assert f"ltm bench {name} " in result.stdout


@pytest.mark.parametrize("args", [["--help"], ["bench", "--help"], ["bench", "locomo", "--help"]], ids=" ".join)
def test_help_loads_no_driver(args: list[str]) -> None:
    heavy = (*import_cost.HEAVY, "numpy", "matplotlib")
    look = (
        f"import sys; sys.argv = ['ltm', *{args}]\n"
        "from langchain_tiered_memory.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print(*[one for one in {heavy} if one in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert shown.splitlines()[-1] == ""
