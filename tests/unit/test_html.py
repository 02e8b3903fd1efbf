"""Memories, hits and reports can be looked at, in a notebook and in a terminal, whatever is written in them."""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from langchain_tiered_memory import MemorySystem, RankingWeights
from langchain_tiered_memory.core import reports
from langchain_tiered_memory.core.model import Memory, MemoryType, RecallResult, ScoredMemory, Signal, Tier

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TAGS = {"div", "style", "span", "i", "details", "summary"}
ATTRIBUTES = {"class", "style", "role", "aria-label", "title"}
HOSTILE = '<script>alert("1")</script>\x00\ud800\x1b[31m\u202e\'"><img src=x onerror=y>[bold]&amp;</style>'


class Seen(HTMLParser):
    """What a browser would see: its text outside of the style, its tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags[-1][0] != "style":
            self.text += f"{data}\n"


def memory(content: str = "I work at Globex", **more: Any) -> Memory:
    return Memory(content, MemoryType.FACT, 0.9, NOW, NOW, **more)


def hit(content: str = "I work at Globex", relevance: float = 0.4, **more: Any) -> ScoredMemory:
    signals = {
        "relevance": Signal(relevance, 0.9, 0.9 * relevance),
        "importance": Signal(0.5, 0.1, 0.05),
        "keywords": Signal(0.7, 0.0, 0.0),
    }
    return ScoredMemory.of(memory(content, **more), 0.9 * relevance + 0.05, signals)


def terminal(value: object, width: int = 80) -> str:
    """Return what rich prints of a value."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def assert_harmless(html: str, told: str) -> None:
    seen = Seen(html)
    assert {tag for tag, _ in seen.tags} <= TAGS
    assert {name for _, attributes in seen.tags for name in attributes} <= ATTRIBUTES
    assert [tag for tag, _ in seen.tags].count("style") == 1
    for text in (html, told):
        text.encode()
        assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) is None


text = st.text(st.characters(exclude_categories=()), max_size=60) | st.just(HOSTILE)


@given(text, text, st.dictionaries(text, st.recursive(text | st.none() | st.floats(), st.lists, max_leaves=4)))
@example(HOSTILE, HOSTILE, {HOSTILE: [HOSTILE]})
def test_nothing_that_is_written_in_a_memory_is_obeyed(content: str, label: str, metadata: dict[str, Any]) -> None:
    fields: dict[str, Any] = dict.fromkeys(
        ["id", "slot", "session_id", "role", "name", "origin", "superseded_by"], label
    )
    found = hit(content, **fields, source_ids=(label,), metadata=metadata)

    for value in (memory(content, **fields, metadata=metadata), found, RecallResult([found], [label])):
        assert_harmless(value._repr_html_(), terminal(value))


@given(text)
@example(HOSTILE)
def test_nothing_that_is_written_in_a_report_is_obeyed(label: str) -> None:
    for value in (
        reports.Status(model=label, search=label, backends={label: label}),
        reports.MaintenanceReport(failed=(label,) * 20),
        reports.Explanation(
            label, recalled=False, rank=None, score=None, signals={label: Signal(1, 1, 1)}, reason=label
        ),
        MemorySystem(path=":memory:").sync.session(label or "x", label or "x", agent_id=label or "x"),
    ):
        assert_harmless(value._repr_html_(), terminal(value))


def test_a_giant_memory_makes_a_small_picture() -> None:
    giant = "x" * 10_000_000
    one = memory(giant, id=giant, metadata={giant: giant, "deep": {"list": list(range(100_000))}}, slot=giant)

    assert len(one._repr_html_()) < 10_000
    assert len(terminal(one)) < 10_000
    many = RecallResult([hit(giant)] * 1_000)
    assert len(many._repr_html_()) < 200_000
    assert "the first 50 are shown" in Seen(many._repr_html_()).text


def test_the_bars_of_a_hit_are_the_parts_of_its_score() -> None:
    html = RecallResult([hit(relevance=0.4), hit(relevance=0.2)])._repr_html_()

    bars = [one for tag, one in Seen(html).tags if tag == "span" and one.get("class") == "ltm-b"]
    assert bars[0]["aria-label"] == "relevance 0.360, importance 0.050"
    widths = [float(found) for found in re.findall(r"width:([\d.]+)%", html)]
    assert widths[:2] == [72.0, 10.0]  # of a bar that reaches to 0.5
    assert "bars reach to 0.5" in Seen(html).text
    assert "0.400 x 0.90 = 0.360" in Seen(html).text


