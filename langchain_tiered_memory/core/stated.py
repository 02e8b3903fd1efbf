"""What a value of a slot states beside its words, kept in the metadata of its memory. Pure.

Where a memory has a slot, four keys of its metadata have a meaning; the others are the caller's:

* `value`: what the slot is said to be, "acme" in "I still work at Acme". Two memories with the same value, as
  `text.normalize` folds it, say the same of the slot. Without a value the contents are compared.
* `negated`: whether it says that the slot is no longer, or never was, this value.
* `spans`: for each source the first character of the statement in its text and the one after its last,
  `{"m7": [0, 24]}`.
* `confirmed`: when it was said again, by which source and in which words,
  `{"2024-05-01T00:00:00+00:00": {"m9": "I still work at Acme"}}`; "" for the words of the content; null for a source
  that gave the content itself and was heard later than it tells. At most `MOST_CONFIRMED` instants.

They are given like any metadata, or filled by consolidation. A reinforcement adds to `spans` and `confirmed`; a source
that is forgotten takes its part of them along.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from langchain_tiered_memory.core.entries import FROM_CONSOLIDATION, ExtractedFact, lent_sources
from langchain_tiered_memory.core.lives import is_value
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.text import normalize

VALUE, NEGATED, SPANS, CONFIRMED = "value", "negated", "spans", "confirmed"
MOST_CONFIRMED = 32
"""Most instants that a memory keeps; of more, the oldest two become one."""
MOST_WORDS = 1_000
"""Longest other words that are kept, in characters."""

Words = Mapping[str, str | None]
"""Source to its words; see `confirmed`."""


def told(fact: ExtractedFact, sources: Sequence[Memory], later: Sequence[Memory]) -> dict[str, Any]:
    """Return as metadata what an extracted fact tells beside its content.

    Args:
        fact: The fact.
        sources: The memories it was found in, with their content; a place that is not in it is left out.
        later: Those of them that tell it of an earlier time, since when it has been so until they were said.
    """
    about: dict[str, Any] = {} if fact.value is None else {VALUE: fact.value}
    if fact.negated:
        about[NEGATED] = True
    text_of = {one.id: one.content for one in sources}
    places: object = fact.spans  # of an extractor of anybody's
    given = places.items() if isinstance(places, Mapping) else ()
    found = {source: list(span) for source, span in given if isinstance(span, (tuple, list)) and source in text_of}
    spans = {source: span for source, span in found.items() if is_span(span) and span[1] <= len(text_of[source])}
    said: dict[datetime, dict[str, str | None]] = {}
    for one in later if fact.slot is not None else ():
        said.setdefault(one.observed_at, {})[one.id] = None
    return about | ({SPANS: spans} if spans else {}) | ({CONFIRMED: _written(said)} if said else {})


def is_negated(memory: Memory) -> bool:
    """Say whether it states what is not."""
    return memory.metadata.get(NEGATED) is True


def is_closed(memory: Memory) -> bool:
    """Say whether it states an end of its own, and not one that a successor gave it."""
    return memory.valid_to is not None and memory.superseded_by is None


def same_value(one: Memory, other: Memory) -> bool:
    """Say whether two memories are about the same value of their slot, whether they state or deny it.

    Of heads, whose contents are not there, the values alone tell.
    """
    value, another = _value(one), _value(other)
    if value is not None and another is not None:
        return value == another
    content, told = normalize(one.content), normalize(other.content)
    return bool(content and told in (content, value)) or bool(told and another == content)


def says_same(one: Memory, other: Memory) -> bool:
    """Say whether two memories state the same of their slot."""
    return is_negated(one) == is_negated(other) and same_value(one, other)


def is_instant(text: str) -> bool:
    """Say whether a text is an instant, as `confirmed` has them: of ISO 8601, with its time zone."""
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def is_span(value: object) -> bool:
    """Say whether it is a place in a text, as `spans` has them: two numbers, the first not above the second."""
    numbers = value if isinstance(value, list) and all(type(one) is int for one in value) else []
    return len(numbers) == len(("first", "end")) and 0 <= numbers[0] <= numbers[1]


def _value(memory: Memory) -> str | None:
    value = memory.metadata.get(VALUE)
    return normalize(value) if isinstance(value, str) else None


def confirmations(memory: Memory) -> dict[datetime, Words]:
    """Return when a value of a slot was said again, oldest first, by whom and in which words."""
    return {} if memory.slot is None else _confirmations(memory.metadata)


def _confirmations(metadata: Mapping[str, Any]) -> dict[datetime, Words]:
    told = metadata.get(CONFIRMED)
    if not isinstance(told, Mapping):
        return {}
    try:
        found = {datetime.fromisoformat(at).astimezone(UTC): _words(words) for at, words in told.items()}
    except (TypeError, ValueError, OverflowError):  # given before the key had a meaning
        return {}
    return dict(sorted(found.items()))


def _words(words: Mapping[str, object]) -> Words:
    return {source: text if isinstance(text, str) else None for source, text in dict(words).items()}


def founding(memory: Memory) -> tuple[str, ...]:
    """Return the sources that gave a memory its content and its beginning: all but those that only confirmed it.

    What nobody drew from others has perhaps none.
    """
    return memory.source_ids if memory.slot is None else founders(memory.source_ids, memory.metadata)


def founders(source_ids: tuple[str, ...], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the same for a value of a slot, of which no more is read."""
    said = list(_confirmations(metadata).values())
    own = {source for words in said for source, text in words.items() if text is None}
    later = {source for words in said for source in words} - own
    return tuple(one for one in source_ids if one not in later)


