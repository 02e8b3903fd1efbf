"""How to look at what a memory shows, and at what it does to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from unittest import mock

import blockbuster.blockbuster as watch
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage


def torn(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the calls and results that are shown one without the other: a provider refuses such a prompt."""
    asked: list[str] = []
    answered: list[str] = []
    orphans: list[str] = []
    for message in messages:
        if isinstance(message, AIMessage):
            asked += [str(call["id"]) for call in message.tool_calls]
        elif isinstance(message, ToolMessage):
            (answered if message.tool_call_id in asked else orphans).append(message.tool_call_id)
    return [*orphans, *(one for one in asked if one not in answered)]


def blocked(calls: Callable[[], Awaitable[None]]) -> list[str]:
    """Run calls on a loop that is watched, and return what blocked it. They run unwatched first, which imports all."""
    asyncio.run(_awaited(calls))
    noted: list[str] = []

    class Noted(watch.BlockingError):
        """Noted where it is raised, so that a library may swallow it."""

        def __init__(self, name: str) -> None:
            noted.append(name)
            super().__init__(name)

    with mock.patch.object(watch, "BlockingError", Noted), contextlib.suppress(Noted), watch.blockbuster_ctx():
        asyncio.run(_awaited(calls))
    return noted


async def _awaited(calls: Callable[[], Awaitable[None]]) -> None:
    await calls()
