"""Errors in the words of the command line: options instead of arguments, commands instead of calls."""

from __future__ import annotations

import re
from datetime import datetime

from langchain_tiered_memory.core.errors import ConfigError, InvalidInput, ModelMismatch, TieredMemoryError, shown

_OPTIONS = {
    "user_id": "--user",
    "k": "--k",
    "agent_id": "--agent",
    "session_id": "--session",
    "session": "--session",
    "memory_type": "--type",
    "memory_types": "--type",
    "include_superseded": "--superseded",
    "content": "TEXT",
    "id": "ID",
    "memory_id": "ID",
    "file": "FILE",
    "query": "QUERY",
    "path": "--path",
    "redis": "--redis",
    "vector_db": "--vector-db",
    "postgres": "--postgres",
}
_SAME = frozenset(
    "after as_of filter format importance known_at limit me metadata min_score name neighbors observed_at origin "
    "pinned role said_at slot source_user tier timezone weights".split()
)
"""Arguments whose options bear their names."""
_CALL = re.compile(r"\b(consolidate|forget|list|maintain|recall|reindex|remember|status)\(\)")
_PLACE = re.compile(r"^(path|redis|vector_db|postgres)\b")


def in_words(error: TieredMemoryError) -> str:
    """Return what an error says, in the words of who typed the command."""
    text = str(error)
    if isinstance(error, InvalidInput):
        text = _option(error.field) + text.removeprefix(error.field)
        if isinstance(error.value, datetime):
            text = text.replace(shown(error.value), error.value.isoformat())
    elif isinstance(error, ModelMismatch):
        text = (
            f"the vectors in this store were made by {error.stored!r}, the embedder in use is {error.given!r}: "
            "reindex() embeds everything anew"
        )
    elif isinstance(error, ConfigError):
        text = _PLACE.sub(lambda found: _OPTIONS[found[0]], text)
    return _CALL.sub(r"`ltm \1`", text)


def _option(field: str) -> str:
    """Return the option that an argument comes from; a place in a file is said as it is."""
    head, dot, rest = field.partition(".")
    known = _OPTIONS.get(head) or (f"--{head.replace('_', '-')}" if head in _SAME else head)
    return f"{known}{dot}{rest}"
