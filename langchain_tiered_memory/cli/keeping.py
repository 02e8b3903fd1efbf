"""Commands that change what is remembered: remember, consolidate, maintain, forget, reindex."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_tiered_memory.cli import fading, render
from langchain_tiered_memory.cli.common import (
    DAILY,
    FAILED,
    MISUSED,
    UPKEEP,
    Store,
    command,
    confirmed,
    instant,
    json_object,
    text_of,
)
from langchain_tiered_memory.cli.following import Following, following
from langchain_tiered_memory.core.model import MemoryType, Tier
from langchain_tiered_memory.core.reports import ForgetReceipt

if TYPE_CHECKING:
    from langchain_tiered_memory.core.ports import Embedder


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "remember", 'ltm remember "I am allergic to peanuts" --type preference', panel=DAILY)(remember)
    command(app, "consolidate", "ltm consolidate --everything", panel=UPKEEP)(consolidate)
    command(app, "maintain", "ltm maintain --dry-run", panel=UPKEEP, everyone=True)(maintain)
    command(app, "forget", "ltm forget 5f1c… (an id as recall and list show it)", panel=DAILY)(forget)
    command(app, "reindex", "ltm reindex", panel=UPKEEP, everyone=True)(reindex)


def remember(
    store: Store,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from standard input.")],
    *,
    type: Annotated[MemoryType, typer.Option("--type", help="What kind of thing it is.")] = MemoryType.EPISODE,
    importance: Annotated[
        float | None, typer.Option("--importance", help="From 0 to 1; judged from its words if left out.")
    ] = None,
    slot: Annotated[
        str | None,
        typer.Option("--slot", help="What it is the only value of, such as employer: a newer one replaces it."),
    ] = None,
    tier: Annotated[Tier | None, typer.Option("--tier", help="Where to put it, whatever its importance.")] = None,
    observed_at: Annotated[
        Any,
        typer.Option(
            "--observed-at",
            parser=instant,
            metavar="INSTANT",
            help="When it was said or became true, as 2026-03-01T18:30Z; now if left out.",
        ),
    ] = None,
    session: Annotated[str | None, typer.Option("--session", help="The conversation it comes from.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="The only agent that may see it.")] = None,
    role: Annotated[str | None, typer.Option("--role", help="Who said it, such as user or assistant.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="The speaker's name.")] = None,
    origin: Annotated[str | None, typer.Option("--origin", help="Where it came from, in a word of yours.")] = None,
    metadata: Annotated[
        Any, typer.Option("--metadata", parser=json_object, metavar="JSON", help="Anything to attach, as an object.")
    ] = None,
    pinned: Annotated[
        bool, typer.Option("--pinned", help="Keep it when its day in short-term memory is over.")
    ] = False,
    id: Annotated[str | None, typer.Option("--id", help="An id of your own.")] = None,
) -> None:
    """Remember one thing. What is important is kept for good; the rest lives for a day, unless it is read often."""
    with store.opened(make=True, settle=True) as memory:
        stored = memory.remember(
            store.user_id,
            text_of(text),
            type,
            importance=importance,
            tier=tier,
            slot=slot,
            session_id=session,
            agent_id=agent,
            role=role,
            name=name,
            observed_at=observed_at,
            origin=origin,
            metadata=metadata,
            pinned=pinned,
            id=id,
        )
    store.screen.show(stored, render.memories([stored]))


def consolidate(
    store: Store,
    *,
    everything: Annotated[
        bool, typer.Option("--everything", help="Take all of short-term memory, read or not.")
    ] = False,
) -> None:
    """Move what was read often from short-term to long-term memory, and write down the facts that were stated.

    A fact that a newer one contradicts is superseded by it; `ltm recall --as-of` still finds it for its time.
    """
    with following(store.screen) as shown, store.opened(settle=True, embedder=_embedder(shown)) as memory:
        report = memory.consolidate(store.user_id, everything=everything)
    store.screen.show(report, render.consolidated(report))


def maintain(
    store: Store,
    *,
    compact: Annotated[
        bool, typer.Option("--compact", help="Also give free space on disk back, where a store can.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be done.")] = False,
    older_than: Annotated[
        float | None, typer.Option("--older-than", metavar="DAYS", help="Forget what was stored longer ago.")
    ] = None,
    unused_for: Annotated[
        float | None, typer.Option("--unused-for", metavar="DAYS", help="Forget what was not read for so long.")
    ] = None,
    importance_below: Annotated[
        float | None, typer.Option("--importance-below", help="Forget what is less important than this, from 0 to 1.")
    ] = None,
    outdated: Annotated[bool, typer.Option("--outdated", help="Forget what was superseded or is over.")] = False,
    at_most: Annotated[
        int | None, typer.Option("--at-most", help="Keep so many long-term memories of a user, the most worth keeping.")
    ] = None,
) -> None:
    """Clear up: keep or let go what had its day, finish what was interrupted, forget what you say.

    A memory in use does this by itself now and then, but for the forgetting.

    Long-term memories go only if you say which: those that meet all the conditions given, except pinned ones,
    preferences and facts that hold now. Look first with --dry-run: what is forgotten is gone for good.
    """
    policy = fading.policy(older_than, unused_for, importance_below, at_most, outdated=outdated)
    with following(store.screen) as shown, store.opened(forgetting=policy, embedder=_embedder(shown)) as memory:
        report = memory.maintain(store.user, compact=compact, dry_run=dry_run)
        told = fading.contents(memory, report) if dry_run else {}
    store.screen.show(report, render.figures(report, leave_out=("chosen",)), *fading.chosen(report, told))
    if report.failed:
        raise typer.Exit(FAILED)


def forget(
    store: Store,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="The memories' ids, as recall and list show them.")
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--everything-of-user", help="Erase all that is known of the user.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget memories for good, and the facts drawn from them alone. An import does not bring them back.

    Of a user who is erased as a whole nothing is kept, not even that: an export made before can be imported again.
    """
    if bool(ids) is everything:
        store.screen.complain("give ids to forget, or --everything-of-user, and not both")
        raise typer.Exit(MISUSED)
    if everything and not yes and not confirmed(store.screen, f"Erase everything of {store.user_id}, for good?"):
        store.screen.complain("nothing was erased: --yes, or a yes, is needed")
        raise typer.Exit(FAILED)
    with store.opened(settle=True) as memory:
        receipt = memory.forget_user(store.user_id) if everything else memory.forget(store.user_id, *(ids or ()))
    store.screen.show(receipt, render.figures(receipt))
    _warn(store, receipt)


def _warn(store: Store, receipt: ForgetReceipt) -> None:
    for place in receipt.pending:
        store.screen.note(f"{place} did not answer; `ltm maintain` clears it later")


def reindex(store: Store) -> None:
    """Make everything searchable again: after a change of the embedding model, or a loss of the vector index.

    What has no vector of the model in use is embedded, and the index written anew. Interrupted, it goes on later.
    """
    with following(store.screen) as shown, store.opened(embedder=_embedder(shown)) as memory:
        report = memory.reindex(store.user)
    store.screen.show(report, render.figures(report))
    if report.failed:
        raise typer.Exit(FAILED)


def _embedder(shown: Following) -> Embedder:
    """Return the default embedder, telling how far it is in what is embedded at once."""
    from langchain_tiered_memory.cli.watched import Watched
    from langchain_tiered_memory.embedding import default_embedder

    return Watched(default_embedder(), partial(shown.between, "embedding"))
