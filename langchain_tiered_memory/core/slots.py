"""Chains of a single-valued attribute: which value holds when. Pure; stores call it inside their transaction.

A chain follows from the statements in it, whatever the order in which they were told:

* A value holds from its `observed_at` until the next value begins.
* A *negation* ("I no longer work at Acme") ends the value that it denies, if that holds then, and holds itself until
  the next value. Another value that holds is not ended: the negation is filed behind it, where it never holds.
* A *closed* value states its own end ("from 2015 to 2018"). It stands beside the others: it is never current, ends no
  other value and is ended by none; only the same value ends with it, where it was said without an end.
* What was said again after a value was ended (`stated.confirmations`) holds again, in a record of its own. So a value
  that was true twice has both periods.
* An older telling of a value is a record of its own that leads up to the one that is known: together they tell the
  whole period, and what was known at which time stays apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.stated import (
    confirmations,
    grown,
    is_closed,
    is_negated,
    parted,
    same_value,
    says_same,
)


@dataclass(frozen=True, slots=True)
class Again:
    """A record that was parted from another one of its chain.

    Attributes:
        memory: The new record.
        of: Id of the one that it says again.
    """

    memory: Memory
    of: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A chain as it has to be.

    Attributes:
        records: The records in order of time, with `valid_to` and `superseded_by` as their places demand.
        again: Those among them that are new.
    """

    records: tuple[Memory, ...]
    again: tuple[Again, ...] = ()


@dataclass(frozen=True, slots=True)
class Filing:
    """Where a new value goes in its chain.

    Attributes:
        reinforces: Id of the record whose period already states this value; then nothing is added for it.
        new: The new record with `valid_to` and `superseded_by` as its place demands.
        changed: Records of the chain that change, the reinforced one among them.
        again: Records to add as well: what holds again after the new one, or after what ended it.
    """

    reinforces: str | None
    new: Memory
    changed: tuple[Memory, ...] = ()
    again: tuple[Again, ...] = ()


def chain_key(memory: Memory) -> tuple[str, str, str] | None:
    """Return what makes two records values of one attribute: slot, speaker, agent; None without a slot."""
    return None if memory.slot is None else (memory.slot, memory.name or "", memory.agent_id or "")


