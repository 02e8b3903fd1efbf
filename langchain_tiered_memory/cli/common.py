"""What all commands share: which memory they work on, how they are registered, and how they end."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from langchain_tiered_memory.cli.screen import Screen, plain
from langchain_tiered_memory.cli.words import in_words
from langchain_tiered_memory.core.errors import ConfigError, InvalidInput, ModelMismatch, TieredMemoryError

if TYPE_CHECKING:
    from langchain_tiered_memory.core.config import ForgettingSettings
    from langchain_tiered_memory.core.engine import Engine
    from langchain_tiered_memory.core.ports import Embedder

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
"""Exit codes: it did not work; it was asked in a way that cannot work; Ctrl-C."""
STAYS = "what was written until now stays, and the command can be given again"
DEFAULT_PATH = "./memory"
IN_MEMORY = ":memory:"
FIRST, DAILY, UPKEEP, FILES, MEASURING = "Begin", "Every day", "Look after it", "Carry it in and out", "Measure it"
"""Headings of the commands in the help."""
DEFAULT_USER = "me"
_PANEL = "Which memory"

PathOption = Annotated[
    str,
    typer.Option(
        "--path", envvar="LTM_PATH", help="Folder of the memory: it holds what no server holds.", rich_help_panel=_PANEL
    ),
]
RedisOption = Annotated[
    str | None,
    typer.Option(
        "--redis", envvar="LTM_REDIS", help="URL of a Redis that holds short-term memory.", rich_help_panel=_PANEL
    ),
]
VectorOption = Annotated[
    str | None,
    typer.Option(
        "--vector-db",
        envvar="LTM_VECTOR_DB",
        help="URL of a Chroma server; 'exact' searches without one.",
        rich_help_panel=_PANEL,
    ),
]
PostgresOption = Annotated[
    str | None,
    typer.Option(
        "--postgres",
        envvar="LTM_POSTGRES",
        help="URL of a PostgreSQL that holds long-term memory.",
        rich_help_panel=_PANEL,
    ),
]
UserOption = Annotated[
    str, typer.Option("--user", envvar="LTM_USER", help="Whose memory it is: any name.", rich_help_panel=_PANEL)
]
AnyUserOption = Annotated[
    str | None, typer.Option("--user", help="One user; all of them if left out.", rich_help_panel=_PANEL)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to standard output.")]


@dataclass(frozen=True, slots=True)
class Store:
    """The memory a command works on, and the screen it speaks to.

    Attributes:
        user: Whose memory; None where a command takes all users.
    """

    path: str
    redis: str | None
    vector_db: str | None
    postgres: str | None
    user: str | None
    screen: Screen

    @property
    def user_id(self) -> str:
        """Whose memory, where it has to be one user's."""
        return "" if self.user is None else self.user

    @contextmanager
    def opened(
        self,
        *,
        make: bool = False,
        fresh: bool = False,
        settle: bool = False,
        index: bool = True,
        embedder: Embedder | None = None,
        forgetting: ForgettingSettings | None = None,
    ) -> Iterator[Engine]:
        """Open the memory and close it at the end.

        It does nothing in the background: a command is over too soon, and its report would miss what was done beside.

        Args:
            make: Whether a memory that does not exist is made; otherwise looking for one leaves no folder behind.
            fresh: Whether what is due for the user is done first, so that what outlived a day is found.
            settle: Whether it is done at the end, so that the vector index follows what was written.
            index: Whether the vector index is needed; loading its driver is most of a short command's time.
            embedder: Another embedder than the default.
            forgetting: What is forgotten by itself; None: nothing.

        Raises:
            ConfigError: There is no memory to look into.
        """
        vector_db = self.vector_db if index else "exact"
        path = self._folder(vector_db, make=make)
        from langchain_tiered_memory.core.config import ForgettingSettings, MaintenanceSettings, Settings
        from langchain_tiered_memory.system import MemorySystem

        quiet = MaintenanceSettings(automatic=False)

        system = MemorySystem(
            self.redis,
            vector_db,
            self.postgres,
            path=path,
            settings=Settings(maintenance=quiet, forgetting=forgetting or ForgettingSettings()),
            embedder=embedder,
        )
        with system.sync as memory:
            if fresh:
                self._catch_up(memory)
            yield memory
            if settle:
                self._catch_up(memory)

    def _folder(self, vector_db: str | None, *, make: bool) -> str | None:
        """Return where the rest is embedded; None when nothing is."""
        if None not in {self.redis, vector_db, self.postgres}:
            return None
        if make or self.path == IN_MEMORY or Path(self.path).expanduser().is_dir():
            return self.path
        if self.postgres is None:
            raise ConfigError(f"there is no memory in {self.path}: name its folder with --path, or remember something")
        return IN_MEMORY  # the servers have it all so far

    def _catch_up(self, memory: Engine) -> None:
        """Do what is due; what cannot be done now stays due, and a store of another model is only looked at."""
        with suppress(ModelMismatch):
            memory.maintain(self.user_id)


