"""Commands that carry memories in and out: import, export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from langchain_tiered_memory.cli import render
from langchain_tiered_memory.cli.common import FAILED, FILES, STAYS, Store, command, confirmed, instant
from langchain_tiered_memory.cli.following import following
from langchain_tiered_memory.cli.imported import JSONL, OPENAI, Imported, Kind, imported, views
from langchain_tiered_memory.core.errors import InvalidInput

if TYPE_CHECKING:
    from langchain_tiered_memory.importers import Reading
    from langchain_tiered_memory.importers.found import Options
    from langchain_tiered_memory.importers.source import Source

_MORE = "What the file does not say"
STANDARD_INPUT = "-"
_MEMORIES = (Kind.EXPORT, Kind.MEMORY)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "import", "ltm import chatgpt-export.zip --dry-run", panel=FILES)(import_)
    command(app, "export", "ltm export --user ada > ada.jsonl", panel=FILES)(export)


class Form(StrEnum):
    """What `--format` takes."""

    AUTO = "auto"
    CHATGPT = "chatgpt"
    WHATSAPP = "whatsapp"
    LANGCHAIN = "langchain"
    LLAMAINDEX = "llamaindex"
    MEM0 = "mem0"
    JSONL = "jsonl"
    OPENAI = "openai"


_OURS = (Form.JSONL, Form.OPENAI)


def import_(
    store: Store,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file, or a ZIP with it; - is standard input.")],
    *,
    format: Annotated[Form, typer.Option("--format", help="What the file is; auto looks into it.")] = Form.AUTO,
    session: Annotated[
        str | None,
        typer.Option("--session", help="The conversation that messages belong to; named after the file if left out."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check the file, and change nothing.")] = False,
    me: Annotated[
        str | None, typer.Option("--me", metavar="NAME", help="WhatsApp: your name in the chat.", rich_help_panel=_MORE)
    ] = None,
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="WhatsApp: how to read 1/2; by default the whole file decides.",
            show_default=False,
            rich_help_panel=_MORE,
        ),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--timezone",
            metavar="ZONE",
            help="Where its clock stood, as Europe/Oslo; here if left out.",
            rich_help_panel=_MORE,
        ),
    ] = None,
    said_at: Annotated[
        Any,
        typer.Option(
            "--said-at",
            parser=instant,
            metavar="INSTANT",
            help="When undated messages were said; when the file was last changed, if left out.",
            rich_help_panel=_MORE,
        ),
    ] = None,
    all_branches: Annotated[
        bool,
        typer.Option("--all-branches", help="ChatGPT: also what was edited away.", rich_help_panel=_MORE),
    ] = False,
    source_user: Annotated[
        str | None,
        typer.Option("--source-user", metavar="ID", help="mem0: whose memories to take.", rich_help_panel=_MORE),
    ] = None,
) -> None:
    """Add what a file holds to a user's memory. Importing a file again adds nothing.

    Of other programs: ChatGPT's export, WhatsApp's "export chat", messages of LangChain and LlamaIndex, mem0's history
    or get_all. They go to long-term memory with their own dates. A ZIP is read as it was downloaded.

    Of ours: an export; JSON Lines of memories with content and any argument of remember; messages with role and
    content, as a JSON array, as JSON Lines, or under "messages". Messages go through a session, so that they are
    placed by their importance; memories go to long-term memory unless they name a tier.
    """
    from langchain_tiered_memory.importers.found import Limits
    from langchain_tiered_memory.importers.reading import options_of
    from langchain_tiered_memory.importers.source import Source

    source = Source(file if file != STANDARD_INPUT else typer.get_binary_stream("stdin"), Limits())
    options = options_of(
        source,
        me=me,
        day_first=day_first,
        timezone=timezone,
        said_at=said_at if isinstance(said_at, datetime) else None,
        session=session,
        all_branches=all_branches,
        source_user=source_user,
    )
    reading = _reading(source, format, options)
    with following(store.screen, "nothing was changed" if dry_run else STAYS) as shown:
        step = f"reading {'standard input' if file == STANDARD_INPUT else file}"
        shown(step, 0, 1 if source.size or reading else None)

        def seen(share: float) -> None:
            shown(step, share, 1)

        if reading is None:
            report = _of_ours(store, source, format, options, seen, dry_run=dry_run)
        else:
            report = _of_others(store, reading, seen, dry_run=dry_run)
    store.screen.show(report, *views(report))


def _reading(source: Source, form: Form, options: Options) -> Reading | None:
    """Return another program's file as memories; None for one of ours."""
    from langchain_tiered_memory.importers.detecting import detect
    from langchain_tiered_memory.importers.reading import reading_of

    if form in _OURS or (form is Form.AUTO and detect(source) is None):
        return None
    return reading_of(source, form, options)


