"""The report of a measurement as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from langchain_tiered_memory.cli.render import counted
from langchain_tiered_memory.cli.rows import Rows
from langchain_tiered_memory.cli.screen import plain, said

if TYPE_CHECKING:
    from langchain_tiered_memory.bench.figures import Figure, Group
    from langchain_tiered_memory.bench.report import Report


def views(report: Report) -> Iterator[RenderableType]:
    """Yield what was measured, the figures by category, their intervals, and what they rest on."""
    yield _head(report)
    yield Text()
    yield _categories(report)
    yield Text()
    yield _intervals(report)
    yield Text()
    for sentence in _basis(report):
        yield said(sentence, "note", limit=1_000)


def _head(report: Report) -> Text:
    counts = (
        counted(report.conversations, "conversation"),
        f"{report.turns:,} turns",
        counted(report.questions, "question"),
    )
    left = ", ".join(f"{number} {plain(reason, 60)}" for reason, number in report.left_out.items())
    return Text(f"{report.title}, {plain(report.source)}: {', '.join(counts)}{f'; left out: {left}' if left else ''}")


def _categories(report: Report) -> Rows:
    """Return recall and MRR of each group of questions, by method."""
    measures = [one for one in report.whole.methods["memory"] if not one.startswith("hit@")]
    names = [f"{measure} {method}" for measure in measures for method in report.whole.methods]
    made = Rows("questions about", "n", *names, numbers=("n", *names))
    for group in report.groups:
        values = [
            Text(_short(figures[measure].value), "score" if method == "memory" else "")
            for measure in measures
            for method, figures in group.methods.items()
        ]
        made.add_row(_name(group), str(group.questions), *values)
    return made


def _name(group: Group) -> str:
    if group.kind == "split":
        return f"{counted(group.conversations, 'conversation')} {group.name}"
    return plain(group.name.replace("_", " "), 60)


def _intervals(report: Report) -> Rows:
    """Return the figures of all questions with their intervals, and how far the memory is above the baselines."""
    whole = report.whole
    measures = list(whole.methods["memory"])
    made = Rows("all questions", *measures, numbers=measures)
    for method, figures in whole.methods.items():
        made.add_row(method, *(_between(figures[measure]) for measure in measures))
    for baseline, figures in whole.lead.items():
        made.add_row(f"memory above {baseline}", *(_between(figures[measure], sign="+") for measure in measures))
    return made


def _short(value: float, sign: str = "") -> str:
    return f"{value:{sign}.3f}"


def _between(figure: Figure, sign: str = "") -> str:
    if figure.low is None or figure.high is None:
        return _short(figure.value, sign)
    return f"{_short(figure.value, sign)} [{_short(figure.low, sign)}, {_short(figure.high, sign)}]"


def _basis(report: Report) -> Iterator[str]:
    cuts = [one for one in report.whole.methods["memory"] if one.startswith("R@")]
    yield (
        f"{' and '.join(cuts)}: the share of the evidence, turn by turn, among so many; k={report.k}. In brackets "
        f"{report.intervals['level']:.0%} intervals, {report.intervals['by']}, {report.intervals['draws']} draws, "
        f"seed {report.intervals['seed']}; a single conversation has none."
    )
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items() if weight)
    roles = f"; remembered is what was said by: {', '.join(report.roles)}" if report.roles else ""
    yield f"memory: {report.recipe} ({weights}), otherwise default settings; version {report.version}{roles}."
    yield f"embedder: {report.embedder}."
    for baseline, what in report.baselines.items():
        yield f"{baseline}: {what}."
    yield f"tuned: {report.tuned} Of those, {len(report.tuned_on)} of {report.conversations} here."