def confirmed(screen: Screen, question: str) -> bool:
    """Ask on standard error, so that standard output stays data; only a yes is one."""
    screen.err.print(Text(f"{plain(question)} [y/N]"), end=" ", soft_wrap=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


@contextmanager
def ending(screen: Screen) -> Iterator[None]:
    """Turn what a command raises into one sentence on standard error and an exit code."""
    try:
        yield
    except InvalidInput as error:
        screen.complain(in_words(error))
        raise typer.Exit(MISUSED) from None
    except TieredMemoryError as error:
        screen.complain(in_words(error))
        raise typer.Exit(FAILED) from None
    except BrokenPipeError:
        _hush()
        raise typer.Exit(FAILED) from None
    except OSError as error:
        screen.complain(": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        screen.note(f"stopped: {STAYS}")
        raise typer.Exit(INTERRUPTED) from None


def _hush() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not complain of the pipe at its end."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, and its number is what counts
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def command(
    app: typer.Typer, name: str, example: str, *, panel: str, everyone: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command: its first parameter, a `Store`, becomes the options that all commands have.

    Args:
        app: Where.
        name: The command's name.
        example: A line to try, shown at the end of its help.
        panel: The heading under which it stands.
        everyone: Whether the command takes all users when none is named.
    """

    def register(work: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(work, eval_str=True).parameters.values()
        shared = _shared(everyone=everyone)

        @wraps(work)
        def run(**given: Any) -> None:
            where = {one.name: given.pop(one.name) for one in shared}
            screen = Screen(json=where.pop("json"))
            with ending(screen):
                work(Store(**where, screen=screen), **given)

        seen = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in [*own, *shared]]
        run.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined] # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in seen}
        about = _in_paragraphs(work.__doc__ or "")
        app.command(name, help=about, epilog=f"Example:  {example}", rich_help_panel=panel)(run)
        return work

    return register


def _in_paragraphs(text: str) -> str:
    """Return a docstring with one line to a paragraph, so that it is broken where the terminal ends."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _shared(*, everyone: bool) -> list[inspect.Parameter]:
    options: Mapping[str, tuple[Any, object]] = {
        "path": (PathOption, DEFAULT_PATH),
        "redis": (RedisOption, None),
        "vector_db": (VectorOption, None),
        "postgres": (PostgresOption, None),
        "user": (AnyUserOption, None) if everyone else (UserOption, DEFAULT_USER),
        "json": (JsonOption, False),
    }
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]


def instant(value: str) -> datetime:
    """Read an instant as ISO 8601; without a zone it is local time."""
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not an instant: write 2026-03-01 or 2026-03-01T18:30 or 2026-03-01T18:30Z"
        ) from None


def json_object(value: str) -> Any:
    """Read a JSON object."""
    try:
        found = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"it is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise typer.BadParameter("a JSON object is needed")
    return found


def text_of(value: str) -> str:
    """Return a text argument; `-` stands for standard input, whose last line break is not part of the text."""
    if value != "-":
        return value
    given = typer.get_binary_stream("stdin").read().decode("utf-8", "surrogateescape")
    return given.removesuffix("\n").removesuffix("\r")
