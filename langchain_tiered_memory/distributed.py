"""The work of a worker as a periodic task of Celery, for those whose periodic work runs there: extra `distributed`.

`ltm worker` does the same and needs nothing. Importing this module without Celery says what to install.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from langchain_tiered_memory.async_memory import AsyncMemory
from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import InvalidInput, NotInstalled, extra
from langchain_tiered_memory.work import work_once

try:
    from celery import Celery
except ImportError as error:
    raise NotInstalled("work in Celery", "celery", extra("distributed")) from error

__all__ = ["TASK", "add_work"]

TASK = "langchain_tiered_memory.work"
"""The task's name unless it is given another."""


def add_work(
    app: Celery,
    memory: AsyncMemory | Engine,
    *,
    every: float = 60.0,
    users_at_once: int = 1,
    most: int | None = 100,
    name: str = TASK,
) -> Any:
    """Make a round of work a task of a Celery application, and let its beat call it now and then.

    Any number of workers may run it at once: no two serve the same user. A round that nobody took before the next one
    is due is dropped, so that none pile up while there is no worker. What a round did is its result, as a mapping; a
    server that does not answer fails the round and nobody's work, and the next one tries again.

    Args:
        app: The application.
        memory: A `MemorySystem`, or its `sync`; each process opens it by itself.
        every: Seconds from one round to the next, above 0.
        users_at_once: Threads that serve a user each, at least 1.
        most: Most users served in one round; None: all who are due.
        name: The task's name, one for each memory.

    Returns:
        The task.

    Raises:
        InvalidInput: An argument cannot be used.
    """
    if not isinstance(app, Celery):
        raise InvalidInput("app", app, "an application of Celery is needed")
    seconds = _seconds(every)
    inputs.count("users_at_once", users_at_once, 1)
    inputs.label("name", name)

    def work() -> dict[str, Any]:
        return asdict(work_once(memory, users_at_once=users_at_once, most=most))

    app.conf.beat_schedule = {
        **(app.conf.beat_schedule or {}),
        name: {"task": name, "schedule": seconds, "options": {"expires": seconds}},
    }
    return app.task(work, name=name, shared=False)  # shared, it would be of every application made later


def _seconds(every: object) -> float:
    if isinstance(every, bool) or not isinstance(every, (int, float)) or not 0 < every < float("inf"):
        raise InvalidInput("every", every, "seconds above 0 are needed")
    return float(every)
