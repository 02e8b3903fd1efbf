"""The memory in LlamaIndex's terms: for chat engines, agents, its own `Memory`, retrieval, and as an index.

Each adapter is loaded when it is first used, and says then what to install if LlamaIndex is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from langchain_tiered_memory import NotInstalled

if TYPE_CHECKING:
    from llamaindex_adapter.block import TieredMemoryBlock
    from llamaindex_adapter.index import LlamaIndexVectorIndex
    from llamaindex_adapter.memory import TieredMemory
    from llamaindex_adapter.retriever import TieredMemoryRetriever
    from llamaindex_adapter.tools import create_memory_tools

_ROOM_OF = {
    "LlamaIndexVectorIndex": "index",
    "TieredMemory": "memory",
    "TieredMemoryBlock": "block",
    "TieredMemoryRetriever": "retriever",
    "create_memory_tools": "tools",
}

__all__ = [
    "LlamaIndexVectorIndex",
    "TieredMemory",
    "TieredMemoryBlock",
    "TieredMemoryRetriever",
    "create_memory_tools",
]


def __getattr__(name: str) -> object:
    """Load an adapter at its first use.

    Raises:
        NotInstalled: LlamaIndex is not there.
    """
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{room}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("llama_index"):
            raise
        raise NotInstalled(name, "LlamaIndex", "llama-index-core>=0.14,<0.15") from error
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the adapters."""
    return sorted(__all__)
