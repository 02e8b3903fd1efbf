"""Vectors after the fact: embedding what is pending, and keeping the vector index in step behind the commits."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.derive import digest, passage_texts
from langchain_tiered_memory.core.errors import BackendUnavailable, EmbeddingError
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import MemoryStore, PassageVector
from langchain_tiered_memory.core.progress import Progress, one_by_one
from langchain_tiered_memory.core.reports import ReindexReport
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.tallies import tallies

logger = logging.getLogger("langchain_tiered_memory.indexing")

MODEL_KEY = "embedding_model"
_COUNTED = 20_000
"""Vectors that are loaded at most to be counted."""

Missing = tuple[str, tuple[int, ...]]
"""A memory's id and the passages that lack a vector."""


def vectors_for(parts: Parts, wanted: Sequence[tuple[Memory, Sequence[int]]]) -> list[tuple[PassageVector, ...]]:
    """Embed the passages asked for, in one call to the model; one tuple per memory, in order.

    Raises:
        EmbeddingError: The model failed; nothing was stored.
    """
    limit = parts.settings.placement.max_passages
    chosen: list[list[tuple[int, str]]] = []
    for memory, numbers in wanted:
        texts = passage_texts(memory, limit)
        chosen.append([(number, texts[number]) for number in numbers if number < len(texts)])
    flat = [text for one in chosen for _, text in one]
    rows: NDArray[np.float32] = parts.embedder.embed_documents(flat) if flat else np.zeros((0, 0), np.float32)
    model, made, at = parts.embedder.model_id, [], 0
    for one in chosen:
        made.append(
            tuple(PassageVector(n, model, digest(text), rows[at + i]) for i, (n, text) in enumerate(one)),
        )
        at += len(one)
    return made


