"""Commands that carry memories in and out: import, export."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, TypeVar, cast

import typer

from langchain_tiered_memory.cli import formats, render
from langchain_tiered_memory.cli.common import FAILED, Store, command, confirmed
from langchain_tiered_memory.cli.formats import Element, Kind
from langchain_tiered_memory.cli.screen import plain
from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.model import Memory, NewMemory

if TYPE_CHECKING:
    from langchain_tiered_memory.core.engine import Engine

T = TypeVar("T")

_BATCH = 100
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or with `dry_run` would do.

    Attributes:
        kind: What the file holds: export, memories, messages, conversations.
        memories: Memories added; with `dry_run` those in the file.
        messages: Messages added to transcripts; likewise.
        merged: Those that were there already.
        skipped: Those that stay out: they were forgotten, or their id belongs to another content.
        dry_run: Whether nothing was changed.
    """

    kind: Kind
    memories: int = 0
    messages: int = 0
    merged: int = 0
    skipped: int = 0
    dry_run: bool = False


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "import", "ltm import chat.json --session chat-7 --dry-run")(import_)
    command(app, "export", "ltm export --user ada > ada.jsonl")(export)


def import_(
    store: Store,
    file: Annotated[str, typer.Argument(help="The file; - is standard input.")],
    *,
    session: Annotated[
        str | None, typer.Option("--session", help="Where messages go; the file's name if left out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check the file, and change nothing.")] = False,
) -> None:
    """Add what a file holds to a user's memory. Importing a file again adds nothing.

    Three kinds of file: an export of ours; JSON Lines of memories with content and any argument of remember; messages
    with role and content, as a JSON array, as JSON Lines, or under "messages". Messages go through a session, so that
    they are placed by their importance; memories go to long-term memory unless they name a tier.
    """
    name = (Path(file).stem if file != STANDARD_INPUT else "import") if session is None else session
    with store.screen.progress() as progress, _lines(file) as (lines, size):
        task = progress.add_task(plain(f"reading {file}", 60), total=1.0 if size else None)

        def ticking() -> Iterator[str]:
            for line in lines:
                yield line
                progress.advance(task, len(line) / size if size else 0)

        kind, elements = formats.read(ticking(), lambda share: progress.update(task, completed=share))
        if dry_run:
            report = _counted(kind, elements, name)
        else:
            with store.opened(make=True, settle=True) as memory:
                report = _IMPORTS[kind](memory, store.user_id, elements, name)
    store.screen.show(report, render.figures(report))


def export(
    store: Store,
    file: Annotated[str, typer.Argument(help="The file to write; - is standard output.")] = "-",
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists without asking.")] = False,
) -> None:
    """Write all memories and transcripts of a user as JSON Lines, which `ltm import` reads."""
    if (
        file != STANDARD_INPUT
        and Path(file).is_file()
        and not force
        and not confirmed(store.screen, f"Replace {file}?")
    ):
        store.screen.complain(f"{file} exists and stays as it is: --force, or a yes, is needed")
        raise typer.Exit(FAILED)
    with store.opened(index=False) as memory:
        if file != STANDARD_INPUT:
            report = memory.export_user(store.user_id, file)
            store.screen.show(report, render.figures(report, leave_out=("merged", "skipped")))
            return
        report = memory.export_user(store.user_id, cast("TextIO", _Bytes()))
        typer.get_binary_stream("stdout").flush()
    told = render.counted(report.memories, "memory", "memories"), render.counted(report.messages, "message")
    store.screen.note(f"{' and '.join(told)} exported")


class _Bytes:
    """Standard output as a file of text that is kept to the last byte, whatever the terminal makes of it."""

    def write(self, text: str) -> None:
        """Write a text as UTF-8, lone surrogates too."""
        typer.get_binary_stream("stdout").write(text.encode("utf-8", "surrogatepass"))


