"""What is derived from a memory when it is written: its id, its keys, its terms and the texts that get a vector."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from langchain_tiered_memory.core.dates import days_told
from langchain_tiered_memory.core.languages import named
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.core.text import analyze, clean, normalize, passages

_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # not those of the machine's locale: the same text must give the same vector everywhere


def digest(*parts: object) -> str:
    """Return 32 hex digits (BLAKE2b, 128 bits) of the parts; different parts give different digests."""
    text = json.dumps(parts, default=str, ensure_ascii=False)  # escapes would join surrogates that stand apart
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def derive_id(memory: Memory, user_id: str, observed_at: datetime) -> str:
    """Return the id of a memory that was given none: the same statement at the same instant is the same memory.

    Of the same type, for the same agent and under the same slot: what differs in one of them means something else.
    """
    when = observed_at.isoformat()
    said = (memory.session_id, memory.role, memory.name, memory.content, when)
    return digest("memory", user_id, *said, str(memory.memory_type), memory.agent_id, memory.slot)


def duplicate_key(memory: Memory) -> str | None:
    """Return what makes two active memories one.

    Facts and preferences: the same normalised content about the same speaker, for the same agent. Episodes: the same
    content, session, role and speaker. A value of a slot is compared in its chain instead.
    """
    if memory.slot is not None:
        return None
    if memory.memory_type is MemoryType.EPISODE:
        where = (memory.session_id, memory.role, memory.name, memory.agent_id)
        return digest("episode", memory.content, *where)
    return digest("statement", normalize(memory.content), memory.name, memory.agent_id)


def said_on(memory: Memory) -> str:
    """Return the day it was said in words, "8 May 2023"."""
    at = memory.observed_at
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def terms(memory: Memory) -> Mapping[str, int]:
    """Return the analysed terms that find this memory by keyword, with counts: of day, speaker, text, and days told.

    An ISO 639-1 code under "language" in the metadata says which language it is in, otherwise the text does.
    """
    language = named(memory.metadata.get("language"))
    said = analyze(f"{said_on(memory)} {memory.name or ''} {memory.content}", language)
    return Counter((*said, *days_told(memory.content, memory.observed_at.date())))


def terms_about(memory: Memory) -> Mapping[str, int]:
    """Return those of the terms that tell when it was said, and by whom, not what, with counts."""
    return _terms_of_heading(f"{said_on(memory)} {memory.name or ''}")


@lru_cache(maxsize=4096)
def _terms_of_heading(text: str) -> Mapping[str, int]:
    return Counter(analyze(text))


def passage_texts(memory: Memory, limit: int) -> Sequence[str]:
    """Return the texts to embed, one per passage, at least one; each starts with day and speaker."""
    before = f"[{said_on(memory)}] {memory.name}: " if memory.name else f"[{said_on(memory)}] "
    return tuple(before + part for part in passages(clean(memory.content), limit=limit) or [clean(memory.content)])


def said_again(entry: Entry, memory: Memory, after: int) -> Entry:
    """Return a memory that was parted from an entry's as an entry of its own, not embedded yet.

    Args:
        entry: The entry that it was parted from.
        memory: The memory.
        after: The last place in the order of writing of its chain; it comes next.
    """
    same = memory.content == entry.memory.content
    return Entry(
        memory=memory,
        terms=terms(memory),
        passages=entry.passages if same else len(passage_texts(memory, entry.passages)),
        order=after + 1,
    )
