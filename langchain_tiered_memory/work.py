"""One round of work for a memory: what a task queue calls, such as Celery; `ltm worker` calls it in a loop."""

from __future__ import annotations

import threading

from langchain_tiered_memory.async_memory import AsyncMemory
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.reports import WorkReport


def work_once(
    memory: AsyncMemory | Engine,
    *,
    users_at_once: int = 1,
    most: int | None = None,
    stopping: threading.Event | None = None,
) -> WorkReport:
    """Do what is due for the users of a memory, blocking, and say what was done; see `memory.sync.worker.once`.

    Any number may run at once, in any number of processes: no two serve the same user.

    Args:
        memory: A `MemorySystem`, or its `sync`.
        users_at_once: Threads that serve a user each.
        most: Most users served; None: all who are due.
        stopping: Once it is set no further user is begun.
    """
    engine = memory if isinstance(memory, Engine) else memory.sync
    return engine.worker.once(users_at_once=users_at_once, most=most, stopping=stopping)
