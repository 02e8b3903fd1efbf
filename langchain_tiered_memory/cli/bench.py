"""Commands that measure recall on public conversations: bench locomo, bench longmemeval, bench beam."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langchain_tiered_memory.cli import bench_tables
from langchain_tiered_memory.cli.asking import DEFAULT, RECIPES, Recipe, WeightsOption
from langchain_tiered_memory.cli.common import FAILED, MEASURING, JsonOption, confirmed, ending
from langchain_tiered_memory.cli.following import following
from langchain_tiered_memory.cli.screen import Screen, jsonable
from langchain_tiered_memory.core.errors import InvalidInput

if TYPE_CHECKING:
    from langchain_tiered_memory.bench.report import Report

STANDARD_INPUT = "-"
_DATA = {
    "locomo": ("FILE", "locomo10.json", "LoCoMo: locomo10.json of github.com/snap-research/locomo"),
    "longmemeval": (
        "FILE",
        "longmemeval_s.json --limit 50",
        "LongMemEval: longmemeval_s.json or another of github.com/xiaowu0162/LongMemEval",
    ),
    "beam": ("DIR", "chats/100K", "BEAM: chats/100K or another folder of github.com/mohammadtavakoli78/BEAM"),
}
"""Benchmark to what its data are called, an example, and which data they are."""

KOption = Annotated[int, typer.Option("--k", "-k", min=1, help="How many memories to ask for.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Only so many conversations, the first.")]
RoleOption = Annotated[
    list[str] | None, typer.Option("--role", help="Remember only what this role said, such as user; may be repeated.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write the results into this file, as JSON.")
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a chart: .png, .svg or .pdf. Needs matplotlib.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist without asking.")]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be measured."""

    benchmark: str
    source: Path
    k: int
    limit: int | None
    recipe: Recipe
    roles: tuple[str, ...]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        rich_markup_mode=app.rich_markup_mode,
        no_args_is_help=True,
        help="Measure how much is found again, on public conversations that you download, beside BM25 and embeddings.",
        epilog="Example:  ltm bench locomo locomo10.json",
    )
    for name in _DATA:
        _register(group, name)
    app.add_typer(group, name="bench", rich_help_panel=MEASURING)


def _register(group: typer.Typer, name: str) -> None:
    what, example, data = _DATA[name]
    about = "The data, as downloaded; - is standard input." if what == "FILE" else "The data, as downloaded."

    def run(
        source: Path,
        *,
        k: KOption = 10,
        limit: LimitOption = None,
        weights: WeightsOption = DEFAULT,
        role: RoleOption = None,
        output: OutputOption = None,
        plot: PlotOption = None,
        force: ForceOption = False,
        json: JsonOption = False,
    ) -> None:
        screen = Screen(json=json)
        with ending(screen):
            _prepare(screen, output, plot, force=force, ask=str(source) != STANDARD_INPUT)
            report = _measured(screen, _Asked(name, source, k, limit, weights, tuple(role or ())))
            screen.show(report, *bench_tables.views(report))
            if output is not None:
                output.write_text(dumps(jsonable(report), indent=1) + "\n", encoding="utf-8")
            if plot is not None:
                from langchain_tiered_memory.bench import chart

                chart.draw(report, plot)

    run.__annotations__["source"] = Annotated[Path, typer.Argument(metavar=what, help=about)]
    told = f"Measure recall on {data}.\n\nEvery turn is remembered, every question asked; nothing of it is kept."
    group.command(name, help=told, epilog=f"Example:  ltm bench {name} {example}")(run)


def _prepare(screen: Screen, output: Path | None, plot: Path | None, *, force: bool, ask: bool) -> None:
    """Make sure, before hours are spent, that what comes out can be written, and replaces nothing unasked.

    Nobody is asked where the data come from standard input, where the answer would be.
    """
    if plot is not None:
        from langchain_tiered_memory.bench import chart

        chart.demand(plot)
    for option, file in (("--output", output), ("--plot", plot)):
        if file is not None and not file.parent.is_dir():
            raise InvalidInput(option, str(file), "there is no such folder")
        if file is None or force or not file.exists():
            continue
        if not (ask and confirmed(screen, f"Replace {file}?")):
            screen.complain(f"{file} exists and stays as it is: --force, or a yes, is needed")
            raise typer.Exit(FAILED)


def _measured(screen: Screen, asked: _Asked) -> Report:
    """Read the data, measure, and show how far it is."""
    from langchain_tiered_memory.bench.readers import READERS
    from langchain_tiered_memory.bench.recall import measured, work
    from langchain_tiered_memory.bench.report import reported
    from langchain_tiered_memory.embedding import default_embedder

    with following(screen, "nothing was measured to its end, and nothing is written") as shown:
        shown("reading", 0, None)
        corpus = READERS[asked.benchmark](asked.source, asked.limit)
        if not corpus.talks:
            raise InvalidInput(asked.benchmark, str(asked.source), "it has no question whose evidence is known")
        shown("reading", 1, 1)
        total = sum(work(talk, asked.roles) for talk in corpus.talks)
        done = 0

        def tick(by: int) -> None:
            nonlocal done
            done += by
            shown("measuring", done, total)

        weights = RECIPES[asked.recipe]
        embedder = default_embedder()
        rows = tuple(
            measured(
                corpus,
                embedder,
                weights=weights,
                k=asked.k,
                roles=asked.roles,
                tick=tick,
            )
        )
    return reported(
        corpus,
        rows,
        embedder=embedder.model_id,
        recipe=str(asked.recipe),
        weights=weights,
        k=asked.k,
        roles=asked.roles,
    )
