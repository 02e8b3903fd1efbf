"""How long a value under a key lives; see `core/values.py`. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from langchain_tiered_memory.core.model import Memory

VALUES = "values"
"""The origin of the memories that are values."""


def is_value(memory: Memory) -> bool:
    """Say whether a memory is a value under a key."""
    return memory.origin == VALUES and "updated_at" in memory.metadata


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
    return life is not None and max(memory.last_accessed, last_put(memory)) + life <= now
