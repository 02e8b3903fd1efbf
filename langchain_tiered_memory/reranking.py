"""Other people's rerankers behind our port, told apart by their methods; a framework is imported when one is asked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from langchain_tiered_memory.core.errors import ConfigError, TieredMemoryError, shown
from langchain_tiered_memory.core.model import ScoredMemory
from langchain_tiered_memory.core.ports import Judgement, Reranker
from langchain_tiered_memory.core.text import clean

__all__ = ["as_reranker"]

_POSITION = "tiered_memory_position"


def as_reranker(obj: Any) -> Reranker:
    """Put a reranker of another make behind the `Reranker` port; its failures and unusable answers become one error.

    Takes a `Reranker`, a LangChain document compressor (`compress_documents`), a LlamaIndex node postprocessor
    (`postprocess_nodes`), or a function from a query and a list of texts to as many scores, higher is better.

    Raises:
        ConfigError: `obj` is none of these, or answers only to `await`.
    """
    if isinstance(obj, _Adapted):
        return obj
    if not isinstance(obj, type):
        for name, judge in (
            ("rerank", _ours),
            ("compress_documents", _of_langchain),
            ("postprocess_nodes", _of_llamaindex),
            ("__call__", _of_function),
        ):
            method = getattr(obj, name, None)
            if callable(method):
                if inspect.iscoroutinefunction(obj) or inspect.iscoroutinefunction(method):
                    raise ConfigError(f"reranker={shown(obj)} answers asynchronously; a blocking one is needed")
                return _Adapted(obj, judge)
    raise ConfigError(
        f"reranker={shown(obj)} cannot be used: give a LangChain document compressor, a LlamaIndex node postprocessor, "
        "or a function from a query and a list of texts to a list of scores"
    )


_Judge = Callable[[Any, str, Sequence[ScoredMemory]], Sequence[Judgement]]


class _Adapted:
    """Another reranker, its answers checked."""

    def __init__(self, inner: Any, judge: _Judge) -> None:
        self._inner = inner
        self._judge = judge

    def rerank(self, query: str, hits: Sequence[ScoredMemory]) -> tuple[Judgement, ...]:
        try:
            judged = tuple(self._judge(self._inner, query, hits))
        except TieredMemoryError:
            raise
        except Exception as error:  # its own words may hold the text, so only its kind is told
            raise TieredMemoryError(f"the reranker failed with {type(error).__name__}") from error
        places = [one.place for one in judged]
        if len(set(places)) != len(places) or not set(places) <= set(range(len(hits))):
            raise TieredMemoryError("the reranker returned something that it was not given, or something twice")
        return judged


def _ours(inner: Any, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
    return tuple(inner.rerank(query, hits))


def _of_langchain(inner: Any, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
    from langchain_core.documents import Document

    given = [
        Document(clean(hit.content), id=hit.id, metadata={_POSITION: place, "score": hit.score})
        for place, hit in enumerate(hits)
    ]
    kept = inner.compress_documents(given, query=clean(query))
    return [Judgement(one.metadata[_POSITION], _share(one.metadata.get("relevance_score"))) for one in kept]


def _of_llamaindex(inner: Any, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
    from llama_index.core.schema import NodeWithScore, TextNode

    given = [
        NodeWithScore(node=TextNode(text=clean(hit.content), id_=str(place)), score=hit.score)
        for place, hit in enumerate(hits)
    ]
    kept = inner.postprocess_nodes(given, query_str=clean(query))
    return [Judgement(int(one.node.node_id), _share(one.score)) for one in kept]


def _of_function(inner: Any, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
    scores = [float(score) for score in inner(clean(query), [clean(hit.content) for hit in hits])]
    if len(scores) != len(hits) or any(map(math.isnan, scores)):
        raise TieredMemoryError("the reranker has to return one number for each text")
    order = sorted(range(len(hits)), key=lambda place: -scores[place])
    return [Judgement(place, _share(scores[place])) for place in order]


def _share(score: object) -> float | None:
    """Return a score that is a share; others are on a scale of their own and tell no more than the order."""
    try:
        number = float(score)  # type: ignore[arg-type] # numbers of any make
    except (TypeError, ValueError):
        return None
    return number if 0 <= number <= 1 else None
