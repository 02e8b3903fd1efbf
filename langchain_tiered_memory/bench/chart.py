"""A chart of recall by category, beside the baselines. Drawn with matplotlib, which an extra brings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from langchain_tiered_memory.bench.figures import Figure
from langchain_tiered_memory.bench.recall import METHODS
from langchain_tiered_memory.bench.report import Report
from langchain_tiered_memory.core.errors import InvalidInput, NotInstalled, extra

FORMATS = (".png", ".svg", ".pdf")
_COLOURS = ("#2a6f97", "#bbbbbb", "#dddddd")
_BAR = 0.27
_INCHES = 1.1
"""Width of a group of bars."""
_ROOM = 1.12
"""Height of the chart, with room for the legend above the highest bar."""


def demand(path: Path) -> None:
    """Make sure that a chart can be drawn into this file.

    Raises:
        NotInstalled: matplotlib is not there.
        InvalidInput: It is a file of no format known here.
    """
    if path.suffix.lower() not in FORMATS:
        raise InvalidInput("--plot", str(path), f"a name that ends with {', '.join(FORMATS)} is needed")
    if find_spec("matplotlib") is None:
        raise NotInstalled("a chart", "matplotlib", extra("notebooks"))


def draw(report: Report, path: Path) -> None:
    """Draw recall after k hits, by category and of all, with the intervals.

    Raises:
        OSError: The file cannot be written.
    """
    from matplotlib import figure

    measure = f"R@{report.k}"
    groups = [group for group in report.groups if group.kind != "split"]
    page = figure.Figure(figsize=(2 + _INCHES * len(groups), 4.5), layout="constrained")
    axes: Any = page.subplots()
    for number, (method, colour) in enumerate(zip(METHODS, _COLOURS, strict=True)):
        found = [group.methods[method][measure] for group in groups]
        places = [place + (number - 1) * _BAR for place in range(len(groups))]
        axes.bar(places, [one.value for one in found], _BAR, color=colour, label=method, yerr=_bars(found), capsize=2)
    labels = [_plain(f"{one.name.replace('_', ' ')} ({one.questions})") for one in groups]
    axes.set_xticks(range(len(groups)), labels, rotation=30, ha="right")
    axes.set_ylim(0, _ROOM)
    axes.set_ylabel(f"share of the evidence among {report.k}")
    axes.set_title(_plain(f"{report.title}: {report.source}, {report.recipe}"))
    axes.legend(frameon=False, ncols=len(METHODS), loc="upper left")
    page.savefig(path)


def _bars(found: list[Figure]) -> list[list[float]] | None:
    """Return how far each interval reaches below and above its mean; None where there is none."""
    if all(one.low is None for one in found):
        return None
    below = [0.0 if one.low is None else max(one.value - one.low, 0.0) for one in found]
    above = [0.0 if one.high is None else max(one.high - one.value, 0.0) for one in found]
    return [below, above]


def _plain(text: str) -> str:
    """Return text in which a dollar sign is one, and begins no formula."""
    return text.replace("$", r"\$")
