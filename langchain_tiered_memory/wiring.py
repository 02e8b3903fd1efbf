"""From arguments and URLs to open parts: the only room that knows both the core and what fills its ports."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, shown
from langchain_tiered_memory.core.inputs import END_OF_TIME, share
from langchain_tiered_memory.core.model import MemoryType, Tier, to_utc
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import (
    Agenda,
    Clock,
    Embedder,
    FactExtractor,
    ImportanceScorer,
    ItemStore,
    RecordStore,
    Reranker,
    Summarizer,
    TokenCounter,
    TranscriptStore,
    VectorIndex,
)
from langchain_tiered_memory.planning import EXACT, Plan

logger = logging.getLogger("langchain_tiered_memory.wiring")

DATABASE_FILE = "memory.db"
CHROMA_FOLDER = "chroma"
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_INDEX_CALLS = ("upsert", "delete", "drop", "query", "ids", "close")


class Wiring:
    """Opens a plan's parts; those of a temporary plan in a folder that goes when they are closed."""

    def __init__(self, plan: Plan, *, temporary: bool = False) -> None:
        self._plan = plan
        self._temporary = temporary
        self._remove: weakref.finalize[[str, int], Wiring] | None = None
        self._made = ""
        self._owner = 0
        self._databases: list[Any] = []
        self._embedded: Any = None
        self._noting: frozenset[Tier] = frozenset()
        self._watched: list[Callable[[], Mapping[str, int]]] = []

    def open(self) -> Parts:
        """Open every part; if one fails, those opened before it are closed again.

        Raises:
            BackendUnavailable: A store does not answer.
            SchemaMismatch: A store was written by another version.
            ConfigError: Something needed is not installed or not a store.
        """
        self._databases, self._embedded, self._watched = [], None, []
        with ExitStack() as stack:
            folder = self._folder(stack)
            parts = self._parts(folder, stack)
            closing = stack.pop_all()
        return replace(parts, close=closing.close)

    def _folder(self, stack: ExitStack) -> Path | None:
        if self._temporary:
            # A child after a fork works in its parent's folder, and leaves it to the parent.
            if self._remove is None or not self._remove.alive:
                self._made = tempfile.mkdtemp(prefix="tiered-memory-")
                self._owner = os.getpid()
                self._remove = weakref.finalize(self, _remove, self._made, self._owner)
            if self._owner == os.getpid():
                stack.callback(self._remove)
            return Path(self._made)
        if not isinstance(self._plan.path, Path):
            return None
        try:
            self._plan.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"path={shown(str(self._plan.path))} cannot be a folder: {error.strerror}") from error
        return self._plan.path

    def _parts(self, folder: Path | None, stack: ExitStack) -> Parts:
        plan = self._plan
        records, transcripts, agenda, local = self._long_term(folder, stack)
        items = self._short_term(local, stack)
        without = folder is not None and not (folder / CHROMA_FOLDER / "data").exists()
        index, always = self._index(folder, stack)
        if without and index is not None:
            for user_id in records.users():  # a folder that was removed is written anew
                records.mark_unindexed(user_id)
        counter = _counter(plan.settings.working.encoding)
        return Parts(
            items=items,
            records=records,
            transcripts=transcripts,
            index=index,
            index_always=always,
            embedder=self._embedder(),
            scorer=_scorer(plan.scorer),
            extractor=_extractor(plan, counter),
            reranker=None if plan.reranker is None else _reranker(plan.reranker),
            summarizer=_summarizer(plan),
            agenda=agenda,
            noting=self._noting if plan.redis is None else self._noting - {Tier.SHORT_TERM},
            counter=counter,
            clock=_present(plan.clock),
            settings=plan.settings,
            weights=plan.weights,
            compact=self._compact,
            close=stack.close,
            incidents=self._incidents,
        )

    def _incidents(self) -> Mapping[str, int]:
        return {name: times for told in self._watched for name, times in told().items()}

    def _long_term(
        self, folder: Path | None, stack: ExitStack
    ) -> tuple[RecordStore, TranscriptStore, Agenda, Callable[[], ItemStore]]:
        """Return records, transcripts, the agenda, and what makes the embedded store of items."""
        from langchain_tiered_memory.backends import inmemory

        if folder is None and self._plan.postgres is None:
            records, transcripts = inmemory.InMemoryRecordStore(), inmemory.InMemoryTranscriptStore()
            return records, transcripts, inmemory.InMemoryAgenda(), inmemory.InMemoryItemStore
        from langchain_tiered_memory.backends import sql

        local: Any = None
        if folder is not None and (self._plan.postgres is None or self._plan.redis is None):
            local = self._file(folder / DATABASE_FILE, stack)
        engine = local if self._plan.postgres is None else self._database(self._plan.postgres, stack)

        delay = self._plan.settings.maintenance.every
        agenda = sql.SqlAgenda(engine, clock=_present(self._plan.clock), delay=delay)
        self._noting = frozenset({Tier.LONG_TERM, Tier.SHORT_TERM} if local is engine else {Tier.LONG_TERM})

        def items() -> ItemStore:
            if local is None:
                return inmemory.InMemoryItemStore()
            return sql.SqlItemStore(local, agenda if local is engine else None)

        return sql.SqlRecordStore(engine, agenda), sql.SqlTranscriptStore(engine, agenda), agenda, items

    def _file(self, path: Path, stack: ExitStack) -> Any:
        """Open the embedded database.

        Raises:
            BackendUnavailable: It cannot be opened and written to; the folder is named.
        """
        try:
            return self._database(path, stack)
        except BackendUnavailable as error:
            remedy = f"{error.reason}; the folder {shown(str(path.parent))} and the files in it must be writable"
            raise BackendUnavailable(error.backend, error.operation, remedy) from error

    def _database(self, where: object, stack: ExitStack) -> Any:
        from langchain_tiered_memory.backends import sql
        from langchain_tiered_memory.backends.sql.link import link_of

        engine, owned = sql.connect(where)
        if owned:
            stack.callback(engine.dispose)
        sql.prepare(engine)
        link, limits = link_of(engine), self._plan.settings.servers
        link.limit(limits.sql_timeout.total_seconds(), limits.pause.total_seconds())
        self._watched.append(link.incidents)
        self._databases.append(engine)
        return engine

    def _compact(self) -> None:
        """Let every database, and the vector index in the folder, give back the space of what was deleted."""
        for engine in self._databases:
            from langchain_tiered_memory.backends import sql

            sql.compact(engine)
        if self._embedded is not None:
            self._embedded.compact()

    def _short_term(self, local: Callable[[], ItemStore], stack: ExitStack) -> ItemStore:
        redis: Any = self._plan.redis
        if redis is None:
            return local()
        if hasattr(redis, "put") and hasattr(redis, "changes"):
            store: ItemStore = redis
            return store
        from langchain_tiered_memory.backends.redis import RedisItemStore

        servers = self._plan.settings.servers
        made = RedisItemStore(redis, timeout=servers.redis_timeout, pause=servers.pause)
        stack.callback(made.close)
        self._watched.append(made.incidents)
        return made

    def _index(self, folder: Path | None, stack: ExitStack) -> tuple[VectorIndex | None, bool]:
        """Return the vector index and whether it is asked whatever the number of vectors."""
        given: Any = self._plan.vector_db
        if given == EXACT or (given is None and folder is None):
            return None, False
        if given is not None and all(hasattr(given, name) for name in _INDEX_CALLS):
            index: VectorIndex = given
            return index, True
        from langchain_tiered_memory.backends import chroma

        if isinstance(given, str):
            limits = self._plan.settings.servers
            deadline, pause = limits.chroma_deadline.total_seconds(), limits.pause.total_seconds()
            made = chroma.ChromaVectorIndex.from_url(given, deadline=deadline, pause=pause)
            self._watched.append(made.incidents)
        elif given is not None:
            return chroma.ChromaVectorIndex(given), True
        else:
            assert folder is not None  # noqa: S101 - the first guard said so
            lock = chroma.lock_folder(folder / CHROMA_FOLDER)
            if lock is None:
                logger.info("another process keeps this folder's vector index: searches here are exact")
                return None, False
            stack.callback(lock.release)
            try:
                made = self._embedded = chroma.ChromaVectorIndex.embedded(folder / CHROMA_FOLDER)
            except BackendUnavailable as error:
                where = shown(str(folder / CHROMA_FOLDER))
                logger.warning("searches are exact: the vector index does not open; remove %s. %s", where, error)
                return None, False
        stack.callback(made.close)
        return made, given is not None

    def _embedder(self) -> Embedder:
        from langchain_tiered_memory.embedding import as_embedder, default_embedder

        return default_embedder() if self._plan.embedder is None else as_embedder(self._plan.embedder)


