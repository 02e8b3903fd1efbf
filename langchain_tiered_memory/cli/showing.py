"""The command `demo`, and how its steps are shown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from langchain_tiered_memory.cli import render
from langchain_tiered_memory.cli.common import FIRST, ending
from langchain_tiered_memory.cli.demo import USER, demo_messages, run_demo
from langchain_tiered_memory.cli.demo_story import Answer, Consolidated, Fate, Left, Recalled, Remembered, Step
from langchain_tiered_memory.cli.rows import Rows
from langchain_tiered_memory.cli.screen import Screen, plain, said
from langchain_tiered_memory.core.config import Settings
from langchain_tiered_memory.core.model import Memory, Tier

_EXAMPLES = 2
_NAMES = {"user": "Nora", "assistant": "Assistant"}


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("demo", epilog="Example:  ltm demo --keep ./demo-memory", rich_help_panel=FIRST)(demo)


def demo(
    *,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="PATH", help="Keep the demo's memory in this new folder.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write the steps as JSON, and nothing else, to standard output.")
    ] = False,
) -> None:
    """Watch five weeks of a conversation being remembered, recalled, consolidated and recalled again."""
    screen = Screen(json=json)
    with ending(screen):
        if not json:
            screen.out.print(*_opening(), sep="\n")
        with screen.progress() as progress:
            task = progress.add_task("remembering", total=len(demo_messages()))

            def tell(step: Step) -> None:
                progress.stop()  # it may not draw into what is printed from here on
                if not json:
                    screen.out.print(*shown(step), sep="\n")

            story = run_demo(keep, tell=tell, tick=lambda done, _: progress.update(task, completed=done))
        screen.show(story, *_closing(keep))


def two_days_later(left: Left) -> str:
    """Return what is left of the last day's talk two days later, as a Markdown table."""
    lines = ["| importance | read | said | two days later |", "|---:|---:|---|---|"]
    for one in left.outcomes:
        words = f"{_speaker(one.memory)}: {one.memory.content}".replace("|", "\\|")
        lines.append(f"| {one.memory.importance:.2f} | {one.reads} | {words} | {because(one.fate)} |")
    return "\n".join(lines)


def because(fate: Fate) -> str:
    """Say what became of a message, and why."""
    settings = Settings()
    return {
        Fate.AT_ONCE: f"kept: above {settings.placement.long_term_above}, long-term at once",
        Fate.READ: f"kept: read {settings.short_term.promote_after_reads} times, promoted by consolidate",
        Fate.PROMOTED: f"kept: at least {settings.short_term.promote_importance}, promoted at its expiry",
        Fate.LET_GO: "let go at its expiry",
    }[fate]


@singledispatch
def shown(step: object) -> Iterator[RenderableType]:
    """Yield what to print for a step of the demo."""
    raise TypeError(f"{type(step).__name__} is no step of the demo")


@shown.register
def _(step: Remembered) -> Iterator[RenderableType]:
    yield _heading(1, "Remember", "chat.add(message) scores a message and places it by importance")
    made = Rows("day", "messages", "long-term", "short-term", "promoted", "let go", numbers=_DAY_COLUMNS)
    for one in step.days:
        due = one is not step.days[-1]
        later = (str(one.promoted), str(one.let_go)) if due else ("…", "…")
        made.add_row(
            f"{one.began:%a} {render.day(one.began)}",
            str(one.messages),
            Text(str(one.long_term), "long_term"),
            Text(str(one.short_term), "short_term"),
            Text(later[0], "long_term"),
            Text(later[1], "gone"),
        )
    yield made
    yield Text(_totals(step))
    yield _note(
        "Short-term memory lives for a day: what is then important enough is promoted, the rest is let go. A memory "
        "in use sees to that by itself.\n"
    )
    yield _examples(step)


def _totals(step: Remembered) -> str:
    def total(name: str) -> int:
        return sum(getattr(day, name) for day in step.days)

    return (
        f"{total('messages')} messages: {total('long_term')} went to long-term memory at once and "
        f"{total('short_term')} to short-term memory; of these {total('promoted')} have been promoted since, and "
        f"{total('let_go')} let go."
    )


_DAY_COLUMNS = ("messages", "long-term", "short-term", "promoted", "let go")


