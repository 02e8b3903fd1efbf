"""Any vector store of LlamaIndex's as the index of a memory."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import quote, unquote
from uuid import UUID

import numpy as np
from llama_index.core.schema import BaseNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from langchain_tiered_memory import BackendUnavailable, InvalidInput
from langchain_tiered_memory.core.ports import Vector

__all__ = ["LlamaIndexVectorIndex"]

_T = TypeVar("_T")

_USER, _REF, _DIMENSION = "memory_user", "memory_ref", "memory_dimension"
"""Metadata of a row: a hash of the user, the reference, and how many numbers its vector has."""
_ALL = 10_000_000
"""Rows asked for where all are meant, of stores that return fewer unless told how many."""
_ABSENT = re.compile(
    r"(collection|table|index|namespace)\b.{0,200}\b(not found|n't exist|not exist|not initialized)"
    r"|not found: (collection|table|index)|no such (collection|table|index)",
    re.IGNORECASE | re.DOTALL,
)
"""What stores say of themselves before the first row has been added."""


class LlamaIndexVectorIndex:
    """A `VectorIndex` in a vector store of LlamaIndex's: pass it as `vector_db=` and keep the engine you run.

    Users share the store; each row bears a hash of its user, by which every call is filtered. A row holds a reference
    and a vector, and no text. A vector without a direction is never written, and a row that it would have replaced
    goes.

    A store has vectors of one length. When the embedding model changes and the first vector of another length comes,
    the rows of the old one are removed, which nobody can ask any more, and if then nothing else is left the store is
    cleared; `MemorySystem.reindex` fills it. So give it a collection of its own.

    It needs a store that filters by metadata and deletes; one that can list its nodes (`get_nodes`) serves `ids` too.
    `SimpleVectorStore` and Qdrant keep the whole contract; Chroma does but for another length of vectors, which takes a
    new collection there. LanceDB's does not serve: its deletes fail.
    """

    def __init__(self, store: BasePydanticVectorStore, *, name: str | None = None) -> None:
        """Serve from a store.

        Args:
            store: The store; it is not closed.
            name: What serves it, for people; None takes the class's name.

        Raises:
            InvalidInput: It is no vector store of LlamaIndex's.
        """
        given: object = store
        if not isinstance(given, BasePydanticVectorStore):
            raise InvalidInput("store", type(given), "a BasePydanticVectorStore of LlamaIndex is needed")
        self._store = store
        self._name = name or type(store).__name__
        self._dimension: int | None = None
        self._lock = threading.RLock()  # not every store may be written and read at once

    @property
    def name(self) -> str:
        """What serves it, for people."""
        return self._name

    def upsert(self, user_id: str, rows: Sequence[tuple[str, Vector]]) -> None:
        """Add or replace rows by reference; of rows with one reference the last counts.

        The rows replaced are deleted first, because not every store replaces: interrupted, doing it again is right.

        Raises:
            BackendUnavailable: The store did not take them.
        """
        given = dict(rows)
        good = {ref: vector for ref, vector in given.items() if np.isfinite(vector).all() and np.any(vector)}
        nodes = [self._row(user_id, ref, vector) for ref, vector in good.items()]
        self._ask("upsert", lambda: self._replace([self._id(user_id, ref) for ref in given], nodes), None)

    def delete(self, user_id: str, refs: Sequence[str]) -> None:
        """Remove rows; unknown references are fine."""
        self._ask("delete", lambda: self._remove([self._id(user_id, ref) for ref in refs]), None)

    def drop(self, user_id: str) -> None:
        """Remove the user's rows; an unknown user is fine."""
        self._ask("drop", lambda: self._remove_all(_of(user_id)), None)

    def query(self, user_id: str, vector: Vector, k: int) -> tuple[str, ...]:
        """Return up to k references, nearest first; none for a vector without a direction."""
        if not np.any(vector):
            return ()
        question = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=k, filters=_of(user_id))
        return self._ask("query", lambda: _refs(self._store.query(question)), ())

    def ids(self, user_id: str) -> frozenset[str]:
        """Return every reference of the user.

        Raises:
            BackendUnavailable: The store cannot list its nodes.
        """
        return self._ask("list", lambda: frozenset(map(_ref, self._listed(_of(user_id)))), frozenset())

    def close(self) -> None:
        """Leave the store to whoever opened it."""

    def _ask(self, operation: str, work: Callable[[], _T], nothing: _T) -> _T:
        """Let one call at a time ask the store, and say of its errors what they are to us."""
        with self._lock:
            try:
                return work()
            except Exception as error:
                if operation != "upsert" and _ABSENT.search(str(error)):
                    return nothing  # no row was ever added
                raise BackendUnavailable(self._name, operation, f"{type(error).__name__}: {error}") from error

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _id(self, user_id: str, ref: str) -> str:
        """Return the id of a row: a UUID, which every engine takes, or, where only ids come back, a readable one."""
        if not self._store.stores_text:
            return f"{_hashed(user_id)}/{_quoted(ref)}"
        return str(UUID(bytes=blake2b(f"{_hashed(user_id)}/{_quoted(ref)}".encode(), digest_size=16).digest()))

    def _row(self, user_id: str, ref: str, vector: Vector) -> TextNode:
        row_id = self._id(user_id, ref)
        return TextNode(
            id_=row_id,
            text="",
            embedding=vector.tolist(),
            metadata={_USER: _hashed(user_id), _REF: _quoted(ref), _DIMENSION: len(vector)},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=row_id)},
        )

    def _replace(self, ids: Sequence[str], nodes: Sequence[TextNode]) -> None:
        self._remove(ids)
        if nodes:
            self._agree(nodes[0].metadata[_DIMENSION])
            self._store.add(nodes)

    def _remove(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        try:
            self._store.delete_nodes(node_ids=list(ids))
        except Exception as error:  # noqa: BLE001 - not every store can; what else is wrong is raised by what follows
            if not _ABSENT.search(str(error)):
                for one in ids:
                    self._store.delete(ref_doc_id=one)

    def _remove_all(self, filters: MetadataFilters) -> None:
        try:
            self._store.delete_nodes(filters=filters)
        except Exception:  # noqa: BLE001 - not every store can; what else is wrong is raised by what follows
            self._remove([node.node_id for node in self._listed(filters)])

    def _listed(self, filters: MetadataFilters | None) -> list[BaseNode]:
        """Return the nodes of a store; an empty list if there is nothing in it yet."""
        if isinstance(self._store, SimpleVectorStore):  # which keeps no nodes, only their metadata
            held = self._store.data.metadata_dict
            return [TextNode(id_=one, metadata=told) for one, told in held.items() if _matches(told, filters)]
        takes_limit = "limit" in inspect.signature(self._store.get_nodes).parameters
        limit: dict[str, Any] = {"limit": _ALL} if takes_limit else {}
        return self._store.get_nodes(node_ids=None, filters=filters, **limit)

    # -- dimensions ----------------------------------------------------------------------------------------------------

    def _agree(self, dimension: int) -> None:
        """Make room for vectors of this length."""
        if dimension == self._dimension:
            return
        with suppress(NotImplementedError):
            others = _where(MetadataFilter(key=_DIMENSION, value=dimension, operator=FilterOperator.NE))
            if not isinstance(self._store, SimpleVectorStore) and self._there(others):
                self._remove_all(others)
                if not self._there(None):
                    self._store.clear()
        self._dimension = dimension

    def _there(self, filters: MetadataFilters | None) -> bool:
        try:
            return bool(self._listed(filters))
        except NotImplementedError:
            raise
        except Exception as error:
            if _ABSENT.search(str(error)):
                return False
            raise


def _hashed(user_id: str) -> str:
    return blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _quoted(ref: str) -> str:
    """Return a reference in characters that every engine stores; `unquote` is the way back."""
    return quote(ref, safe="#:@", errors="surrogatepass")


def _ref(node: BaseNode) -> str:
    return unquote(node.metadata[_REF], errors="surrogatepass")


def _refs(found: VectorStoreQueryResult) -> tuple[str, ...]:
    return tuple(map(_ref, found.nodes)) if found.nodes else tuple(map(_plain_ref, found.ids or ()))


def _plain_ref(row_id: str) -> str:
    return unquote(row_id.partition("/")[2], errors="surrogatepass")


def _where(condition: MetadataFilter) -> MetadataFilters:
    return MetadataFilters(filters=[condition])


def _of(user_id: str) -> MetadataFilters:
    return _where(MetadataFilter(key=_USER, value=_hashed(user_id)))


def _matches(metadata: dict[str, Any], filters: MetadataFilters | None) -> bool:
    conditions = filters.filters if filters is not None else []
    return all(isinstance(one, MetadataFilter) and metadata.get(one.key) == one.value for one in conditions)
