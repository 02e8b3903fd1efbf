"""Values under keys, for those who need a key-value store: a user's new value replaces the one under the same key.

A value is a long-term record that nothing but its own time to live, or deleting it, ends: it bears its key as a slot,
so that nothing is merged with it, and is a fact, so that no facts are taken from it. Its content is the text by which
it is found; the value itself, as JSON, is in its metadata.

**Ids.** A forgotten id stays forgotten, so each deletion of a key lets the next value have an id of its own, which
counts up. All ids of a key below the one in use are forgotten; so it is found in a few look-ups, however many there
were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.config import LONGEST, RankingWeights
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import Conflict, InvalidInput, NotFound, shown
from langchain_tiered_memory.core.lives import VALUES, is_over, is_value, last_put, life_of
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier
from langchain_tiered_memory.core.opening import Opening
from langchain_tiered_memory.core.ports import Change, Entry
from langchain_tiered_memory.core.question import Question
from langchain_tiered_memory.core.rooms import Rooms

_IMPORTANCE = 0.5
"""Values are not ranked by it."""
_TRIES = 20
_FIRST_LOOK = 4
_LEAST_POOL = 50

Where = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it stands.

    Attributes:
        id: Of its memory.
        key: Its key.
        value: The value, not to be changed.
        created_at: When the key came to have a value.
        updated_at: When it was last put.
        ttl: How long it lives after it was last put or touched; None: until it is deleted.
        score: How well it answers a query, in [0, 1]; None when there was none, or it is not searchable.
    """

    id: str
    key: str
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SyncValues:
    """The values of users, blocking."""

    _opening: Opening

    def put(
        self,
        user_id: str,
        key: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        ttl: timedelta | None = None,
    ) -> None:
        """Put a value under a key, in place of the one there.

        Args:
            user_id: Whose.
            key: Any text.
            value: What JSON can hold.
            text: What a search finds it by; None, or blank, keeps it out of searches with a query.
            ttl: How long it lives after it was last put or touched; None: until it is deleted.

        Raises:
            InvalidInput: The value or its text cannot be stored; nothing was written.
            Conflict: Others kept deleting the key meanwhile; nothing was written.
            BackendUnavailable: The store did not take it.
        """
        user = inputs.user(user_id)
        _check(key, value, ttl)
        rooms = self._opening.writable(user)
        limit, now = rooms.parts.settings.placement.max_content_bytes, rooms.parts.clock()
        said = inputs.size("text", text, limit) if text is not None and text.strip() else None
        about = {"key": key, "value": value, "searchable": said is not None, "updated_at": now.isoformat()}
        about |= {} if ttl is None else {"ttl_s": ttl.total_seconds()}
        draft = Memory(
            said or (key if key.strip() else "-"),
            MemoryType.FACT,
            _IMPORTANCE,
            created_at=now,
            last_accessed=now,
            user_id=user,
            tier=Tier.LONG_TERM,
            slot=key if 0 < len(key) <= inputs.MAX_ID_CHARS else digest("key", key),
            origin=VALUES,
            metadata=inputs.metadata(about, "value", limit),
        )
        for _ in range(_TRIES):
            if _written(rooms, draft, key):
                rooms.background.wake(user)
                return
        raise Conflict(f"the value of {shown(key)} was not put: others kept deleting it, try again")

    def get(self, user_id: str, key: str) -> Value | None:
        """Return the value under a key, or None."""
        user = inputs.user(user_id)
        rooms = self._opening.rooms()
        standing = _standing(rooms, user, key)[0]
        return None if standing is None or is_over(standing, rooms.parts.clock()) else _value(standing)

    def delete(self, user_id: str, key: str) -> bool:
        """Delete the value under a key for good, and say whether there was one."""
        user = inputs.user(user_id)
        rooms = self._opening.rooms()
        standing = _standing(rooms, user, key)[0]
        return standing is not None and _forgotten(rooms, user, standing.id)

    def search(
        self, user_id: str, query: str | None = None, *, where: Where | None = None, limit: int = 10
    ) -> tuple[Value, ...]:
        """Return values: without a query the last put first; with one the best first, then those not searchable.

        Args:
            user_id: Whose.
            query: What to look for, in words; None, or blank, for nothing in particular.
            where: Says of a value whether it may be returned.
            limit: At most so many, at least 1.
        """
        user, many = inputs.user(user_id), inputs.count("limit", limit)
        rooms = self._opening.ready()
        now = rooms.parts.clock()

        def fits(memory: Memory) -> bool:
            alive = is_value(memory) and not is_over(memory, now)
            return alive and (where is None or where(memory.metadata["value"]))

        asked = query is not None and bool(query.strip())
        best = _found(rooms, user, query or "", many, fits) if asked else []
        if len(best) == many:
            return tuple(best)
        snapshot = rooms.snapshots.strict(user)
        with snapshot.lock:
            heads = [entry.memory for entry in snapshot.entries(Tier.LONG_TERM)]
        rest = [one for one in heads if fits(one) and not (asked and one.metadata["searchable"])]
        rest.sort(key=lambda one: str(one.metadata["key"]))
        rest.sort(key=last_put, reverse=True)
        return (*best, *map(_value, rest[: many - len(best)]))

    def touch(self, user_id: str, ids: Iterable[str]) -> None:
        """Let the lives of these values begin anew; ids that are gone are passed over."""
        user, wanted = inputs.user(user_id), list(ids)
        rooms = self._opening.rooms()
        if wanted:
            now = rooms.parts.clock()
            rooms.snapshots.touch(user, Tier.LONG_TERM, rooms.parts.records.touch(user, wanted, now), now)

    def sweep(self, user_id: str) -> int:
        """Delete the values whose life is over, and return how many there were; `maintain` does so too."""
        user = inputs.user(user_id)
        return self._opening.rooms().maintenance.sweep(user)

    def users(self, prefix: str) -> tuple[str, ...]:
        """Return every user with a long-term record whose id begins so, sorted."""
        return tuple(sorted(self._opening.rooms().parts.records.users(prefix)))


