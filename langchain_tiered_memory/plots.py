"""Pictures of a memory, drawn with matplotlib: the lives of memories, decay, parts of scores, the use of a window.

Each function draws on the axes that it is given, or on a new figure, and returns the figure; a notebook shows it. Ink
and background are matplotlib's own, so that `matplotlib.style.context("dark_background")` holds for them too.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.errors import NotInstalled, extra
from langchain_tiered_memory.core.model import HistoryEvent, Message, ScoredMemory, Tier
from langchain_tiered_memory.core.prompt import is_block
from langchain_tiered_memory.core.ranking import HOURS_TO_HALF
from langchain_tiered_memory.core.working import REPLY_TOKENS
from langchain_tiered_memory.views.cards import BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE, SKY
from langchain_tiered_memory.views.words import TIERS, plain

try:
    from matplotlib import dates, figure
except ImportError as missing:
    raise NotInstalled("a picture", "matplotlib", extra("notebooks")) from missing

__all__ = ["Life", "decay", "lives", "score_parts", "timeline", "window_use"]

DAY = timedelta(hours=24)
SUPERSEDED = "superseded"
MARKS: Mapping[str, tuple[str, str]] = {
    "promoted": ("^", "promoted"),
    "superseded": ("o", "superseded by a newer value"),
    "expired": ("x", "its time was over: let go"),
    "forgotten": ("s", "forgotten"),
}
"""What a life may meet with: the mark, and what the legend says of it."""
_ORDER = ("short-term", "long-term", SUPERSEDED, *(meaning for _, meaning in MARKS.values()))
_ROLES: Mapping[str, str] = {"system": GREY, "user": BLUE, "assistant": ORANGE, "tool": GREEN, "memories": PURPLE}
_LABEL = 40
_LANE = 0.36
"""Height of a row, in inches."""
_HOURS = tuple(range(24 * 7 + 1))
_DARK = 0.18
"""Luminance below which white is read better than black."""
_LEAST_SHOWN = 0.07
"""Share of the axis from which a part has room for its number."""


@dataclass(frozen=True, slots=True)
class Life:
    """What a memory lived through.

    Attributes:
        label: The beginning of its text.
        spans: Where it was: "short-term", "long-term" or "superseded", from when, until when.
        marks: What it met with, a key of `MARKS`, and when.
    """

    label: str
    spans: tuple[tuple[str, datetime, datetime], ...]
    marks: tuple[tuple[str, datetime], ...]


def lives(histories: Iterable[Sequence[HistoryEvent]], *, until: datetime, ttl: timedelta = DAY) -> tuple[Life, ...]:
    """Return what memories lived through, by their `history`, in the order in which they were stored.

    Args:
        histories: The events of each memory, oldest first. Of an item that is let go they are there only before.
        until: The end of the picture.
        ttl: How long a short-term item lives.
    """
    told = [life for events in histories if events and (life := _life(events, until, ttl))]
    return tuple(sorted(told, key=lambda life: life.spans[0][1]))


def _life(events: Sequence[HistoryEvent], until: datetime, ttl: timedelta) -> Life | None:
    known = [event.memory for event in events if event.memory is not None]
    begun = events[0].at
    where = TIERS[Tier.LONG_TERM]
    if known and events[0].kind == "promoted":  # what it was before has no history of its own
        begun, where = known[0].created_at, TIERS[Tier.SHORT_TERM]
    elif known:
        where = TIERS[known[0].tier]
    spans: list[tuple[str, datetime, datetime]] = []
    marks: list[tuple[str, datetime]] = []
    turns = {"promoted": TIERS[Tier.LONG_TERM], "superseded": SUPERSEDED, "forgotten": ""}
    for event in events:
        if event.kind in turns and event.at <= until:
            spans.append((where, begun, event.at))
            marks.append((event.kind, event.at))
            begun, where = event.at, turns[event.kind]
    end = until
    if where == TIERS[Tier.SHORT_TERM] and begun + ttl <= until:
        end = begun + ttl
        marks.append(("expired", end))
    if where and begun < end:
        spans.append((where, begun, end))
    label = known[-1].content if known else "(forgotten)"
    return Life(label, tuple(spans), tuple(marks)) if spans else None


def timeline(
    histories: Iterable[Sequence[HistoryEvent]], *, until: datetime, ttl: timedelta = DAY, axes: Any = None
) -> Any:
    """Draw where each memory was over time, a row for each, and where it was promoted, superseded, let go, forgotten.

    Args:
        histories: The events of each memory, as `history` tells them.
        until: The end of the picture.
        ttl: How long a short-term item lives.
        axes: Where to draw; None makes a figure.
    """
    told = lives(histories, until=until, ttl=ttl)
    page, axes = _place(axes, len(told))
    for row, life in enumerate(told):
        for name, begin, end in life.spans:
            height = 0.25 if name == SUPERSEDED else 0.55
            axes.barh(row, end - begin, height, left=begin, color=COLOURS[name], label=name)
        for kind, at in life.marks:
            mark, meaning = MARKS[kind]
            axes.plot([at], [row], mark, color=_ink(axes), markersize=6, markeredgewidth=1.6, label=meaning, ls="none")
    _rows(axes, [life.label for life in told])
    calendar: Any = dates  # parts of it have no types
    locator = calendar.AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(calendar.ConciseDateFormatter(locator))
    axes.set_xlabel("time (UTC)")
    _legend(axes)
    return page


def decay(
    recipes: Mapping[str, RankingWeights] | None = None, *, hours: Sequence[float] = _HOURS, axes: Any = None
) -> Any:
    """Draw what recency adds to a score, by the hours since a memory was last read or said.

    Args:
        recipes: Name to recipe; None compares `CLASSIC` and `DEFAULT`.
        hours: Where on the axis, rising.
        axes: Where to draw; None makes a figure.
    """
    chosen = recipes or {"CLASSIC": RankingWeights.CLASSIC, "DEFAULT": RankingWeights.DEFAULT}
    page, axes = _place(axes, 8)
    days = [hour / 24 for hour in hours]
    for (name, recipe), colour in zip(chosen.items(), _cycle(len(chosen)), strict=True):
        added = [recipe.recency / (1 + hour / HOURS_TO_HALF) for hour in hours]
        axes.plot(days, added, color=colour, linewidth=2, label=f"{_text(name)}: {recipe.recency:g} x recency")
    axes.axvline(HOURS_TO_HALF / 24, color=GREY, linewidth=1, linestyle=":")
    axes.text(HOURS_TO_HALF / 24, 0.98, " half is left after a day", transform=axes.get_xaxis_transform(), va="top")
    axes.set_xlim(days[0], days[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("days since the last access")
    axes.set_ylabel("added to the score (0 to 1)")
    _legend(axes)
    return page


def score_parts(hits: Sequence[ScoredMemory], *, axes: Any = None) -> Any:
    """Draw hits as stacked bars: what each signal contributed to the score, best first.

    Args:
        hits: A `RecallResult`, or any hits of one recipe.
        axes: Where to draw; None makes a figure.
    """
    page, axes = _place(axes, len(hits))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    for row, hit in enumerate(hits):
        begun = 0.0
        for name, signal in hit.explanation.items():
            if signal.weight:
                colour = COLOURS.get(name, SKY)
                bars = axes.barh(row, signal.contribution, 0.6, left=begun, color=colour, label=_text(name))
                if signal.contribution >= _LEAST_SHOWN * best:
                    axes.bar_label(bars, [f"{signal.contribution:.2f}"], label_type="center", color=_on(colour))
                begun += signal.contribution
        axes.text(begun, row, f" {hit.score:.3f}", va="center")
    _rows(axes, [hit.content for hit in hits])
    axes.set_xlim(0, best * 1.12)
    axes.set_xlabel("score (0 to 1)")
    _legend(axes)
    return page


def window_use(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    count: Callable[[Message], int] | None = None,
    axes: Any = None,
) -> Any:
    """Draw what messages take of a token budget, one after the other.

    Args:
        messages: Those of a `Context`, or of a window.
        max_tokens: The budget.
        count: What a message costs, in tokens; None counts as `WorkingMemory` does.
        axes: Where to draw; None makes a figure.
    """
    page, axes = _place(axes, len(messages))
    begun = 0
    costs = [(count or _counter())(message) for message in messages]
    for row, (message, cost) in enumerate(zip(messages, costs, strict=True)):
        who = "memories" if is_block(message.text) else message.role
        bars = axes.barh(row, cost, 0.6, left=begun, color=_ROLES.get(who, SKY), label=_text(who))
        axes.bar_label(bars, [f"{cost:,}"], padding=3)
        begun += cost
    axes.axvline(max_tokens, color=_ink(axes), linestyle="--", linewidth=1)
    axes.text(
        max_tokens, 0.98, f"budget of {max_tokens:,} ", transform=axes.get_xaxis_transform(), ha="right", va="top"
    )
    _rows(axes, [message.text for message in messages])
    axes.set_xlim(0, max(begun, max_tokens) * 1.08)
    axes.set_xlabel(f"tokens, {begun + REPLY_TOKENS if begun else 0:,} used with the start of the reply")
    _legend(axes)
    return page


class _Picture(figure.Figure):
    """A figure that a notebook shows without more ado."""

    def _repr_png_(self) -> bytes:
        """Return the figure for a notebook."""
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=110)
        return drawn.getvalue()


def _place(axes: Any, rows: int) -> tuple[Any, Any]:
    """Return figure and axes, new ones with room for so many rows if none are given."""
    if axes is None:
        page = _Picture(figsize=(9, 1.3 + _LANE * max(rows, 2)), layout="constrained")
        axes = page.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes.figure, axes


def _rows(axes: Any, labels: Sequence[str]) -> None:
    """Name the rows, the first on top."""
    axes.set_yticks(range(len(labels)), [_text(label) for label in labels])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def _legend(axes: Any) -> None:
    """Say what each colour and mark is, each once: below a figure of our own, else beside the axes."""
    once = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    names = sorted(once, key=lambda name: _ORDER.index(name) if name in _ORDER else 0)  # without a place: as they came
    handles = [once[name] for name in names]
    if not once:
        return
    if isinstance(axes.figure, _Picture):
        axes.figure.legend(handles, names, loc="outside lower left", ncols=4, frameon=False)
    else:
        axes.legend(handles, names, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _ink(axes: Any) -> Any:
    return axes.xaxis.label.get_color()


def _on(colour: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return "white" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < _DARK else "black"


def _cycle(number: int) -> list[str]:
    colours = (ORANGE, BLUE, GREEN, PURPLE, SKY, GREY)
    return [colours[place % len(colours)] for place in range(number)]


def _text(text: str) -> str:
    """Return text as matplotlib shows it: a dollar sign begins no formula, a line that begins with "_" is shown."""
    shown = plain(text, _LABEL).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _counter() -> Callable[[Message], int]:
    from langchain_tiered_memory.tokens import TiktokenCounter

    return TiktokenCounter().message
