"""A table for a wide terminal, which is blocks of lines on a narrow one."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_TEXT_WIDTH = 34
"""A column of text below this is no pleasure to read, and breaks ids."""
_INLINE = 20
"""Longer texts have lines of their own in a block."""
_GAP = 2


class Rows:
    """Rows under headings. Where the columns have no room beside each other each row is a block of its own."""

    def __init__(self, *columns: str, numbers: Iterable[str] = ()) -> None:
        """Name the columns; those named in `numbers` are set to the right, and never broken."""
        self._columns = columns
        self._numbers = frozenset(numbers)
        self._rows: list[tuple[Text, ...]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Add a row, one cell for each column."""
        self._rows.append(tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._least() <= options.max_width:
            yield self._table()
            return
        for place, row in enumerate(self._rows):
            if place:
                yield Text()
            yield from self._block(row)

    def _least(self) -> int:
        """Return the width below which the table is no longer readable."""
        widths = []
        for place, name in enumerate(self._columns):
            longest = max([len(name), *(_width(row[place]) for row in self._rows)])
            widths.append(longest if name in self._numbers else min(longest, _TEXT_WIDTH))
        return sum(widths) + _GAP * (len(widths) - 1)

    def _table(self) -> Table:
        made = Table(header_style="bold", show_edge=False, pad_edge=False, box=None)
        for name in self._columns:
            right = name in self._numbers
            made.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
        for row in self._rows:
            made.add_row(*row)
        return made

    def _block(self, row: tuple[Text, ...]) -> Iterable[Text]:
        """Return a row as lines: what is short first, each with its name, then the texts."""
        named, texts = [], []
        for name, cell in zip(self._columns, row, strict=True):
            if not cell:  # a name alone says nothing
                continue
            if name in self._numbers or ("\n" not in cell.plain and len(cell) <= _INLINE):
                named.append(Text.assemble((f"{name} ", "note"), cell))
            else:
                texts.append(cell)
        return [Text(" · ", "note").join(named), *texts] if named else texts


def _width(cell: Text) -> int:
    return max((line.cell_len for line in cell.split("\n")), default=0)
