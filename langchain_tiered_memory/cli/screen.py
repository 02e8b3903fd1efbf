"""What a command says: tables and sentences for people, JSON for programs. The one place that knows colours.

Stored text may hold anything; on its way to a terminal it passes `plain`, which leaves nothing that a terminal or
the markup of rich would obey.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.text import Text
from rich.theme import Theme

from langchain_tiered_memory.views.terminal import STYLES
from langchain_tiered_memory.views.words import plain, whole

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Screen", "console", "jsonable", "plain", "said"]

THEME = Theme(dict(STYLES))
_LONGEST = 300


def said(text: str, style: str = "said", limit: int = _LONGEST) -> Text:
    """Return stored text ready to be shown; brackets in it are brackets, not markup."""
    return Text(plain(text, limit), style)


def jsonable(value: object) -> Any:
    """Return a value as JSON can hold it: instants as ISO 8601, lone surrogates as U+FFFD."""
    if isinstance(value, str):
        return whole(str(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: jsonable(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(jsonable(str(key))): jsonable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or standard error; NO_COLOR and COLUMNS are respected by rich."""
    return Console(stderr=stderr, theme=THEME, markup=False, highlight=False, emoji=False)


@dataclass(frozen=True, slots=True)
class Screen:
    """Where one command speaks: data on standard output, everything else on standard error.

    Attributes:
        json: Whether standard output is for a program.
    """

    json: bool = False
    out: Console = field(default_factory=console)
    err: Console = field(default_factory=lambda: console(stderr=True))

    def show(self, data: object, *views: RenderableType) -> None:
        """Show the data as one JSON document, or else the views of it, one below the other."""
        if self.json:
            # ASCII, so that neither the terminal nor its encoding can take offence
            self.out.file.write(json.dumps(jsonable(data)) + "\n")
            self.out.file.flush()
            return
        for view in views:
            self.out.print(view)

    def note(self, sentence: str) -> None:
        """Say something beside the data, on standard error."""
        self.err.print(said(sentence, "note", limit=1_000), soft_wrap=True)

    def complain(self, sentence: str) -> None:
        """Say in one sentence what went wrong, on standard error."""
        self.err.print(Text.assemble(("error: ", "wrong"), plain(sentence, 1_000)), soft_wrap=True)

    def progress(self, *, wanted: bool = True) -> Progress:
        """Return a progress display on standard error; it shows nothing unless it is wanted and somebody looks on.

        The stream itself is asked whether it is a terminal: FORCE_COLOR makes rich take a log for one.
        """
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self.err,
            transient=True,
            disable=not wanted or self.json or self.err.is_dumb_terminal or not self.err.file.isatty(),
        )
