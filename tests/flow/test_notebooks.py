"""The notebooks run from top to bottom, offline, each in a fresh kernel, and show what they tell of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")  # with one of them a notebook asks a real model
RECALLED = 'user, episode: "I am allergic to peanuts."'
SHOWN = {
    "01_quickstart": (
        "now:         ['I have just started at Globex'",
        "of 400 tokens",
        "3 memories recalled",
        "long_term   0.31  read 3x  The spare key is under the blue flowerpot\n",
        "Consolidated. ",
        "Forget receipt",
    ),
    "02_langchain": (
        RECALLED,
        "| user | My sister Eve and I want to fly to Lisbon in June. |",
        "Human: A table for Eve and me, and tell them of my allergy.\nAI: Booked",
        'fact: "Ada works at Globex"',
        "(hotels, 0.",
        "| evening | user | I have just started at Globex, please remember that. |",
    ),
    "03_llamaindex": (
        RECALLED,
        "[tool] The ferry to Bergen leaves at 19:30.",
        "<tiered_memory>\nThese are",
        "| user | I am allergic to peanuts. |",
        "Tool Calls:\n  timetable",
        "4 messages",
    ),
    "04_ranking": (
        "4 memories recalled",
        "Not recalled: rank ",
        "then   score ",
        "recency 1.00  read 2x",
        "RECENT    0.",
        "My bike is at the baker's.",
        "Nothing was recalled",
    ),
    "05_life_of_a_memory": (
        "12:00  short_term  read 3x  The spare key is under the blue flowerpot.",
        "Consolidated. 1 short-term item moved to long-term memory",
        "Consolidated. 2 short-term items moved to long-term memory",
        "3 items past their time were let go",
        "today:   I have just started at Globex",
        "Tuesday: I work at Initech – until Thursday",
        "Forget receipt",
    ),
    "06_your_own_chats": (
        "note: dates are read day first: 19 dates",
        "whatsapp   34 stored   0 there already 2 skipped",
        "whatsapp    0 stored  34 there already 2 skipped",
        "06 Jun 2025  Ada        I am allergic to peanuts",
        "of 34 messages",
    ),
    "07_measuring_recall": (
        "DEFAULT  R@3 0.",
        "CLASSIC  R@3 0.",
        "LoCoMo, friends.json: 1 conversation, 22 turns, 10 questions",
    ),
}
PICTURES = {"04_ranking": 2, "05_life_of_a_memory": 2, "06_your_own_chats": 1, "07_measuring_recall": 1}


def shown(outputs: list[Any]) -> Iterator[str]:
    """Return the texts of a cell's outputs."""
    for one in outputs:
        if one.output_type == "stream":
            yield one.text
        elif "text/html" in one.data:
            yield unescape(re.sub(r"<[^>]+>", " ", one.data["text/html"]))
        else:
            yield one.data.get("text/markdown", one.data["text/plain"])


def test_every_notebook_has_something_to_show() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(SHOWN)


@pytest.mark.filterwarnings("default")  # the kernel's own machinery warns of itself
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_top_to_bottom_and_shows_what_it_tells_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # ships no types

    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    text = "\n".join(part for cell in cells for part in shown(cell.outputs))
    assert all(cell.execution_count for cell in cells)
    assert [one for one in SHOWN[path.stem] if one not in text] == []
    assert "Warning" not in text
    pictures = [one for cell in cells for one in cell.outputs if "image/png" in one.get("data", {})]
    assert len(pictures) == PICTURES.get(path.stem, 0)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # ships no types
    assert not any(cell.get("outputs") for cell in notebook.cells)
