"""What becomes of a change of mind in a memory: which value is recalled first, what was retired, and by what."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from langchain_tiered_memory.bench.updates_data import Pair, Said
from langchain_tiered_memory.core.model import Memory

CURRENT, OUTDATED = "current", "outdated"
ABOVE, BELOW, LOST = ORDERS = ("above", "below", "lost")
"""The current value stands above the outdated one, or alone; it does not; neither is recalled."""
RIGHT, WRONG, KEPT, NO_FACT = ENDS = ("right", "wrong", "kept", "no fact")
"""The outdated value was retired by the current one; by another; it still holds; it never was a fact."""

_Z = 1.959964
"""Of the normal distribution, for intervals of 95 %."""
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, and between what the share lies (Wilson 1927, 95 %)."""

    count: int
    of: int
    share: float
    low: float
    high: float


def share(count: int, of: int) -> Share:
    """Return a share with its interval; of nothing it is 0, and may be anything."""
    if not of:
        return Share(0, 0, 0.0, 0.0, 1.0)
    part = count / of
    spread = _Z * math.sqrt(part * (1 - part) / of + _Z**2 / (4 * of**2))
    low, high = ((part + _Z**2 / (2 * of) + side * spread) / (1 + _Z**2 / of) for side in (-1, 1))
    return Share(count, of, round(part, _DECIMALS), round(max(low, 0.0), _DECIMALS), round(min(high, 1.0), _DECIMALS))


def says(text: str, values: Iterable[str]) -> bool:
    """Say whether a text has one of the values in it, as whole words, in any case."""
    return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) for value in values)


def stated(memory: Memory, pair: Pair) -> str | None:
    """Return whether a memory states the current value, or only the outdated one; None when it is about neither.

    The messages state their values, whatever else is in them. A fact states one when it rests on them and has its
    words: what else was drawn from the same message is about something else.
    """
    if memory.id == pair.new.id:
        return CURRENT
    if memory.id == pair.old.id:
        return OUTDATED
    if pair.new.id in memory.source_ids and says(memory.content, pair.new.values):
        return CURRENT
    if not {pair.old.id, pair.new.id}.isdisjoint(memory.source_ids) and says(memory.content, pair.old.values):
        return OUTDATED
    return None


def order(hits: Sequence[Memory], pair: Pair) -> str:
    """Return one of `ORDERS` for the answer to the pair's question."""
    first = next((found for hit in hits if (found := stated(hit, pair)) is not None), None)
    return LOST if first is None else ABOVE if first == CURRENT else BELOW


def end(records: Mapping[str, Memory], pair: Pair) -> str:
    """Return one of `ENDS` for the outdated value.

    Args:
        records: All memories of the user, superseded ones included, by id.
        pair: The pair.
    """
    stale = [one for one in records.values() if stated(one, pair) == OUTDATED and (_drawn(one) or retired(one))]
    if not stale:
        return NO_FACT
    if not all(map(retired, stale)):
        return KEPT
    return RIGHT if all(_by_the_current(one, records, pair) for one in stale) else WRONG


def retired(memory: Memory) -> bool:
    """Say whether a memory does not hold any more."""
    return memory.superseded_by is not None or memory.valid_to is not None


def losses(records: Iterable[Memory], said: Iterable[Said]) -> frozenset[str]:
    """Return the ids of those of the messages that are retired, or of which a fact is."""
    gone = {name for one in records if retired(one) for name in (one.id, *one.source_ids)}
    return frozenset(one.id for one in said if one.id in gone)


def mixed(records: Iterable[Memory], said: Iterable[Said]) -> frozenset[str]:
    """Return the ids of those of the messages that became one memory with another of them, though they differ."""
    wanted = {one.id for one in said}
    groups = (wanted & {one.id, *one.source_ids} for one in records)
    return frozenset().union(*(group for group in groups if len(group) > 1))


def drawn_from(records: Iterable[Memory], said: Iterable[Said]) -> frozenset[str]:
    """Return the ids of those of the messages that facts were drawn from."""
    sources = {source for one in records if _drawn(one) for source in one.source_ids}
    return frozenset(one.id for one in said if one.id in sources)


def _drawn(memory: Memory) -> bool:
    return memory.id not in memory.source_ids and bool(memory.source_ids)


def _by_the_current(memory: Memory, records: Mapping[str, Memory], pair: Pair) -> bool:
    """Follow who superseded it to the end; what is retired by nobody must have ended when the newer was said."""
    seen = {memory.id}
    while (after := records.get(memory.superseded_by or "")) is not None and after.id not in seen:
        if pair.new.id in (after.id, *after.source_ids):
            return True
        seen.add(after.id)
        memory = after
    return memory.superseded_by is None and memory.valid_to == pair.new.at
