"""The command `worker`: serves the users there is something to do for, until it is told to stop."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from langchain_tiered_memory.cli.common import FAILED, MISUSED, UPKEEP, Store, command
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, NotInstalled
from langchain_tiered_memory.core.reports import WorkReport
from langchain_tiered_memory.views.words import counted

if TYPE_CHECKING:
    from langchain_tiered_memory.core.engine import Engine

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, "worker", "ltm worker --every 60 --users-at-once 4", panel=UPKEEP, everyone=True)(worker)


def worker(
    store: Store,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and leave.")] = False,
    every: Annotated[
        float, typer.Option("--every", min=0.1, metavar="SECONDS", help="How often to look for users who are due.")
    ] = 60,
    users_at_once: Annotated[
        int, typer.Option("--users-at-once", min=1, help="How many users are served at once.")
    ] = 2,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="MODULE:NAME",
            help="Your own MemorySystem, or a function that makes it, with its models and settings.",
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="First try those again with whom everything failed.")] = False,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="First look at everybody, noted as due or not: after a restored backup.")
    ] = False,
) -> None:
    """Keep on consolidating and maintaining whoever is due, until Ctrl-C: for servers with many users.

    Any number of workers may run, on any number of machines: no two serve the same user at once, and one that is killed
    is replaced by the others. When it is told to stop, by SIGTERM too, those being served are served to the end.

    A user with whom everything fails is left alone after a while and shown by `ltm status`. With --retry they are tried
    again, or with --user only that one.
    """
    if store.user is not None and not retry:
        store.screen.complain("--user goes with --retry only: `ltm maintain --user` serves one user")
        raise typer.Exit(MISUSED)
    with _stopping() as stopping, _opened(store, memory) as engine:
        if everybody:
            engine.worker.everybody()
        if retry:
            store.screen.note(f"{counted(engine.worker.retry(store.user), 'user')} will be tried again")
        while True:
            try:
                report = engine.worker.once(users_at_once=users_at_once, stopping=stopping)
            except BackendUnavailable as error:
                if once:
                    raise
                store.screen.note(f"{error}; trying again in {every:g} s")
            else:
                _tell(store, report, always=once)
                if once and (report.failed or report.unavailable):
                    raise typer.Exit(FAILED)
            if once or stopping.wait(every):
                return


def _tell(store: Store, report: WorkReport, *, always: bool) -> None:
    """Say what a round did, if it did anything: a line each, so that a log stays readable."""
    if always or report != WorkReport():
        store.screen.show(report, Text(_sentence(report)))


def _sentence(report: WorkReport) -> str:
    done = [f"{counted(report.users, 'user')} served"]
    done += [f"{counted(report.promoted, 'item')} moved to long-term memory"] if report.promoted else []
    done += [f"{counted(report.facts, 'fact')} found"] if report.facts else []
    done += [f"{counted(report.expired, 'item')} let go"] if report.expired else []
    done += [f"{counted(report.failed, 'user')} failed"] if report.failed else []
    done += [f"{report.stuck} of them not tried again before --retry"] if report.stuck else []
    done += [f"{', '.join(report.unavailable)} did not answer"] if report.unavailable else []
    return "; ".join(done)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Give an event that the first signal to stop sets; the second one stops at once."""
    event = threading.Event()

    def stop(number: int, _: FrameType | None) -> None:
        event.set()
        signal.signal(number, before[number])

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield event
        return
    before: dict[int, Any] = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _opened(store: Store, named: str | None) -> Iterator[Engine]:
    if named is None:
        with store.opened() as engine:
            yield engine
        return
    with _named(named).sync as engine:
        yield engine


def _named(name: str) -> Any:
    """Return the memory that a module has under a name.

    Raises:
        ConfigError: There is none.
    """
    from langchain_tiered_memory.system import MemorySystem

    module, _, attribute = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except NotInstalled:
        raise
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        if isinstance(error, ImportError) and error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise ConfigError(f"--memory {name!r} cannot be loaded: {error}") from error
        raise ConfigError(
            f"--memory {name!r} names nothing: MODULE:NAME of your own code is needed ({error})"
        ) from error
    made = found if isinstance(found, MemorySystem) else found() if callable(found) else None
    if not isinstance(made, MemorySystem):
        raise ConfigError(f"--memory {name!r} is no MemorySystem, and no function that makes one")
    return made