def grown(memory: Memory, other: Memory) -> Memory:
    """Return the memory with all that another one, which says the same, lends it: sources, spans, confirmations."""
    fresh = [one for one in lent_sources(other) if one != memory.id and one not in memory.source_ids]
    if not fresh:
        return memory
    grown = replace(memory, source_ids=tuple(dict.fromkeys((*memory.source_ids, *fresh))))
    if memory.slot is not None or other.origin == FROM_CONSOLIDATION:
        spans = {source: span for source, span in _spans(other).items() if source in fresh}
        grown = _with(grown, SPANS, {**_spans(memory), **spans}) if spans else grown
    if memory.slot is None:
        return grown
    named = VALUE in memory.metadata or VALUE not in other.metadata  # what one of them calls it, holds of both
    return _confirmed(grown if named else _with(grown, VALUE, other.metadata[VALUE]), other, fresh)


def _confirmed(memory: Memory, other: Memory, fresh: Collection[str]) -> Memory:
    words = "" if other.content == memory.content or len(other.content) > MOST_WORDS else other.content
    first = {source for source in (*founding(other), other.id) if source in fresh}
    at_first = other.observed_at == memory.observed_at and normalize(other.content) == normalize(memory.content)
    said: dict[datetime, dict[str, str | None]] = {at: dict(told) for at, told in confirmations(memory).items()}
    if not at_first:
        for source in first:
            said.setdefault(other.observed_at, {}).setdefault(source, words)
    for at, told in confirmations(other).items():
        for source, text in told.items():
            if source in fresh:
                own = None if at_first and text is None else words
                said.setdefault(at, {}).setdefault(source, text or own)
    return _with(memory, CONFIRMED, _written(said))


def _written(said: Mapping[datetime, Words]) -> dict[str, dict[str, str | None]]:
    """Return confirmations as they are kept, bounded."""
    kept = [(at, dict(words)) for at, words in sorted(said.items()) if words]
    while len(kept) > MOST_CONFIRMED:
        _, words = kept.pop(1)
        kept[0][1].update({s: text and "" for s, text in words.items() if s not in kept[0][1]})
    return {at.astimezone(UTC).isoformat(): words for at, words in kept}


