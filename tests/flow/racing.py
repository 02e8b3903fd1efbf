"""Many at once, and a model that thinks for as long as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import ExtractedFact
from tests.flow.world import EVERYTHING, World

T = TypeVar("T")
ADA = "ada"
THREADS = 8


def at_once(work: Callable[[int], T], times: int = THREADS) -> list[T]:
    """Do the work on many threads, which all begin at the same moment, and return what came of it."""
    gate = threading.Barrier(min(times, 32))

    def run(number: int) -> T:
        if number < gate.parties:
            gate.wait(30)
        return work(number)

    with ThreadPoolExecutor(gate.parties) as pool:
        return list(pool.map(run, range(times)))


class SlowExtractor:
    """Finds "fact of …" in every text, and waits in between until it is told to go on.

    Attributes:
        asked: Set when it was asked.
        go: It answers once this is set.
    """

    def __init__(self, slot: str | None = None) -> None:
        """File what it finds under a slot, if one is given."""
        self._slot = slot
        self.asked = threading.Event()
        self.go = threading.Event()
        self.calls = count()

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        next(self.calls)
        found = tuple(
            ExtractedFact(content=f"fact of {one.content}", slot=self._slot, source_ids=(one.id,)) for one in memories
        )
        self.asked.set()
        assert self.go.wait(30)
        return found


@contextmanager
def consolidating(engine: Engine, slow: SlowExtractor) -> Iterator[None]:
    """Consolidate everything on another thread; the block runs while the model is being asked."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.consolidate, ADA, everything=True)
        try:
            assert slow.asked.wait(30)
            yield
        finally:
            slow.go.set()
        running.result(30)


def contents(world: World, user_id: str = ADA) -> list[str]:
    """Return what a new process finds, sorted."""
    found = world.engine().list(user_id, include_superseded=True, limit=EVERYTHING)
    return sorted(one.content for one in found)
