"""What becomes of two records that say the same in other words: the one grows, the other becomes part of it. Pure.

The one that became part of another stays as it was told, under its own id. It is superseded at its own beginning: no
instant shows it beside the one that says the same, which is the older and tells the whole period. When that one goes,
it stands for itself again; and where it is reworded, too, for it says something else then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from langchain_tiered_memory.core.errors import Conflict, shown
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.stated import grown


def may_join(memory: Memory) -> bool:
    """Say whether a memory may be one with others: a statement; episodes stay as they are, slots have their chains."""
    return memory.memory_type is not MemoryType.EPISODE and memory.slot is None


def is_joined(memory: Memory) -> bool:
    """Say whether a memory became part of another one that says the same."""
    return ends_as_joined(memory.slot, memory.superseded_by, memory.observed_at, memory.valid_to)


def ends_as_joined(
    slot: str | None, superseded_by: str | None, observed_at: datetime | None, valid_to: datetime | None
) -> bool:
    """Say the same of a memory of which no more is read."""
    return slot is None and superseded_by is not None and valid_to is not None and valid_to == observed_at


def joined(memory: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return a memory with all that another one lends it, which says the same, and the other one as part of it.

    Sources and accesses of both count, the later access, the higher importance, and either's pin.
    """
    more = replace(
        grown(memory, other),
        importance=max(memory.importance, other.importance),
        last_accessed=max(memory.last_accessed, other.last_accessed),
        access_count=memory.access_count + other.access_count,
        pinned=memory.pinned or other.pinned,
    )
    return more, replace(other, superseded_by=memory.id, valid_to=other.observed_at)


def relinked(memory: Memory, successor: str | None, since: datetime | None) -> Memory:
    """Return a memory without a slot whose successor goes: the next one supersedes it, or it is current again.

    Args:
        memory: The memory.
        successor: The id of the next one that stays; None when there is none.
        since: When that one took the place of the one that goes; what became part of another ends no earlier than it
            began.
    """
    ends = None if successor is None or since is None else max(since, memory.observed_at)
    return replace(memory, superseded_by=successor, valid_to=ends)


def reworded_apart(old: Memory, new: Memory) -> Memory:
    """Return an updated memory: what was part of another and says something else now stands for itself again."""
    if new.content == old.content or not is_joined(old):
        return new
    return replace(new, superseded_by=None, valid_to=None)


def refuse_unjoinable(there: Mapping[str, Memory], parts: Mapping[str, str]) -> None:
    """Raise Conflict when records cannot become part of others, because they are not what they were taken for.

    Args:
        there: The records before the change.
        parts: Id of each one that is to become part of another, to the id of that.
    """
    for one in dict.fromkeys((*parts, *parts.values())):
        memory = there.get(one)
        if memory is None or not memory.current or not may_join(memory):
            raise Conflict(f"memory {shown(one)} is no current statement any more: read again before joining")
    for one in parts.values():
        if one in parts:
            raise Conflict(f"memory {shown(one)} becomes part of another itself: join with that one")
