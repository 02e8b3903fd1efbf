"""A plain extractor: sentences in which speakers say something lasting of themselves. No model.

A sentence becomes a fact only when it matches a pattern below from its first word on, is no question, no hypothesis
and no quotation; it is kept as it was said. Precision comes first: what is not sure is left in its episode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact

MOST_CHARS = 8_000
"""A text is read up to here: what lasts is said early, and a pasted document is not talk about oneself."""
_LONGEST = 300
_SPEAKERS = frozenset({"user", "human", None})


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a lasting statement begins, and what kind of statement that is."""

    begins: re.Pattern[str]
    memory_type: MemoryType
    slot: str | None = None


def _pattern(begins: str, memory_type: MemoryType, slot: str | None = None) -> Pattern:
    return Pattern(
        re.compile(rf"(?:(?:and|but|well|so|yes|yeah|oh|also|btw|by the way|actually|now),? )*{begins}", re.IGNORECASE),
        memory_type,
        slot,
    )


_I_AM = r"I(?:'m| am)"
_DIETS = "vegetarian|vegan|pescatarian|diabetic|lactose intolerant|celiac"
_KIN = "wife|husband|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|dog|cat"
_TASTE = "love|like|adore|enjoy|prefer|hate|dislike|can't stand|don't like"
_WAYS = (
    "answer|reply|respond|use|write|format|include|give|suggest|recommend|mention|remind|call|ask|explain|show|tell|"
    "assume|send|speak|keep|address|offer|repeat"
)
"""What one asks an assistant to do, or not to do, as a rule."""
PATTERNS: tuple[Pattern, ...] = (
    _pattern(r"my (?:full |first |real )?name(?:'s| is) [A-Z]\w+", MemoryType.FACT, "name"),
    _pattern(r"I (?:now |currently )?(?:work|am working|'m working) (?:at|for) [A-Z0-9]", MemoryType.FACT, "employer"),
    _pattern(r"I (?:just )?(?:started|got|took) (?:a |my )?(?:new )?job at [A-Z0-9]", MemoryType.FACT, "employer"),
    _pattern(r"I (?:now |currently )?live in [A-Z]", MemoryType.FACT, "home"),
    _pattern(r"I(?:'ve| have)? (?:just |recently )?moved to [A-Z]", MemoryType.FACT, "home"),
    _pattern(r"my (?:e-?mail(?: address)?|phone(?: number)?)(?:'s| is) \S", MemoryType.FACT),
    _pattern(rf"{_I_AM} (?:severely |highly |very )?allergic to \w", MemoryType.FACT),
    _pattern(rf"{_I_AM} (?:a |an )?(?:{_DIETS})", MemoryType.FACT),
    _pattern(
        rf"my (?:{_KIN})(?:'s name)? is \w",
        MemoryType.FACT,
    ),
    _pattern(r"my birthday is (?:on )?\w", MemoryType.FACT),
    _pattern(r"I was born (?:in|on) \w", MemoryType.FACT),
    _pattern(
        rf"I (?:really |absolutely |just )?(?:{_TASTE}) \w",
        MemoryType.PREFERENCE,
    ),
    _pattern(rf"(?:please |can you |could you )?(?:always|never) (?:{_WAYS}) \w", MemoryType.PREFERENCE),
    _pattern(rf"(?:please )?(?:don't|do not) (?:ever )?(?:{_WAYS}) \w", MemoryType.PREFERENCE),
    _pattern(rf"from now on,? (?:please )?(?:always |never |don't |do not )?(?:{_WAYS}) \w", MemoryType.PREFERENCE),
    _pattern(r"(?:please )?call me (?-i:[A-Z])\w+\.?$", MemoryType.PREFERENCE, "form of address"),
    _pattern(r"I(?:'d| would) (?:rather|prefer(?: that)?) you \w", MemoryType.PREFERENCE),
    _pattern(r"my favou?rite [\w ]{2,30} (?:is|are) \w", MemoryType.PREFERENCE),
)
_UNSURE = re.compile(r"\b(?:if|maybe|perhaps|might|would|wish|suppose|imagine|kidding|joking|used to)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”«»]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_POINTING = re.compile(
    rf"\b(?:{_TASTE}) (?:it|that|this|these|those|them|him|her|you|how|when|what)\b",
    re.IGNORECASE,
)


class RuleExtractor:
    """Extracts with `PATTERNS`; a value of a slot is filed under it, other statements stand alone."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return the lasting statements of the memories, in their order."""
        return tuple(fact for memory in memories if memory.role in _SPEAKERS for fact in _facts(memory))


def _facts(memory: Memory) -> Iterator[ExtractedFact]:
    for found in _SENTENCE.finditer(memory.content[:MOST_CHARS]):
        sentence = found.group().strip()
        if len(sentence) > _LONGEST or sentence.endswith("?") or _UNSURE.search(sentence) or _QUOTED.search(sentence):
            continue
        if _POINTING.search(sentence):
            continue  # what "it" is, only the talk around it tells
        for pattern in PATTERNS:
            if pattern.begins.match(sentence):
                yield ExtractedFact(
                    content=sentence,
                    memory_type=pattern.memory_type,
                    slot=pattern.slot,
                    source_ids=(memory.id,),
                )
                break
