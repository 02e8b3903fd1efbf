"""The asynchronous face of the engine: one line per call, each a hop into the system's own pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from langchain_tiered_memory.core.api import UNCHANGED, SyncMemory, documented_by
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import HistoryEvent, Memory, NewMemory, RecallResult
from langchain_tiered_memory.core.reports import (
    ConsolidationReport,
    Explanation,
    ForgetReceipt,
    MaintenanceReport,
    ReindexReport,
    Status,
    TransferReport,
)
from langchain_tiered_memory.faces import Session, TierMemory, Values
from langchain_tiered_memory.pools import Pools


@documented_by(SyncMemory)
class AsyncMemory:
    """Every call of an engine, asynchronous."""

    def __init__(self, engine: Engine) -> None:
        """Put a face before an engine that is not open yet."""
        self.sync = engine
        """The same memory, blocking."""
        self._pools = Pools(engine.settings.maintenance.workers)
        self.short_term = TierMemory(engine.short_term, self._pools)
        """Short-term memory by itself."""
        self.long_term = TierMemory(engine.long_term, self._pools)
        """Long-term memory by itself."""
        self.values = Values(engine.values, self._pools)
        """Long-term memory as a key-value store."""

    async def remember(
        self,
        user_id: str,
        content: str,
        memory_type: str = "episode",
        *,
        importance: float | None = None,
        tier: str | None = None,
        slot: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        role: str | None = None,
        name: str | None = None,
        observed_at: datetime | None = None,
        origin: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool = False,
        id: str | None = None,
    ) -> Memory:
        return await self._pools.call(
            self.sync.remember,
            user_id,
            content,
            memory_type,
            importance=importance,
            tier=tier,
            slot=slot,
            session_id=session_id,
            agent_id=agent_id,
            role=role,
            name=name,
            observed_at=observed_at,
            origin=origin,
            metadata=metadata,
            pinned=pinned,
            id=id,
        )

    async def remember_many(self, user_id: str, items: Iterable[NewMemory]) -> tuple[Memory, ...]:
        return await self._pools.call(self.sync.remember_many, user_id, items)

    async def update(
        self,
        user_id: str,
        id: str,
        *,
        content: str = UNCHANGED,
        importance: float = UNCHANGED,
        pinned: bool = UNCHANGED,
        metadata: Mapping[str, Any] | None = UNCHANGED,
    ) -> Memory:
        return await self._pools.call(
            self.sync.update, user_id, id, content=content, importance=importance, pinned=pinned, metadata=metadata
        )

    async def recall(
        self,
        user_id: str,
        query: str,
        k: int = 5,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        neighbors: int = 0,
        min_score: float | str = 0.0,
        max_tokens: int | None = None,
        weights: RankingWeights | None = None,
        touch: bool = True,
    ) -> RecallResult:
        return await self._pools.call(
            self.sync.recall,
            user_id,
            query,
            k,
            session_id=session_id,
            agent_id=agent_id,
            memory_types=memory_types,
            filter=filter,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            neighbors=neighbors,
            min_score=min_score,
            max_tokens=max_tokens,
            weights=weights,
            touch=touch,
        )

    async def explain(
        self,
        user_id: str,
        query: str,
        memory_id: str,
        *,
        k: int = 5,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        min_score: float | str = 0.0,
        weights: RankingWeights | None = None,
    ) -> Explanation:
        return await self._pools.call(
            self.sync.explain,
            user_id,
            query,
            memory_id,
            k=k,
            session_id=session_id,
            agent_id=agent_id,
            memory_types=memory_types,
            filter=filter,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            min_score=min_score,
            weights=weights,
        )

    async def get(self, user_id: str, id: str) -> Memory:
        return await self._pools.call(self.sync.get, user_id, id)

    async def list(
        self,
        user_id: str,
        *,
        tier: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        include_superseded: bool = False,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[Memory, ...]:
        return await self._pools.call(
            self.sync.list,
            user_id,
            tier=tier,
            memory_types=memory_types,
            filter=filter,
            include_superseded=include_superseded,
            limit=limit,
            after=after,
        )

    async def history(self, user_id: str, id: str) -> tuple[HistoryEvent, ...]:
        return await self._pools.call(self.sync.history, user_id, id)

    async def consolidate(self, user_id: str, *, everything: bool = False) -> ConsolidationReport:
        return await self._pools.call_slow(self.sync.consolidate, user_id, everything=everything)

    async def maintain(
        self, user_id: str | None = None, *, compact: bool = False, dry_run: bool = False
    ) -> MaintenanceReport:
        return await self._pools.call_slow(self.sync.maintain, user_id, compact=compact, dry_run=dry_run)

    async def reindex(self, user_id: str | None = None) -> ReindexReport:
        return await self._pools.call_slow(self.sync.reindex, user_id)

    async def status(self, user_id: str | None = None) -> Status:
        return await self._pools.call(self.sync.status, user_id)

    async def forget(self, user_id: str, *ids: str) -> ForgetReceipt:
        return await self._pools.call(self.sync.forget, user_id, *ids)

    async def forget_user(self, user_id: str) -> ForgetReceipt:
        return await self._pools.call(self.sync.forget_user, user_id)

    async def export_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        return await self._pools.call_slow(self.sync.export_user, user_id, file)

    async def import_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        return await self._pools.call_slow(self.sync.import_user, user_id, file)

    def session(
        self, user_id: str, session_id: str, *, agent_id: str | None = None, max_tokens: int | None = None
    ) -> Session:
        blocking = self.sync.session(user_id, session_id, agent_id=agent_id, max_tokens=max_tokens)
        return Session(blocking, self._pools)

    async def aclose(self) -> None:
        """Wait for every call under way, finish the background work, and close what was opened here. Twice is fine."""
        await self._pools.settle()
        await self._pools.call_slow(self.sync.close)
        self._pools.close()

    async def __aenter__(self) -> Self:
        """Open, and close at the end of the block."""
        await self._pools.call(self.sync.open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.aclose()
