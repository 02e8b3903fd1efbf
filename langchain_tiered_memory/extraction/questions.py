"""Memories in questions to a model: how many at once, as what kind of data, and which of them is meant by an answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from langchain_tiered_memory.core.config import ExtractionSettings
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.prompt import quote_memory, quote_text

_READ_CHARS = 8_000
"""A text is read up to here: what lasts is said early, and a pasted document is not talk about oneself."""
_MADE = frozenset({"assistant", "ai", "system", "developer", "tool", "function"})
_MOST_NOTES = 10_000
_FEWER = 4
MOST_KNOWN = 30
"""Known facts beside one question."""
_KNOWN_TOKENS = 800
_FACT_CHARS = 200
_KNOWN = "<known>"


def by_a_person(memory: Memory) -> bool:
    """Say whether a person said it, not a model or a tool."""
    return (memory.role or "").lower() not in _MADE


@dataclass(frozen=True, slots=True)
class Question:
    """Some memories of one user, and of one agent's sight, asked about together.

    Attributes:
        memories: The memories, their texts as far as they are read.
        lines: Each as a line of data that begins with its handle.
        known: Values of slots that hold, which the memories may change.
    """

    memories: tuple[Memory, ...]
    lines: tuple[str, ...]
    known: tuple[Memory, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the memories."""
        return frozenset(memory.id for memory in self.memories)

    @property
    def data(self) -> str:
        """The blocks that the model is shown. Nothing in them ends them: every text is quoted."""
        known = (_KNOWN, *map(_fact_line, range(1, len(self.known) + 1), self.known), "</known>") if self.known else ()
        return "\n".join((*known, "<memories>", *self.lines, "</memories>"))

    def told(self, known: Sequence[Memory], count: Callable[[str], int]) -> Question:
        """Return the question with as many of the known facts as it has room for, and may be seen by who sees it."""
        seen = [one for one in known if one.user_id == self.memories[0].user_id]
        seen = [one for one in seen if one.agent_id in {None, self.memories[0].agent_id}]
        kept: list[Memory] = []
        room = _KNOWN_TOKENS
        for one in seen:
            cost = count(_fact_line(len(kept) + 1, one)) + 1
            if cost <= room and len(kept) < MOST_KNOWN:
                kept.append(one)
                room -= cost
        return replace(self, known=tuple(kept))

    def meant(self, handle: str) -> Memory | None:
        """Return the memory with this handle; None when there is none."""
        number = handle.strip(" []").lower().removeprefix("m")
        return _at(self.memories, number)

    def fact(self, handle: str) -> Memory | None:
        """Return the known fact with this handle; None when there is none."""
        name = handle.strip(" []").lower()
        return _at(self.known, name[1:]) if name.startswith("f") else None


def _at(memories: Sequence[Memory], number: str) -> Memory | None:
    counts = number.isascii() and number.isdigit() and len(number) < len("10000") and number != "0"
    return memories[int(number) - 1] if counts and int(number) <= len(memories) else None


def _fact_line(number: int, memory: Memory) -> str:
    line = quote_memory(replace(memory, content=memory.content[:_FACT_CHARS])).removeprefix("- ")
    return f"f{number}: {quote_text(memory.slot or '')}, {line}"


class Notes:
    """How many memories to ask about together: fewer where an answer failed, until a bad one stands alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: OrderedDict[tuple[str, str], int] = OrderedDict()

    def sizes(self, memories: Iterable[Memory]) -> dict[str, int]:
        """Return id to size for those of the memories that failed before, the longest ago first."""
        keys = {(memory.user_id, memory.id) for memory in memories}
        with self._lock:
            return {key[1]: size for key, size in self._sizes.items() if key in keys} if self._sizes else {}

    def failed(self, memories: Sequence[Memory]) -> None:
        """Note that a question about these failed."""
        with self._lock:
            for memory in memories:
                key = memory.user_id, memory.id
                self._sizes[key] = max(1, len(memories) // _FEWER)
                self._sizes.move_to_end(key)
            while len(self._sizes) > _MOST_NOTES:
                self._sizes.popitem(last=False)

    def answered(self, memories: Sequence[Memory]) -> None:
        """Forget what was noted of these."""
        with self._lock:
            for memory in memories:
                self._sizes.pop((memory.user_id, memory.id), None)


def questions(
    memories: Sequence[Memory], notes: Notes, settings: ExtractionSettings, count: Callable[[str], int]
) -> Iterator[Question]:
    """Iterate over the questions to ask about memories, in their order; those that failed before come last.

    What one agent alone may see is not mixed with what others may, for a fact is seen by those who may see its
    sources. Where no person says anything there is nothing to ask.

    Args:
        memories: The memories.
        notes: What failed before.
        settings: How large a question may be.
        count: Counts the tokens of a text.
    """
    again = notes.sizes(memories)
    by_id = {memory.id: memory for memory in memories}
    ordered = [*(one for one in by_id if one not in again), *(one for one in again if one in by_id)]
    groups: dict[tuple[str, str | None, int], list[Memory]] = {}
    for memory in (by_id[one] for one in ordered):
        size = min(again.get(memory.id, settings.batch), settings.batch)
        groups.setdefault((memory.user_id, memory.agent_id, size), []).append(memory)
    for (_, _, size), group in groups.items():
        for question in _cut(group, size, settings.batch_tokens, count):
            if any(map(by_a_person, question.memories)):
                yield question


def _cut(group: Sequence[Memory], size: int, most: int, count: Callable[[str], int]) -> Iterator[Question]:
    """Cut a group into questions of at most `size` memories and `most` tokens."""
    memories: list[Memory] = []
    lines: list[str] = []
    room = most
    for memory in group:
        shown, line, cost = _shown(memory, len(memories) + 1, most, count)
        if memories and (len(memories) == size or cost > room):
            yield Question(tuple(memories), tuple(lines))
            memories, lines, room = [], [], most
            shown, line, cost = _shown(memory, 1, most, count)
        memories.append(shown)
        lines.append(line)
        room -= cost
    if memories:
        yield Question(tuple(memories), tuple(lines))


def _shown(memory: Memory, number: int, most: int, count: Callable[[str], int]) -> tuple[Memory, str, int]:
    """Return a memory with as much of its text as is read, its line, and what that costs."""
    text = memory.content[:_READ_CHARS]
    while True:
        shown = replace(memory, content=text)
        line = f"m{number}: {quote_memory(shown).removeprefix('- ')}"
        cost = count(line) + 1
        if cost <= most or not text:
            return shown, line, cost
        text = text[: len(text) // 2]