class Indexing:
    """Fills in vectors that are missing and copies them to the vector index. Safe to interrupt and to repeat."""

    def __init__(self, parts: Parts, snapshots: Snapshots) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._lock = threading.Lock()
        """Between reading what waits and writing it to the index nobody may drop a user's vectors from it."""

    def embed_pending(self, user_id: str, limit: int) -> int:
        """Embed up to `limit` passages of the user that lack a vector of the model in use; return how many were.

        Raises:
            EmbeddingError: The model failed; what was embedded before stays.
            BackendUnavailable: A store did not answer.
        """
        snapshot, _ = self._snapshots.get(user_id)
        missing: dict[Tier, list[Missing]] = defaultdict(list)
        with snapshot.lock:
            for entry, numbers in snapshot.pending():
                if limit <= 0:
                    break
                missing[entry.memory.tier or Tier.LONG_TERM].append((entry.memory.id, numbers[:limit]))
                limit -= len(numbers[:limit])
        return sum(self._embed(user_id, self._store(tier), rows) for tier, rows in missing.items())

    def embedding(self, user_id: str) -> Iterator[int]:
        """Embed all that lack a vector, and yield how many were after each batch.

        Raises:
            EmbeddingError: The model failed; what was embedded before stays.
            BackendUnavailable: A store did not answer.
        """
        progress = Progress("embedding", lambda: self._pending(user_id))
        while done := self.embed_pending(user_id, self._parts.settings.maintenance.batch):
            progress.advance(done)
            yield done

    def sync_index(self, user_id: str | None = None) -> tuple[int, int]:
        """Bring the vector index up to the truth, of one user or of all; return vectors written and removed.

        Removals come first, so that a reference written again stays. Interrupted anywhere, the next call goes on.

        Raises:
            BackendUnavailable: The index or the store did not answer; what was marked stays marked.
        """
        index, records = self._parts.index, self._parts.records
        if index is None:
            return 0, 0
        batch = self._parts.settings.maintenance.batch
        removed = written = 0
        progress = Progress("indexing", lambda: self._waiting(user_id))
        with self._lock:
            while doomed := records.removals(user_id, batch):
                for user, refs in doomed.items():
                    index.delete(user, refs)
                    records.mark(user, removed=refs)
                    removed += len(refs)
            while waiting := records.unindexed(user_id, batch):
                for user, rows in waiting.items():
                    index.upsert(user, rows)
                    index.delete(user, sorted(records.mark(user, indexed=rows)))
                    written += len(rows)
                    progress.advance(len(rows))
        return written, removed

    def catch_up(self) -> tuple[int, int]:
        """Bring the vector index up to the truth of everybody who lags, one by one; as `sync_index`."""
        records, batch = self._parts.records, self._parts.settings.maintenance.batch
        written = removed = 0
        while self._parts.index is not None and (
            behind := dict.fromkeys((*records.removals(None, batch), *records.unindexed(None, batch)))
        ):
            for user_id in behind:
                one = self.sync_index(user_id)
                written, removed = written + one[0], removed + one[1]
        return written, removed

    def drop(self, user_id: str) -> None:
        """Remove the user's whole space from the vector index."""
        if self._parts.index is not None:
            with self._lock:
                self._parts.index.drop(user_id)

    def reindex(self, user_ids: Sequence[str], pending: Collection[str] | None = None) -> ReindexReport:
        """Embed what lacks a vector of the model in use, and write the vector index anew, without embedding again.

        A user at a time and resumable: what was embedded stays. The store's model is changed once every user is done.

        Args:
            user_ids: Whose.
            pending: Those of them who lack vectors, if that is known; the others are not looked at for it.
        """
        embedded = indexed = 0
        failed: list[str] = []
        for user_id in one_by_one("serving users", user_ids):
            try:
                for done in self.embedding(user_id) if pending is None or user_id in pending else ():
                    embedded += done
                if self._parts.index is not None:
                    self._empty(user_id)
                    indexed += self.sync_index(user_id)[0]
            except (BackendUnavailable, EmbeddingError) as error:
                logger.warning("reindex stopped for one user: %s", type(error).__name__)
                failed.append(str(error))
            self._snapshots.discard(user_id)
        return ReindexReport(embedded, indexed, tuple(failed))

    def reindex_all(self, everybody: Callable[[], Sequence[str]]) -> ReindexReport:
        """Do so for everybody: the index is written anew for all, where there is one, and those embedded who lack it.

        Raises:
            BackendUnavailable: It cannot be read who there is.
        """
        parts, model = self._parts, self._parts.embedder.model_id
        stores: tuple[MemoryStore, ...] = (parts.items, parts.records)
        pending = {one.user_id for store in stores for one in tallies(store, model) if one.pending}
        return self.reindex(sorted(pending) if parts.index is None else everybody(), pending)

    def _empty(self, user_id: str) -> None:
        """Drop the user's space; marked first, so that a crash between the two leaves work and no hole."""
        with self._lock:
            self._parts.records.mark_unindexed(user_id)
            if self._parts.index is not None:
                self._parts.index.drop(user_id)

    def _pending(self, user_id: str) -> int:
        """Return how many passages of the user lack a vector."""
        snapshot, _ = self._snapshots.get(user_id)
        with snapshot.lock:
            return sum(len(numbers) for _, numbers in snapshot.pending())

    def _waiting(self, user_id: str | None) -> int:
        """Return how many vectors the index lacks; of very many the number that it may lack at most."""
        found = sum(map(len, self._parts.records.unindexed(user_id, _COUNTED).values()))
        return found if found < _COUNTED or user_id is None else self._parts.records.vector_count(user_id)

    def _store(self, tier: Tier) -> MemoryStore:
        return self._parts.items if tier is Tier.SHORT_TERM else self._parts.records

    def _embed(self, user_id: str, store: MemoryStore, missing: Sequence[Missing]) -> int:
        passages = dict(missing)
        wanted = [(memory, passages[memory.id]) for memory in store.get(user_id, list(passages))]
        made = vectors_for(self._parts, wanted)
        rows = {memory.id: vectors for (memory, _), vectors in zip(wanted, made, strict=True) if vectors}
        if rows:
            store.embed(user_id, rows)
        return sum(map(len, rows.values()))
