"""Short-term memory in Redis."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from langchain_tiered_memory.backends.redis import scripts
from langchain_tiered_memory.backends.redis.calling import NAME
from langchain_tiered_memory.backends.redis.codec import (
    Arguments,
    digest,
    head_of,
    instant,
    memory_of,
    put_arguments,
    to_bytes,
    to_text,
    update_arguments,
    vector_arguments,
    written_row,
)
from langchain_tiered_memory.backends.redis.connect import connect
from langchain_tiered_memory.backends.redis.losses import Losses, quietly
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, Conflict, NotFound, shown
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Placed, Touched

logger = logging.getLogger("langchain_tiered_memory.redis")

PAGE = 1_000
"""Rows that one script reads, so that it never holds up the server for long."""
FORGOTTEN_AT_ONCE = 1_000
"""As many rows as these get the time of a user's erasure, whose number nobody knows before."""
TIMEOUT = timedelta(seconds=1)
PAUSE = timedelta(seconds=2)

T = TypeVar("T")
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)


class RedisItemStore:
    """An `ItemStore` in Redis 6.2 or later; opens nothing before its first call, and opens anew after a fork."""

    def __init__(
        self, client_or_url: object, *, prefix: str = "ltm", timeout: timedelta = TIMEOUT, pause: timedelta = PAUSE
    ) -> None:
        """Take a URL (`redis://`, `rediss://`, `unix://`) or a blocking redis-py client, which is used as it is.

        Args:
            client_or_url: Where the items are. A client that was given is never closed.
            prefix: What all keys begin with; no braces.
            timeout: How long to wait for one answer, a new connection included; one that brings many rows may go on
                for longer as long as it is arriving. Whoever waits for several answers may set a limit for all of them
                (`core.patience`).
            pause: How long Redis is not asked after it did not answer in time; at least the time-out.

        Raises:
            ConfigError: One of them cannot be used.
        """
        if not prefix or "{" in prefix or "}" in prefix:
            raise ConfigError(f"prefix={shown(prefix)} cannot be used: give some characters, none of them a brace")
        self._caller = connect(client_or_url, timeout, pause)
        self._losses = Losses(self._caller, prefix)
        self._prefix = prefix
        self._users = to_bytes(f"{prefix}:users")

    def __repr__(self) -> str:
        """Show the prefix, and never where it is or with which password."""
        return f"RedisItemStore(prefix={self._prefix!r})"

    @property
    def name(self) -> str:
        """What serves it."""
        return NAME

    def incidents(self) -> Mapping[str, int]:
        """Return what went wrong since this object was made, by name: calls without an answer, and what was lost."""
        breaker = self._caller.breaker
        failed = {"redis_unavailable": breaker.failures, "redis_not_asked": breaker.refused}
        return {**failed, **self._losses.counts()}

    # -- reading ---------------------------------------------------------------------------------------------------

    def version(self, user_id: str) -> int:
        """See `MemoryStore.version`."""
        found = self._caller.call("read the version", "GET", to_bytes(f"{self._base(user_id)}version"), repeatable=True)
        return int(found or self._run("read the version", scripts.VERSION, user_id, repeatable=True))

    def changes(self, user_id: str, since: int, *, indexed_vectors: bool = True) -> Changes:
        """See `MemoryStore.changes`. More than `PAGE` rows are read in pages, then what changed meanwhile."""
        arguments = [b"%d" % since, b"%d" % PAGE]
        answer = self._read("read changes", scripts.CHANGES, user_id, arguments)
        version, whole, gone, rows, complete = int(answer[0]), bool(answer[1]), answer[2], answer[3], answer[4]
        self._losses.count(answer[5])
        if rows:
            quietly(self._losses.seen)
        if whole and since > 0:
            quietly(self._losses.look, to_bytes(user_id), nothing_left=version == 0)
        removed = tuple(to_text(memory_id) for memory_id in gone)
        if complete:
            return Changes(version, self._heads(user_id, rows), removed, whole)
        entries: dict[str, Entry] = {}
        for ids in _pages(rows, PAGE):
            page, dropped = self._read("read items", scripts.ROWS, user_id, ids)
            self._losses.count(dropped)
            entries.update((head.memory.id, head) for head in self._heads(user_id, page))
        later = self.changes(user_id, version, indexed_vectors=indexed_vectors)
        if later.whole:
            return later
        for memory_id in later.gone:
            entries.pop(memory_id, None)
        entries.update((head.memory.id, head) for head in later.entries)
        removed = () if whole else tuple(i for i in dict.fromkeys((*removed, *later.gone)) if i not in entries)
        return Changes(later.version, tuple(entries.values()), removed, whole)

    def get(self, user_id: str, ids: Sequence[str]) -> tuple[Memory, ...]:
        """See `MemoryStore.get`."""
        found: list[Memory] = []
        for page in _pages(map(to_bytes, ids), PAGE):
            rows, dropped = self._read("read items", scripts.GET, user_id, page)
            self._losses.count(dropped)
            found += _readable(rows, lambda row: memory_of(user_id, row[0], row[1]))
        return tuple(found)

    def users(self) -> tuple[str, ...]:
        """See `MemoryStore.users`; users of whom Redis has dropped everything are taken off the list."""
        found = self._caller.call("list users", "SMEMBERS", self._users, repeatable=True, streaming=True)
        names = [to_text(name) for name in found]
        standing = {one: int(self._run("list users", scripts.STANDING, one, repeatable=True)) for one in names}
        for user_id in names:
            if standing[user_id] == 0:
                self._unregister(user_id)
        return tuple(user_id for user_id in names if standing[user_id] == 2)  # noqa: PLR2004 - see scripts.STANDING

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, user_id: str, entries: Sequence[Entry]) -> tuple[Placed, ...]:
        """See `ItemStore.put`."""
        given = tuple(entries)
        if not given:
            return ()
        rows = [put_arguments(entry) for entry in given]
        arguments = [b"%d" % len(rows), *(part for row in rows for part in row)]
        writing = partial(self._run, "put items", scripts.PUT, user_id, repeatable=True, rows=len(rows))
        answer = writing([b"", *arguments])
        if answer[0] == b"unregistered":
            # Before the first row, so that no crash leaves a user whom nobody finds; and after it, because somebody
            # may just have taken the user off the list.
            self._losses.began()
            self._register(user_id)
            answer = writing([b"1", *arguments])
            self._register(user_id)
        if answer[0] == b"conflict":
            raise _conflict(given[int(answer[1]) - 1])
        return tuple(_placed(user_id, row, one) for row, one in zip(rows, answer, strict=True))

    def touch(self, user_id: str, ids: Sequence[str], now: datetime) -> Touched:
        """See `MemoryStore.touch`."""
        arguments = [instant(now), *map(to_bytes, dict.fromkeys(ids))]
        version, there = self._run("count accesses", scripts.TOUCH, user_id, arguments)
        return Touched(int(version), frozenset(map(to_text, there)))

    def update(
        self,
        user_id: str,
        entry: Entry,
        now: datetime,  # noqa: ARG002 - items have no history
        *,
        version: int | None = None,
    ) -> Memory:
        """See `MemoryStore.update`."""
        row = self._run("update an item", scripts.UPDATE, user_id, update_arguments(entry, version))
        if not row:
            raise NotFound(entry.memory.id)
        if row == [b"changed"]:
            raise Conflict(f"memory {shown(entry.memory.id)} changed meanwhile: read it again")
        return _standing(user_id, to_bytes(entry.memory.id), row)

    def embed(self, user_id: str, vectors: Mapping[str, Sequence[PassageVector]]) -> None:
        """See `MemoryStore.embed`."""
        given = {memory_id: tuple(found) for memory_id, found in vectors.items()}
        rows = [(to_bytes(memory_id), vector_arguments(found)) for memory_id, found in given.items() if found]
        if rows:
            parts = [part for memory_id, found in rows for part in (memory_id, *found)]
            given_rows = [b"%d" % len(rows), *parts]
            self._run("store vectors", scripts.EMBED, user_id, given_rows, repeatable=True, rows=len(rows))

    def remove(self, user_id: str, versions: Mapping[str, int | None]) -> tuple[str, ...]:
        """See `ItemStore.remove`."""
        pairs = [(to_bytes(i), b"" if version is None else b"%d" % version) for i, version in versions.items()]
        parts = [part for pair in pairs for part in pair]
        removed = self._run("remove items", scripts.REMOVE, user_id, parts, rows=len(pairs))
        return tuple(to_text(memory_id) for memory_id in removed)

    def forget(self, user_id: str) -> int:
        """See `ItemStore.forget`."""
        count = int(self._run("forget a user", scripts.FORGET, user_id, rows=FORGOTTEN_AT_ONCE))
        self._unregister(user_id)
        return count

    def close(self) -> None:
        """Close the client if it was made here; a later call opens it again."""
        self._caller.close()

    # -- talking to the server -------------------------------------------------------------------------------------

    def _base(self, user_id: str) -> str:
        return f"{self._prefix}:{{{digest(user_id)}}}:"

    def _run(self, operation: str, script: str, user_id: str, arguments: Arguments | None = None, **how: Any) -> Any:
        """Run a script; `how` as of `Caller.call`."""
        base = self._base(user_id)
        command = ("EVAL", script, 1, to_bytes(f"{base}index"), to_bytes(base), *(arguments or ()))
        return self._caller.call(operation, *command, **how)

    def _read(self, operation: str, script: str, user_id: str, arguments: Arguments) -> Any:
        """Run a script that brings rows."""
        return self._run(operation, script, user_id, arguments, repeatable=True, streaming=True)

    def _register(self, user_id: str) -> None:
        self._caller.call("list a user", "SADD", self._users, to_bytes(user_id), repeatable=True)

    def _unregister(self, user_id: str) -> None:
        """Take a user off the list, unless somebody wrote a row meanwhile."""
        self._caller.call("list a user", "SREM", self._users, to_bytes(user_id), repeatable=True)
        if int(self._run("list a user", scripts.STANDING, user_id, repeatable=True)) > 0:
            self._register(user_id)

    def _heads(self, user_id: str, rows: Sequence[Any]) -> tuple[Entry, ...]:
        return tuple(_readable(rows, lambda row: head_of(user_id, row)))


def _readable(rows: Iterable[Any], read: Callable[[Any], T]) -> Iterator[T]:
    """Read rows; one that is not what this package wrote hides only itself."""
    for row in rows:
        try:
            yield read(row)
        except _UNREADABLE as error:
            logger.warning("an item in Redis cannot be read and is left out: %s", type(error).__name__)


def _placed(user_id: str, arguments: Arguments, answer: Sequence[Any]) -> Placed:
    outcome, memory_id = answer[0].decode(), answer[1]
    row = written_row(arguments) if outcome == "created" else answer[2]
    return Placed(_standing(user_id, memory_id, row), outcome)


def _standing(user_id: str, memory_id: bytes, row: Sequence[bytes | None]) -> Memory:
    """Read a row that has to be there and readable."""
    try:
        return memory_of(user_id, memory_id, row)
    except _UNREADABLE as error:
        raise BackendUnavailable(NAME, "read an item", "it is not what this package wrote") from error


def _conflict(entry: Entry) -> Conflict:
    return Conflict(f"memory {shown(entry.memory.id)} exists with another content; give this one an id of its own")


def _pages(values: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(values)
    while page := list(islice(iterator, size)):
        yield page
