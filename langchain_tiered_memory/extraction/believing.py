"""What of a model's answer is believed: that which its sources bear out, under the names by which it is known. Pure."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.core.stated import VALUE
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.core.text import normalize as folded
from langchain_tiered_memory.extraction.answers import period
from langchain_tiered_memory.extraction.locating import located
from langchain_tiered_memory.extraction.naming import canonical, named
from langchain_tiered_memory.extraction.questions import Question, by_a_person

if TYPE_CHECKING:
    from langchain_tiered_memory.extraction.answers import Fact

logger = logging.getLogger("langchain_tiered_memory.extraction")

_LONGEST: Final = 500
_VALUE_CHARS: Final = 200
_ANYBODY: Final = frozenset(analyze("user users person speaker someone somebody"))
_PLAIN: Final = frozenset(
    "yes like likes love loves dislike dislikes hate hates speak speaks learn learns learning".split()
)
"""Values that say how it is, and need not be said in these words."""
_HANDLE: Final = re.compile(r"\W*[fm]\d+\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _About:
    """What a statement says beside its content."""

    slot: str | None = None
    value: str | None = None
    negated: bool = False
    since: datetime | None = None
    until: datetime | None = None


def believed(found: Sequence[Fact], question: Question) -> Iterator[ExtractedFact]:
    """Iterate over the statements that their sources bear out, each once."""
    told: set[tuple[str, str | None]] = set()
    for fact in found:
        content = " ".join(fact.content.split())
        meant = [memory for handle in fact.sources if (memory := question.meant(handle)) is not None]
        sources = {memory.id: memory for memory in meant}
        people = [memory for memory in sources.values() if by_a_person(memory)]
        matters = _matters(content, meant)
        if not people or len(content) > _LONGEST or matters.isdisjoint(_terms(*(one.content for one in meant))):
            logger.info("a statement that its sources do not bear out was dropped")
            continue
        about = _about(fact, question, meant, people)
        if (key := (folded(content), about.slot)) not in told:
            told.add(key)
            places = ((name, located(content, one.content, matters)) for name, one in sources.items())
            yield ExtractedFact(
                content=content,
                memory_type=MemoryType(fact.type),
                slot=about.slot,
                source_ids=tuple(sources),
                value=about.value,
                negated=about.negated,
                observed_at=about.since,
                valid_to=about.until,
                spans={name: place for name, place in places if place is not None},
            )


def as_known(fact: ExtractedFact, memories: Sequence[Memory]) -> Memory | None:
    """Return what was found as a memory that a next question may show; None for what is no value that holds."""
    sources = [one for one in memories if one.id in fact.source_ids and by_a_person(one)]
    if fact.slot is None or fact.valid_to is not None or not sources:
        return None
    newest = max(sources, key=lambda one: one.observed_at)
    about = {} if fact.value is None else {VALUE: fact.value}
    return replace(newest, content=fact.content, memory_type=fact.memory_type, slot=fact.slot, metadata=about)


def _matters(content: str, sources: Sequence[Memory]) -> frozenset[str]:
    """Return the terms of a statement that matter: the name of who speaks is in every one."""
    return _terms(content) - _terms(*(one.name or "" for one in sources)) - _ANYBODY


def _terms(*texts: str) -> frozenset[str]:
    return frozenset(term for text in texts for term in analyze(text))


def _about(fact: Fact, question: Question, sources: Sequence[Memory], people: Sequence[Memory]) -> _About:
    """Return what a statement says beside its content; whose slot it is nobody could tell of two speakers."""
    since, until = period(fact.since, fact.until)
    said = max(one.observed_at for one in people)
    negated = bool(fact.negated)
    if negated and until is not None:
        since, until = until, None  # it is not so from when it ended
    if since is not None and since > said:
        return _About()  # a plan: it is not so yet, and what is so is not over
    if since is not None and since.date() == said.date():
        since = None
    free = _About(since=since, until=until)
    if fact.slot is None or len({one.name for one in people}) != 1:
        return free
    slot, value = _slot_and_value(fact, fact.slot, question, sources)
    if slot is None or (negated and value is None and fact.value is not None):
        return free  # what it denies was never said
    told = value in _PLAIN or not _terms(fact.value or "").isdisjoint(_terms(*(one.content for one in sources)))
    if negated and not told:
        # It denies what holds, by whatever name, as another value would end it. The name was said elsewhere, and stays
        # there, where it can be forgotten.
        return _About(slot, None, negated=False, since=since, until=until)
    return _About(slot, value, negated, since, until)


def _slot_and_value(
    fact: Fact, name: str, question: Question, sources: Sequence[Memory]
) -> tuple[str | None, str | None]:
    """Return the slot as it is known, or as the rules name it, and its value, as far as both were said."""
    held = question.fact(name)
    if held is None and _HANDLE.fullmatch(name):
        return None, None
    texts = [*(one.content for one in (*sources, *question.known)), *(_value(one) or "" for one in question.known)]
    said, content = _terms(*texts), _terms(fact.content)
    value = fact.value if fact.value is not None and _was_said(fact.value, said, content) else None
    if held is not None:
        return held.slot, named(held.slot or "", value).value
    member = name.partition(":")[2]
    if member and _terms(member.replace("_", " ")).isdisjoint(said | content):
        return None, None
    speaker = next((one.name for one in sources if by_a_person(one)), None)
    slots = [one.slot for one in question.known if one.slot]
    known = {**{canonical(one): one for one in slots}, **{one: one for one in slots}}  # stems have stems of their own
    found = named(name, value, known, speaker or "")
    return found.slot, found.value


def _was_said(value: str, said: frozenset[str], content: frozenset[str]) -> bool:
    """Say whether a value has a word of the sources or of what is known; a number may stand in the statement alone."""
    terms = _terms(value)
    if len(value) > _VALUE_CHARS or not folded(value):
        return False
    if folded(value) in _PLAIN or not terms.isdisjoint(said):
        return True
    return value[:1].isdigit() and not terms.isdisjoint(content)


def _value(memory: Memory) -> str | None:
    value = memory.metadata.get(VALUE)
    return value if isinstance(value, str) else None
