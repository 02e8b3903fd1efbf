"""Where others may watch the calls of a memory: their names, durations, outcomes and counts, and never what was said.

Nobody watches by default, and a call then costs one look at that. What watches is put in from outside (`install`): the
core knows no tracing library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Protocol, TypeVar

from langchain_tiered_memory.core.model import Context, Memory, RecallResult

CALLS = {
    "remember": "remember",
    "remember_many": "remember",
    "update": "update",
    "recall": "recall",
    "consolidate": "consolidate",
    "maintain": "maintain",
    "reindex": "reindex",
    "forget": "forget",
    "forget_user": "forget",
    "export_user": "export",
    "import_user": "import",
}
"""Methods of a memory system that are watched, and the names of their calls; a session's are `add` and `context`."""

Figure = int | float | str
Observed = TypeVar("Observed", bound=type)


class Watch(Protocol):
    """Somebody who watches one call, from the beginning of a `with` block to its end."""

    def tell(self, figures: Mapping[str, Figure]) -> None:
        """Take the figures of the result."""


class Observer(Protocol):
    """Decides whether a call is watched."""

    def __call__(self, call: str, user_id: str | None) -> AbstractContextManager[Watch] | None:
        """Return what watches a call that is about to begin; None: nobody does."""


_installed: list[Observer] = []


def install(observer: Observer) -> None:
    """Let an observer see every call of this process from now on, instead of the one before."""
    _installed[:] = [observer]


def observed(**calls: str) -> Callable[[Observed], Observed]:
    """Let methods of a class be watched: method name to the name of the call; the first argument tells whose it is."""

    def observe(one: Observed) -> Observed:
        for name, call in calls.items():
            setattr(one, name, _watched(getattr(one, name), call))
        return one

    return observe


def _watched(method: Callable[..., Any], call: str) -> Callable[..., Any]:
    @wraps(method)
    def run(self: Any, *args: Any, **given: Any) -> Any:
        watching = _installed[0](call, _user_of(args, given)) if _installed else None
        if watching is None:
            return method(self, *args, **given)
        with watching as watch:
            result = method(self, *args, **given)
            watch.tell(figures_of(result))
            return result

    return run


def _user_of(args: Sequence[Any], given: Mapping[str, Any]) -> str | None:
    first = args[0] if args else given.get("user_id")
    user = first if isinstance(first, str) else getattr(first, "user_id", None)
    return user if isinstance(user, str) else None


def figures_of(result: object) -> dict[str, Figure]:
    """Return what may be told of a result: how many of what, and the tier of a memory. Texts and ids are left out."""
    if isinstance(result, RecallResult):
        return {"hits": len(result), "tiers_failed": len(result.failed)}
    if isinstance(result, Context):
        return {"messages": len(result.messages), "memories": len(result.memories), "tokens": result.tokens}
    if isinstance(result, Memory):
        return {"memories": 1, "tier": str(result.tier)}
    if isinstance(result, tuple):
        return {"items": len(result)}
    if is_dataclass(result):
        told = {one.name: getattr(result, one.name) for one in fields(result)}
        counts = {name: len(value) if isinstance(value, tuple) else value for name, value in told.items()}
        return {name: value for name, value in counts.items() if isinstance(value, (int, float))}
    return {}
