"""What an import did, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from langchain_tiered_memory.cli import render
from langchain_tiered_memory.cli.screen import plain

if TYPE_CHECKING:
    from langchain_tiered_memory.importers import ImportReport, Skipped

JSONL, OPENAI = "jsonl", "openai"
_PLACES = 3


class Kind(StrEnum):
    """What the elements of a file are."""

    EXPORT = "export"
    MEMORY = "memories"
    MESSAGE = "messages"
    TALK = "conversations"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or with `dry_run` would do.

    Attributes:
        kind: What the file holds: export, memories, messages, conversations.
        memories: Memories added; with `dry_run` those in the file.
        messages: Messages added to transcripts; likewise.
        merged: Those that were there already.
        skipped: Those that stay out.
        dry_run: Whether nothing was changed.
        format: The format of the file.
        because: Why it was taken for that.
        sessions: Conversations that the memories belong to, where the format tells.
        reasons: How many were skipped, by reason.
        examples: The first of them, with their places.
        notes: How the file was understood, in sentences.
    """

    kind: Kind
    memories: int = 0
    messages: int = 0
    merged: int = 0
    skipped: int = 0
    dry_run: bool = False
    format: str = ""
    because: str = ""
    sessions: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def imported(report: ImportReport) -> Imported:
    """Return what the import of another program's file did, in the shape that all imports have here."""
    return Imported(
        Kind.MEMORY if report.format == "mem0" else Kind.TALK,
        memories=report.stored,
        merged=report.merged,
        skipped=sum(report.skipped.values()),
        dry_run=report.dry_run,
        format=report.format,
        because=report.because,
        sessions=report.sessions,
        reasons=report.skipped,
        examples=report.examples,
        notes=report.notes,
    )


def views(report: Imported) -> Iterator[RenderableType]:
    """Yield what to show: the counts, why what was skipped was skipped, and how the file was understood."""
    yield render.figures(report, leave_out=("because", "reasons", "examples", "notes"))
    ordered = sorted(report.examples, key=lambda one: one.why)
    places = {why: [one.where for one in some][:_PLACES] for why, some in groupby(ordered, lambda one: one.why)}
    for why, number in report.reasons.items():
        first = ", ".join(plain(where, 60) for where in places.get(why, ()))
        more = ", …" if first and number > len(places[why]) else ""
        yield Text.assemble((f"skipped {number}: ", "gone"), plain(why), (f" ({first}{more})" if first else "", "note"))
    for note in report.notes:
        yield Text(plain(note), "note")
    if report.dry_run:
        yield Text("nothing was changed: this was a dry run", "note")