def test_a_hit_says_when_where_from_and_why() -> None:
    found = hit(tier=Tier.LONG_TERM, role="user", session_id="monday", origin="import", access_count=2, pinned=True)

    html, told = Seen(RecallResult([found])._repr_html_()).text, " ".join(terminal(RecallResult([found])).split())

    small = "fact · long-term · 2 Mar 2026 · by user · session monday · origin import · read 2 times · pinned"
    for seen in (html, told):
        assert small in seen
        assert "relevance 0.360 (keywords 0.70) + importance 0.050" in seen
        assert "0.410" in seen


def test_the_colours_are_the_pages_own_and_nothing_is_loaded() -> None:
    html = RecallResult([hit()])._repr_html_()

    assert "color:inherit" in html
    assert re.search(r"https?:|url\(|@import|src=", html) is None
    assert re.search(r"background:(#fff|white)|[^-]color:(#000|black)", html) is None
    assert "\n" not in html


@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_terminal_of_any_width_has_no_line_too_long(width: int) -> None:
    for value in (RecallResult([hit()]), memory(), reports.Status(), reports.ConsolidationReport(promoted=12)):
        assert max(map(len, terminal(value, width).splitlines())) <= width


def test_numbers_that_are_none_are_no_bars() -> None:
    odd = Memory("x", MemoryType.FACT, math.nan, NOW, datetime.max.replace(tzinfo=UTC))

    assert "width:0.0%" in odd._repr_html_()
    assert "nan" in terminal(odd)


def test_nothing_found_and_a_tier_that_failed_are_told() -> None:
    assert "Nothing was recalled" in Seen(RecallResult()._repr_html_()).text
    assert "short_term did not answer" in terminal(RecallResult([], ["short_term"]))


def test_reports_tell_their_counts() -> None:
    report = reports.ConsolidationReport(promoted=3, facts=1_234)
    title = "Consolidated. 3 short-term items moved to long-term memory; 1,234 facts were added."

    assert title in Seen(report._repr_html_()).text
    assert title in terminal(report, 200)
    assert re.search(r"facts +1,234 █+", terminal(report))
    assert "Forget receipt" in terminal(reports.ForgetReceipt())
    assert "102 memories of 1 user" in terminal(reports.Status(users=1, short_term=81, long_term=21))
    assert "no such thing" in terminal(
        reports.Explanation("x", recalled=False, rank=None, score=None, signals={}, reason="no such thing")
    )


def test_looking_at_a_session_reads_nothing(tmp_path: Path) -> None:
    system = MemorySystem(path=tmp_path / "never")

    assert "no window was counted yet" in Seen(system.session("ada", "monday")._repr_html_()).text
    assert not (tmp_path / "never").exists()


async def test_a_session_shows_what_of_its_budget_was_used() -> None:
    async with MemorySystem.open(":memory:") as system:
        chat = system.session("ada", "monday", max_tokens=1_000)
        await chat.add({"role": "user", "content": "I work at Globex"})
        tokens = await chat.tokens()
        window = Seen(chat._repr_html_()).text
        context = await chat.context("Where?", max_tokens=500)

        assert f"tokens used {tokens} of 1,000" in window
        assert f"Context of {context.tokens} tokens" in terminal(context)
        assert "I work at Globex\nuser" in Seen(context._repr_html_()).text
        assert f"tokens used {context.tokens} of 500" in terminal(chat)
        await chat.clear()
        assert "no window was counted yet" in terminal(chat)


async def test_both_recipes_can_be_looked_at() -> None:
    async with MemorySystem.open(":memory:") as system:
        await system.remember("ada", "I work at Globex")
        for weights, first in ((RankingWeights.DEFAULT, "relevance"), (RankingWeights.CLASSIC, "importance")):
            found = await system.recall("ada", "Who works at Globex?", weights=weights)
            assert first in Seen(found._repr_html_()).text
            assert f"{found[0].score:.3f}" in terminal(found)


def test_neither_view_is_loaded_before_it_is_needed() -> None:
    code = """
import sys
from datetime import UTC, datetime
from langchain_tiered_memory import Memory
one = Memory("x", "fact", 0.5, datetime.now(UTC), datetime.now(UTC))
before = "langchain_tiered_memory.views" in sys.modules
one._repr_html_()
print(before, "rich" in sys.modules)
"""
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    assert output.split() == ["False", "False"]
