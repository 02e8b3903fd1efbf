"""Processes of their own over one folder: they do what they are told through a pipe, and may be killed at any time."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.core.config import SearchSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import TieredMemoryError
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.world import QUIET

PRELOADED = ["tests.flow.child", "chromadb", "langchain_tiered_memory.backends.chroma"]
ADA = "ada"
ALWAYS_INDEX = replace(QUIET, search=SearchSettings(exact_up_to=0))
"""The index is asked however few there are, wherever there is one."""

context = multiprocessing.get_context("forkserver")


def system(folder: str, *, exact: bool = False, settings: Settings = ALWAYS_INDEX) -> MemorySystem:
    """Return a system on the folder, with a vector index unless `exact`."""
    index = "exact" if exact else None
    return MemorySystem(path=folder, vector_db=index, embedder=HashedEmbedder(32), settings=settings)


class Child:
    """A process that serves one folder.

    Attributes:
        process: The process.
        told: What it said so far without being asked.
    """

    def __init__(self, work: Callable[..., None], *args: object) -> None:
        context.set_forkserver_preload(PRELOADED)
        self._pipe, theirs = context.Pipe()
        self.process: ForkServerProcess = context.Process(target=work, args=(theirs, *args), daemon=True)
        self.process.start()
        theirs.close()
        self.told: list[Any] = []

    def ask(self, name: str, *args: object, **options: object) -> Any:
        """Call a method of its engine and return what it returns."""
        self.tell(name, *args, **options)
        return self.answer()

    def tell(self, name: str, *args: object, **options: object) -> None:
        """Begin a call."""
        self._pipe.send((name, args, options))

    def answer(self) -> Any:
        """Return what the call begun returned; what it raised is raised here."""
        assert self._pipe.poll(60), "no answer"
        result = self._pipe.recv()
        if isinstance(result, BaseException):
            raise result
        return result

    def listen(self, *, at_least: int) -> None:
        """Wait until it said so many things."""
        while len(self.told) < at_least:
            assert self._pipe.poll(60), "nothing was said"
            self.told.append(self._pipe.recv())

    def kill(self) -> Sequence[Any]:
        """Kill it as a power cut does, and return everything it said before."""
        self.process.kill()
        self.process.join(60)
        try:
            while True:
                self.told.append(self._pipe.recv())
        except (EOFError, ConnectionResetError):
            return self.told
        finally:
            self._pipe.close()

    def stop(self) -> None:
        """Let it close its system and end."""
        self.tell("stop")
        self.process.join(60)
        self._pipe.close()


@contextmanager
def serving(*options: tuple[Any, ...]) -> Iterator[list[Child]]:
    """Give one process per tuple of arguments of `serve`, and stop them in the end."""
    children = [Child(serve, *one) for one in options]
    try:
        yield children
    finally:
        for child in children:
            child.stop()


def serve(pipe: Connection, folder: str, exact: bool = False, settings: Settings = ALWAYS_INDEX) -> None:  # noqa: FBT001, FBT002
    """Do what the pipe says: methods of the engine, and the few below."""
    with system(folder, exact=exact, settings=settings).sync as engine:
        extra: dict[str, Callable[..., Any]] = {"write": partial(_write, engine), "fork": partial(_fork, engine)}
        while True:
            name, args, options = pipe.recv()
            if name == "stop":
                return
            try:
                result = (extra.get(name) or getattr(engine, name))(*args, **options)
                pipe.send(tuple(result) if name == "recall" else result)
            except TieredMemoryError as error:
                pipe.send(error)


def _write(engine: Engine, name: str, times: int) -> None:
    for n in range(times):
        engine.remember(ADA, f"{name} {n}", "fact", importance=0.9 if n % 2 else 0.3)


def _fork(engine: Engine) -> int:
    """Write in a child of this process while it goes on itself; return the child's exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            engine.remember(ADA, "from the child", "fact")
            code = 0 if len(engine.recall(ADA, "child", 1)) == 1 else 2
        finally:
            os._exit(code)
    engine.remember(ADA, "from the parent", "fact")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def load(pipe: Connection, folder: str, exact: bool, name: str) -> None:  # noqa: FBT001
    """Write and consolidate without end, and say what is acknowledged: ("memory" | "message", content)."""
    engine = system(folder, exact=exact, settings=Settings()).sync
    saying = threading.Lock()

    def say(kind: str, content: str) -> None:
        with saying:
            pipe.send((kind, content))

    def write() -> None:
        for n in count():
            content = f"I love number {name}-{n}."
            engine.remember(ADA, content, importance=0.9 if n % 3 == 0 else 0.3, id=f"{name}-{n}")
            say("memory", content)

    def talk() -> None:
        for n in count():
            content = f"We saw number {name}-{n}."
            engine.session(ADA, f"chat {n % 3}").add({"role": "user", "content": content, "id": f"said-{name}-{n}"})
            say("message", content)

    for work in (write, talk):
        threading.Thread(target=work, daemon=True).start()
    while True:
        engine.consolidate(ADA, everything=True)
        engine.maintain(ADA)
