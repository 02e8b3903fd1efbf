"""What the contracts write: memories, entries, messages, vectors and text that tries to break out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from langchain_tiered_memory.core.model import Memory, MemoryType, Message, Tier
from langchain_tiered_memory.core.ports import Entry, PassageVector, StoredMessage, Vector

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
DIM = 8

HOSTILE: Mapping[str, str] = {
    "star": "*",
    "percent": "a%",
    "underscore": "a_b",
    "colon": "user:1",
    "longer colon": "user:10",
    "brackets": "al[i]ce{x}",
    "backslash": "a\\b\\",
    "hash": "a#0",
    "newline": "a\nb\r\n",
    "quotes": "'; DROP TABLE x; --\"`",
    "nul": "a\0b",
    "substitute": "a\x1a0",
    "lone surrogate": "a\ud800b",
    "surrogates apart": "\ud83d\ude00",
    "emoji": "👩‍👩‍👧 \U0001f600",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "lower": "straße",
    "upper": "STRASSE",
    "capital": "Straße",
    "blank at the ends": " a ",
    "right to left": "שלום \u202eabc",
    "long": "x" * 10_000,
    "as long, another end": "x" * 9_999 + "y",
}
"""Strings that may be ids, users and text; no two are the same."""


def vector_of(seed: int, dim: int = DIM) -> Vector:
    """Return a vector of length 1 that no other seed gives."""
    numbers = np.random.default_rng(seed).standard_normal(dim)
    return np.asarray(numbers / np.linalg.norm(numbers), np.float32)


def passage(number: int, seed: int, *, model: str = "model-a", text_hash: str = "hash") -> PassageVector:
    """Return the vector of a passage."""
    return PassageVector(number, model, text_hash, vector_of(seed))


def memory_of(memory_id: str, content: str | None = None, **fields: Any) -> Memory:
    """Return a plain short-term fact with this id."""
    given = {
        "memory_type": MemoryType.FACT,
        "importance": 0.5,
        "created_at": NOW,
        "last_accessed": fields.get("created_at", NOW),
        "tier": Tier.SHORT_TERM,
    } | fields
    return Memory(content=f"content of {memory_id}" if content is None else content, id=memory_id, **given)


def entry_of(
    memory_id: str, content: str | None = None, *, derived: Mapping[str, Any] | None = None, **fields: Any
) -> Entry:
    """Return an entry; `derived` are fields of the entry, the rest are fields of its memory."""
    return Entry(memory=memory_of(memory_id, content, **fields), **(derived or {}))


def full_entry(memory_id: str, user_id: str) -> Entry:
    """Return an entry in which no field has its default value."""
    memory = memory_of(
        memory_id,
        "Ada: \u201etea\u201c\n\ttwo\u2028lines",
        user_id=user_id,
        memory_type=MemoryType.PREFERENCE,
        importance=0.1 + 0.2,
        last_accessed=NOW + DAY + MICROSECOND,
        access_count=7,
        valid_to=NOW - MICROSECOND,
        superseded_by="another",
        observed_at=datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        session_id="session",
        agent_id="agent",
        role="user",
        name="Ada",
        origin="import",
        source_ids=("one", "two\n", "one#0"),
        metadata=odd_json(),
        pinned=True,
    )
    return Entry(
        memory=memory,
        terms={"tea": 2, "zwei\u00e4": 1, "茶葉": 3},
        passages=3,
        vectors=(passage(0, 1), passage(2, 2, model="model-b", text_hash="other\n")),
        duplicate_key="key\n'%",
        order=2**40 + 1,
    )


def odd_json() -> dict[str, Any]:
    """Return a new mapping with every kind of value that JSON holds, and keys that are not plain."""
    return {
        "text": "a\0b\ud800 \U0001f600",
        "": "empty key",
        "a.b": {"nested": [1, [2, {"three": None}], True, False, -0.5, 1e300]},
        "big": 2**60,
        "$gt": [],
        "\n%": {},
    }


def message_of(message_id: str | None, content: Any = "hello", *, role: str = "user", **fields: Any) -> StoredMessage:
    """Return a message as a transcript takes it."""
    created_at = fields.pop("created_at", NOW)
    message = Message(role, content, id=message_id, created_at=created_at, **fields)
    return StoredMessage(message=message, position=0, tokens=3, counter="counter")


def plain(memory: Memory) -> Memory:
    """Return the memory with its metadata as a dict, for comparing."""
    return replace(memory, metadata=dict(memory.metadata))


def vectors_as_bytes(vectors: Sequence[PassageVector]) -> list[tuple[int, str, str, bytes]]:
    """Return vectors in a form that compares to the last bit."""
    return [(v.passage, v.model_id, v.text_hash, v.vector.tobytes()) for v in vectors]


def once(*values: Any) -> Any:
    """Return the values as something that can be read once only, whatever the signature asks for."""
    return iter(values)
