"""The memory as a LangGraph store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from langchain_tiered_memory.core.errors import ConfigError, NotInstalled, extra
from langchain_tiered_memory.core.values import SyncValues
from langchain_tiered_memory.system import MemorySystem

try:
    from langgraph.store.base import (
        NOT_PROVIDED,
        BaseStore,
        IndexConfig,
        Item,
        NamespacePath,
        NotProvided,
        Op,
        Result,
        SearchItem,
        TTLConfig,
    )
except ImportError as error:
    raise NotInstalled("TieredMemoryStore", "LangGraph", extra("agents")) from error

from langchain_tiered_memory.langchain.arguments import a_memory
from langchain_tiered_memory.langchain.namespaces import Namespace, accepted, user_of
from langchain_tiered_memory.langchain.operations import checked, performed, swept

__all__ = ["TieredMemoryStore"]


class TieredMemoryStore(BaseStore):
    """LangGraph's key-value store, kept in long-term memory.

    Each namespace is a user of its own (`user_of`), found by whole labels. A value is kept as it is until it is
    deleted or its own time to live is over: nothing is merged, consolidated or let go. A search with a query ranks by
    relevance, meaning and keywords together, in [0, 1]; one without returns the last put first.

    A label may be an e-mail address; for the rest LangGraph's rules hold. The operations of a batch are checked
    together, and then done one after the other.
    """

    supports_ttl = True

    def __init__(self, memory: MemorySystem, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """Say where values are kept; nothing is read or written yet.

        Args:
            memory: The memory that keeps them, and embeds them.
            index: Its `fields` say by which parts of a value a search finds it, by default "$", all of it.
            ttl: LangGraph's settings of lives, in minutes. What is past its life is never returned; maintenance
                deletes it, and so does `sweep_ttl`, so there is no sweeper to start.

        Raises:
            ConfigError: `index` holds an embedding model; the memory has its own.
            InvalidInput: It is no memory.
        """
        if {"embed", "dims"} & (index or {}).keys():
            raise ConfigError("the memory embeds: MemorySystem(embedder=…); of index= only fields are of use here")
        self._memory = a_memory(memory)
        self._fields = tuple((index or {}).get("fields") or ("$",))
        self.ttl_config = ttl

    @staticmethod
    def user_of(namespace: Sequence[str]) -> str:
        """Return the user that a namespace is, for `MemorySystem.forget_user` and the like."""
        return user_of(namespace)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations in their order, and return one result for each.

        Raises:
            InvalidNamespaceError: A label cannot be used; nothing was done.
            InvalidInput: A value, a filter or a time to live cannot be used; nothing was done.
            BackendUnavailable: The store does not answer; what came before may have been done.
        """
        return self._done(self._memory.sync.values, checked(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations, as `batch` does."""
        given = checked(ops)
        return await self._memory.values.together(lambda values: self._done(values, given))

    def sweep_ttl(self) -> int:
        """Delete what is past its life, and return how many values that were."""
        return swept(self._memory.sync.values)

    async def asweep_ttl(self) -> int:
        """Delete what is past its life, as `sweep_ttl` does."""
        return await self._memory.values.together(swept)

    def _done(self, values: SyncValues, ops: Sequence[Op]) -> list[Result]:
        return [performed(values, op, self._fields) for op in ops]

    # -- LangGraph's own calls, with labels in a form that it accepts ------------------------------------------------

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return one item, or None."""
        return super().get(accepted(namespace), key, refresh_ttl=refresh_ttl)

    async def aget(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return one item, or None."""
        return await super().aget(accepted(namespace), key, refresh_ttl=refresh_ttl)

    def search(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Return items of a namespace and those in it, the most relevant for a query first."""
        return super().search(
            accepted(namespace_prefix),
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    async def asearch(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Return items, as `search` does."""
        return await super().asearch(
            accepted(namespace_prefix),
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    def put(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Put a value under a key, in place of the one there."""
        super().put(accepted(namespace), key, value, index, ttl=ttl)

    async def aput(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Put a value, as `put` does."""
        await super().aput(accepted(namespace), key, value, index, ttl=ttl)

    def delete(self, namespace: Namespace, key: str) -> None:
        """Delete the value under a key, if there is one."""
        super().delete(accepted(namespace), key)

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Delete a value, as `delete` does."""
        await super().adelete(accepted(namespace), key)

    def list_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Return namespaces with values, sorted, each cut to `max_depth` labels."""
        return super().list_namespaces(
            prefix=accepted(prefix or ()),
            suffix=accepted(suffix or ()),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )

    async def alist_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Return namespaces, as `list_namespaces` does."""
        return await super().alist_namespaces(
            prefix=accepted(prefix or ()),
            suffix=accepted(suffix or ()),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