@contextmanager
def _lines(file: str) -> Iterator[tuple[Iterable[str], int]]:
    """Yield the lines of a file and its size in bytes, 0 when that is not known."""
    if file == STANDARD_INPUT:
        yield map(_text, typer.get_binary_stream("stdin")), 0
        return
    with Path(file).open("rb") as lines:
        yield map(_text, lines), Path(file).stat().st_size


def _text(line: bytes) -> str:
    """Return a line as it was exported; in one that is not of ours what is no UTF-8 is kept as it is."""
    try:
        return line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape")


def _counted(kind: Kind, elements: Iterator[Element], session: str) -> Imported:
    """Check every element, and count."""
    from langchain_tiered_memory.core.transfer import memory_in, message_in

    memories = messages = 0
    for place, element in enumerate(elements):
        if kind is Kind.EXPORT:
            is_memory = element.value["kind"] == "memory"
            (memory_in if is_memory else message_in)(element.value, element.where, formats.MOST_BYTES)
            memories, messages = memories + is_memory, messages + (not is_memory)
        elif kind is Kind.MEMORY:
            formats.memory(element)
            memories += 1
        elif kind is Kind.MESSAGE:
            formats.message(element, session, place)
            messages += 1
        else:
            messages += len([formats.message(one, session, at) for at, one in enumerate(formats.talk(element))])
    return Imported(kind, memories, messages, dry_run=True)


def _export(memory: Engine, user: str, elements: Iterator[Element], _: str) -> Imported:
    # As characters: escapes would join surrogates that stand apart.
    lines = (json.dumps(element.value, ensure_ascii=False) for element in elements)
    report = memory.import_user(user, cast("TextIO", lines))  # a stream of lines is all that is asked of it
    return Imported(Kind.EXPORT, report.memories, report.messages, report.merged, report.skipped)


def _memories(memory: Engine, user: str, elements: Iterator[Element], _: str) -> Imported:
    from langchain_tiered_memory.planning import system_clock

    report, began, added = Imported(Kind.MEMORY), system_clock(), set[str]()
    for batch in _batches(formats.memory(element) for element in elements):
        stored, skipped = _remembered(memory, user, batch)
        new = {one.id for one in stored if one.created_at >= began} - added
        added |= new
        report = replace(
            report,
            memories=report.memories + len(new),
            merged=report.merged + len(stored) - len(new),
            skipped=report.skipped + skipped,
        )
    return report


def _remembered(memory: Engine, user: str, batch: Sequence[NewMemory]) -> tuple[tuple[Memory, ...], int]:
    """Remember a batch; if one of it cannot be, all the others. Return what is remembered, and how many are not."""
    try:
        return memory.remember_many(user, batch), 0
    except Conflict:
        if len(batch) == 1:
            return (), 1
    parts = [_remembered(memory, user, [one]) for one in batch]
    return tuple(one for stored, _ in parts for one in stored), sum(skipped for _, skipped in parts)


def _messages(memory: Engine, user: str, elements: Iterator[Element], name: str) -> Imported:
    session = memory.session(user, name)
    held = {one.id for one in session.transcript()}
    added = merged = 0
    for batch in _batches(formats.message(element, name, place) for place, element in enumerate(elements)):
        given = {one.id for one in session.add(*batch)}
        added, merged = added + len(given - held), merged + len(batch) - len(given - held)
        held |= given
    return Imported(Kind.MESSAGE, messages=added, merged=merged)


def _talks(memory: Engine, user: str, elements: Iterator[Element], name: str) -> Imported:
    report = Imported(Kind.TALK)
    for number, element in enumerate(elements, 1):
        one = _messages(memory, user, formats.talk(element), name if number == 1 else f"{name}-{number}")
        report = replace(report, messages=report.messages + one.messages, merged=report.merged + one.merged)
    return report


_IMPORTS: dict[Kind, Callable[[Engine, str, Iterator[Element], str], Imported]] = {
    Kind.EXPORT: _export,
    Kind.MEMORY: _memories,
    Kind.MESSAGE: _messages,
    Kind.TALK: _talks,
}


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    each = iter(things)
    while batch := list(islice(each, _BATCH)):
        yield batch
