"""What an adapter refuses at once, instead of at every recall."""

from __future__ import annotations

from typing import Any, get_args

from langchain_tiered_memory.core.asking import question
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.langchain.failing import OnError
from langchain_tiered_memory.system import MemorySystem

__all__ = ["a_memory", "a_policy", "a_question"]


def a_memory(value: object) -> MemorySystem:
    """Return a memory as it is.

    Raises:
        InvalidInput: It is something else, such as a path; it is not shown, because a URL may hold a password.
    """
    if not isinstance(value, MemorySystem):
        raise InvalidInput("memory", type(value), "a MemorySystem is needed, such as MemorySystem.open(path)")
    return value


def a_question(k: int, **asked: Any) -> dict[str, Any]:
    """Return the arguments that an adapter recalls with, as they are.

    Raises:
        InvalidInput: A recall would refuse one of them.
    """
    question("anybody", "", k, weights=RankingWeights.DEFAULT, **asked)
    return {"k": k, **asked}


def a_policy(value: object) -> OnError:
    """Return what to do when a store fails.

    Raises:
        InvalidInput: It is neither of the two.
    """
    for known in get_args(OnError):
        if value == known:
            return known  # type: ignore[no-any-return] # one of the two
    raise InvalidInput("on_error", value, f"one of {', '.join(get_args(OnError))} is needed")
