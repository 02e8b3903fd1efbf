"""The asynchronous faces of a session, of a tier and of values, one line per call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from langchain_tiered_memory.core.api import documented_by
from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.model import Context, Memory, Message, RecallResult, ScoredMemory
from langchain_tiered_memory.core.summary import Summary
from langchain_tiered_memory.core.tiers import SyncTier
from langchain_tiered_memory.core.values import SyncValues, Value, Where
from langchain_tiered_memory.pools import Pools

R = TypeVar("R")


@documented_by(SyncSession)
class Session:
    """One conversation of a user. Holds nothing but its address: any number of objects may stand for one session."""

    def __init__(self, blocking: SyncSession, pools: Pools) -> None:
        """Wrap the blocking session."""
        self.sync = blocking
        self._pools = pools

    @property
    def user_id(self) -> str:
        """Whose session it is."""
        return self.sync.address.user_id

    @property
    def session_id(self) -> str:
        """Which session it is."""
        return self.sync.address.session_id

    def _repr_html_(self) -> str:
        """Return what is known of the session as HTML; nothing is read for it."""
        return self.sync._repr_html_()

    def __rich__(self) -> SyncSession:
        """Return what rich shows."""
        return self.sync

    async def add(self, *messages: Any) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.add, *messages)

    async def window(self) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.window)

    async def transcript(self) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.transcript)

    async def tokens(self) -> int:
        return await self._pools.call(self.sync.tokens)

    async def context(
        self,
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        min_score: float | str = 0.0,
        speakers: Mapping[str, str] | None = None,
        recalled: Sequence[ScoredMemory] | None = None,
    ) -> Context:
        return await self._pools.call(
            self.sync.context,
            query,
            max_tokens=max_tokens,
            k=k,
            filter=filter,
            min_score=min_score,
            speakers=speakers,
            recalled=recalled,
        )

    async def summary(self, *, refresh: bool = False) -> Summary | None:
        return await self._pools.call(self.sync.summary, refresh=refresh)

    async def clear(self) -> int:
        return await self._pools.call(self.sync.clear)


@documented_by(SyncTier)
class TierMemory:
    """One stored tier by itself: stores, searches and deletes there and nowhere else."""

    def __init__(self, blocking: SyncTier, pools: Pools) -> None:
        """Wrap the blocking tier."""
        self.sync = blocking
        self._pools = pools

    async def store(self, user_id: str, memory: Memory) -> Memory:
        return await self._pools.call(self.sync.store, user_id, memory)

    async def search(self, user_id: str, query: str, k: int = 5) -> RecallResult:
        return await self._pools.call(self.sync.search, user_id, query, k)

    async def get_high_access(self, user_id: str, min_count: int = 3) -> tuple[Memory, ...]:
        return await self._pools.call(self.sync.get_high_access, user_id, min_count)

    async def delete(self, user_id: str, id: str) -> bool:
        return await self._pools.call(self.sync.delete, user_id, id)


@documented_by(SyncValues)
class Values:
    """The values of users."""

    def __init__(self, blocking: SyncValues, pools: Pools) -> None:
        """Wrap the blocking values."""
        self.sync = blocking
        self._pools = pools

    async def put(
        self,
        user_id: str,
        key: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        ttl: timedelta | None = None,
    ) -> None:
        await self._pools.call(self.sync.put, user_id, key, value, text=text, ttl=ttl)

    async def get(self, user_id: str, key: str) -> Value | None:
        return await self._pools.call(self.sync.get, user_id, key)

    async def delete(self, user_id: str, key: str) -> bool:
        return await self._pools.call(self.sync.delete, user_id, key)

    async def search(
        self, user_id: str, query: str | None = None, *, where: Where | None = None, limit: int = 10
    ) -> tuple[Value, ...]:
        return await self._pools.call(self.sync.search, user_id, query, where=where, limit=limit)

    async def touch(self, user_id: str, ids: Iterable[str]) -> None:
        await self._pools.call(self.sync.touch, user_id, ids)

    async def sweep(self, user_id: str) -> int:
        return await self._pools.call(self.sync.sweep, user_id)

    async def users(self, prefix: str) -> tuple[str, ...]:
        return await self._pools.call(self.sync.users, prefix)

    async def together(self, work: Callable[[SyncValues], R]) -> R:
        """Do several calls at once, without coming back between them: `work` is given the blocking values."""
        return await self._pools.call(work, self.sync)
