"""Threads that serve asynchronous calls: blocking work never runs on the caller's event loop."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_SLOW_WORKERS = 2


class Pools:
    """Two bounded pools of threads: one for calls somebody waits for, one for long work that must not occupy it."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._process = 0
        self._running: set[Future[Any]] = set()

    async def call(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call in the quick pool with the caller's context variables; a cancelled await leaves it whole."""
        return await self._submit(self._pools()[0], partial(work, *args, **kwargs))

    async def call_slow(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call in the pool for long work."""
        return await self._submit(self._pools()[1], partial(work, *args, **kwargs))

    async def settle(self) -> None:
        """Wait for every call under way, also those whose await was cancelled."""
        while running := set(self._running):
            await asyncio.get_running_loop().run_in_executor(None, wait, running)

    def close(self) -> None:
        """Let the threads go once they are done; a later call starts new ones."""
        with self._lock:
            if self._process == os.getpid():
                self._quick.shutdown(wait=False)
                self._slow.shutdown(wait=False)
            self._process = 0

    async def _submit(self, pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        future = pool.submit(contextvars.copy_context().run, work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.shield(asyncio.wrap_future(future))

    def _pools(self) -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
        with self._lock:
            if self._process != os.getpid():  # at first, and in a child after a fork, which has none of our threads
                self._quick = ThreadPoolExecutor(self._workers, "tiered-memory-call")
                self._slow = ThreadPoolExecutor(_SLOW_WORKERS, "tiered-memory-work")
                self._process = os.getpid()
                self._running = set()
            return self._quick, self._slow