def without(memory: Memory, lost: Collection[str]) -> Memory:
    """Return the memory without some sources, and without what they told."""
    if not any(source in lost for source in memory.source_ids):
        return memory
    left = replace(memory, source_ids=tuple(one for one in memory.source_ids if one not in lost))
    spans = _spans(memory)
    if any(source in lost for source in spans):
        left = _with(left, SPANS, {source: span for source, span in spans.items() if source not in lost})
    said = confirmations(memory)
    if any(source in lost for words in said.values() for source in words):
        kept = {at: {s: text for s, text in words.items() if s not in lost} for at, words in said.items()}
        left = _with(left, CONFIRMED, _written(kept))
    return left


def left_over(memory: Memory, lost: Collection[str], created_at: datetime) -> Memory | None:
    """Return what others confirmed of a memory whose content rested on lost sources, as a record of its own."""
    left = without(memory, lost)
    at = next(iter(confirmations(left)), None)
    return None if at is None else parted(left, at, created_at)[1]


def parted(memory: Memory, at: datetime, created_at: datetime) -> tuple[Memory, Memory]:
    """Part a memory at one of its confirmations: what was said before, and what was said from then on.

    The second part is a record of its own, drawn from its sources, in their words. Its id follows from the first's,
    the instant and the sources.
    """
    said = confirmations(memory)
    early = {when: words for when, words in said.items() if when < at}
    late = {when: words for when, words in said.items() if when >= at}
    sources = tuple(dict.fromkeys(source for words in late.values() for source in words))
    stay = {*founding(memory), *(source for words in early.values() for source in words)}
    first = _with(memory, CONFIRMED, _written(early))
    first = without(first, [source for source in sources if source not in stay])
    texts = late[at].values()
    content = memory.content if None in texts else next(filter(None, texts), memory.content)
    again = replace(
        memory,
        content=content,
        created_at=created_at,
        last_accessed=at,
        access_count=0,
        id=_id("again", memory.user_id, memory.id, at.isoformat(), sources),
        observed_at=at,
        valid_to=None,
        superseded_by=None,
        origin=FROM_CONSOLIDATION,
        source_ids=sources,
    )
    further = {when: _heard(words, late[at], memory, content) for when, words in late.items() if when > at}
    spans = {source: span for source, span in _spans(memory).items() if source in sources}
    return first, _with(_with(again, SPANS, spans), CONFIRMED, _written(further))


def _heard(words: Words, first: Words, memory: Memory, content: str) -> dict[str, str | None]:
    """Return words as a second part keeps them, which has a content of its own."""

    def kept(source: str, text: str | None) -> str | None:
        text = text or memory.content
        if text == content:
            return None if source in first else ""
        return text if len(text) <= MOST_WORDS else ""

    return {source: kept(source, text) for source, text in words.items()}


def reworded(old: Memory, new: Memory) -> Mapping[str, Any]:
    """Return the metadata of an updated memory: what a value of a slot states stays, unless it is stated anew.

    Other words are another statement, which nobody has confirmed; and another value, unless they still name it. What
    is a value under a key states nothing: its "value" is what was put there.
    """
    if old.slot is None or is_value(old):
        return new.metadata
    mine = {key: old.metadata[key] for key in (VALUE, NEGATED, SPANS, CONFIRMED) if key in old.metadata}
    if new.content == old.content:
        return {**mine, **new.metadata}
    given = {key: one for key, one in new.metadata.items() if key not in mine or one != mine[key]}
    value = _value(old)
    names = value is not None and value in normalize(new.content)
    kept = (VALUE, NEGATED, SPANS) if names else (SPANS,)
    return {**{key: mine[key] for key in kept if key in mine}, **given}


def _with(memory: Memory, key: str, told: object) -> Memory:
    """Return the memory with another value of a key; without the key when that is empty."""
    rest = {name: one for name, one in memory.metadata.items() if name != key}
    return replace(memory, metadata={**rest, key: told} if told else rest)


def _spans(memory: Memory) -> dict[str, Any]:
    spans = memory.metadata.get(SPANS)
    return dict(spans) if isinstance(spans, Mapping) else {}


def _id(*parts: object) -> str:
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
