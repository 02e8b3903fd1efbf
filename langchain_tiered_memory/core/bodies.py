"""Memories with their content, as they may be shown: wherever they are by now, and without what was forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_tiered_memory.core.errors import BackendUnavailable
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts


def items_of(parts: Parts, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
    """Return the items with these ids, in the order asked; unknown and forgotten ones are left out.

    A store that did not answer when a memory was forgotten still has it: the tombstone is what counts.

    Raises:
        BackendUnavailable: The items could not be read.
    """
    found = parts.items.get(user_id, ids) if ids else ()
    if not found:
        return ()
    try:
        forgotten = parts.records.tombstones(user_id, [one.id for one in found])
    except BackendUnavailable:
        return found  # nobody can tell now, and short-term memory answers also when long-term memory does not
    return tuple(one for one in found if one.id not in forgotten)


def bodies_of(parts: Parts, user_id: str, heads: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return the memories of these heads, in their order; those that are gone are left out.

    What was an item a moment ago may have been promoted since: it is found where it went.

    Raises:
        BackendUnavailable: A store did not answer.
    """
    items = items_of(parts, user_id, [head.id for head in heads if head.tier is Tier.SHORT_TERM])
    found = {item.id: item for item in items}
    rest = [head.id for head in heads if head.id not in found]
    found |= {record.id: record for record in (parts.records.get(user_id, rest) if rest else ())}
    return tuple(found[head.id] for head in heads if head.id in found)
