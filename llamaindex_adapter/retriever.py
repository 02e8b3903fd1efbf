"""Recall as a LlamaIndex retriever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from langchain_tiered_memory import Memory, MemorySystem, ScoredMemory
from langchain_tiered_memory.core.prompt import quote_memory
from llamaindex_adapter.messages import visible

__all__ = ["TieredMemoryRetriever"]

_TIMES = ("created_at", "last_accessed", "observed_at", "valid_to")
_ELSEWHERE = {"content", "id", "metadata", "user_id", "score", "explanation", "source_ids"}
_FOR_MODELS = {"memory_type", "observed_at", "valid_to", "role", "name", "origin"}
"""What a model is shown of the metadata."""


class MemoryNode(TextNode):
    """A memory as a node: the same one whatever it was found for.

    By their hash retrievers that join several results tell nodes apart, and a `TextNode`'s is made of its metadata too,
    of which here some say why it was found this time.
    """

    @property
    def hash(self) -> str:
        """What is the same for the same memory with the same text."""
        return sha256(f"{self.id_}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


class TieredMemoryRetriever(BaseRetriever):
    """Recalls what one user's memory holds on a question, best first; each call counts one access of what it returns.

    A node's id is the memory's, its score in [0, 1]. Its metadata are the memory's own, and over them `explanation`
    (signal to `value`, `weight` and `contribution`; the contributions add up to the score), `memory_type`, `tier`,
    `importance`, `access_count`, times in ISO 8601, and of `role`, `name`, `origin`, `slot`, `session_id`, … those
    that are known. A model is shown who said it, when and what kind of thing it is.
    """

    def __init__(
        self,
        memory: MemorySystem | str | Path,
        user_id: str,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        min_score: float | str = 0.0,
        max_tokens: int | None = None,
        quoted: bool = False,
        **options: Any,
    ) -> None:
        """Say whose memory is asked; nothing is read yet.

        Args:
            memory: The memory to ask, or what `MemorySystem.at` finds it by.
            user_id: Whose memories.
            session_id: The current session: its window helps a bare query and is not returned again.
            agent_id: Leaves this agent's memories and the shared ones; None all of the user's.
            k: How many at most.
            filter: Which memories, as in `MemorySystem.recall`.
            min_score: The least score; "auto" returns only what is relevant enough to be an answer.
            max_tokens: Most tokens of the texts together.
            quoted: Whether the text is the memory as it may stand in a prompt: one line with date, speaker and origin,
                what was said a JSON string that can pose as nothing else.
            **options: Those of every retriever of LlamaIndex.

        Raises:
            ConfigError: No memory is found by that name.
            InvalidInput: An argument cannot be used.
        """
        super().__init__(**options)
        found = memory if isinstance(memory, MemorySystem) else MemorySystem.at(memory)
        session = "any" if session_id is None else session_id
        found.session(user_id, session, agent_id=agent_id)  # refuses what cannot be used
        self._memory = found
        self._user_id = user_id
        self._quoted = quoted
        self._asked: dict[str, Any] = {
            "k": k,
            "session_id": session_id,
            "agent_id": agent_id,
            "filter": filter,
            "min_score": min_score,
            "max_tokens": max_tokens,
        }

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._memory.sync.recall(self._user_id, query_bundle.query_str, **self._asked)
        return [self._node(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = await self._memory.recall(self._user_id, query_bundle.query_str, **self._asked)
        return [self._node(hit) for hit in hits]

    def _node(self, hit: ScoredMemory) -> NodeWithScore:
        told = _metadata(hit)
        node = MemoryNode(
            id_=hit.id,
            text=quote_memory(hit) if self._quoted else visible(hit.content),
            extra_info=told,  # which is `metadata` to the constructor
            excluded_llm_metadata_keys=[name for name in told if self._quoted or name not in _FOR_MODELS],
            excluded_embed_metadata_keys=list(told),
        )
        return NodeWithScore(node=node, score=hit.score)


def _metadata(hit: ScoredMemory) -> dict[str, Any]:
    known = {field.name: getattr(hit, field.name) for field in fields(Memory) if field.name not in _ELSEWHERE}
    told = {name: value for name, value in known.items() if value is not None}
    times = {name: told[name].isoformat() for name in _TIMES if name in told}
    kinds = {name: str(told[name]) for name in ("memory_type", "tier")}
    parts = {
        name: {"value": one.value, "weight": one.weight, "contribution": one.contribution}
        for name, one in hit.explanation.items()
    }
    return {**hit.metadata, **told, **times, **kinds, "explanation": parts}