def linked(chain: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return the chain in order of time with every `valid_to` and `superseded_by` following from the statements.

    Order: `observed_at`, then as given (so the later written of two equal instants is the newer). An end that a record
    states itself stays.
    """
    ordered = sorted(chain, key=lambda m: m.observed_at)
    walk = _Walk([m for m in ordered if is_closed(m) and not is_negated(m)])
    for memory in ordered:
        if not is_closed(memory):
            walk.meet(memory)
    walk.close(None)
    return tuple(m if is_closed(m) else _ending(m, *walk.ends.get(m.id, (None, None))) for m in ordered)


def _ending(memory: Memory, superseded_by: str | None, valid_to: datetime | None) -> Memory:
    if (memory.superseded_by, memory.valid_to) == (superseded_by, valid_to):
        return memory
    return replace(memory, superseded_by=superseded_by, valid_to=valid_to)


class _Walk:
    """Goes through a chain in order of time.

    Attributes:
        ends: Id to what superseded the record, and when it ended.
    """

    def __init__(self, closed: Sequence[Memory]) -> None:
        self.ends: dict[str, tuple[str, datetime]] = {}
        self._closed = sorted(((m.valid_to, m) for m in closed if m.valid_to is not None), key=lambda end: end[0])
        self._holding: Memory | None = None
        self._denials: list[Memory] = []

    def meet(self, memory: Memory) -> None:
        """Let a value or a negation begin."""
        self.close(memory.observed_at)
        held, told = self._holding, self._covering(memory)
        if told is not None:
            self.ends[memory.id] = told
        elif not is_negated(memory):
            for one in (held, *self._denials):
                self._end(one, memory)
            self._holding, self._denials = memory, []
        elif held is not None and not same_value(held, memory):
            self.ends[memory.id] = (held.id, memory.observed_at)
        else:
            for one in (held, *(one for one in self._denials if same_value(one, memory))):
                self._end(one, memory)
            self._holding, self._denials = None, [*(o for o in self._denials if o.id not in self.ends), memory]

    def _covering(self, memory: Memory) -> tuple[str, datetime] | None:
        """Return the closed value in whose period the same value is said, and its end: it says no more than that."""
        if is_negated(memory):
            return None
        at = memory.observed_at
        found = [(one.id, end) for end, one in self._closed if one.observed_at <= at < end and same_value(one, memory)]
        return found[-1] if found else None

    def close(self, until: datetime | None) -> None:
        """End the value that holds at the first end that was stated of it, if that comes until then."""
        held = self._holding
        if held is None:
            return
        for end, memory in self._closed:
            if held.observed_at < end and (until is None or end <= until) and same_value(held, memory):
                self.ends[held.id] = (memory.id, end)
                self._holding = None
                return

    def _end(self, one: Memory | None, successor: Memory) -> None:
        if one is not None:
            self.ends[one.id] = (successor.id, successor.observed_at)


def settled(chain: Sequence[Memory], created_at: datetime) -> Settled:
    """Link a chain, and part from its records what was said again after they were ended.

    Args:
        chain: The records, in the order of writing.
        created_at: The instant at which new records are written.
    """
    records, again = linked(chain), list[Again]()
    while (found := _unheard(records)) is not None:
        memory, at = found
        first, second = parted(memory, at, created_at)
        again.append(Again(second, memory.id))
        records = linked([*(first if one.id == first.id else one for one in records), second])
    now = {one.id: one for one in records}
    return Settled(records, tuple(Again(now[one.memory.id], one.of) for one in again))


def _unheard(records: Sequence[Memory]) -> tuple[Memory, datetime] | None:
    """Return a record that was said again when it did not hold, and when that was first; None when there is none."""
    for memory in records:
        for at in confirmations(memory) if not memory.current and not is_closed(memory) else ():
            if _contradicts(records, memory, at):
                return memory, at
    return None


def _contradicts(records: Sequence[Memory], memory: Memory, at: datetime) -> bool:
    if not is_negated(memory):
        ended = at if memory.valid_to is None else memory.valid_to
        by_closed = ended == at and any(one.id == memory.superseded_by and is_closed(one) for one in records)
        return ended < at or by_closed  # of equal instants the end that was stated comes first
    held = _holding(records, at)
    if held is None:
        return memory.valid_to is not None and memory.valid_to < at
    return memory.observed_at <= held.observed_at < at and same_value(memory, held)


def _holding(records: Sequence[Memory], at: datetime) -> Memory | None:
    """Return the value that holds at an instant; closed ones do not count."""
    for one in records:
        begun = one.observed_at <= at and not is_closed(one) and not is_negated(one)
        if begun and (one.valid_to is None or at < one.valid_to):
            return one
    return None


def file_in_chain(chain: Sequence[Memory], new: Memory) -> Filing:
    """Decide where `new` goes among the records of its chain.

    The record whose period covers `new.observed_at` and that states the same is reinforced. Otherwise `new` becomes a
    record of its own: in front when it is the newest, filed behind when it is older.

    Args:
        chain: The records with the same `chain_key`, linked, in the order of writing.
        new: The record to file. `valid_to` without `superseded_by` is an end that it states itself.
    """
    standing = _standing(chain, new)
    before = {m.id: m for m in chain}
    if standing is None:
        found = settled([*chain, new], new.created_at)
    else:
        more = grown(standing, new)
        if more == standing:
            return Filing(standing.id, new)
        found = settled([more if m.id == more.id else m for m in chain], new.created_at)
    changed = tuple(m for m in found.records if m.id in before and m != before[m.id])
    if standing is not None:
        return Filing(standing.id, new, changed, found.again)
    return Filing(None, next(m for m in found.records if m.id == new.id), changed, found.again)


def _was_told(memory: Memory, new: Memory) -> bool:
    """Say whether a record has `new`, which it grew by, as it is: the same telling does not happen twice."""
    at = new.observed_at
    return says_same(memory, new) and (memory.observed_at == at or new.id in confirmations(memory).get(at, ()))


def _standing(chain: Sequence[Memory], new: Memory) -> Memory | None:
    """Return the record that already states what `new` does, of the same time."""
    at = new.observed_at
    heard = next((m for m in chain if new.id in m.source_ids and _was_told(m, new)), None)
    if heard is not None:
        return heard
    closed = [m for m in chain if is_closed(m) and says_same(m, new)]
    if is_closed(new):
        return next((m for m in closed if (m.observed_at, m.valid_to) == (at, new.valid_to)), None)
    begun = [m for m in sorted(chain, key=lambda m: m.observed_at) if m.observed_at <= at and not is_closed(m)]
    if is_negated(new):
        told = [m for m in begun if not is_negated(m) or same_value(m, new)]
        return told[-1] if told and is_negated(told[-1]) else None
    held = _holding(begun, at)
    if held is not None and same_value(held, new):
        return held
    return next((m for m in closed if m.observed_at <= at and m.valid_to is not None and at < m.valid_to), None)
