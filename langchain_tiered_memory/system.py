"""`MemorySystem`: what a memory is made of, and how one is found again; its calls are `AsyncMemory`'s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from langchain_tiered_memory import planning, telemetry
from langchain_tiered_memory.async_memory import AsyncMemory
from langchain_tiered_memory.core import observing
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.registry import Registry, kinds
from langchain_tiered_memory.wiring import Wiring


class MemorySystem(AsyncMemory):
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
                Chroma under `path`. A client keeps the time-outs it was made with: `ServerSettings` holds for URLs.
            postgres: Long-term memory and transcripts: a database URL or a SQLAlchemy engine. None embeds SQLite
                under `path`. An engine keeps its own time-outs too, which by default are none: a server that hangs
                is then waited for without end.
            path: Folder of what is embedded; ":memory:" keeps it in RAM.
            **options: `embedder` (ours, LangChain's, LlamaIndex's, Chroma's, or a function from texts to vectors),
                `llm` (a LangChain chat model, a LlamaIndex LLM, or a function from a prompt to an answer: `consolidate`
                asks it for facts instead of the rules, `maintain` for summaries), `extractor` (finds facts instead),
                `scorer` (judges importance, otherwise by rules; `ModelScorer(llm)` asks a model),
                `reranker` (a LangChain document compressor, a LlamaIndex node postprocessor, or a function from a query
                and texts to scores: orders the best hits of a recall anew), `weights` (a `RankingWeights`), `settings`
                (a `Settings`), `clock` (a callable returning the present as an aware datetime).

        Raises:
            ConfigError: These arguments cannot work.
        """
        temporary = options.pop("_temporary", False)  # `open` without a path
        observing.install(telemetry.observe)
        self._plan = planning.plan(redis, vector_db, postgres, path, options)
        super().__init__(Engine(Wiring(self._plan, temporary=temporary).open, self._plan.settings))
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

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the `reference`; never what it is made of, which may hold a password."""
        return type(self).at, (self.reference,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: a copy of a memory is the same memory."""
        return self

    def __repr__(self) -> str:
        """Name the kinds of its parts; never a URL, which may hold a password."""
        return f"<MemorySystem on {kinds(self._plan)}>"
