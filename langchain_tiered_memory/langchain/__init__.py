"""The memory in LangChain's terms: for chains, retrievers, histories, graphs and agents.

Each adapter is loaded when it is first used, and says then what to install if its framework is missing. Who imports `*`
gets those whose frameworks are there.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
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


def _installed(*names: str) -> bool:
    """Say whether packages are there, without loading them."""
    try:
        return all(map(find_spec, names))
    except ValueError:  # somebody's stand-in for one of them
        return True


__all__ = [
    "TieredChatMessageHistory",
    "TieredMemory",
    "TieredMemoryRetriever",
    "create_memory_tools",
    "format_documents",
]
if TYPE_CHECKING or _installed("langgraph"):
    __all__ += ["TieredMemoryStore"]
if TYPE_CHECKING or _installed("langgraph", "langchain"):
    __all__ += ["TieredMemoryMiddleware"]


def __getattr__(name: str) -> object:
    """Load an adapter at its first use.

    Raises:
        NotInstalled: Its framework is not there.
    """
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the adapters."""
    return sorted(_ROOM_OF)
