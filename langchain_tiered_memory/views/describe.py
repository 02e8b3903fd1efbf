"""What there is to be seen of each value, said once for both views."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from itertools import islice
from typing import Any

from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.model import Context, Memory, RecallResult, ScoredMemory, Signal
from langchain_tiered_memory.core.reports import ConsolidationReport, Explanation, Status
from langchain_tiered_memory.views.cards import Card, Entry, Part, share
from langchain_tiered_memory.views.words import TIERS, consolidated, counted, day, moment, plain

_TEXT = 600
_OWN_ORIGINS = frozenset({"session", "remember"})
"""Where memories come from anyway."""
_LABEL = 60
_MOST_ENTRIES = 50
_MOST_KEYS = 8
_SCALES = (0.1, 0.25, 0.5, 1.0)
"""Where a bar of scores may end: the first that has room for the best."""
_TELLING = 0.05
"""Value from which a part of relevance is worth a word."""
_MOST_TELLING = 3
_LEAST = 0.0005
"""Contribution below which it is shown as nothing."""


@singledispatch
def card(value: Any) -> Card:
    """Return what there is to be seen of a value; of one that nothing special is known of, its fields."""
    return Card(_name(value), figures=tuple(_counts(value)))


@card.register
def _(value: Memory) -> Card:
    title = " ".join(part for part in (_tier(value), str(value.memory_type)) if part)
    entry = Entry(
        plain(value.content, _TEXT),
        notes(value),
        f"{value.importance:.2f}",
        (Part("importance", share(value.importance), f"{value.importance:.2f}"),),
    )
    return Card(title.capitalize(), ("importance 0 to 1",), entries=(entry,), figures=tuple(_details(value)))


@card.register
def _(value: ScoredMemory) -> Card:
    scale = _scale(value.score)
    return Card(
        f"Recalled with a score of {value.score:.3f}",
        (f"bars reach to {scale:g}",),
        entries=(_hit(value, scale),),
        figures=tuple(_details(value)),
    )


@card.register
def _(value: RecallResult) -> Card:
    scale = _scale(max((hit.score for hit in value), default=0.0))
    found = counted(len(value), "memory", "memories")
    told = ["best first", f"bars reach to {scale:g}"] if value else []
    if len(value) > _MOST_ENTRIES:
        told.append(f"the first {_MOST_ENTRIES} are shown")
    failed = tuple(f"{plain(str(one), _LABEL)} did not answer; this is what the rest knows" for one in value.failed)
    hits = tuple(_hit(hit, scale) for hit in islice(value, _MOST_ENTRIES))
    return Card(f"{found} recalled" if value else "Nothing was recalled", tuple(told), failed, entries=hits)


@card.register
def _(value: Context) -> Card:
    recalled = counted(len(value.memories), "memory", "memories")
    told = tuple(Entry(plain(one.text, _TEXT), (plain(one.role, _LABEL),)) for one in value.messages[-_MOST_ENTRIES:])
    messages = counted(len(value.messages), "message")
    return Card(f"Context of {value.tokens:,} tokens", (messages, f"{recalled} recalled"), entries=told)


@card.register
def _(value: Explanation) -> Card:
    scale = _scale(value.score or 0.0)
    bars, score = _contributions(value.signals, scale), "" if value.score is None else f"{value.score:.3f}"
    about = f"memory {plain(value.memory_id, _LABEL)}"
    entry = Entry(about, (), score, bars, _parts(value.signals), why(value.signals))
    return Card(plain(value.reason, _TEXT), (f"bars reach to {scale:g}",) if bars else (), entries=(entry,))


@card.register
def _(value: ConsolidationReport) -> Card:
    return Card(f"Consolidated. {consolidated(value)}", figures=tuple(_counts(value)))


@card.register
def _(value: Status) -> Card:
    current = value.long_term - value.superseded
    total = value.long_term + value.short_term
    tiers = (("long-term", current), ("superseded", value.superseded), ("short-term", value.short_term))
    bar = tuple(Part(name, share(number, total), f"{number:,}") for name, number in tiers)
    rooms = tuple(
        (f"{plain(room.replace('_', ' '), _LABEL)} in", plain(by), None) for room, by in value.backends.items()
    )
    plain_counts = tuple((name, told, None) for name, told, _ in _counts(value, leave_out=("backends", "stuck")))
    users = counted(value.users, "user")
    return Card(f"{counted(total, 'memory', 'memories')} of {users}", bar=bar, figures=(*plain_counts, *rooms))


@card.register
def _(value: SyncSession) -> Card:
    at, used = value.address, value.used
    agent = () if at.agent_id is None else (f"agent {plain(at.agent_id, _LABEL)}",)
    told = (f"user {plain(at.user_id, _LABEL)}", *agent)
    title = f"Session {plain(at.session_id, _LABEL)}"
    if used is None:
        return Card(title, (*told, f"at most {at.max_tokens:,} tokens", "no window was counted yet"))
    part = Part("tokens used", share(used.tokens, used.max_tokens), f"{used.tokens:,} of {used.max_tokens:,}")
    return Card(title, (*told, f"the {used.what} that was asked for last"), bar=(part,))


def notes(memory: Memory, *, with_id: bool = False) -> tuple[str, ...]:
    """Return the small print of a memory: type, tier, when it was said, by whom, where, reads, slot, end and id."""
    who = " ".join(plain(one, _LABEL) for one in (memory.role, memory.name) if one)
    told = [
        str(memory.memory_type),
        _tier(memory),
        day(memory.observed_at),
        who and f"by {who}",
        memory.session_id and f"session {plain(memory.session_id, _LABEL)}",
        memory.origin and memory.origin not in _OWN_ORIGINS and f"origin {plain(memory.origin, _LABEL)}",
        memory.access_count and f"read {counted(memory.access_count, 'time')}",
        memory.slot and f"slot {plain(memory.slot, _LABEL)}",
        memory.pinned and "pinned",
        memory.valid_to is not None and f"until {day(memory.valid_to)}",
        with_id and plain(memory.id, 512),
    ]
    return tuple(one for one in told if isinstance(one, str) and one)


def why(signals: Mapping[str, Signal]) -> tuple[Part, ...]:
    """Return how a score comes about: each signal with its weight, below relevance what that was joined from."""
    weighted = [
        Part(plain(name, _LABEL), share(one.value), f"{one.value:.3f} x {one.weight:.2f} = {one.contribution:.3f}")
        for name, one in signals.items()
        if one.weight
    ]
    minor = [
        Part(plain(name.replace("_", " "), _LABEL), share(one.value), f"{one.value:.2f}", minor=True)
        for name, one in signals.items()
        if not one.weight
    ]
    place = 1 + next((at for at, part in enumerate(weighted) if part.name == "relevance"), len(weighted))
    return (*weighted[:place], *minor, *weighted[place:])


def _hit(hit: ScoredMemory, scale: float) -> Entry:
    bars = _contributions(hit.explanation, scale)
    return Entry(
        plain(hit.content, _TEXT), notes(hit), f"{hit.score:.3f}", bars, _parts(hit.explanation), why(hit.explanation)
    )


def _contributions(signals: Mapping[str, Signal], scale: float) -> tuple[Part, ...]:
    return tuple(
        Part(plain(name, _LABEL), share(one.contribution, scale), f"{one.contribution:.3f}")
        for name, one in signals.items()
        if one.weight
    )


def _parts(signals: Mapping[str, Signal]) -> str:
    """Return in a line what a score is made of, and what of relevance speaks most for the hit."""
    below = [name for name, one in signals.items() if not one.weight and name != "said_by" and one.value >= _TELLING]
    best = sorted(below, key=lambda name: -signals[name].value)[:_MOST_TELLING]
    joined = ", ".join(f"{plain(name.replace('_', ' '), _LABEL)} {signals[name].value:.2f}" for name in best)
    named = [(name, one.contribution) for name, one in signals.items() if one.weight and one.contribution >= _LEAST]
    parts = [
        f"{plain(name, _LABEL)} {counts:.3f}{f' ({joined})' if joined and name == 'relevance' else ''}"
        for name, counts in named
    ]
    return " + ".join(parts)


def _scale(best: float) -> float:
    return next((scale for scale in _SCALES if best <= scale), 1.0)


def _tier(memory: Memory) -> str:
    return "" if memory.tier is None else TIERS.get(memory.tier, plain(str(memory.tier), _LABEL))


def _details(memory: Memory) -> Iterator[tuple[str, str, float | None]]:
    """Return what the small print has no room for."""
    if memory.id:
        yield "id", plain(memory.id, 512), None
    for name in ("created_at", "observed_at", "last_accessed", "valid_to"):
        if (at := getattr(memory, name)) is not None:
            yield name.removesuffix("_at").replace("_", " "), moment(at), None
    if memory.origin:
        yield "origin", plain(memory.origin), None
    if memory.superseded_by:
        yield "superseded by", plain(memory.superseded_by, 512), None
    if memory.source_ids:
        yield "rests on", plain(", ".join(islice(memory.source_ids, _MOST_KEYS))), None
    for key, value in islice(memory.metadata.items(), _MOST_KEYS):
        yield (
            f"metadata {plain(str(key), _LABEL)}",
            plain(value if isinstance(value, str) else reprlib.repr(value)),
            None,
        )


def _counts(report: Any, leave_out: tuple[str, ...] = ()) -> Iterator[tuple[str, str, float | None]]:
    """Return a report's fields; counts have bars, the largest a full one."""
    values = {one.name: getattr(report, one.name) for one in fields(report) if one.name not in leave_out}
    counts = [value for name, value in values.items() if _is_count(name, value)]
    for name, value in values.items():
        long = share(value, max(counts)) if _is_count(name, value) else None
        yield name.replace("_", " "), _figure(value), long


def _is_count(name: str, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and not name.startswith("model_")


def _figure(value: object) -> str:
    if isinstance(value, Mapping):
        value = tuple(f"{name} {count}" for name, count in value.items())
    if isinstance(value, tuple):
        told = islice((plain(_sentence(one), 120) for one in value), _MOST_KEYS)
        more = f"; and {len(value) - _MOST_KEYS} more" if len(value) > _MOST_KEYS else ""
        return "; ".join(told) + more or "-"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    return f"{value:,}" if isinstance(value, (int, float)) else plain(str(value))


def _sentence(value: object) -> str:
    """Return one of several as text: a value by its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return ", ".join(str(getattr(value, one.name)) for one in fields(value))
    return str(value)


def _name(value: object) -> str:
    """Return the name of a value's class in words, "Forget receipt"."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(value).__name__)
    return words.strip().capitalize()
