"""The memory in LangChain's terms: for chains, retrievers, histories, graphs and agents.

Each adapter is loaded when it is first used, and says then what to install if its framework is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_tiered_memory.langchain.history import TieredChatMessageHistory
    from langchain_tiered_memory.langchain.memory import TieredMemory
    from langchain_tiered_memory.langchain.middleware import TieredMemoryMiddleware
    from langchain_tiered_memory.langchain.retriever import TieredMemoryRetriever, format_documents
    from langchain_tiered_memory.langchain.store import TieredMemoryStore
    from langchain_tiered_memory.langchain.tools import create_memory_tools

_ROOM_OF = {
    "TieredChatMessageHistory": "history",
    "TieredMemory": "memory",
    "TieredMemoryMiddleware": "middleware",
    "TieredMemoryRetriever": "retriever",
    "TieredMemoryStore": "store",
    "create_memory_tools": "tools",
    "format_documents": "retriever",
}

__all__ = [
    "TieredChatMessageHistory",
    "TieredMemory",
    "TieredMemoryMiddleware",
    "TieredMemoryRetriever",
    "TieredMemoryStore",
    "create_memory_tools",
    "format_documents",
]


def __getattr__(name: str) -> object:
    """Load an adapter at its first use.

    Raises:
        ImportError: Its framework is not installed; the message says how to install it.
    """
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the adapters."""
    return sorted(__all__)
