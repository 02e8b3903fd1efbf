"""`MemorySystem`: the asynchronous face of the engine, one line per call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, TextIO

from langchain_tiered_memory import planning
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
from langchain_tiered_memory.registry import Registry, kinds
from langchain_tiered_memory.wiring import Wiring


@documented_by(SyncMemory)
class MemorySystem:
    """A memory with three tiers: working, short-term, long-term.

    `await memory.remember(…)` and every other call is asynchronous; `memory.sync` has the same calls, blocking. Both
    are the same memory and may be used from any thread, any event loop, and in a child after a fork.
    """

    _registry: ClassVar[Registry[MemorySystem]] = Registry()

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
                `llm` (a LangChain chat model, a LlamaIndex LLM, or a function from a prompt to an answer: `consolidate`
                asks it for facts instead of the rules, no other call asks it), `extractor` (finds facts in its place),
                `scorer` (judges importance, otherwise by rules; `ModelScorer(llm)` asks a model), `weights` (a
                `RankingWeights`), `settings` (a `Settings`), `clock` (a callable returning the present as an aware
                datetime).

        Raises:
            ConfigError: These arguments cannot work.
        """
        temporary = options.pop("_temporary", False)  # `open` without a path
        self._plan = planning.plan(redis, vector_db, postgres, path, options)
        self.sync = Engine(Wiring(self._plan, temporary=temporary).open, self._plan.settings)
        """The same memory, blocking."""
        self._pools = Pools(self._plan.settings.maintenance.workers)
        self.short_term = TierMemory(self.sync.short_term, self._pools)
        """Short-term memory by itself."""
        self.long_term = TierMemory(self.sync.long_term, self._pools)
        """Long-term memory by itself."""
        self.values = Values(self.sync.values, self._pools)
        """Long-term memory as a key-value store."""
        self._registry.note(self, self._plan)

    @classmethod
    def open(cls, path: str | Path | None = None, **options: Any) -> Self:
        """Return an embedded memory: SQLite and Chroma in a folder.

        Args:
            path: The folder, made if need be. None: a temporary one that is removed on closing. ":memory:": in RAM.
            **options: As in the constructor.
        """
        return cls(path=planning.IN_MEMORY if path is None else path, _temporary=path is None, **options)

    @classmethod
    def register(cls, name: str, factory: Callable[[], MemorySystem]) -> None:
        """Make a system findable by name, for adapters that are serialised: they keep the name, never a password.

        The factory is called once per process, when somebody first asks; a new factory replaces the old one.
        """
        cls._registry.register(name, factory)

    @classmethod
    def registered(cls, name: str) -> MemorySystem:
        """Return the system registered under a name.

        Raises:
            ConfigError: Nothing is registered under it in this process.
        """
        return cls._registry.registered(name)

    @classmethod
    def at(cls, reference: str | Path) -> MemorySystem:
        """Return the memory that a `reference` names, the same for all in a process; ConfigError if it names none."""
        return cls._registry.at(reference, cls.open)

    @property
    def reference(self) -> str:
        """What `at` finds this memory by: its registered name or its folder; without, a name good in this process."""
        return self._registry.reference(self, self._plan)

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

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the `reference`; never what it is made of, which may hold a password."""
        return type(self).at, (self.reference,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: a copy of a memory is the same memory."""
        return self

    def __repr__(self) -> str:
        """Name the kinds of its parts; never a URL, which may hold a password."""
        return f"<MemorySystem on {kinds(self._plan)}>"
