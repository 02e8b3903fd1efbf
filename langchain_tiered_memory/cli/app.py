"""The application: every command of `ltm`."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import Annotated

import typer

from langchain_tiered_memory.cli import asking, bench, keeping, showing, transfer, worker

_BOXES = 72
"""Columns below which the boxes of the help leave no room for what is in them."""

app = typer.Typer(
    name="ltm",
    rich_markup_mode="rich" if get_terminal_size().columns >= _BOXES else None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  ltm demo",
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
    """A memory in three tiers: working, short-term, long-term. No key, no server, no network needed."""


showing.add_to(app)
keeping.add_to(app)
worker.add_to(app)
asking.add_to(app)
transfer.add_to(app)
bench.add_to(app)
