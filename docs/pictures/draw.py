"""Draw the picture of the README, for light and for dark pages: `python docs/pictures/draw.py`.

A week of a memory is lived through with a clock that is moved along, and drawn as it was.
"""  # noqa: INP001 - a script beside what it draws

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
from matplotlib import dates

from langchain_tiered_memory import HistoryEvent, MaintenanceSettings, MemorySystem, Settings, plots

HERE = Path(__file__).parent
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SAID = (
    ("Good morning!", None),
    ("The spare key lies under the flowerpot", None),
    ("I planted tomatoes in the yard", None),
    ("I am allergic to peanuts", "allergy"),
    ("I work at Initech", "employer"),
)
WHY = (  # row, hours after Monday nine, and what is said there
    (0, 25.5, "small talk: let go after a day"),
    (1, 8, "read three times: promoted"),
    (2, 26, "important enough: promoted as its day ends"),
    (3, 2, "important: long-term at once"),
    (6, 53, "a newer value"),
)
LATER = ("Is it going to rain?", None), ("I have just started at Globex", "employer")


def week() -> tuple[list[Sequence[HistoryEvent]], datetime]:
    """Live through a week, and return what happened to each memory, and when it is over."""
    now = MONDAY
    lives: dict[str, Sequence[HistoryEvent]] = {}
    settings = Settings(maintenance=MaintenanceSettings(automatic=False))
    with MemorySystem.open(":memory:", clock=lambda: now, settings=settings).sync as memory:

        def look() -> None:
            for one in memory.list("ada", include_superseded=True):
                lives[one.id] = memory.history("ada", one.id)

        def say(*told: tuple[str, str | None]) -> list[str]:
            ids = [memory.remember("ada", text, "fact" if slot else "episode", slot=slot).id for text, slot in told]
            lives.update({one: memory.history("ada", one) for one in ids})
            return ids

        _, key, *_ = say(*SAID)
        for _ in range(3):
            now += timedelta(hours=2)
            memory.recall("ada", "Where is the spare key?", k=1)
        memory.consolidate("ada")
        look()
        now = MONDAY + timedelta(hours=24)
        memory.maintain("ada")
        look()
        now = MONDAY + timedelta(days=2, hours=3)
        say(*LATER)
        look()
        now = MONDAY + timedelta(days=4)
        memory.forget("ada", key)
        lives[key] = [*lives[key], *memory.history("ada", key)[-1:]]
    return list(lives.values()), MONDAY + timedelta(days=4, hours=12)


def main() -> None:
    """Draw the week twice."""
    lives, until = week()
    calendar: Any = dates  # parts of it have no types
    for name, style in (("tiers.svg", "default"), ("tiers-dark.svg", "dark_background")):
        with mpl.style.context(style), mpl.rc_context({"svg.hashsalt": "tiers", "font.size": 11}):
            page = plots.timeline(lives, until=until)
            (axes,) = page.axes
            axes.xaxis.set_major_formatter(calendar.DateFormatter("%A"))
            axes.set_xlabel("")
            for row, hours, words in WHY:
                ink = {"color": "white"} if row else {}  # the others stand on long-term memory's blue
                axes.text(MONDAY + timedelta(hours=hours), row, words, va="center", fontsize=10, **ink)
            page.savefig(HERE / name, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
