"""Processes of their own on the servers, or in a folder: they say what was acknowledged, and may be killed."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from langchain_tiered_memory import (
    BackendUnavailable,
    MaintenanceSettings,
    MemorySystem,
    SearchSettings,
    ServerSettings,
    Settings,
)
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.embedding import HashedEmbedder

PRELOADED = ["tests.faults.worker", "chromadb", "redis", "psycopg", "langchain_tiered_memory.backends.sql.patient"]
MINUTE = timedelta(minutes=1)
Where = dict[str, Any]
"""Where a system is: arguments of `MemorySystem`."""

context = multiprocessing.get_context("forkserver")


class Facts:
    """Draws one fact from every memory."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return them."""
        return tuple(ExtractedFact(content=f"fact of {one.content}", source_ids=(one.id,)) for one in memories)


def system(where: Where, *, automatic: bool = False) -> MemorySystem:
    """Return a system. Its database answers or not; how busy the machine is has no say in it."""
    settings = Settings(
        maintenance=MaintenanceSettings(automatic=automatic),
        search=SearchSettings(exact_up_to=0),
        servers=ServerSettings(sql_deadline=MINUTE, sql_timeout=MINUTE),
    )
    return MemorySystem(**where, embedder=HashedEmbedder(32), extractor=Facts(), settings=settings)


class Worker:
    """A process that does one thing and says what came of it."""

    def __init__(self, work: Callable[..., None], *args: object) -> None:
        context.set_forkserver_preload(PRELOADED)
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, *args), daemon=True)
        self.process.start()
        theirs.close()
        self._told: list[Any] = []

    def tell(self, word: str) -> None:
        """Say a word to it."""
        self._pipe.send(word)

    def listen(self, *, at_least: int) -> None:
        """Wait until it said so many things."""
        while len(self._told) < at_least:
            assert self._pipe.poll(60), "nothing was said"
            self._told.append(self._pipe.recv())

    def kill(self) -> list[Any]:
        """Kill it as a power cut does, and return everything it said before."""
        self.process.kill()
        return list(self.everything_told())

    def everything_told(self) -> Iterator[Any]:
        """Yield all that it says until its end."""
        yield from self._told
        try:
            while self._pipe.poll(120):
                yield self._pipe.recv()
        except (EOFError, ConnectionResetError):
            pass
        self.process.join(60)
        self._pipe.close()


def load(pipe: Connection, where: Where, user: str, name: str) -> None:
    """Write, talk and consolidate without end, and say ("memory" | "message", id, content) of what is acknowledged."""
    engine = system(where, automatic=True).sync
    saying = threading.Lock()

    def say(kind: str, memory_id: str, content: str) -> None:
        with saying:
            pipe.send((kind, memory_id, content))

    def write() -> None:
        for n in count():
            memory_id, content = f"{name}-{n}", f"I love number {name}-{n}."
            engine.remember(user, content, importance=0.9 if n % 3 == 0 else 0.3, id=memory_id)
            say("memory", memory_id, content)

    def talk() -> None:
        for n in count():
            memory_id, content = f"said-{name}-{n}", f"We saw number {name}-{n}."
            engine.session(user, "chat").add({"role": "user", "content": content, "id": memory_id})
            say("message", memory_id, content)

    for work in (write, talk):
        threading.Thread(target=work, daemon=True).start()
    while True:
        engine.consolidate(user, everything=True)
        engine.maintain(user)


def consolidate(pipe: Connection, where: Where, user: str, reads: int) -> None:
    """Wait for a word, then read and consolidate as one of many; say how often the shared memory was read."""
    with system(where).sync as engine:
        pipe.send("ready")
        pipe.recv()
        counted = [_read(engine, user) for _ in range(reads)]
        report = engine.consolidate(user, everything=True)
        counted += [_read(engine, user) for _ in range(reads)]
        engine.maintain(user)
        pipe.send((sum(counted), report))


def _read(engine: Engine, user: str) -> int:
    return len(engine.recall(user, "the shared note", 1, filter={"metadata.shared": True}))


def fill(pipe: Connection, folder: str, user: str, most: int) -> None:
    """Write until there is no room; say (acknowledged, number, content) before and after each write."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    engine = MemorySystem(path=folder, vector_db="exact", embedder=HashedEmbedder(32)).sync
    engine.open()
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    refused = 0
    for n in count():
        content = f"{user} saw number {n} {'x' * 2_000}"
        pipe.send((False, str(n), content))
        try:
            engine.remember(user, content, importance=0.9 if n % 2 else 0.3, id=f"{user}-{n}")
        except BackendUnavailable:
            refused += 1
            assert len(engine.recall(user, "number", 3, touch=False)) == 3
            if refused == 3:
                return
        else:
            pipe.send((True, str(n), content))


def serve(pipe: Connection, where: Where, users_at_once: int) -> None:
    """Wait for a word, then serve those who are due as one of many workers, and say what was done."""
    with system(where).sync as engine:
        pipe.send("ready")
        pipe.recv()
        pipe.send(engine.worker.once(users_at_once=users_at_once))