def _scorer(given: ImportanceScorer | None) -> ImportanceScorer:
    from langchain_tiered_memory.core.importance import RuleScorer

    return RuleScorer() if given is None else SteadyScorer(given, RuleScorer())


class SteadyScorer:
    """A scorer of the caller's, such as a model, with another one for when it fails: what is said must be placed."""

    def __init__(self, first: ImportanceScorer, second: ImportanceScorer) -> None:
        self._first = first
        self._second = second

    def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
        """Return the first scorer's answer; the second's when the first raises or leaves [0, 1]."""
        try:
            return share("importance", self._first.score(content, memory_type=memory_type, role=role))
        except Exception as error:  # noqa: BLE001 - a model of somebody else's may raise anything
            logger.warning("importance is judged by rules: the scorer failed with %s", type(error).__name__)
        return self._second.score(content, memory_type=memory_type, role=role)


def _extractor(plan: Plan, counter: TokenCounter) -> FactExtractor:
    from langchain_tiered_memory.extraction import ModelExtractor, RuleExtractor, as_extractor

    if plan.extractor is not None:
        return as_extractor(plan.extractor)
    if plan.llm is not None:
        return ModelExtractor(plan.llm, settings=plan.settings.extraction, count=counter.text)
    return RuleExtractor()


def _summarizer(plan: Plan) -> Summarizer | None:
    from langchain_tiered_memory.extraction import ModelSummarizer

    wanted = plan.llm is not None and plan.settings.working.summary_tokens > 0
    return ModelSummarizer(plan.llm) if wanted else None


def _reranker(given: object) -> Reranker:
    from langchain_tiered_memory.reranking import as_reranker

    return as_reranker(given)


def _present(clock: Clock) -> Clock:
    """Return a clock that tells the same present in UTC."""

    def now() -> datetime:
        told: object = clock()
        if not isinstance(told, datetime) or told.utcoffset() is None:
            raise ConfigError(f"the clock returned {shown(told)}: an aware datetime is needed")
        if not _BEGINNING <= told < END_OF_TIME:
            years = f"from {_BEGINNING.year} to {END_OF_TIME.year - 1}"
            raise ConfigError(f"the clock returned {shown(told)}: an instant in the years {years} is needed")
        return to_utc(told)

    return now


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _counter(encoding: str) -> TokenCounter:
    from langchain_tiered_memory.tokens import TiktokenCounter

    return TiktokenCounter(encoding)
