"""Memories, hits and reports as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from rich.table import Table
from rich.text import Text

from langchain_tiered_memory.cli.rows import Rows
from langchain_tiered_memory.cli.screen import plain, said
from langchain_tiered_memory.core.model import HistoryEvent, Memory, ScoredMemory
from langchain_tiered_memory.core.reports import Status
from langchain_tiered_memory.views.words import TIERS, consolidated, counted, day, moment

__all__ = [
    "TIERS",
    "about",
    "consolidated",
    "content",
    "counted",
    "day",
    "events",
    "figures",
    "hits",
    "memories",
    "moment",
    "status",
]


def about(memory: Memory, *, with_id: bool = True) -> Text:
    """Return the small print of a memory: type, tier, when it was said, reads, slot, end and id."""
    parts: list[tuple[str, str]] = [(str(memory.memory_type), "note"), (TIERS[memory.tier], str(memory.tier or "note"))]
    parts.append((day(memory.observed_at), "note"))
    if memory.access_count:
        parts.append((f"read {counted(memory.access_count, 'time')}", "note"))
    if memory.slot:
        parts.append((f"slot {plain(memory.slot, 60)}", "note"))
    if memory.pinned:
        parts.append(("pinned", "note"))
    if memory.valid_to is not None:
        parts.append((f"until {day(memory.valid_to)}", "gone"))
    if with_id:
        parts.append((plain(memory.id, 512), "note"))
    return Text(" · ", "note").join(Text(text, style) for text, style in parts)


def content(memory: Memory, *, with_id: bool = True) -> Text:
    """Return what a memory says, and below it the small print."""
    return Text("\n").join((said(memory.content), about(memory, with_id=with_id)))


def hits(found: Sequence[ScoredMemory], *, with_id: bool = True) -> Rows:
    """Return hits as a table: the score, what each signal contributes to it, and the memory."""
    signals = list(dict.fromkeys(name for hit in found for name, one in hit.explanation.items() if one.weight))
    made = Rows("score", *signals, "memory", numbers=("score", *signals))
    for hit in found:
        parts = [hit.explanation.get(name) for name in signals]
        numbers = [Text("-" if one is None else f"{one.contribution:.3f}", "note") for one in parts]
        made.add_row(Text(f"{hit.score:.3f}", "score"), *numbers, content(hit, with_id=with_id))
    return made


def memories(found: Iterable[Memory]) -> Rows:
    """Return memories as a table, in their order."""
    made = Rows("importance", "memory", numbers=("importance",))
    for memory in found:
        made.add_row(Text(f"{memory.importance:.2f}", "score"), content(memory))
    return made


def events(found: Iterable[HistoryEvent]) -> Rows:
    """Return what happened to a memory as a table, oldest first."""
    made = Rows("when", "what", "by", "memory", numbers=("when",))
    for event in found:
        text = Text("-", "note") if event.memory is None else said(event.memory.content)
        made.add_row(moment(event.at), event.kind, said(event.by, limit=64), text)
    return made


def figures(report: Any, leave_out: Iterable[str] = ()) -> Table:
    """Return a report's fields as a table of two columns."""
    made = Table(show_header=False, show_edge=False, pad_edge=False, box=None)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for one in fields(report):
        if one.name not in set(leave_out):
            value = getattr(report, one.name)
            made.add_row(Text(one.name.replace("_", " "), "note"), _figure(value))
    return made


def _figure(value: object) -> Text:
    if isinstance(value, tuple):
        return said("; ".join(map(str, value)) or "-", limit=1_000)
    return said("-" if value is None else str(value))


def status(report: Status) -> Table:
    """Return a status as a table: counts, then what serves each room."""
    made = figures(report, leave_out=("backends", "incidents", "stuck"))
    for one in report.stuck:
        made.add_row(Text("stuck", "wrong"), said(f"{one.user_id} ({one.attempts} times: {one.error})"))
    for room, served_by in report.backends.items():
        made.add_row(Text(f"{room.replace('_', ' ')} in", "note"), said(served_by))
    for name, times in report.incidents.items():
        if times:
            made.add_row(Text(name.replace("_", " "), "note"), said(str(times)))
    return made
