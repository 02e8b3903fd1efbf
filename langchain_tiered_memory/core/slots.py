"""Chains of a single-valued attribute: which value holds when. Pure; stores call it inside their transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from langchain_tiered_memory.core.model import Memory


@dataclass(frozen=True, slots=True)
class Filing:
    """Where a new value goes in its chain.

    Attributes:
        reinforces: Id of the record whose period already states this value; then nothing is added.
        new: The new record with `valid_to` and `superseded_by` as its place demands.
        changed: Records of the chain whose `valid_to` and `superseded_by` change.
    """

    reinforces: str | None
    new: Memory
    changed: tuple[Memory, ...] = ()


def chain_key(memory: Memory) -> tuple[str, str, str] | None:
    """Return what makes two records values of one attribute: slot, speaker, agent; None without a slot."""
    return None if memory.slot is None else (memory.slot, memory.name or "", memory.agent_id or "")


def linked(chain: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return the chain in order of time with every `valid_to` and `superseded_by` following from its successor.

    Order: `observed_at`, then as given (so the later written of two equal instants is the newer).
    """
    ordered = sorted(chain, key=lambda m: m.observed_at)
    last = len(ordered) - 1
    return tuple(
        replace(m, superseded_by=None, valid_to=None)
        if i == last
        else replace(m, superseded_by=ordered[i + 1].id, valid_to=ordered[i + 1].observed_at)
        for i, m in enumerate(ordered)
    )


def file_in_chain(chain: Sequence[Memory], new: Memory, same: Callable[[str, str], bool]) -> Filing:
    """Decide where `new` goes among the records of its chain.

    The record whose period covers `new.observed_at` and states the same value is reinforced. Otherwise `new` becomes
    a record of its own: in front when it is the newest, filed behind when it is older.

    Args:
        chain: The records with the same `chain_key`, in the order of writing.
        new: The record to file.
        same: Whether two contents state the same value.
    """
    earlier = [m for m in sorted(chain, key=lambda m: m.observed_at) if m.observed_at <= new.observed_at]
    if earlier and same(earlier[-1].content, new.content):
        return Filing(earlier[-1].id, new)
    before = {m.id: m for m in chain}
    after = linked([*chain, new])
    placed = next(m for m in after if m.id == new.id)
    return Filing(None, placed, tuple(m for m in after if m.id != new.id and m != before[m.id]))
