"""Which long-term memories the forgetting policy lets go, and why. Pure: it reads no clock and no store.

A memory goes when all conditions of one rule hold of it, or when the user has more than the most and it is of least
worth. Spared are pinned memories, values under keys, and what the settings spare. A memory waits for what depends on
it: one that another rests on alone goes with that or later, and a value of a slot goes with those that it replaced, or
later; otherwise they would be lost by the way, or hold again. And an outdated fact stays as long as a memory that told
it: without it nobody would know that what that says is no longer so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from langchain_tiered_memory.core.bonds import Bonded, bond_of, may_go
from langchain_tiered_memory.core.entries import FROM_CONSOLIDATION
from langchain_tiered_memory.core.lives import is_value
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.retention import ForgettingRule, ForgettingSettings
from langchain_tiered_memory.core.stated import founding

MOST = "most_per_user"
"""What the cap is called in reports."""
_IMPORTANCE, _USE, _RECENCY = 0.5, 0.25, 0.25
_MANY_READS = 10
_MONTH = timedelta(days=30)
_OUTDATED = 0.5
_Key = tuple[float, int, datetime, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """A memory that may go.

    Attributes:
        memory: Its head.
        rule: The name of the rule, or its conditions in words.
        reason: What holds of it, in words.
    """

    memory: Memory
    rule: str
    reason: str


def worth(memory: Memory, now: datetime) -> float:
    """Return how much a memory is worth keeping, in [0, 1].

    `0.5·importance + 0.25·min(access_count/10, 1) + 0.25/(1 + months since it was stored or last recalled)`, months of
    30 days; half of that when it is outdated. So an unimportant memory that is read often outlives an important one
    that nobody ever asks for.
    """
    use = min(memory.access_count / _MANY_READS, 1.0)
    recency = 1 / (1 + max(_unused(memory, now), timedelta(0)) / _MONTH)
    whole = _IMPORTANCE * memory.importance + _USE * use + _RECENCY * recency
    return whole if _holds(memory, now) else _OUTDATED * whole


def choose(memories: Iterable[Memory], settings: ForgettingSettings, now: datetime) -> tuple[Choice, ...]:
    """Return what the policy lets go, in the order in which it may go: what depends on others before them.

    Beside that, those of least worth come first, and of equals those observed first. Any beginning of the result may be
    forgotten without a consequence for a memory that is not in it.

    Args:
        memories: The heads of all long-term memories of one user.
        settings: The policy.
        now: The present.
    """
    there = {memory.id: memory for memory in memories if not is_value(memory)}
    bonds = {one: bond_of(memory) for one, memory in there.items()}
    free = may_go([one for one, memory in there.items() if not _spared(memory, settings, now)], bonds)
    chosen = {one: choice for one in free if (choice := _by_rule(there[one], settings.rules, now)) is not None}
    kept = _with_tellers(may_go(chosen, bonds), there, bonds)
    chosen = {one: chosen[one] for one in kept}
    most = len(there) if settings.most_per_user is None else settings.most_per_user
    excess = len(there) - len(chosen) - most
    if not chosen and excess <= 0:
        return ()  # as nearly always: weighing all takes far longer than to see that none goes
    order = _ordered([there[one] for one in free], now)
    for memory in _of_least_worth([one for one in order if one.id not in chosen], excess, chosen, there, bonds):
        reason = f"more than {settings.most_per_user} memories, and worth only {worth(memory, now):.2f}"
        chosen[memory.id] = Choice(memory, MOST, reason)
    return tuple(chosen[one.id] for one in order if one.id in chosen)


def _with_tellers(ids: Iterable[str], there: Mapping[str, Memory], bonds: Mapping[str, Bonded]) -> frozenset[str]:
    """Return those of the ids that may go though what told an outdated fact stays: all but that fact, and its like."""
    left = frozenset(ids)
    while True:
        held = {one for one in left if any(source in there and source not in left for source in _tellers(there[one]))}
        if not held:
            return left
        left = may_go(left - held, bonds)


def _tellers(memory: Memory) -> Sequence[str]:
    """Return the ids of what told an outdated fact; none of any other memory."""
    return memory.source_ids if memory.superseded_by is not None and memory.origin == FROM_CONSOLIDATION else ()


def _of_least_worth(
    order: Sequence[Memory],
    many: int,
    gone: Iterable[str],
    there: Mapping[str, Memory],
    bonds: Mapping[str, Bonded],
) -> list[Memory]:
    """Return the first so many that may go beside what goes anyway; a few more where a fact goes with what told it."""
    if many <= 0:
        return []
    before = frozenset(gone)

    def going(first: int) -> list[Memory]:
        free = _with_tellers({*before, *(memory.id for memory in order[:first])}, there, bonds)
        return [memory for memory in order[:first] if memory.id in free]

    found = going(many)
    if len(found) >= min(many, len(order)):
        return found
    return going(bisect_left(range(len(order)), many, lo=many, key=lambda first: len(going(first))))


def told(rule: ForgettingRule) -> str:
    """Return the conditions of a rule in words."""
    parts = [
        f"stored more than {_days(rule.older_than)} ago" if rule.older_than else "",
        f"unused for {_days(rule.unused_for)}" if rule.unused_for else "",
        f"importance below {rule.importance_below:g}" if rule.importance_below is not None else "",
        "outdated" if rule.outdated else "",
        f"of type {' or '.join(rule.memory_types)}" if rule.memory_types else "",
    ]
    return ", ".join(part for part in parts if part)


def _days(duration: timedelta) -> str:
    days = duration / timedelta(days=1)
    return f"{days:g} day{'' if days == 1 else 's'}"


def _unused(memory: Memory, now: datetime) -> timedelta:
    """Return how long ago it was stored or last recalled; what was told late was not unused before."""
    return now - max(memory.created_at, memory.last_accessed)


def _holds(memory: Memory, now: datetime) -> bool:
    return memory.superseded_by is None and (memory.valid_to is None or memory.valid_to > now)


def _spared(memory: Memory, settings: ForgettingSettings, now: datetime) -> bool:
    if memory.pinned or memory.memory_type in settings.spare_types:
        return True
    if not _holds(memory, now):
        return False
    preferred = memory.memory_type is MemoryType.PREFERENCE and memory.role != "assistant"
    return (settings.spare_slots and memory.slot is not None) or (settings.spare_preferences and preferred)


def _by_rule(memory: Memory, rules: Sequence[ForgettingRule], now: datetime) -> Choice | None:
    for rule in rules:
        if _fits(memory, rule, now):
            return Choice(memory, rule.name or told(rule), told(rule))
    return None


def _fits(memory: Memory, rule: ForgettingRule, now: datetime) -> bool:
    return not (
        (rule.memory_types and memory.memory_type not in rule.memory_types)
        or (rule.older_than is not None and now - memory.created_at <= rule.older_than)
        or (rule.unused_for is not None and _unused(memory, now) <= rule.unused_for)
        or (rule.importance_below is not None and memory.importance >= rule.importance_below)
        or (rule.outdated and _holds(memory, now))
    )


def _ordered(memories: Sequence[Memory], now: datetime) -> list[Memory]:
    """Return memories by worth, none before one that depends on it: it counts as worth as much as those."""
    there = {memory.id: memory for memory in memories}
    needed = defaultdict[str, list[str]](list)
    for memory in memories:
        drawn = founding(memory) if memory.origin == FROM_CONSOLIDATION else ()
        for one in (*drawn, *([memory.superseded_by] if memory.superseded_by else [])):
            if one in there and one != memory.id:
                needed[one].append(memory.id)
    keys: dict[str, tuple[float, int]] = {}
    for memory in memories:
        _weigh(memory.id, there, needed, keys, now)

    def key(memory: Memory) -> _Key:
        return *keys[memory.id], memory.observed_at, memory.id

    return sorted(memories, key=key)


def _weigh(
    memory_id: str,
    there: Mapping[str, Memory],
    needed: Mapping[str, Sequence[str]],
    keys: dict[str, tuple[float, int]],
    now: datetime,
) -> None:
    """Give a memory its place: (worth, how many steps from one that nothing depends on). Chains may be long."""
    waiting, open_ids = [memory_id], set[str]()
    while waiting:
        one = waiting[-1]
        before = [dependent for dependent in needed.get(one, ()) if dependent not in keys]
        if one not in keys and one not in open_ids and before:
            open_ids.add(one)
            waiting += [dependent for dependent in before if dependent not in open_ids]
            continue
        waiting.pop()
        if one not in keys:
            ready = [keys[dependent] for dependent in needed.get(one, ()) if dependent in keys]
            keys[one] = (
                max([worth(there[one], now), *(value for value, _ in ready)]),
                max((steps + 1 for _, steps in ready), default=0),
            )