def _examples(step: Remembered) -> Rows:
    """Return the most, the middling and the least important of what she said."""
    own = sorted((one for one in step.placed if one.role == "user"), key=lambda one: -one.importance)
    middle = next(at for at, one in enumerate(own) if one.tier is Tier.SHORT_TERM)
    made = Rows("importance", "tier", "for example", numbers=("importance",))
    for memory in (*own[:_EXAMPLES], *own[middle : middle + _EXAMPLES], *own[-_EXAMPLES:]):
        tier = Text(render.TIERS[memory.tier], str(memory.tier))
        made.add_row(Text(f"{memory.importance:.2f}", "score"), tier, said(memory.content))
    return made


@shown.register
def _(step: Recalled) -> Iterator[RenderableType]:
    if not step.again:
        yield _heading(2, "Recall", f'memory.recall("{USER}", question) ranks what both tiers hold')
        yield _note("A score is the sum of its parts. Her work has two answers: nothing says yet which one holds.")
    else:
        yield _heading(4, "Recall again", "asking the facts: what holds now, and what held earlier (as_of)")
    for _, asked in groupby(step.answers, key=lambda one: (one.question, one.as_of)):
        yield from _answers(list(asked))


def _answers(asked: Sequence[Answer]) -> Iterator[RenderableType]:
    """Yield a question, and the hits of each time it was asked in one table."""
    one = asked[0]
    when = f"  as of {render.day(one.as_of)}" if one.as_of else ""
    times = f"  asked {len(asked)} times that evening" if len(asked) > 1 else ""
    yield Text.assemble("\n", (one.question, "command"), (when + times, "note"))
    yield render.hits([hit for answer in asked for hit in answer.hits], with_id=False)


@shown.register
def _(step: Consolidated) -> Iterator[RenderableType]:
    yield _heading(3, "Consolidate", f'memory.consolidate("{USER}") keeps what earned it, and finds facts')
    yield Text(render.consolidated(step.report))
    for memory in step.promoted:
        yield Text.assemble("Read often enough: ", said(memory.content))
    made = Rows("slot", "fact", "holds")
    content_of = {one.id: one.content for one in step.facts}
    for fact in step.facts:
        new = content_of.get(fact.superseded_by or "")
        held = "now" if fact.valid_to is None else f"until {render.day(fact.valid_to)}"
        told = said(fact.content) if new is None else Text.assemble(said(fact.content), "\n", _replaced(new))
        made.add_row(fact.slot or "", told, Text(held, "long_term" if fact.current else "gone"))
    yield made


def _replaced(new: str) -> Text:
    return Text(f"superseded by: {plain(new)}", "note")


@shown.register
def _(step: Left) -> Iterator[RenderableType]:
    yield _heading(5, "Two days later", "what is left of the last day's talk, and why")
    made = Rows("importance", "read", "said", "two days later", numbers=("importance", "read"))
    for one in step.outcomes:
        style = "gone" if one.fate is Fate.LET_GO else "long_term"
        words = Text.assemble((f"{_speaker(one.memory)}: ", "note"), said(one.memory.content))
        made.add_row(f"{one.memory.importance:.2f}", str(one.reads), words, Text(because(one.fate), style))
    yield made


def _heading(number: int, name: str, what: str) -> Text:
    return Text.assemble("\n", (f"{number}. {name}", "step"), ("  " + what, "note"))


def _note(sentence: str) -> Text:
    return Text(sentence, "note")


def _speaker(memory: Memory) -> str:
    return _NAMES[memory.role or "user"]


def _opening() -> Iterator[RenderableType]:
    yield Text(
        "Nora talks to her assistant for five weeks. She is made up, the memory is real: SQLite and Chroma in a "
        "folder, an embedding model on this machine, and a clock that the demo moves along."
    )


def _closing(keep: str | None) -> Iterator[RenderableType]:
    yield Text("\nNow try", "step")
    if keep is not None:
        where = f"--path {shlex.quote(plain(keep))} --user {USER}"
        yield Text(f'  ltm recall "Who is my boss?" {where}', "command")
        yield Text(f"  ltm list {where}", "command")
        return
    yield Text('  ltm remember "I am allergic to peanuts"', "command")
    yield Text('  ltm recall "May I eat peanut butter?"', "command")
    yield Text("  ltm demo --keep ./demo-memory    keeps Nora's memory to look around in", "command")
