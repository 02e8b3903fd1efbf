"""Commands that look: recall, list, history, status."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from langchain_tiered_memory.cli import render
from langchain_tiered_memory.cli.common import DAILY, UPKEEP, Store, command, instant, json_object, text_of
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import MemoryType, RecallResult, Tier

FilterOption = Annotated[
    Any,
    typer.Option(
        "--filter",
        parser=json_object,
        metavar="JSON",
        help='Only what matches, such as {"importance": {"$gte": 0.5}} or {"metadata.topic": "food"}.',
    ),
]
TypesOption = Annotated[list[MemoryType] | None, typer.Option("--type", help="Only this type; may be repeated.")]
SupersededOption = Annotated[bool, typer.Option("--superseded", help="Also values that a newer one has replaced.")]


RECIPES: Mapping[str, RankingWeights] = {
    name: value for name, value in sorted(vars(RankingWeights).items()) if isinstance(value, RankingWeights)
}
"""The named ranking recipes: all that `RankingWeights` has, so that none is forgotten here."""
Recipe = StrEnum("Recipe", {name: name for name in RECIPES})  # type: ignore[misc] # mypy wants them written out
WeightsOption = Annotated[
    Recipe,
    typer.Option(
        "--weights",
        case_sensitive=False,
        help="How hits are ranked: DEFAULT by relevance; RECENT the latest of the relevant first; CLASSIC by "
        "importance, age and use.",
    ),
]
DEFAULT = Recipe("DEFAULT")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "recall", 'ltm recall "what snack can I buy her?" --k 3', panel=DAILY)(recall)
    command(app, "list", "ltm list --tier long_term --type fact --type preference", panel=DAILY)(list_)
    command(app, "history", "ltm history 5f1c… (an id as recall and list show it)", panel=DAILY)(history)
    command(app, "status", "ltm status --json", panel=UPKEEP, everyone=True)(status)


def recall(
    store: Store,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What to look for, in your words; - reads it from standard input.")
    ],
    *,
    k: Annotated[int, typer.Option("--k", "-k", help="How many memories.")] = 5,
    as_of: Annotated[
        Any,
        typer.Option(
            "--as-of",
            parser=instant,
            metavar="INSTANT",
            help="What was true at that time: a day or an instant, as 2026-03-01T18:30Z.",
        ),
    ] = None,
    known_at: Annotated[
        Any,
        typer.Option(
            "--known-at", parser=instant, metavar="INSTANT", help="Only what had been told by that time, likewise."
        ),
    ] = None,
    min_score: Annotated[
        str,
        typer.Option(
            "--min-score", help="Leave out what scores less, from 0 to 1; 'auto' leaves out what is no answer."
        ),
    ] = "0",
    weights: WeightsOption = DEFAULT,
    types: TypesOption = None,
    filter: FilterOption = None,
    session: Annotated[
        str | None,
        typer.Option("--session", help="The conversation this is asked in; what it still shows is left out."),
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only what this agent may see.")] = None,
    neighbors: Annotated[
        int, typer.Option("--neighbors", help="Also show so many messages before and after each hit.")
    ] = 0,
    superseded: SupersededOption = False,
    touch: Annotated[
        bool, typer.Option("--touch/--no-touch", help="Whether this counts as a read; what is read often is kept.")
    ] = True,
) -> None:
    """Find what is remembered by meaning and by keywords, and show the parts of each score."""
    with store.opened(fresh=True) as memory:
        found = memory.recall(
            store.user_id,
            text_of(query),
            k,
            session_id=session,
            agent_id=agent,
            memory_types=types or None,
            filter=_mapping(filter),
            as_of=_instant(as_of),
            known_at=_instant(known_at),
            include_superseded=superseded,
            neighbors=neighbors,
            min_score=_least(min_score),
            weights=RECIPES[weights],
            touch=touch,
        )
    _show(store, found)


def _show(store: Store, found: RecallResult) -> None:
    for part in found.failed:
        store.screen.note(f"{part} did not answer; this is what the rest knows")
    store.screen.show(
        {"hits": list(found), "failed": found.failed},
        render.hits(found) if found else "Nothing was found.",
    )


def list_(
    store: Store,
    *,
    tier: Annotated[Tier | None, typer.Option("--tier", help="Only this tier.")] = None,
    types: TypesOption = None,
    filter: FilterOption = None,
    superseded: SupersededOption = False,
    limit: Annotated[int, typer.Option("--limit", help="At most so many.")] = 20,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="The last id of the page before this one.")
    ] = None,
) -> None:
    """List memories, the latest written first. Unlike recall, this does not count as a read."""
    with store.opened(fresh=True, index=False) as memory:
        found = memory.list(
            store.user_id,
            tier=tier,
            memory_types=types or None,
            filter=_mapping(filter),
            include_superseded=superseded,
            limit=limit,
            after=after,
        )
    store.screen.show(found, render.memories(found) if found else "Nothing is remembered.")


def history(
    store: Store, id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as recall and list show it.")]
) -> None:
    """Tell what happened to one memory, oldest first: made, promoted, changed, superseded, forgotten."""
    with store.opened(index=False) as memory:
        found = memory.history(store.user_id, id)
    store.screen.show(found, render.events(found))


def status(store: Store) -> None:
    """Count what is stored and what waits to be done, and say which stores and model are in use."""
    with store.opened() as memory:
        found = memory.status(store.user)
    store.screen.show(found, render.status(found))


def _mapping(given: object) -> Mapping[str, Any] | None:
    return given if isinstance(given, Mapping) else None


def _instant(given: object) -> datetime | None:
    return given if isinstance(given, datetime) else None


def _least(given: str) -> float | str:
    if given == "auto":
        return given
    try:
        return float(given)
    except ValueError:
        raise InvalidInput("min-score", given, "a number from 0 to 1, or 'auto', is needed") from None
