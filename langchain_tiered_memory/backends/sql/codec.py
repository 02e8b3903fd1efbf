"""Values as columns and back. Everything here is exact: what comes out equals what went in, to the last byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.ports import Entry, PassageVector, Vector
from langchain_tiered_memory.core.slots import chain_key
from langchain_tiered_memory.core.text import escape, unescape

Values = dict[str, Any]
"""Column name to value."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ESCAPED = "\x1a"
_FLOAT32 = np.dtype("<f4")
_SECONDS = 86_400
_MICROS = 1_000_000


def digest(text: str) -> str:
    """Return 32 hex digits (BLAKE2b, 128 bits) that stand for a text in a key."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def plain(text: str) -> str:
    """Undo `escape`, without a call for the many texts that hold nothing escaped."""
    return unescape(text) if _ESCAPED in text else text


def escaped(text: str | None) -> str | None:
    """Escape a text that may be missing."""
    return None if text is None else escape(text)


def plain_or_none(text: str | None) -> str | None:
    """Undo `escape` for a text that may be missing."""
    return unescape(text) if text is not None and _ESCAPED in text else text


def to_micros(length: timedelta) -> int:
    """Return a duration in microseconds, exactly."""
    return (length.days * _SECONDS + length.seconds) * _MICROS + length.microseconds


def to_instant(at: datetime) -> int:
    """Return an aware instant in microseconds since 1970, exactly."""
    return to_micros(at - _EPOCH)


def from_instant(micros: int) -> datetime:
    """Return the instant as aware UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def instant_or_none(micros: int | None) -> datetime | None:
    """Return an instant that may be missing."""
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def _as_builtin(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    message = f"{type(value).__name__} is not JSON"
    raise TypeError(message)


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_as_builtin)


def to_json(value: object) -> str:
    """Return JSON that a database takes.

    The text stays as it is and is escaped as a whole: escaped by JSON, two lone surrogates would come back as one
    character.
    """
    return escape(_encoder.encode(value))


def from_json(text: str) -> Any:
    """Return what `to_json` was given."""
    return json.loads(plain(text))


def to_terms(terms: Mapping[str, int]) -> str:
    r"""Return a line for each count, the count and then its terms: "1 ada tea\n2 cup".

    Splitting that is many times faster than JSON, which remains for terms that hold blanks.
    """
    by_count: dict[int, list[str]] = {}
    for term, count in terms.items():
        by_count.setdefault(count, []).append(term)
    every = " ".join(terms)
    if "" in terms or "\n" in every or every.count(" ") >= max(len(terms), 1):
        return to_json(dict(terms))
    return escape("\n".join(" ".join((str(count), *group)) for count, group in by_count.items()))


def from_terms(text: str) -> dict[str, int]:
    """Return what `to_terms` was given."""
    text = plain(text)
    if text.startswith("{"):
        return dict(json.loads(text))
    terms: dict[str, int] = {}
    for line in text.split("\n") if text else ():
        count, _, group = line.partition(" ")
        terms |= dict.fromkeys(group.split(" "), int(count))
    return terms


def to_vector(user_key: str, memory_id: str, made: PassageVector) -> Values:
    """Return the columns of a vector; it waits for the index."""
    return {
        "user_key": user_key,
        "id": escape(memory_id),
        "passage": made.passage,
        "indexed": False,
        "dimension": len(made.vector),
        "model_id": escape(made.model_id),
        "text_hash": escape(made.text_hash),
        "vector": to_blob(made.vector),
    }


def to_blob(vector: Vector) -> bytes:
    """Return the numbers of a vector as they are stored."""
    return np.ascontiguousarray(vector, dtype=_FLOAT32).tobytes()


def from_vectors(dimensions: Sequence[int], blobs: Sequence[bytes]) -> Sequence[Vector | None]:
    """Return the numbers of each blob; None for a damaged one, whose passage is then pending and embedded anew.

    Vectors of one dimension are read as one matrix, four times faster than one by one.
    """
    if not blobs:
        return ()
    width = dimensions[0]
    sizes = {len(blob) for blob in blobs}
    if set(dimensions) == {width} and sizes == {width * _FLOAT32.itemsize} and width:
        return list(np.frombuffer(bytearray(b"".join(blobs)), _FLOAT32).reshape(len(blobs), width))
    return [
        np.frombuffer(bytearray(blob), _FLOAT32) if len(blob) == dimension * _FLOAT32.itemsize else None
        for dimension, blob in zip(dimensions, blobs, strict=True)
    ]


