"""The vector index on Chroma: embedded, on a server, or on a client of the caller's own."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from langchain_tiered_memory.backends.breaker import Breaker
from langchain_tiered_memory.backends.chroma_client import (
    DEADLINE_SECONDS,
    Connection,
    address_of,
    close_client,
    connect,
    open_folder,
    translated,
)
from langchain_tiered_memory.backends.chroma_folders import Folders, data_folder
from langchain_tiered_memory.backends.chroma_lock import FolderLock, lock_folder
from langchain_tiered_memory.backends.chroma_rows import (
    LARGEST_K,
    PAGE,
    collection_name,
    nearest,
    pages,
    read_ids,
    remove,
    to_id,
    to_ref,
    usable,
    write,
)
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from langchain_tiered_memory.core.ports import Vector

__all__ = ["ChromaVectorIndex", "FolderLock", "lock_folder"]

_T = TypeVar("_T")

_PAUSE_SECONDS: Final = 2.0
_BATCH_BYTES: Final = 4_000_000
"""Vectors of one write: a server takes 40 MB, and an old one is sent each number as up to 20 characters."""


class ChromaVectorIndex:
    """A `VectorIndex` with one collection per user, which holds references and vectors and nothing else.

    A collection is named by a hash of the user id, because Chroma takes only a few characters in names. A vector that
    has no direction, all zeros or not finite, is never written, and a row it would have replaced goes: to Chroma zeros
    are equal to everything. All vectors of a user have one dimension, that of the first until `drop`; another raises
    `EmbeddingError`, naming both. Nearest neighbours are approximate: a few of a hundred may be missed.

    `upsert` and `delete` of many rows go in batches; when one fails, those before it are done, and doing it all again
    is right. `ids` reads in pages: what others write meanwhile may or may not be in it.

    Where the client cannot serve, in a process that was forked from the one that opened it, each call raises
    `BackendUnavailable`; an index made by `from_url` connects anew there instead. A server that does not answer is
    asked again after a pause; until then each call raises at once.
    """

    def __init__(
        self,
        client: ClientAPI | Callable[[], ClientAPI],
        *,
        name: str = "chroma",
        owned: bool = False,
        pause: float = _PAUSE_SECONDS,
    ) -> None:
        """Serve from a client.

        Args:
            client: Any synchronous Chroma client, whose tenant and database are used as they are; or what makes one:
                it is called at the first call, and again in a child after a fork. It waits as it was told to:
                only `from_url` sets deadlines.
            name: What serves it, for people.
            owned: Whether `close` closes the client.
            pause: Seconds for which a server that did not answer is not asked.

        Raises:
            ConfigError: It is something else, such as an asynchronous client.
        """
        self._make: Callable[[], ClientAPI] | None = None
        self._held: Connection | None = None
        if callable(client):
            self._make = client
        elif hasattr(client, "get_or_create_collection") and not iscoroutinefunction(client.get_or_create_collection):
            self._held = Connection(client)
        else:
            raise ConfigError(
                f"vector_db={type(client).__name__} cannot be used: give the URL of a Chroma server or a blocking "
                "Chroma client, calls stay async"
            )
        self._name = name
        self._owned = owned
        self._breaker = Breaker(pause)
        self._folders: Folders | None = None
        self._closed = False

    @classmethod
    def embedded(cls, path: str | os.PathLike[str]) -> ChromaVectorIndex:
        """Open the index in a folder that this process has locked by `lock_folder`.

        Args:
            path: The folder; Chroma gets its subfolder `data`. Release the lock after `close`.

        Raises:
            BackendUnavailable: The folder cannot be written, or what is in it is damaged; it may be deleted, and the
                index be built anew.
            ConfigError: The environment stops Chroma from being imported.
        """
        index = cls(open_folder(path), owned=True)
        index._folders = Folders(data_folder(path))
        return index

    @classmethod
    def from_url(
        cls, url: str, *, deadline: float = DEADLINE_SECONDS, pause: float = _PAUSE_SECONDS
    ) -> ChromaVectorIndex:
        """Use the Chroma server at `http://host:port` or `https://host:port`; it is connected to by the first call.

        Args:
            url: Where it is; without a port 8000 and 443.
            deadline: Seconds that a connection, and an answer to a question, may take; writes have longer.
            pause: Seconds for which it is not asked after it did not answer.

        Raises:
            ConfigError: The URL is none, or says more than that.
        """
        return cls(partial(connect, address_of(url), deadline), owned=True, pause=max(pause, deadline))

    @property
    def name(self) -> str:
        """What serves it, for people."""
        return self._name

    def incidents(self) -> Mapping[str, int]:
        """Return what went wrong since this object was made, by name."""
        return {"chroma_unavailable": self._breaker.failures, "chroma_not_asked": self._breaker.refused}

    def upsert(self, user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        """Add or replace rows; of rows with one reference the last counts."""
        kept, vectors, left_out = usable(rows)
        self.delete(user_id, left_out)
        if not kept:
            return
        size = min(self._largest_batch("upsert"), max(1, _BATCH_BYTES // vectors[0].nbytes))
        for start in range(0, len(kept), size):
            ids, batch = kept[start : start + size], vectors[start : start + size]
            writing = partial(write, ids=ids, vectors=batch)
            self._on(user_id, "upsert", writing, create=True, dimension=vectors.shape[1])

    def delete(self, user_id: str, refs: Sequence[str]) -> None:
        """Remove rows; unknown references are fine."""
        ids = [to_id(ref) for ref in dict.fromkeys(refs)]
        if not ids:
            return
        size = self._largest_batch("delete")
        for start in range(0, len(ids), size):
            self._on(user_id, "delete", partial(remove, ids=ids[start : start + size]))

    def drop(self, user_id: str) -> None:
        """Remove the user's whole space; an unknown user is fine."""
        connection = self._open("drop")
        name = collection_name(user_id)
        with translated("drop", self._breaker):
            from chromadb.errors import NotFoundError

            try:
                connection.client.delete_collection(name)
            except NotFoundError:
                pass
            finally:
                connection.handles.forget(name)
        if self._folders is not None:
            self._folders.remove(name)

    def compact(self) -> None:
        """Remove the vectors that deleted collections have left in the folder, where this process has its lock."""
        if self._folders is None:
            return
        connection = self._open("compact")
        with translated("compact"):
            self._folders.sweep({one.name for page in pages(connection.client) for one in page})

    def query(self, user_id: str, vector: Vector, k: int) -> tuple[str, ...]:
        """Return up to k references, nearest first; to a question of zeros all are equally near.

        Raises:
            EmbeddingError: The vector has another dimension than the user's, or is not finite.
        """
        if not np.isfinite(vector).all():
            raise EmbeddingError("a question's vector holds a value that is not finite")
        if k < 1:
            return ()
        found = self._on(
            user_id,
            "query",
            partial(nearest, vector=vector, k=min(k, LARGEST_K)),
            dimension=len(vector),
        )
        return tuple(to_ref(id_) for id_ in found or ())

    def ids(self, user_id: str) -> frozenset[str]:
        """Return every reference of the user."""
        return frozenset(to_ref(id_) for id_ in self._on(user_id, "list", read_ids) or ())

    def close(self) -> None:
        """Close the client if it is owned; in a forked child leave it to the parent. Every later call raises."""
        if not self._closed and self._owned and self._held is not None and self._held.pid == os.getpid():
            close_client(self._held.client)
        self._closed = True

    def _on(
        self,
        user_id: str,
        operation: str,
        call: Callable[[Collection], _T],
        *,
        create: bool = False,
        dimension: int | None = None,
    ) -> _T | None:
        """Do something with the user's collection; None if there is none and it is not to be created."""
        connection = self._open(operation)
        name = collection_name(user_id)
        watching = nullcontext() if self._folders is None or not create else self._folders.watching(name)
        with translated(operation, self._breaker), watching:
            from chromadb.errors import InvalidArgumentError, NotFoundError

            try:
                handle = connection.handles.get(name)
                if handle is not None:
                    try:
                        return call(handle)
                    except NotFoundError:
                        # Dropped by another process, which may have made it anew: ask again by its name.
                        connection.handles.forget(name)
                return call(connection.fetch(name, create=create))
            except NotFoundError:
                if create:
                    raise
                return None
            except InvalidArgumentError:
                held = connection.fetch(name, create=False).get_model().dimension
                if dimension is None or held in {None, dimension}:
                    raise
                raise EmbeddingError(
                    f"a vector of dimension {dimension} does not belong to an index of dimension {held}: "
                    "open the store with the model that made it, or call reindex()"
                ) from None

    def _largest_batch(self, operation: str) -> int:
        connection = self._open(operation)
        with translated(operation, self._breaker):
            largest = connection.client.get_max_batch_size()
        return largest if largest > 0 else PAGE  # a server that does not say gives -1

    def _open(self, operation: str) -> Connection:
        """Return what serves in this process.

        Raises:
            BackendUnavailable: Nothing does.
        """
        if self._closed:
            raise BackendUnavailable("chroma", operation, "it is closed")
        held = self._held
        if held is None or held.pid != os.getpid():
            if self._make is None:
                raise BackendUnavailable("chroma", operation, "its client was opened before this process was forked")
            # Threads that come here at once may each connect; the last connection stays.
            with translated(operation, self._breaker):
                held = self._held = Connection(self._make())
        return held

    @property
    def _connection(self) -> Connection:
        return self._open("connect")
