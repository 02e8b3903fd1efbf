"""Stand-ins for what a test wants to hold in its own hand: the clock, and a model that finds facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from langchain_tiered_memory.core.errors import ExtractionError
from langchain_tiered_memory.core.model import Memory, to_utc
from langchain_tiered_memory.core.ports import ExtractedFact


class FakeClock:
    """A clock that stands still until it is moved; fills the port `Clock`."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        """Stand at `start`."""
        self._now = to_utc(start)

    def __call__(self) -> datetime:
        """Return the present, aware and UTC."""
        return self._now

    def advance(self, **duration: float) -> datetime:
        """Move on by a `timedelta` given in its own keywords, such as `hours=3`; return the new present."""
        self._now += timedelta(**duration)
        return self._now

    def set(self, instant: datetime) -> None:
        """Move to an instant, also back."""
        self._now = to_utc(instant)


class FakeExtractor:
    """A `FactExtractor` that finds what it was told to find.

    Attributes:
        asked: The memories of every call, in order.
        fails: Set to make every call raise `ExtractionError`.
    """

    def __init__(self, facts: Mapping[str, Sequence[str | ExtractedFact]] | None = None) -> None:
        """Take the script: content of a memory to the facts found in it; a plain string is a fact's content."""
        self._facts = {content: tuple(found) for content, found in (facts or {}).items()}
        self.asked: list[tuple[Memory, ...]] = []
        self.fails = False

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """See `FactExtractor.extract`; a scripted `ExtractedFact` keeps its own sources when it names any."""
        self.asked.append(tuple(memories))
        if self.fails:
            raise ExtractionError("the scripted extractor was told to fail")
        return tuple(_found(fact, memory) for memory in memories for fact in self._facts.get(memory.content, ()))


def _found(fact: str | ExtractedFact, memory: Memory) -> ExtractedFact:
    if isinstance(fact, str):
        return ExtractedFact(content=fact, source_ids=(memory.id,))
    return replace(fact, source_ids=fact.source_ids or (memory.id,))