def _check(key: object, value: object, ttl: object) -> None:
    if not isinstance(key, str):
        raise InvalidInput("key", key, "a str is needed")
    if not isinstance(value, Mapping):
        raise InvalidInput("value", type(value), "a mapping of names to JSON values is needed")
    if ttl is not None and not (isinstance(ttl, timedelta) and abs(ttl) <= LONGEST):
        raise InvalidInput("ttl", ttl, f"a timedelta of at most {LONGEST.days} days is needed, or None for ever")


def _id(key: str, count: int) -> str:
    return digest("value", key, count)


def _standing(rooms: Rooms, user_id: str, key: str) -> tuple[Memory | None, int]:
    """Return the value under a key, or None, and the number of its id, or of the next one."""
    ids = [_id(key, count) for count in range(_FIRST_LOOK)]
    for memory in rooms.parts.records.get(user_id, ids):
        return memory, ids.index(memory.id)
    if not rooms.parts.records.tombstones(user_id, ids[:1]):
        return None, 0
    count = _unused(rooms, user_id, key)
    return next(iter(rooms.parts.records.get(user_id, [_id(key, count)])), None), count


def _unused(rooms: Rooms, user_id: str, key: str) -> int:
    """Return the lowest number whose id was never forgotten; that of 0 was."""

    def forgotten(count: int) -> bool:
        return bool(rooms.parts.records.tombstones(user_id, [_id(key, count)]))

    low, high = 0, 1
    while forgotten(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if forgotten(middle) else (low, middle)
    return high


def _written(rooms: Rooms, draft: Memory, key: str) -> bool:
    """Write the value, and say whether that worked; it does not when somebody else wrote or deleted it meanwhile."""
    user_id, now = draft.user_id, draft.created_at
    standing, count = _standing(rooms, user_id, key)
    if standing is None:
        entry = _entry(rooms, replace(draft, id=_id(key, count)), now)
        change = Change(entries=(entry,), at=now, by=VALUES, strict=False)
        return rooms.parts.records.apply(user_id, change)[0].outcome == "created"
    if is_over(standing, now):
        _forgotten(rooms, user_id, standing.id)
        return False
    try:
        changed = replace(standing, content=draft.content, metadata=draft.metadata)
        rooms.parts.records.update(user_id, _entry(rooms, changed, now), now)
    except NotFound:
        return False
    return True


def _entry(rooms: Rooms, memory: Memory, now: datetime) -> Entry:
    """Return the value as an entry; one that is not searchable has no terms and no passages."""
    if memory.metadata["searchable"]:
        return rooms.admission.revised(memory)
    return replace(rooms.admission.entry(memory, now, repeatable=False), terms={}, passages=0)


def _forgotten(rooms: Rooms, user_id: str, memory_id: str) -> bool:
    try:
        rooms.forgetting.forget(user_id, [memory_id])
    except NotFound:  # somebody else was first
        return False
    return True


def _found(rooms: Rooms, user_id: str, query: str, limit: int, fits: Callable[[Memory], bool]) -> list[Value]:
    weights = RankingWeights(relevance=1.0, pool=max(limit, _LEAST_POOL))
    question = Question(
        user_id=user_id,
        text=query,
        k=limit,
        weights=weights,
        tier=Tier.LONG_TERM,
        predicate=lambda memory: fits(memory) and bool(memory.metadata["searchable"]),
        touch=False,
    )
    return [replace(_value(hit), score=hit.score) for hit in rooms.recall.recall(question)]


def _value(memory: Memory) -> Value:
    about = memory.metadata
    return Value(memory.id, about["key"], about["value"], memory.created_at, last_put(memory), life_of(memory))
