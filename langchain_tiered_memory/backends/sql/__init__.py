"""SQL: SQLite in a file or in memory, or PostgreSQL. Truth is kept here; see `tables.py` for its form."""

from __future__ import annotations

from langchain_tiered_memory.backends.sql.agenda import SqlAgenda
from langchain_tiered_memory.backends.sql.connect import connect
from langchain_tiered_memory.backends.sql.items import SqlItemStore
from langchain_tiered_memory.backends.sql.records import SqlRecordStore
from langchain_tiered_memory.backends.sql.schema import SCHEMA_VERSION, compact, prepare
from langchain_tiered_memory.backends.sql.transcripts import SqlTranscriptStore

__all__ = [
    "SCHEMA_VERSION",
    "SqlAgenda",
    "SqlItemStore",
    "SqlRecordStore",
    "SqlTranscriptStore",
    "compact",
    "connect",
    "prepare",
]
