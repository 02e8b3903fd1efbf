"""Entries as the fields of a hash, and back. Every text is UTF-8 with lone surrogates passed through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from langchain_tiered_memory.core.errors import SchemaMismatch
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.ports import Entry, PassageVector

SCHEMA = 1
GRACE = timedelta(days=7)
"""How long a row stands after its item's life, for whoever has to count it."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOREVER = datetime.max.replace(tzinfo=UTC)
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)

Arguments = list[bytes]
"""What a script takes."""
Row = Sequence[bytes | None]
"""The fields h, s, o, a, l of a hash, and b where the content was asked for."""


def to_bytes(text: str) -> bytes:
    """Encode a text losslessly."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """Decode what `to_bytes` made."""
    return data.decode("utf-8", "surrogatepass")


def digest(text: str) -> str:
    """Return 32 hex digits that stand for a text in a key's name (BLAKE2b, 128 bits)."""
    return hashlib.blake2b(to_bytes(text), digest_size=16).hexdigest()


def instant(at: datetime) -> bytes:
    """Write an instant so that it compares as bytes: UTC, to the microsecond, always as long."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").encode()


def put_arguments(entry: Entry) -> Arguments:
    """Return the arguments of `scripts.PUT` for one entry."""
    memory = entry.memory
    first, last = _window(entry)
    low, high = (b"-inf", b"+inf") if first is None or last is None else (_number(first, -1), _number(last, 1))
    ends, life = _life(entry)
    return [
        to_bytes(memory.id),
        to_bytes(memory.content),
        _fixed(entry),
        _set_by_people(entry),
        _lines(memory.source_ids),
        b"%d" % memory.access_count,
        instant(memory.last_accessed),
        _json(dict(entry.terms)),
        _duplicate_digest(entry),
        instant(memory.created_at),
        b"" if entry.expires_at is None else instant(entry.expires_at),
        b"" if first is None else instant(first),
        b"" if last is None else instant(last),
        _number(memory.created_at),
        low,
        high,
        ends,
        life,
        _flag(memory.pinned),
        *vector_arguments(entry.vectors),
    ]


def written_row(arguments: Sequence[bytes]) -> Row:
    """Return the fields of the row that `put_arguments` makes, as a script would give them."""
    _, content, fixed, by_people, sources, count, accessed = arguments[:7]
    return fixed, by_people, sources, count, accessed, content


def update_arguments(entry: Entry, version: int | None) -> Arguments:
    """Return the arguments of `scripts.UPDATE`."""
    return [
        to_bytes(entry.memory.id),
        b"" if version is None else b"%d" % version,
        to_bytes(entry.memory.content),
        _set_by_people(entry),
        _json(dict(entry.terms)),
        _duplicate_digest(entry),
        _flag(entry.memory.pinned),
        *vector_arguments(entry.vectors),
    ]


def vector_arguments(vectors: Iterable[PassageVector]) -> Arguments:
    """Return how many there are, then a field and its value for each."""
    fields = [
        part
        for one in vectors
        for part in (
            b"v%d" % one.passage,
            _json([one.model_id, one.text_hash]) + b"\n" + np.asarray(one.vector, "<f4").tobytes(),
        )
    ]
    return [b"%d" % (len(fields) // 2), *fields]


def memory_of(user_id: str, memory_id: bytes, row: Row) -> Memory:
    """Read a memory from the fields of its row; without the last of them it is a head.

    Raises:
        SchemaMismatch: Another version of this package wrote it.
        ValueError: It is not what this package writes (and LookupError, TypeError and AttributeError likewise).
    """
    return _memory(user_id, memory_id, row, _fixed_of(row), _loads(row[1]))


def head_of(user_id: str, answer: Sequence[Any]) -> Entry:
    """Read an entry without its content from what `scripts.ROWS` gives; raises as `memory_of`."""
    memory_id, version, row, terms, vectors = answer
    fixed, by_people = _fixed_of(row), _loads(row[1])
    _, _, _, passages, key, within = by_people
    pairs = zip(vectors[::2], vectors[1::2], strict=True)
    return Entry(
        memory=_memory(user_id, memory_id, row, fixed, by_people),
        terms=dict(_loads(terms).items()),
        passages=passages,
        vectors=tuple(sorted((_vector(field, blob) for field, blob in pairs), key=lambda one: one.passage)),
        expires_at=_optional(fixed[14]),
        duplicate_key=key,
        duplicate_within=None if within is None else within * _MICROSECOND,
        order=fixed[13],
        version=int(float(version)),
    )


def _fixed_of(row: Row) -> list[Any]:
    fixed: list[Any] = _loads(row[0])
    if fixed[0] != SCHEMA:
        raise SchemaMismatch("redis", int(fixed[0]), SCHEMA)
    return fixed


def _memory(user_id: str, memory_id: bytes, row: Row, fixed: Sequence[Any], by_people: Sequence[Any]) -> Memory:
    _, memory_type, tier, created, observed, valid_to, superseded_by, *provenance = fixed
    slot, session_id, agent_id, role, name, origin = provenance[:6]
    return Memory(
        content="" if len(row) < 6 else to_text(_present(row[5])),  # noqa: PLR2004 - h s o a l b
        memory_type=MemoryType(memory_type),
        importance=float(by_people[0]),
        created_at=datetime.fromisoformat(created),
        last_accessed=datetime.fromisoformat(_present(row[4]).decode()),
        access_count=int(_present(row[3])),
        id=to_text(memory_id),
        user_id=user_id,
        tier=None if tier is None else Tier(tier),
        observed_at=datetime.fromisoformat(observed),
        valid_to=_optional(valid_to),
        superseded_by=superseded_by,
        slot=slot,
        session_id=session_id,
        agent_id=agent_id,
        role=role,
        name=name,
        origin=origin,
        source_ids=_from_lines(_present(row[2])),
        metadata=by_people[2],
        pinned=bool(by_people[1]),
    )


def _fixed(entry: Entry) -> bytes:
    """Return what never changes in a row."""
    m = entry.memory
    instants = [_isoformat(m.created_at), _isoformat(m.observed_at), _isoformat(m.valid_to)]
    provenance = [m.superseded_by, m.slot, m.session_id, m.agent_id, m.role, m.name, m.origin]
    return _json([SCHEMA, m.memory_type, m.tier, *instants, *provenance, entry.order, _isoformat(entry.expires_at)])


def _set_by_people(entry: Entry) -> bytes:
    """Return what an update replaces, terms and vectors apart."""
    memory, within = entry.memory, entry.duplicate_within
    microseconds = None if within is None else within // _MICROSECOND
    values = [memory.importance, memory.pinned, dict(memory.metadata)]
    return _json([*values, entry.passages, entry.duplicate_key, microseconds])


def _duplicate_digest(entry: Entry) -> bytes:
    return b"" if entry.duplicate_key is None else digest(entry.duplicate_key).encode()


def _flag(value: object) -> bytes:
    return b"1" if value else b""


def _window(entry: Entry) -> tuple[datetime | None, datetime | None]:
    """Return between which instants a row with the same key repeats this one; None when at any time."""
    at, within = entry.memory.created_at, entry.duplicate_within
    if within is None:
        return None, None
    first = at - within if at - _BEGINNING > within else _BEGINNING
    last = at + within if _FOREVER - at > within else _FOREVER
    return first, last


def _number(at: datetime, milliseconds: int = 0) -> bytes:
    """Return an instant as microseconds since 1970, moved a little."""
    return b"%d" % ((at - _EPOCH) // _MICROSECOND + 1_000 * milliseconds)


def _life(entry: Entry) -> tuple[bytes, bytes]:
    """Return when the row may go, in ms since 1970, and how long it has to stand from now on, in ms."""
    if entry.expires_at is None:
        return b"", b""
    life = max(entry.expires_at - entry.memory.created_at, timedelta(0)) + GRACE
    ends = entry.expires_at - _EPOCH + GRACE
    return b"%d" % (ends // _MILLISECOND), b"%d" % (life // _MILLISECOND)


def _lines(texts: Iterable[str]) -> bytes:
    """Join texts so that each ends with the only newline in it."""
    return b"".join(to_bytes(text.replace("\\", "\\\\").replace("\n", "\\n")) + b"\n" for text in texts)


def _from_lines(data: bytes) -> tuple[str, ...]:
    return tuple(_unescaped(line) for line in to_text(data).split("\n")[:-1])


def _unescaped(line: str) -> str:
    if "\\" not in line:
        return line
    return "\\".join(part.replace("\\n", "\n") for part in line.split("\\\\"))


def _vector(field: bytes, blob: bytes) -> PassageVector:
    about, end, numbers = blob.partition(b"\n")
    if not end:
        raise ValueError("a vector has no head")
    model_id, text_hash = _loads(about)
    return PassageVector(int(field[1:]), model_id, text_hash, np.frombuffer(numbers, "<f4").astype(np.float32))


def _isoformat(at: datetime | None) -> str | None:
    return None if at is None else instant(at).decode()


def _optional(at: str | None) -> datetime | None:
    return None if at is None else datetime.fromisoformat(at)


def _json(value: object) -> bytes:
    """Write JSON whose texts stand as they are: an escaped pair of surrogates would come back as one character."""
    return to_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _loads(data: bytes | None) -> Any:
    return json.loads(to_text(_present(data)))


def _present(data: bytes | None) -> bytes:
    if data is None:
        raise ValueError("a field is missing")
    return data
