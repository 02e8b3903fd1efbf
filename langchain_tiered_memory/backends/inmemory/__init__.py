"""Stores that live in this process only: for tests, for `:memory:`, and as the plainest reading of the ports."""

from __future__ import annotations

from langchain_tiered_memory.backends.inmemory.agenda import InMemoryAgenda
from langchain_tiered_memory.backends.inmemory.items import InMemoryItemStore
from langchain_tiered_memory.backends.inmemory.records import InMemoryRecordStore
from langchain_tiered_memory.backends.inmemory.transcripts import InMemoryTranscriptStore
from langchain_tiered_memory.backends.inmemory.vectors import InMemoryVectorIndex

__all__ = [
    "InMemoryAgenda",
    "InMemoryItemStore",
    "InMemoryRecordStore",
    "InMemoryTranscriptStore",
    "InMemoryVectorIndex",
]