def _of_others(store: Store, reading: Reading, seen: Callable[[float], object], *, dry_run: bool) -> Imported:
    from langchain_tiered_memory.importers import remember

    if dry_run:
        return imported(remember(None, store.user_id, reading, seen))
    with store.opened(make=True, settle=True) as memory:
        return imported(remember(memory, store.user_id, reading, seen))


def _of_ours(
    store: Store, source: Source, form: Form, options: Options, seen: Callable[[float], object], *, dry_run: bool
) -> Imported:
    from langchain_tiered_memory.cli import formats, ours

    name = source.name if options.session is None else options.session
    with source.as_it_comes() as lines:
        kind, elements = formats.read(_texts(lines, source.size, seen), seen)
        found = JSONL if kind in _MEMORIES else OPENAI
        if form is not Form.AUTO and form != found:
            raise InvalidInput("format", str(form), f"the file holds {kind}, which are {found}")
        if dry_run:
            report = ours.counted(kind, elements, name)
        else:
            with store.opened(make=True, settle=True) as memory:
                report = ours.IMPORTS[kind](memory, store.user_id, elements, name)
    because = "it was said so" if form is not Form.AUTO else f"its first element is one of {kind}"
    return replace(report, format=found, because=because, notes=tuple(filter(None, [source.note])))


def _texts(lines: Iterable[bytes], size: int, seen: Callable[[float], object]) -> Iterator[str]:
    """Yield lines as text, and tell how much of the file they are."""
    done = 0
    for line in lines:
        yield _text(line)
        done += len(line)
        if size:
            seen(done / size)


def export(
    store: Store,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")] = "-",
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists without asking.")] = False,
) -> None:
    """Write all memories and conversations of a user as JSON Lines, which `ltm import` reads: a backup, or a move."""
    if (
        file != STANDARD_INPUT
        and Path(file).is_file()
        and not force
        and not confirmed(store.screen, f"Replace {file}?")
    ):
        store.screen.complain(f"{file} exists and stays as it is: --force, or a yes, is needed")
        raise typer.Exit(FAILED)
    to = cast("TextIO", _Bytes()) if file == STANDARD_INPUT else file
    piped = not typer.get_binary_stream("stdout").isatty()
    stays = "what was written is cut off there" if file == STANDARD_INPUT else f"{file} was not written"
    with following(store.screen, stays, bars=piped or file != STANDARD_INPUT), store.opened(index=False) as memory:
        report = memory.export_user(store.user_id, to)
    if file != STANDARD_INPUT:
        store.screen.show(report, render.figures(report, leave_out=("merged", "skipped")))
        return
    typer.get_binary_stream("stdout").flush()
    told = render.counted(report.memories, "memory", "memories"), render.counted(report.messages, "message")
    store.screen.note(f"{' and '.join(told)} exported")


class _Bytes:
    """Standard output as a file of text that is kept to the last byte, whatever the terminal makes of it."""

    def write(self, text: str) -> None:
        """Write a text as UTF-8, lone surrogates too."""
        typer.get_binary_stream("stdout").write(text.encode("utf-8", "surrogatepass"))


def _text(line: bytes) -> str:
    """Return a line as it was exported; in one that is not of ours what is no UTF-8 is kept as it is."""
    try:
        return line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape")
