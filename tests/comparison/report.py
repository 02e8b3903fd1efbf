"""What README.md shows of the comparison, made of what the scripts found and of what is said of this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.comparison.findings import SITUATIONS, Column, Finding
from tests.comparison.ours import CELLS, Cell

RESULTS = Path(__file__).parent / "results.json"


def read(file: Path = RESULTS) -> dict[str, Column]:
    """Read what was found, library by library."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return {title: Column.from_json(value) for title, value in found.items()}


def write(columns: Mapping[str, Column], file: Path) -> None:
    """Write what was found, with the evidence."""
    found = {title: column.as_json() for title, column in columns.items()}
    file.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def rendered(columns: Mapping[str, Column]) -> str:
    """Render the table, the versions that were run, and the tests behind our column."""
    return "\n\n".join((_table(columns), f"Run with {_versions(columns)}.", _tests()))


def _table(columns: Mapping[str, Column]) -> str:
    head = ["", *columns, "here"]
    rows = [
        [name, *(_cell(column.findings[name]) for column in columns.values()), _cell(CELLS[name])]
        for name in SITUATIONS
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def _cell(told: Finding | Cell) -> str:
    return f"**{told.outcome}**: {told.words}"


def _versions(columns: Mapping[str, Column]) -> str:
    return ", ".join(f"{name} {number}" for one in columns.values() for name, number in one.versions.items())


def _tests() -> str:
    named = (f"* {name}: {', '.join(f'`{test}`' for test in cell.tests)}" for name, cell in CELLS.items())
    lines = "\n".join(named)
    return f"<details><summary>The tests behind the last column</summary>\n\n{lines}\n\n</details>"
