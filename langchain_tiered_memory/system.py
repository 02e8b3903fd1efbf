"""`MemorySystem`: the asynchronous face of the engine, one line per call."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, ParamSpec, Self, TextIO, TypeVar

from langchain_tiered_memory import wiring
from langchain_tiered_memory.core.api import UNCHANGED, SyncMemory, documented_by
from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import ConfigError, shown
from langchain_tiered_memory.core.model import Context, HistoryEvent, Memory, Message, NewMemory, RecallResult
from langchain_tiered_memory.core.reports import (
    ConsolidationReport,
    Explanation,
    ForgetReceipt,
    MaintenanceReport,
    ReindexReport,
    Status,
    TransferReport,
)
from langchain_tiered_memory.core.tiers import SyncTier

P = ParamSpec("P")
R = TypeVar("R")

_SLOW_WORKERS = 2


class Pools:
    """Two bounded pools of threads: one for calls somebody waits for, one for long work that must not occupy it."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._process = 0
        self._running: set[Future[Any]] = set()

    async def call(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call in the quick pool with the caller's context variables; a cancelled await leaves it whole."""
        return await self._submit(self._pools()[0], partial(work, *args, **kwargs))

    async def call_slow(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call in the pool for long work."""
        return await self._submit(self._pools()[1], partial(work, *args, **kwargs))

    async def settle(self) -> None:
        """Wait for every call under way, also those whose await was cancelled."""
        while running := set(self._running):
            await asyncio.get_running_loop().run_in_executor(None, wait, running)

    def close(self) -> None:
        """Let the threads go once they are done; a later call starts new ones."""
        with self._lock:
            if self._process == os.getpid():
                self._quick.shutdown(wait=False)
                self._slow.shutdown(wait=False)
            self._process = 0

    async def _submit(self, pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        future = pool.submit(contextvars.copy_context().run, work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.shield(asyncio.wrap_future(future))

    def _pools(self) -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
        with self._lock:
            if self._process != os.getpid():  # at first, and in a child after a fork, which has none of our threads
                self._quick = ThreadPoolExecutor(self._workers, "tiered-memory-call")
                self._slow = ThreadPoolExecutor(_SLOW_WORKERS, "tiered-memory-work")
                self._process = os.getpid()
                self._running = set()
            return self._quick, self._slow


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

    async def add(self, *messages: Any) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.add, *messages)

    async def window(self) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.window)

    async def transcript(self) -> tuple[Message, ...]:
        return await self._pools.call(self.sync.transcript)

    async def tokens(self) -> int:
        return await self._pools.call(self.sync.tokens)

    async def context(self, query: str | None = None, *, max_tokens: int | None = None, k: int = 5) -> Context:
        return await self._pools.call(self.sync.context, query, max_tokens=max_tokens, k=k)

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


@documented_by(SyncMemory)
class MemorySystem:
    """A memory with three tiers: working, short-term, long-term.

    `await memory.remember(…)` and every other call is asynchronous; `memory.sync` has the same calls, blocking. Both
    are the same memory and may be used from any thread, any event loop, and in a child after a fork.
    """

    _factories: ClassVar[dict[str, Callable[[], MemorySystem]]] = {}
    _registered: ClassVar[dict[str, MemorySystem]] = {}
    _registry_lock: ClassVar[threading.RLock] = threading.RLock()

    def __init__(
        self,
        redis: Any = None,
        vector_db: Any = None,
        postgres: Any = None,
        *,
        path: str | Path | None = None,
        **options: Any,
    ) -> None:
        """Say what the memory is made of. Nothing is opened before the first call.

        Args:
            redis: Short-term memory: a Redis URL or a blocking redis-py client. None embeds it under `path`.
            vector_db: Vector index: a Chroma URL or client, or any `VectorIndex`; "exact" needs none. None embeds
                Chroma under `path`.
            postgres: Long-term memory and transcripts: a database URL or a SQLAlchemy engine. None embeds SQLite
                under `path`.
            path: Folder of what is embedded; ":memory:" keeps it in RAM.
            **options: `embedder` (ours, LangChain's, LlamaIndex's, Chroma's, or a function from texts to vectors),
                `scorer`, `extractor`, `weights` (a `RankingWeights`), `settings` (a `Settings`), `clock` (a callable
                returning the present as an aware datetime).

        Raises:
            ConfigError: These arguments cannot work.
        """
        self._start(wiring.plan(redis, vector_db, postgres, path, options), temporary=False)

    @classmethod
    def open(cls, path: str | Path | None = None, **options: Any) -> Self:
        """Return an embedded memory: SQLite and Chroma in a folder.

        Args:
            path: The folder, made if need be. None: a temporary one that is removed on closing. ":memory:": in RAM.
            **options: As in the constructor.
        """
        system = cls.__new__(cls)
        where = wiring.IN_MEMORY if path is None else path
        system._start(wiring.plan(None, None, None, where, options), temporary=path is None)
        return system

    def _start(self, plan: wiring.Plan, *, temporary: bool) -> None:
        self._plan = plan
        self.sync = Engine(wiring.Wiring(plan, temporary=temporary).open, plan.settings)
        """The same memory, blocking."""
        self._pools = Pools(plan.settings.maintenance.workers)
        self.short_term = TierMemory(self.sync.short_term, self._pools)
        """Short-term memory by itself."""
        self.long_term = TierMemory(self.sync.long_term, self._pools)
        """Long-term memory by itself."""

    @classmethod
    def register(cls, name: str, factory: Callable[[], MemorySystem]) -> None:
        """Make a system findable by name, for adapters that are serialised: they keep the name, never a password.

        The factory is called once per process, when somebody first asks; a new factory replaces the old one.
        """
        with cls._registry_lock:
            cls._factories[name] = factory
            cls._registered.pop(name, None)

    @classmethod
    def registered(cls, name: str) -> MemorySystem:
        """Return the system registered under a name.

        Raises:
            ConfigError: Nothing is registered under it in this process.
        """
        with cls._registry_lock:
            if name not in cls._factories:
                raise ConfigError(f"no memory is registered as {shown(name)}: call MemorySystem.register first")
            if name not in cls._registered:
                cls._registered[name] = cls._factories[name]()
            return cls._registered[name]

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

    def __repr__(self) -> str:
        """Name the kinds of its parts; never a URL, which may hold a password."""
        plan = self._plan
        parts = {"redis": plan.redis, "vector_db": plan.vector_db, "postgres": plan.postgres}
        given = [name for name, value in parts.items() if value is not None]
        return f"<MemorySystem on {', '.join(given) or 'embedded stores'}>"
