"""Imports of what is ours, and of message lists: how each kind of element is checked, and how it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TextIO, TypeVar, cast

from langchain_tiered_memory.cli import formats
from langchain_tiered_memory.cli.formats import Element
from langchain_tiered_memory.cli.imported import Imported, Kind
from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.model import Memory, NewMemory

if TYPE_CHECKING:
    from langchain_tiered_memory.core.engine import Engine

T = TypeVar("T")

_BATCH = 100


def counted(kind: Kind, elements: Iterator[Element], session: str) -> Imported:
    """Check every element, and count."""
    from langchain_tiered_memory.core.transfer import memory_in, message_in

    memories = messages = 0
    for place, element in enumerate(elements):
        if kind is Kind.EXPORT:
            is_memory = element.value["kind"] == "memory"
            (memory_in if is_memory else message_in)(element.value, element.where, formats.MOST_BYTES)
            memories, messages = memories + is_memory, messages + (not is_memory)
        elif kind is Kind.MEMORY:
            formats.memory(element)
            memories += 1
        elif kind is Kind.MESSAGE:
            formats.message(element, session, place)
            messages += 1
        else:
            messages += len([formats.message(one, session, at) for at, one in enumerate(formats.talk(element))])
    return Imported(kind, memories, messages, dry_run=True)


def _export(memory: Engine, user: str, elements: Iterator[Element], _: str) -> Imported:
    # As characters: escapes would join surrogates that stand apart.
    lines = (json.dumps(element.value, ensure_ascii=False) for element in elements)
    report = memory.import_user(user, cast("TextIO", lines))  # a stream of lines is all that is asked of it
    return Imported(Kind.EXPORT, report.memories, report.messages, report.merged, report.skipped)


def _memories(memory: Engine, user: str, elements: Iterator[Element], _: str) -> Imported:
    from langchain_tiered_memory.planning import system_clock

    report, began, added = Imported(Kind.MEMORY), system_clock(), set[str]()
    for batch in _batches(formats.memory(element) for element in elements):
        stored, skipped = _remembered(memory, user, batch)
        new = {one.id for one in stored if one.created_at >= began} - added
        added |= new
        report = replace(
            report,
            memories=report.memories + len(new),
            merged=report.merged + len(stored) - len(new),
            skipped=report.skipped + skipped,
        )
    return report


def _remembered(memory: Engine, user: str, batch: Sequence[NewMemory]) -> tuple[tuple[Memory, ...], int]:
    """Remember a batch; if one of it cannot be, all the others. Return what is remembered, and how many are not."""
    try:
        return memory.remember_many(user, batch), 0
    except Conflict:
        if len(batch) == 1:
            return (), 1
    parts = [_remembered(memory, user, [one]) for one in batch]
    return tuple(one for stored, _ in parts for one in stored), sum(skipped for _, skipped in parts)


def _messages(memory: Engine, user: str, elements: Iterator[Element], name: str) -> Imported:
    session = memory.session(user, name)
    held = {one.id for one in session.transcript()}
    added = merged = 0
    for batch in _batches(formats.message(element, name, place) for place, element in enumerate(elements)):
        given = {one.id for one in session.add(*batch)}
        added, merged = added + len(given - held), merged + len(batch) - len(given - held)
        held |= given
    return Imported(Kind.MESSAGE, messages=added, merged=merged)


def _talks(memory: Engine, user: str, elements: Iterator[Element], name: str) -> Imported:
    report = Imported(Kind.TALK)
    for number, element in enumerate(elements, 1):
        one = _messages(memory, user, formats.talk(element), name if number == 1 else f"{name}-{number}")
        report = replace(report, messages=report.messages + one.messages, merged=report.merged + one.merged)
    return report


IMPORTS: dict[Kind, Callable[[Engine, str, Iterator[Element], str], Imported]] = {
    Kind.EXPORT: _export,
    Kind.MEMORY: _memories,
    Kind.MESSAGE: _messages,
    Kind.TALK: _talks,
}


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    each = iter(things)
    while batch := list(islice(each, _BATCH)):
        yield batch
