"""A plain extractor: what speakers say of themselves and theirs, found by rules. No model.

A clause becomes a fact only when a rule of the grammar fits it; questions, hypotheses, quotations, jokes and what
others are said to have said are left out. Precision comes first: what is not sure is left in its episode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact

MOST_CHARS: Final = 8_000
"""A text is read up to here: what lasts is said early, and a pasted document is not talk about oneself."""
_SPEAKERS: Final = frozenset({"user", "human", None})


class RuleExtractor:
    """Extracts with the rules in `extraction.grammar`; a statement of no known attribute has no slot.

    Has no state, so it may be shared between threads. The rules are compiled when something is read for the first time.
    """

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return the lasting statements of the memories, in their order; those of an assistant give none."""
        return tuple(fact for memory in memories if memory.role in _SPEAKERS for fact in _facts(memory))


def _facts(memory: Memory) -> Iterator[ExtractedFact]:
    from langchain_tiered_memory.extraction.grammar.reading import statements

    for one in statements(memory.content[:MOST_CHARS], memory.observed_at):
        yield ExtractedFact(
            content=one.content,
            memory_type=MemoryType.PREFERENCE if one.preference else MemoryType.FACT,
            slot=one.slot,
            source_ids=(memory.id,),
            value=one.value,
            negated=one.negated,
            observed_at=one.since,
            valid_to=one.until,
            spans={memory.id: (one.start, one.end)},
        )
