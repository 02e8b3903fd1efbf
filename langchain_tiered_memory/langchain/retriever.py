"""Recall as a LangChain retriever."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from langchain_tiered_memory.core import inputs as door
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import Memory, ScoredMemory
from langchain_tiered_memory.core.prompt import format_memories, quote_memory
from langchain_tiered_memory.core.text import clean
from langchain_tiered_memory.langchain.arguments import a_question
from langchain_tiered_memory.system import MemorySystem

__all__ = ["TieredMemoryRetriever", "format_documents"]

_TIMES = ("created_at", "last_accessed", "observed_at", "valid_to")
_ELSEWHERE = {"content", "id", "metadata", "user_id", "score", "explanation", "source_ids"}


class TieredMemoryRetriever(BaseRetriever):
    """Recalls what one user's memory holds on a question, best first; each call counts one access of what it returns.

    A document's `id` is the memory's. Its metadata are the memory's own, and over them `score` in [0, 1],
    `explanation` (signal to `value`, `weight` and `contribution`; the contributions add up to the score),
    `memory_type`, `tier`, `importance`, `access_count`, times in ISO 8601, and of `role`, `name`, `origin`, `slot`,
    `session_id`, … those that are known.

    Attributes:
        memory: The memory to ask.
        user_id: Whose memories.
        session_id: The current session: its window helps a bare query and is not returned again.
        agent_id: Leaves this agent's memories and the shared ones; None all of the user's.
        k: How many at most; `invoke(query, k=3)` asks for another number.
        filter: Which memories, as in `MemorySystem.recall`; that of `invoke(query, filter=…)` narrows it further.
        min_score: The least score; "auto" returns only what is relevant enough to be an answer.
        max_tokens: Most tokens of the texts together.
        quoted: Whether the content is the memory as it may stand in a prompt: one line with date, speaker and origin,
            the text a JSON string that can pose as nothing else.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: MemorySystem
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    k: int = 5
    filter: dict[str, Any] | None = None
    min_score: float | str = 0.0
    max_tokens: int | None = None
    quoted: bool = False

    def model_post_init(self, context: Any, /) -> None:
        """Refuse at once what cannot work; nothing is read yet."""
        super().model_post_init(context)
        door.user(self.user_id)
        a_question(**self._asked(None, None))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,
    ) -> list[Document]:
        hits = self.memory.sync.recall(self.user_id, query, **self._asked(k, filter))
        return [self._document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,
    ) -> list[Document]:
        hits = await self.memory.recall(self.user_id, query, **self._asked(k, filter))
        return [self._document(hit) for hit in hits]

    def _asked(self, k: int | None, filter: Mapping[str, Any] | None) -> dict[str, Any]:
        both = [one for one in (self.filter, filter) if one is not None]
        return {
            "k": self.k if k is None else k,
            "session_id": self.session_id,
            "agent_id": self.agent_id,
            "filter": {"$and": both} if both else None,
            "min_score": self.min_score,
            "max_tokens": self.max_tokens,
        }

    def _document(self, hit: ScoredMemory) -> Document:
        return Document(quote_memory(hit) if self.quoted else clean(hit.content), id=hit.id, metadata=_metadata(hit))


def _metadata(hit: ScoredMemory) -> dict[str, Any]:
    known = {field.name: getattr(hit, field.name) for field in fields(Memory) if field.name not in _ELSEWHERE}
    told = {name: value for name, value in known.items() if value is not None}
    times = {name: told[name].isoformat() for name in _TIMES if name in told}
    kinds = {name: str(told[name]) for name in ("memory_type", "tier")}
    parts = {
        name: {"value": one.value, "weight": one.weight, "contribution": one.contribution}
        for name, one in hit.explanation.items()
    }
    return {**hit.metadata, **told, **times, **kinds, "score": hit.score, "explanation": parts}


def format_documents(documents: Iterable[Document]) -> str:
    """Return documents of a `TieredMemoryRetriever` as a block of quoted data for a prompt; "" when there are none.

    `retriever | format_documents | prompt`: a stored text can then pose neither as a role nor as an instruction. What
    was found by several queries, as `MultiQueryRetriever` asks, stands there once.

    Raises:
        InvalidInput: A document is of another retriever.
    """
    first: dict[str | None, Document] = {}
    for document in documents:
        first.setdefault(document.id, document)
    return format_memories(list(map(_memory, first.values())))


def _memory(document: Document) -> Memory:
    told = document.metadata
    if not {"observed_at", "memory_type", "importance"} <= told.keys():
        raise InvalidInput("documents", document.id, "documents of a TieredMemoryRetriever are needed")
    observed_at = datetime.fromisoformat(told["observed_at"])
    memory = Memory(
        document.page_content,
        told["memory_type"],
        told["importance"],
        created_at=observed_at,
        last_accessed=observed_at,
        valid_to=datetime.fromisoformat(told["valid_to"]) if "valid_to" in told else None,
        role=told.get("role"),
        name=told.get("name"),
        origin=told.get("origin"),
    )
    return _unquoted(memory) or memory


def _unquoted(memory: Memory) -> Memory | None:
    """Return the memory whose line this text is, as a retriever with `quoted=True` gives it; None when it is none."""
    with suppress(ValueError):
        literal = memory.content.partition(': "')[2]
        bare = replace(memory, content=json.loads(f'"{literal}'))
        return bare if quote_memory(bare) == memory.content else None
    return None
