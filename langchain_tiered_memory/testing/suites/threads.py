"""Many callers at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
THREADS = 8


def at_once(work: Callable[[int], T], threads: int = THREADS) -> list[T]:
    """Call `work(0)`, `work(1)`, … in as many threads, started together; return the results in order."""
    start = threading.Barrier(threads)

    def run(number: int) -> T:
        start.wait(timeout=30)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))
