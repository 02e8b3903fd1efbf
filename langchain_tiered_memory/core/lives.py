"""How long a value under a key lives; see `core/values.py`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from langchain_tiered_memory.core.model import Memory

VALUES = "values"
"""The origin of the memories that are values."""


def is_value(memory: Memory) -> bool:
    """Say whether a memory is a value under a key: one that was put, not one that anybody gave such an origin."""
    about = memory.metadata
    if memory.origin != VALUES or not isinstance(about.get("key"), str) or not isinstance(about.get("value"), Mapping):
        return False
    try:
        put, _ = last_put(memory), life_of(memory)
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    return "searchable" in about and put.utcoffset() is not None


def last_put(memory: Memory) -> datetime:
    """Return when a value was last put."""
    return datetime.fromisoformat(memory.metadata["updated_at"])


def life_of(memory: Memory) -> timedelta | None:
    """Return how long a value lives after it was last put or touched; None until it is deleted."""
    seconds = memory.metadata.get("ttl_s")
    return None if seconds is None else timedelta(seconds=seconds)


def is_over(memory: Memory, now: datetime) -> bool:
    """Say whether the life of a value is over."""
    life = life_of(memory)
    return life is not None and now - max(memory.last_accessed, last_put(memory)) >= life
