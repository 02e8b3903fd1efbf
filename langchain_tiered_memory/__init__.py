"""A three-tier memory for LLM applications: working, short-term and long-term.

Importing this package loads no driver and no framework; each public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from langchain_tiered_memory.langchain import __all__ as _adapters

if TYPE_CHECKING:
    from langchain_tiered_memory.alone import LongTermMemory, ShortTermMemory, WorkingMemory
    from langchain_tiered_memory.core.config import (
        ExtractionSettings,
        ForgettingRule,
        ForgettingSettings,
        MaintenanceSettings,
        PlacementSettings,
        RankingWeights,
        SearchSettings,
        ServerSettings,
        Settings,
        ShortTermSettings,
        WorkingSettings,
    )
    from langchain_tiered_memory.core.errors import (
        BackendUnavailable,
        ConfigError,
        Conflict,
        EmbeddingError,
        ExtractionError,
        InvalidInput,
        ModelMismatch,
        NotFound,
        NotInstalled,
        SchemaMismatch,
        TieredMemoryError,
    )
    from langchain_tiered_memory.core.model import (
        Context,
        HistoryEvent,
        Memory,
        MemoryType,
        Message,
        NewMemory,
        RecallResult,
        ScoredMemory,
        Signal,
        Tier,
    )
    from langchain_tiered_memory.core.ports import (
        Embedder,
        ExtractedFact,
        FactExtractor,
        ImportanceScorer,
        Judgement,
        Reranker,
        VectorIndex,
    )
    from langchain_tiered_memory.core.reports import (
        ConsolidationReport,
        Explanation,
        ForgetReceipt,
        MaintenanceReport,
        PolicyChoice,
        ReindexReport,
        Status,
        TransferReport,
        WorkReport,
    )
    from langchain_tiered_memory.core.summary import Summary
    from langchain_tiered_memory.extraction import ModelExtractor, ModelScorer
    from langchain_tiered_memory.faces import Session
    from langchain_tiered_memory.langchain import (
        TieredChatMessageHistory,
        TieredMemory,
        TieredMemoryMiddleware,
        TieredMemoryRetriever,
        TieredMemoryStore,
        create_memory_tools,
    )
    from langchain_tiered_memory.system import MemorySystem
    from langchain_tiered_memory.work import work_once

_ROOMS = {
    "alone": ("LongTermMemory", "ShortTermMemory", "WorkingMemory"),
    "core.config": (
        "ExtractionSettings",
        "ForgettingRule",
        "ForgettingSettings",
        "MaintenanceSettings",
        "PlacementSettings",
        "RankingWeights",
        "SearchSettings",
        "ServerSettings",
        "Settings",
        "ShortTermSettings",
        "WorkingSettings",
    ),
    "core.errors": (
        "BackendUnavailable",
        "ConfigError",
        "Conflict",
        "EmbeddingError",
        "ExtractionError",
        "InvalidInput",
        "ModelMismatch",
        "NotFound",
        "NotInstalled",
        "SchemaMismatch",
        "TieredMemoryError",
    ),
    "core.model": (
        "Context",
        "HistoryEvent",
        "Memory",
        "MemoryType",
        "Message",
        "NewMemory",
        "RecallResult",
        "ScoredMemory",
        "Signal",
        "Tier",
    ),
    "core.ports": (
        "Embedder",
        "ExtractedFact",
        "FactExtractor",
        "ImportanceScorer",
        "Judgement",
        "Reranker",
        "VectorIndex",
    ),
    "core.reports": (
        "ConsolidationReport",
        "Explanation",
        "ForgetReceipt",
        "MaintenanceReport",
        "PolicyChoice",
        "ReindexReport",
        "Status",
        "TransferReport",
        "WorkReport",
    ),
    "core.summary": ("Summary",),
    "extraction": ("ModelExtractor", "ModelScorer"),
    "faces": ("Session",),
    "langchain": (
        "TieredChatMessageHistory",
        "TieredMemory",
        "TieredMemoryMiddleware",
        "TieredMemoryRetriever",
        "TieredMemoryStore",
        "create_memory_tools",
    ),
    "system": ("MemorySystem",),
    "work": ("work_once",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__version__ = "0.1.0"

__all__ = [
    "BackendUnavailable",
    "ConfigError",
    "Conflict",
    "ConsolidationReport",
    "Context",
    "Embedder",
    "EmbeddingError",
    "Explanation",
    "ExtractedFact",
    "ExtractionError",
    "ExtractionSettings",
    "FactExtractor",
    "ForgetReceipt",
    "ForgettingRule",
    "ForgettingSettings",
    "HistoryEvent",
    "ImportanceScorer",
    "InvalidInput",
    "Judgement",
    "LongTermMemory",
    "MaintenanceReport",
    "MaintenanceSettings",
    "Memory",
    "MemorySystem",
    "MemoryType",
    "Message",
    "ModelExtractor",
    "ModelMismatch",
    "ModelScorer",
    "NewMemory",
    "NotFound",
    "NotInstalled",
    "PlacementSettings",
    "PolicyChoice",
    "RankingWeights",
    "RecallResult",
    "ReindexReport",
    "Reranker",
    "SchemaMismatch",
    "ScoredMemory",
    "SearchSettings",
    "ServerSettings",
    "Session",
    "Settings",
    "ShortTermMemory",
    "ShortTermSettings",
    "Signal",
    "Status",
    "Summary",
    "Tier",
    "TieredChatMessageHistory",
    "TieredMemory",
    "TieredMemoryError",
    "TieredMemoryRetriever",
    "TransferReport",
    "VectorIndex",
    "WorkReport",
    "WorkingMemory",
    "WorkingSettings",
    "create_memory_tools",
    "work_once",
]
if TYPE_CHECKING or "TieredMemoryStore" in _adapters:
    __all__ += ["TieredMemoryStore"]
if TYPE_CHECKING or "TieredMemoryMiddleware" in _adapters:
    __all__ += ["TieredMemoryMiddleware"]


def __getattr__(name: str) -> object:
    """Load a public name from its room at its first use."""
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_ROOM_OF)
