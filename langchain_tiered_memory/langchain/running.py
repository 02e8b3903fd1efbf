"""Whose run this is, and in which conversation: as the runtime of LangGraph says, or the run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from langchain_core.runnables.config import ensure_config

from langchain_tiered_memory.core import inputs as door
from langchain_tiered_memory.core.errors import ConfigError

__all__ = ["running_thread", "running_user"]


def running_user(runtime: Any = None) -> str:
    """Return the user of the run under way: `user_id` of its runtime's context, or else of its `configurable`.

    Args:
        runtime: The runtime; None looks for the one under way.

    Raises:
        ConfigError: Neither names one: those who forgot to say who they are must not share a memory.
        InvalidInput: What is named cannot be a user id.
    """
    context = getattr(runtime or _runtime(), "context", None)
    named = context.get("user_id") if isinstance(context, Mapping) else getattr(context, "user_id", None)
    if named is None:
        named = _configurable().get("user_id")
    if named is None:
        raise ConfigError(
            "whose memory is meant? give user_id=, or run with a context that has one (context_schema=, context=), "
            'or with config={"configurable": {"user_id": …}}'
        )
    return door.user(named)


def running_thread(runtime: Any = None) -> str | None:
    """Return the thread of the run under way, or None when it has none."""
    found = getattr(getattr(runtime or _runtime(), "execution_info", None), "thread_id", None)
    thread = _configurable().get("thread_id") if found is None else found
    return None if thread is None else str(thread)


def _configurable() -> Mapping[str, Any]:
    return ensure_config().get("configurable") or {}


def _runtime() -> Any:
    """Return the runtime of the graph under way, or None outside of any."""
    with suppress(ImportError, KeyError, RuntimeError):
        from langgraph.runtime import get_runtime

        return get_runtime()
    return None
