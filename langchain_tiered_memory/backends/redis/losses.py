"""What Redis lost on its own: evicted, flushed, or gone with a restart. Noticed, counted, and never served."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from typing import Any

from langchain_tiered_memory.backends.redis.calling import Caller
from langchain_tiered_memory.core.errors import BackendUnavailable


class Losses:
    """Counts what one process noticed. Thread-safe.

    A life of the data has a name, under a key of its own, which is lost with everything else: where the name is another
    one, all was lost.
    """

    def __init__(self, caller: Caller, prefix: str) -> None:
        self._caller = caller
        self._key = f"{prefix}:life".encode()
        self._users = f"{prefix}:users".encode()
        self._life: bytes | None = None
        self._lock = threading.Lock()
        self.items = 0
        self.users = 0
        self.resets = 0

    def began(self) -> None:
        """Give the life a name when it has none, before the first row of a user is written."""
        name = secrets.token_hex(8).encode()
        self._caller.call("name a life of the data", "SET", self._key, name, "NX", repeatable=True)
        if self._life is None:
            self._life = self._now()

    def count(self, items: int) -> None:
        """Note that so many rows were found dropped."""
        if items:
            with self._lock:
                self.items += items

    def seen(self) -> None:
        """Learn the life's name where rows were read that somebody else wrote."""
        if self._life is None:
            self.began()

    def look(self, user: bytes, *, nothing_left: bool) -> None:
        """Find out whether all rows of a user are gone because Redis lost them, or because they were forgotten.

        Who is forgotten is taken off the list of users; who is only lost still stands there, or the list is gone too.
        """
        life = self._now()
        with self._lock:
            anew = self._life is not None and life != self._life
            self._life = life if anew else self._life
        evicts = anew and self._evicts()
        lost = nothing_left and self._caller.call("look for a user", "SISMEMBER", self._users, user, repeatable=True)
        with self._lock:
            self.resets += anew and not evicts
            self.users += bool(evicts or (lost and not anew))

    def counts(self) -> Mapping[str, int]:
        """Return what was noticed, by name."""
        return {"redis_items_lost": self.items, "redis_users_lost": self.users, "redis_emptied": self.resets}

    def _evicts(self) -> bool:
        """Say whether Redis has evicted keys since it began: then the name may be one of them."""
        try:
            told = self._caller.call("look for evictions", "INFO", "stats", repeatable=True)
        except BackendUnavailable:  # the account may not ask
            return False
        return bool(int(told.get("evicted_keys", 0)))

    def _now(self) -> Any:
        return self._caller.call("read the life's name", "GET", self._key, repeatable=True)


def quietly(look: Any, *args: Any, **options: Any) -> None:
    """Look at losses; a failure to do so fails nothing else."""
    try:
        look(*args, **options)
    except BackendUnavailable:
        return
