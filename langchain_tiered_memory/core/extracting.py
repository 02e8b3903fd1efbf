"""Extraction within one consolidation: what fails is set apart, and what costs something is counted and limited."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langchain_tiered_memory.core.errors import ExtractionError
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import ExtractedFact, FactExtractor

logger = logging.getLogger("langchain_tiered_memory.consolidation")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in some memories.

    Attributes:
        facts: The facts, in the order of their sources.
        failed: Ids of the memories whose facts could not be found.
        waiting: Ids of the memories that were not looked at, because the run has spent what it may.
    """

    facts: tuple[ExtractedFact, ...] = ()
    failed: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()


class ExtractionRun(Protocol):
    """One consolidation's use of an extractor, by one thread. Never raises for what an extractor may fail at."""

    @property
    def calls(self) -> int:
        """Questions put to a model so far."""

    @property
    def tokens(self) -> int:
        """Tokens of these questions and their answers."""

    @property
    def spent(self) -> bool:
        """Whether it looks at nothing more."""

    def extract(self, memories: Sequence[Memory]) -> Extraction:
        """Return what is found in the memories; with none, nothing, and no model is asked."""


@runtime_checkable
class MeteredExtractor(Protocol):
    """An extractor whose calls cost something: a consolidation asks its run instead of `extract`."""

    def begin(self) -> ExtractionRun:
        """Begin a run with all that one consolidation may spend."""


Known = Callable[[Sequence[Memory]], Sequence[Memory]]
"""Returns the values of slots that hold now and that some memories may speak of, nearest first."""


@runtime_checkable
class InformedExtractor(Protocol):
    """A metered extractor that wants to know what is known already, so that it names the same slot the same."""

    def begin_informed(self, known: Known) -> ExtractionRun:
        """Begin a run as `MeteredExtractor.begin` does; `known` may be asked before every question."""


def begin(extractor: FactExtractor, known: Known) -> ExtractionRun:
    """Begin a run of any extractor."""
    if isinstance(extractor, InformedExtractor):
        return extractor.begin_informed(known)
    return extractor.begin() if isinstance(extractor, MeteredExtractor) else FreeRun(extractor)


class FreeRun:
    """A run of an extractor that costs nothing: when it fails it is asked about halves, until the bad stand alone."""

    calls = 0
    tokens = 0
    spent = False

    def __init__(self, extractor: FactExtractor) -> None:
        self._extractor = extractor

    def extract(self, memories: Sequence[Memory]) -> Extraction:
        """See `ExtractionRun.extract`: one bad source does not hold up the others."""
        if not memories:
            return Extraction()
        try:
            return Extraction(self._extractor.extract(memories))
        except ExtractionError:
            if len(memories) == 1:
                logger.warning("the facts of one source could not be extracted and are left for the next run")
                return Extraction(failed=frozenset(one.id for one in memories))
        half = len(memories) // 2
        first, second = self.extract(memories[:half]), self.extract(memories[half:])
        return Extraction((*first.facts, *second.facts), first.failed | second.failed)