def to_memory(memory: Memory) -> Values:
    """Return the columns of a memory but those that its place gives."""
    key = chain_key(memory)
    return {
        "id": escape(memory.id),
        "memory_type": str(memory.memory_type),
        "importance": float(memory.importance),
        "created_at": to_instant(memory.created_at),
        "last_accessed": to_instant(memory.last_accessed),
        "access_count": memory.access_count,
        "observed_at": to_instant(memory.observed_at),
        "valid_to": None if memory.valid_to is None else to_instant(memory.valid_to),
        "superseded_by": escaped(memory.superseded_by),
        "pinned": int(memory.pinned),
        "chain_digest": None if key is None else digest(json.dumps(key)),
        "slot": escaped(memory.slot),
        "session_id": escaped(memory.session_id),
        "agent_id": escaped(memory.agent_id),
        "role": escaped(memory.role),
        "name": escaped(memory.name),
        "origin": escaped(memory.origin),
        "source_ids": to_json(memory.source_ids),
        "attached": to_json(dict(memory.metadata)),
        "content": escape(memory.content),
    }


def to_entry(user_key: str, entry: Entry, version: int) -> Values:
    """Return the columns of a row."""
    return {
        "user_key": user_key,
        "version": version,
        "ordinal": entry.order,
        "passages": entry.passages,
        "expires_at": None if entry.expires_at is None else to_instant(entry.expires_at),
        "duplicate_within": None if entry.duplicate_within is None else to_micros(entry.duplicate_within),
        "duplicate_digest": None if entry.duplicate_key is None else digest(entry.duplicate_key),
        "duplicate_key": escaped(entry.duplicate_key),
        "terms": to_terms(entry.terms),
        **to_memory(entry.memory),
    }


MEMORY_COLUMNS = (
    "content memory_type importance created_at last_accessed access_count id observed_at valid_to superseded_by slot "
    "session_id agent_id role name origin source_ids attached pinned"
).split()
"""The columns that `from_memory` reads, in its order."""

DERIVED_COLUMNS = "version ordinal passages expires_at duplicate_within duplicate_key terms".split()
"""The further columns that `from_entry` reads, in its order."""


def from_memory(columns: Sequence[Any], user_id: str, tier: Tier) -> Memory:
    """Return the memory of a row's `MEMORY_COLUMNS`."""
    content, kind, importance, created, accessed, count, memory_id, observed, valid_to, superseded_by = columns[:10]
    slot, session_id, agent_id, role, name, origin, source_ids, attached, pinned = columns[10:19]
    at = from_instant(created)
    seen = at if observed == created else from_instant(observed)  # most are equal, and each costs half a microsecond
    return Memory(
        plain(content),
        kind,
        importance,
        at,
        seen if accessed == observed else from_instant(accessed),
        count,
        plain(memory_id),
        user_id,
        tier,
        seen,
        instant_or_none(valid_to),
        plain_or_none(superseded_by),
        plain_or_none(slot),
        plain_or_none(session_id),
        plain_or_none(agent_id),
        plain_or_none(role),
        plain_or_none(name),
        plain_or_none(origin),
        () if source_ids == "[]" else tuple(from_json(source_ids)),
        {} if attached == "{}" else from_json(attached),
        bool(pinned),
    )


def from_entry(
    columns: Sequence[Any],
    user_id: str,
    tier: Tier,
    vectors: tuple[PassageVector, ...] = (),
    left_out: tuple[tuple[int, str], ...] = (),
) -> Entry:
    """Return the entry of a row's `MEMORY_COLUMNS` and `DERIVED_COLUMNS`."""
    version, ordinal, passages, expires_at, within, duplicate_key, terms = columns[19:26]
    return Entry(
        memory=from_memory(columns, user_id, tier),
        terms=from_terms(terms),
        passages=passages,
        vectors=vectors,
        left_out=left_out,
        expires_at=instant_or_none(expires_at),
        duplicate_key=plain_or_none(duplicate_key),
        duplicate_within=None if within is None else timedelta(microseconds=within),
        order=ordinal,
        version=version,
    )


def to_snapshot(memory: Memory) -> str:
    """Return a whole memory as JSON, for the history."""
    columns = to_memory(memory)
    return to_json({name: columns[name] for name in MEMORY_COLUMNS})


def from_snapshot(text: str, user_id: str, tier: Tier) -> Memory:
    """Return the memory that `to_snapshot` was given."""
    columns = from_json(text)
    return from_memory([columns[name] for name in MEMORY_COLUMNS], user_id, tier)
