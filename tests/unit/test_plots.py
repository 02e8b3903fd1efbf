"""Pictures show what there is: rows, bars and marks where they belong, named, in colours that people tell apart."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib.style
import pytest
from matplotlib import dates, figure

from langchain_tiered_memory import MemorySystem, plots
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.model import HistoryEvent, Memory, MemoryType, Message, ScoredMemory, Signal, Tier
from langchain_tiered_memory.views.cards import BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

ROOT = Path(__file__).parents[2]
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def memory(content: str, tier: Tier) -> Memory:
    return Memory(content, MemoryType.FACT, 0.9, MONDAY, MONDAY, tier=tier)


def event(kind: str, at: datetime, one: Memory | None) -> HistoryEvent:
    return HistoryEvent(at, kind, one, "remember")


def histories() -> list[Sequence[HistoryEvent]]:
    old, brief = memory("I work at Initech", Tier.LONG_TERM), memory("ok thanks", Tier.SHORT_TERM)
    key = memory("The key is under the pot", Tier.LONG_TERM)
    return [
        [event("created", MONDAY, old), event("superseded", MONDAY + 2 * DAY, old)],
        [event("created", MONDAY, brief)],
        [event("promoted", MONDAY + 6 * HOUR, key)],
        [event("created", MONDAY + HOUR, None), event("forgotten", MONDAY + DAY, None)],
        [],
    ]


def hits() -> list[ScoredMemory]:
    parts = {"relevance": Signal(0.5, 0.8, 0.4), "recency": Signal(0.5, 0.2, 0.1), "keywords": Signal(1, 0, 0)}
    less = {"relevance": Signal(0.25, 0.8, 0.2), "recency": Signal(0.05, 0.2, 0.01), "keywords": Signal(0, 0, 0)}
    return [
        ScoredMemory.of(memory("It costs $5 and $6", Tier.LONG_TERM), 0.5, parts),
        ScoredMemory.of(memory("_private", Tier.SHORT_TERM), 0.21, less),
    ]


def rows(page: Any) -> list[str]:
    return [label.get_text() for label in page.axes[0].get_yticklabels()]


def bars(page: Any) -> list[Any]:
    """Return where each bar begins and how long it is."""
    return [(bar.get_x(), pytest.approx(bar.get_width())) for bar in page.axes[0].patches]


def legend(page: Any) -> list[str]:
    return [text.get_text() for text in page.legends[0].get_texts()]


def test_a_life_is_where_a_memory_was_and_what_it_met_with() -> None:
    until = MONDAY + 4 * DAY

    old, brief, key, gone = plots.lives(histories(), until=until)

    assert old.spans == (("long-term", MONDAY, MONDAY + 2 * DAY), ("superseded", MONDAY + 2 * DAY, until))
    assert brief.spans == (("short-term", MONDAY, MONDAY + DAY),)
    assert brief.marks == (("expired", MONDAY + DAY),)
    assert key.spans == (("short-term", MONDAY, MONDAY + 6 * HOUR), ("long-term", MONDAY + 6 * HOUR, until))
    assert key.marks == (("promoted", MONDAY + 6 * HOUR),)
    assert (gone.label, gone.spans[-1][2]) == ("(forgotten)", MONDAY + DAY)


def test_an_item_that_is_not_due_yet_is_still_there() -> None:
    (_, brief, *_) = plots.lives(histories(), until=MONDAY + 5 * HOUR)

    assert (brief.spans, brief.marks) == ((("short-term", MONDAY, MONDAY + 5 * HOUR),), ())


def test_the_timeline_has_a_row_for_each_memory_and_says_what_is_what() -> None:
    page = plots.timeline(histories(), until=MONDAY + 4 * DAY)

    assert rows(page) == ["I work at Initech", "ok thanks", "The key is under the pot", "(forgotten)"]
    begun = dates.date2num(MONDAY)  # type: ignore[no-untyped-call] # has no types
    assert bars(page)[:3] == [(begun, 2), (begun + 2, 2), (begun, 1)]
    assert legend(page) == [
        "short-term",
        "long-term",
        "superseded",
        "promoted",
        "superseded by a newer value",
        "its time was over: let go",
        "forgotten",
    ]
    assert page.axes[0].get_xlabel() == "time (UTC)"


async def test_the_timeline_of_a_real_memory() -> None:
    now = MONDAY
    async with MemorySystem.open(":memory:", clock=lambda: now) as system:
        told = [await system.remember("ada", "The key is under the pot", tier="short_term")]
        told += [await system.remember("ada", "I work at Initech", "fact", slot="employer")]
        now += HOUR
        for _ in range(3):
            await system.recall("ada", "Where is the key?", k=1)
        await system.consolidate("ada")
        now += HOUR
        told += [await system.remember("ada", "I work at Globex", "fact", slot="employer")]
        events = [await system.history("ada", one.id) for one in told]

    key, initech, globex = plots.lives(events, until=now + HOUR)
    assert [name for name, *_ in key.spans] == ["short-term", "long-term"]
    assert [name for name, *_ in initech.spans] == ["long-term", "superseded"]
    assert globex.spans == (("long-term", now, now + HOUR),)


def test_decay_is_what_recency_adds_by_each_recipe() -> None:
    page = plots.decay()

    classic, default, _ = page.axes[0].lines
    assert (classic.get_ydata()[0], classic.get_ydata()[24]) == pytest.approx((0.3, 0.15))
    assert default.get_ydata()[0] == pytest.approx(RankingWeights.DEFAULT.recency)
    assert legend(page) == ["CLASSIC: 0.3 x recency", "DEFAULT: 0.02 x recency"]
    assert page.axes[0].get_xlabel() == "days since the last access"
    assert page.axes[0].get_ylabel() == "added to the score (0 to 1)"


def test_the_parts_of_a_score_are_stacked_to_it() -> None:
    page = plots.score_parts(hits())

    assert bars(page) == [(0, 0.4), (0.4, 0.1), (0, 0.2), (0.2, 0.01)]
    assert legend(page) == ["relevance", "recency"]
    shown = [text.get_text() for text in page.axes[0].texts]
    assert shown == ["0.40", "0.10", " 0.500", "0.20", " 0.210"]


def test_a_text_is_shown_as_it_stands() -> None:
    page = plots.score_parts(hits())

    assert rows(page) == [r"It costs \$5 and \$6", " _private"]
    page.canvas.draw()


def test_the_use_of_a_window_is_its_messages_one_after_the_other() -> None:
    messages = [Message("system", "Be kind."), Message("user", "Hello"), Message("oracle", "?")]

    page = plots.window_use(messages, 100, count=lambda message: 10 * len(message.role))

    assert bars(page) == [(0, 60), (60, 40), (100, 60)]
    assert legend(page) == ["system", "user", "oracle"]
    assert "budget of 100 " in [text.get_text() for text in page.axes[0].texts]
    assert page.axes[0].get_xlabel() == "tokens, 163 used with the start of the reply"


async def test_the_use_of_a_context_adds_up_to_its_tokens() -> None:
    async with MemorySystem.open(":memory:") as system:
        await system.remember("ada", "I am allergic to peanuts", "preference")
        chat = system.session("ada", "monday", max_tokens=300)
        await chat.add({"role": "user", "content": "Which snack may I eat?"})
        context = await chat.context()

    page = plots.window_use(context.messages, 300)

    assert page.axes[0].get_xlabel().startswith(f"tokens, {context.tokens} used")
    assert legend(page) == ["memories", "user"]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_ink_and_ground_are_those_of_the_style(style: str) -> None:
    with matplotlib.style.context(style):
        page = plots.timeline(histories(), until=MONDAY + 4 * DAY)
        ink, ground = matplotlib.rcParams["text.color"], matplotlib.rcParams["figure.facecolor"]

        marks = {line.get_color() for line in page.axes[0].lines}
        assert marks == {ink}
        assert page.get_facecolor() == matplotlib.colors.to_rgba(ground)


def test_a_picture_goes_where_it_is_told_to() -> None:
    page = figure.Figure(layout="constrained")
    left, right = page.subplots(1, 2)

    assert plots.decay(axes=left) is page
    assert plots.score_parts(hits(), axes=right) is page
    assert [len(left.lines), len(right.patches)] == [3, 4]
    assert left.get_legend() is not None
    page.canvas.draw()


def test_nothing_to_show_is_an_empty_picture() -> None:
    for page in (plots.timeline([], until=MONDAY), plots.score_parts([]), plots.window_use([], 100)):
        assert page.axes[0].patches == [] or len(page.axes[0].patches) == 0
        page.canvas.draw()


def test_a_notebook_shows_a_picture() -> None:
    assert plots.decay()._repr_png_().startswith(b"\x89PNG")


def test_the_colours_are_those_that_everybody_tells_apart() -> None:
    okabe_ito = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"}

    assert {BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION} == okabe_ito
    assert set(COLOURS.values()) <= okabe_ito | {GREY}


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['matplotlib'] = None\nimport langchain_tiered_memory.plots"

    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)

    assert run.returncode == 1
    way = "pip install 'langchain-tiered-memory[notebooks]'"
    assert f"NotInstalled: a picture needs matplotlib, which is not installed: {way}" in run.stderr


def test_the_picture_of_the_readme_is_there_in_light_and_dark_and_told_in_words() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    drawn = re.findall(r'(?:src|srcset)="(docs/[^"]+)"', readme)
    assert drawn == ["docs/pictures/tiers-dark.svg", "docs/pictures/tiers.svg"]
    assert all(0 < (ROOT / one).stat().st_size < 150_000 for one in drawn)
    alt = re.search(r'alt="([^"]+)"', readme)
    assert alt is not None
    assert "promoted" in alt[1]


def test_the_picture_of_the_readme_shows_all_that_may_become_of_a_memory() -> None:
    histories, until = runpy.run_path(str(ROOT / "docs/pictures/draw.py"))["week"]()

    told = plots.lives(histories, until=until)

    assert [life.label for life in told][:2] == ["Good morning!", "The spare key lies under the flowerpot"]
    assert [[kind for kind, _ in life.marks] for life in told] == [
        ["expired"],
        ["promoted", "forgotten"],
        ["promoted"],
        [],
        ["superseded"],
        ["expired"],
        [],
    ]
