"""Rerankers of every make order the best hits anew, and lose nothing when they fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import BaseDocumentCompressor, Document
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from langchain_tiered_memory import ConfigError, Judgement, MemorySystem, ScoredMemory, SearchSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.systems import QUIET, with_settings

SAID = ("the lake is cold", "the lake is deep", "the lake is wide", "the lake is far")


class Backwards(BaseDocumentCompressor):
    """A LangChain compressor that turns the order around and drops what has a word."""

    drops: str = "far"

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        """Turn the order around."""
        assert (query, callbacks) == ("how is the lake?", None)
        kept = [one for one in reversed(documents) if self.drops not in one.page_content]
        for one in kept:
            one.metadata["relevance_score"] = 0.75
        return kept


class ByLastWord(BaseNodePostprocessor):
    """A LlamaIndex postprocessor that orders by the last word."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        assert query_bundle.query_str == "how is the lake?"
        return sorted(nodes, key=lambda one: one.text.split()[-1])


class Own:
    """A reranker of the port."""

    def rerank(self, query: str, hits: Sequence[ScoredMemory]) -> Sequence[Judgement]:
        """Keep the last one alone."""
        assert query == "how is the lake?"
        return (Judgement(len(hits) - 1, 0.5),)


def longest_first(query: str, texts: Sequence[str]) -> list[float]:
    """Score by what is no share."""
    assert query == "how is the lake?"
    return [100.0 * ("wide" in text) for text in texts]


def opened(reranker: object, settings: Settings = QUIET) -> Engine:
    memory = MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=settings, reranker=reranker).sync
    for text in SAID:
        memory.remember("ada", text, "fact", id=text.split()[-1])
    return memory


def asked(memory: Engine, k: int = 9) -> list[str]:
    return [hit.id for hit in memory.recall("ada", "how is the lake?", k)]


@pytest.fixture
def plain() -> list[str]:
    """The order of the search."""
    with opened(None) as memory:
        return asked(memory)


def test_a_document_compressor_of_langchain_orders_and_drops(plain: list[str]) -> None:
    with opened(Backwards()) as memory:
        assert asked(memory) == [one for one in reversed(plain) if one != "far"]
        (best, *_) = memory.recall("ada", "how is the lake?")
    assert best.explanation["reranked"].value == 0.75
    assert sum(signal.contribution for signal in best.explanation.values()) == pytest.approx(best.score, abs=1e-6)


class LastLetter(BaseCrossEncoder):
    """A cross-encoder that likes what ends late in the alphabet."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Score by the last word."""
        return [float(ord(text.split()[-1][0])) for _, text in text_pairs]


def test_a_compressor_that_langchain_ships_is_taken() -> None:
    with opened(CrossEncoderReranker(model=LastLetter(), top_n=3)) as memory:
        assert asked(memory) == ["wide", "far", "deep"]


def test_a_node_postprocessor_of_llamaindex_orders() -> None:
    with opened(ByLastWord()) as memory:
        assert asked(memory) == ["cold", "deep", "far", "wide"]


def test_postprocessors_that_llamaindex_ships_are_taken(plain: list[str]) -> None:
    with opened(SimilarityPostprocessor(similarity_cutoff=0.999)) as memory:
        assert asked(memory) == []
    with opened(SimilarityPostprocessor(similarity_cutoff=0.0)) as memory:
        assert asked(memory) == plain


def test_a_function_scores_on_any_scale(plain: list[str]) -> None:
    with opened(longest_first) as memory:
        (first, *rest) = memory.recall("ada", "how is the lake?", 4)
    assert first.id == "wide"
    assert [hit.id for hit in rest] == [one for one in plain if one != "wide"]  # equal scores keep the search's order
    assert [hit.explanation["reranked"].value for hit in (first, *rest)] == [1.0, 0.0, 0.0, 0.0]


def test_a_reranker_of_the_port_is_taken(plain: list[str]) -> None:
    with opened(Own()) as memory:
        assert asked(memory) == [plain[-1]]


def test_it_is_given_the_best_whatever_k(plain: list[str]) -> None:
    given: list[int] = []

    def count(_: str, texts: Sequence[str]) -> list[float]:
        given.append(len(texts))
        return list(range(len(texts)))

    with opened(count, with_settings(search=SearchSettings(rerank=3))) as memory:
        assert asked(memory, 1) == [plain[2]]
        assert set(asked(memory, 4)) == set(plain)
    assert given == [3, 4]


def test_only_what_is_returned_is_counted_as_read(plain: list[str]) -> None:
    with opened(longest_first) as memory:
        assert asked(memory, 1) == ["wide"]
        counts = {one.id: one.access_count for one in memory.list("ada")}
    assert counts == dict.fromkeys(plain, 0) | {"wide": 1}


def test_explain_knows_of_the_reranker() -> None:
    with opened(longest_first) as memory:
        last, best = (memory.explain("ada", "how is the lake?", one, k=1) for one in ("far", "wide"))
    assert (last.recalled, best.recalled) == (False, True)
    assert "before the reranker judged" in last.reason


def test_nothing_found_asks_no_reranker() -> None:
    def never(_: str, __: Sequence[str]) -> list[float]:
        pytest.fail("asked for nothing")

    with MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET, reranker=never).sync as memory:
        assert memory.recall("ada", "how is the lake?") == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda _, __: 1 / 0,
        lambda _, texts: [0.5] * (len(texts) + 1),
        lambda _, texts: [float("nan")] * len(texts),
        lambda _, __: None,
        type("Twice", (), {"rerank": lambda *_: [Judgement(0), Judgement(0)]})(),
        type("Beyond", (), {"rerank": lambda *_: [Judgement(99)]})(),
    ],
    ids=["raises", "too many", "nan", "nothing", "twice", "beyond"],
)
def test_one_that_fails_leaves_the_order_of_the_search_and_is_named(
    wrong: object, plain: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(wrong) as memory, caplog.at_level(logging.WARNING):
        hits = memory.recall("ada", "how is the lake?", 9)
    assert [hit.id for hit in hits] == plain
    assert hits.failed == ("reranker",)
    assert "lake" not in caplog.text


async def _later(_: str, __: Sequence[str]) -> list[float]:
    return []


@pytest.mark.parametrize("wrong", [5, "x", Backwards, _later])
def test_what_is_no_reranker_is_refused_in_words(wrong: object) -> None:
    with pytest.raises(ConfigError, match="reranker="):
        MemorySystem.open(":memory:", reranker=wrong)
