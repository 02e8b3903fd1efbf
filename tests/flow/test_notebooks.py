"""The notebooks run from top to bottom, offline, each in a fresh kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS[0].name == "01_quickstart.ipynb"


@pytest.mark.filterwarnings("default")  # the kernel's own machinery warns of itself
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_top_to_bottom(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # ships no types

    NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()

    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # ships no types
    assert not any(cell.get("outputs") for cell in notebook.cells)
