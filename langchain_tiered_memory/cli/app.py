"""The application: every command of `ltm`."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import Annotated

import typer

from langchain_tiered_memory.cli import asking, bench, keeping, showing, transfer, worker

_BOXES = 72
"""Columns below which the boxes of the help leave no room for what is in them."""

_ORDER = "demo remember recall list history forget consolidate maintain status reindex worker import export".split()
"""The order in the help: as one gets to know them."""

app = typer.Typer(
    name="ltm",
    rich_markup_mode="rich" if get_terminal_size().columns >= _BOXES else None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  ltm demo    What a command takes:  ltm recall --help",
)


def _version(asked: bool) -> None:
    if asked:
        from langchain_tiered_memory import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def about(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and leave.")
    ] = False,
) -> None:
    """Remember what users say, find it again by meaning, and keep what is worth keeping.

    Everything is in a folder, ./memory unless you name another: no key, no server, no network needed.
    """


for room in (showing, keeping, asking, transfer, worker, bench):
    room.add_to(app)
app.registered_commands.sort(key=lambda one: _ORDER.index(one.name or ""))
