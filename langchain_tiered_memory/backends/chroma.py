"""The vector index on Chroma: embedded, on a server, or on a client of the caller's own."""

from __future__ import annotations

import os
from functools import partial
from hashlib import blake2b
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from langchain_tiered_memory.backends.chroma_client import (
    Connection,
    FolderLock,
    close_client,
    connect,
    lock_folder,
    open_folder,
    translated,
)
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, EmbeddingError
from langchain_tiered_memory.core.text import escape, unescape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

    from langchain_tiered_memory.core.ports import Vector

__all__ = ["ChromaVectorIndex", "FolderLock", "lock_folder"]

_T = TypeVar("_T")

_BATCH_BYTES: Final = 4_000_000
"""Vectors of one write: a server takes 40 MB, and an old one is sent each number as up to 20 characters."""

_PAGE: Final = 20_000
"""References read at once."""

_LARGEST_K: Final = 2**31 - 1
"""More cannot be asked of Chroma, and need not be."""

_EMPTY: Final = "\x1a"
"""The one reference that Chroma refuses and `escape` leaves alone is the empty one; `escape` never gives this."""


class ChromaVectorIndex:
    """A `VectorIndex` with one collection per user, which holds references and vectors and nothing else.

    A collection is named by a hash of the user id, because Chroma takes only a few characters in names. A vector that
    has no direction, all zeros or not finite, is never written, and a row it would have replaced goes: to Chroma zeros
    are equal to everything. All vectors of a user have one dimension, that of the first until `drop`; another raises
    `EmbeddingError`, naming both. Nearest neighbours are approximate: a few of a hundred may be missed.

    `upsert` and `delete` of many rows go in batches; when one fails, those before it are done, and doing it all again
    is right. `ids` reads in pages: what others write meanwhile may or may not be in it.

    Where the client cannot serve, in a process that was forked from the one that opened it, each call raises
    `BackendUnavailable`; an index made by `from_url` connects anew there instead.
    """

    def __init__(self, client: ClientAPI, *, name: str = "chroma", owned: bool = False) -> None:
        """Serve from a client.

        Args:
            client: Any synchronous Chroma client; its tenant and database are used as they are.
            name: What serves it, for people.
            owned: Whether `close` closes the client.

        Raises:
            ConfigError: It is something else, such as an asynchronous client.
        """
        if not hasattr(client, "get_or_create_collection") or iscoroutinefunction(client.get_or_create_collection):
            raise ConfigError(
                f"vector_db={type(client).__name__} cannot be used: give the URL of a Chroma server or a blocking "
                "Chroma client, calls stay async"
            )
        self._name = name
        self._owned = owned
        self._connection = Connection(client)
        self._reconnect: Callable[[], ClientAPI] | None = None
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
        return cls(open_folder(path), owned=True)

    @classmethod
    def from_url(cls, url: str) -> ChromaVectorIndex:
        """Connect to the Chroma server at `http://host:port` or `https://host:port`.

        Raises:
            BackendUnavailable: No Chroma server answers there.
            ConfigError: The URL is none, or says more than that.
        """
        index = cls(connect(url), owned=True)
        index._reconnect = partial(connect, url)
        return index

    @property
    def name(self) -> str:
        """What serves it, for people."""
        return self._name

    def upsert(self, user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        """Add or replace rows; of rows with one reference the last counts."""
        kept, vectors, left_out = _usable(rows)
        self.delete(user_id, left_out)
        if not kept:
            return
        size = min(self._largest_batch("upsert"), max(1, _BATCH_BYTES // vectors[0].nbytes))
        for start in range(0, len(kept), size):
            ids, batch = kept[start : start + size], vectors[start : start + size]
            write = partial(_write, ids=ids, vectors=batch)
            self._on(user_id, "upsert", write, create=True, dimension=vectors.shape[1])

    def delete(self, user_id: str, refs: Sequence[str]) -> None:
        """Remove rows; unknown references are fine."""
        ids = [_to_id(ref) for ref in dict.fromkeys(refs)]
        if not ids:
            return
        size = self._largest_batch("delete")
        for start in range(0, len(ids), size):
            self._on(user_id, "delete", partial(_remove, ids=ids[start : start + size]))

    def drop(self, user_id: str) -> None:
        """Remove the user's whole space; an unknown user is fine."""
        connection = self._open("drop")
        name = _collection_name(user_id)
        with translated("drop"):
            from chromadb.errors import NotFoundError

            try:
                connection.client.delete_collection(name)
            except NotFoundError:
                pass
            finally:
                connection.handles.forget(name)

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
            partial(_nearest, vector=vector, k=min(k, _LARGEST_K)),
            dimension=len(vector),
        )
        return tuple(_to_ref(id_) for id_ in found or ())

    def ids(self, user_id: str) -> frozenset[str]:
        """Return every reference of the user."""
        return frozenset(_to_ref(id_) for id_ in self._on(user_id, "list", _read_ids) or ())

    def close(self) -> None:
        """Close the client if it is owned; in a forked child leave it to the parent. Every later call raises."""
        if not self._closed and self._owned and self._connection.pid == os.getpid():
            close_client(self._connection.client)
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
        name = _collection_name(user_id)
        with translated(operation):
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
        with translated(operation):
            largest = connection.client.get_max_batch_size()
        return largest if largest > 0 else _PAGE  # a server that does not say gives -1

    def _open(self, operation: str) -> Connection:
        """Return what serves in this process.

        Raises:
            BackendUnavailable: Nothing does.
        """
        if self._closed:
            raise BackendUnavailable("chroma", operation, "it is closed")
        if self._connection.pid != os.getpid():
            if self._reconnect is None:
                raise BackendUnavailable("chroma", operation, "its client was opened before this process was forked")
            # Threads that come here at once may each connect; the last connection stays.
            self._connection = Connection(self._reconnect())
        return self._connection


def _write(collection: Collection, ids: list[str], vectors: NDArray[np.float32]) -> None:
    collection.upsert(ids=ids, embeddings=vectors)


def _remove(collection: Collection, ids: list[str]) -> None:
    collection.delete(ids=ids)


def _nearest(collection: Collection, vector: Vector, k: int) -> list[str]:
    question = np.asarray([vector], dtype=np.float32)
    return collection.query(query_embeddings=question, n_results=k, include=[])["ids"][0]


def _read_ids(collection: Collection) -> list[str]:
    ids: list[str] = []
    while True:
        page = collection.get(include=[], limit=_PAGE, offset=len(ids))["ids"]
        ids += page
        if len(page) < _PAGE:
            return ids


def _usable(rows: Sequence[tuple[str, Vector]]) -> tuple[list[str], NDArray[np.float32], list[str]]:
    """Split rows into Chroma's ids, one vector each, and the references whose vector has no direction."""
    latest = dict(rows)
    if not latest:
        return [], np.empty((0, 0), np.float32), []
    dimensions = {len(vector) for vector in latest.values()}
    if len(dimensions) > 1:
        raise EmbeddingError(f"vectors of dimensions {min(dimensions)} and {max(dimensions)} do not fit in one index")
    vectors = np.array(list(latest.values()), dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    usable = np.isfinite(lengths) & (lengths > 0)
    kept = [_to_id(ref) for ref, fit in zip(latest, usable, strict=True) if fit]
    left_out = [ref for ref, fit in zip(latest, usable, strict=True) if not fit]
    return kept, vectors[usable], left_out


def _collection_name(user_id: str) -> str:
    """Name a user's collection: "surrogatepass", because any string is a user id, and different ones stay so."""
    return f"ltm-{blake2b(user_id.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _to_id(ref: str) -> str:
    return escape(ref) or _EMPTY


def _to_ref(id_: str) -> str:
    return "" if id_ == _EMPTY else unescape(id_)
