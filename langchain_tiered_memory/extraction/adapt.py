"""Other people's extractors behind our port: whatever they raise or return, the core meets facts or one error."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from langchain_tiered_memory.core.errors import ConfigError, ExtractionError, shown
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact, FactExtractor
from langchain_tiered_memory.extraction.model import ModelExtractor


def as_extractor(obj: Any) -> FactExtractor:
    """Put an extractor behind the `FactExtractor` port: its failures and unusable answers become ExtractionError.

    Raises:
        ConfigError: `obj` has no `extract`, or one that answers only to `await`.
    """
    if isinstance(obj, ModelExtractor):  # fails and answers as the port says, and counts what it asks
        return obj
    extract = getattr(obj, "extract", None)
    if isinstance(obj, type) or not callable(extract):
        raise ConfigError(f"extractor={shown(obj)} cannot be used: an object with extract(memories) is needed")
    if inspect.iscoroutinefunction(extract):
        raise ConfigError(f"extractor={shown(obj)} extracts asynchronously; a blocking extractor is needed")
    return _Adapted(obj)


class _Adapted:
    """Another extractor, its answers checked."""

    def __init__(self, inner: FactExtractor) -> None:
        self._inner = inner

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        try:
            answer: Any = self._inner.extract(memories)
            facts = tuple(answer)
        except ExtractionError:
            raise
        except Exception as error:  # its own words may hold the text, so only its kind is told
            raise ExtractionError(f"the extractor failed with {type(error).__name__}") from error
        if not all(map(_usable, facts)):
            raise ExtractionError("the extractor returned something that is no ExtractedFact with text and sources")
        return facts


def _usable(fact: object) -> bool:
    if not isinstance(fact, ExtractedFact) or fact.memory_type not in set(MemoryType) or fact.slot == "":
        return False
    told: tuple[tuple[object, type], ...] = ((fact.content, str), (fact.slot or "", str), (fact.source_ids, tuple))
    return all(isinstance(value, kind) for value, kind in told)
