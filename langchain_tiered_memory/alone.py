"""The three tiers, each usable by itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from langchain_tiered_memory import planning
from langchain_tiered_memory.core.config import Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import ConfigError, shown
from langchain_tiered_memory.core.ports import TokenCounter
from langchain_tiered_memory.core.tiers import SyncTier
from langchain_tiered_memory.core.working import WorkingMemory as _WorkingMemory
from langchain_tiered_memory.faces import TierMemory
from langchain_tiered_memory.pools import Pools
from langchain_tiered_memory.tokens import TiktokenCounter
from langchain_tiered_memory.wiring import Wiring

_MOST_HOURS = 1_000_000


class WorkingMemory(_WorkingMemory):
    """Messages of one conversation inside an exact token budget, kept in this object and nowhere else."""

    def __init__(
        self, max_tokens: int = 4000, *, counter: TokenCounter | None = None, system_share: float = 0.5
    ) -> None:
        """Start empty; without a counter, tokens are those of tiktoken's o200k_base."""
        super().__init__(max_tokens, counter=counter or TiktokenCounter(), system_share=system_share)


class _Alone(TierMemory):
    """A tier with an engine of its own; what it does not need lives in RAM."""

    def __init__(self, engine: Engine, blocking: SyncTier) -> None:
        self._engine = engine
        super().__init__(blocking, Pools(engine.settings.maintenance.workers))

    async def aclose(self) -> None:
        """Wait for every call under way and close what was opened here. Twice is fine."""
        await self._pools.settle()
        await self._pools.call_slow(self._engine.close)
        self._pools.close()


class ShortTermMemory(_Alone):
    """Recent items of users, each for `ttl_hours`, in Redis."""

    def __init__(self, redis: Any, ttl_hours: float = 24, **options: Any) -> None:
        """Say where the items live; nothing is opened before the first call.

        Args:
            redis: A Redis URL or a blocking redis-py client; None keeps the items in RAM.
            ttl_hours: Life of an item in hours.
            **options: As of `MemorySystem`.
        """
        hours: object = ttl_hours
        if isinstance(hours, bool) or not isinstance(hours, (int, float)) or not 0 < hours < _MOST_HOURS:
            raise ConfigError(f"ttl_hours={shown(ttl_hours)} cannot be used: a positive number of hours is needed")
        settings = options.pop("settings", None) or Settings()
        short = replace(settings.short_term, ttl=timedelta(hours=ttl_hours))
        options["settings"] = replace(settings, short_term=short)
        plan = planning.plan(redis, planning.EXACT, None, planning.IN_MEMORY, options)
        engine = Engine(Wiring(plan).open, plan.settings)
        super().__init__(engine, engine.short_term)


class LongTermMemory(_Alone):
    """Durable memories of users, in SQL with a vector index."""

    def __init__(self, vector_db: Any, postgres: Any, **options: Any) -> None:
        """Say where the memories live; nothing is opened before the first call.

        Args:
            vector_db: A Chroma URL or client, any `VectorIndex`, or "exact" for none; None is "exact" too.
            postgres: A database URL or a SQLAlchemy engine; None keeps the memories in RAM. A client or an engine
                keeps the time-outs it was made with.
            **options: As of `MemorySystem`.
        """
        index = planning.EXACT if vector_db is None else vector_db
        plan = planning.plan(None, index, postgres, planning.IN_MEMORY, options)
        engine = Engine(Wiring(plan).open, plan.settings)
        super().__init__(engine, engine.long_term)
