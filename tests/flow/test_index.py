"""The vector index and the exact scan give the same answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, NewMemory, SearchSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder

QUIET = MaintenanceSettings(automatic=False)
COUNT = 3_000
QUERIES = 60


def sentence(rng: random.Random) -> str:
    """Return a sentence of a topic, so that near and far texts exist."""
    topic = rng.randrange(40)
    words = [f"topic{topic}word{rng.randrange(30)}" for _ in range(9)] + [
        f"word{rng.randrange(3_000)}" for _ in range(5)
    ]
    return " ".join(words)


def filled(path: Path, search: SearchSettings) -> Engine:
    """Return a memory of so many sentences, brought up to date."""
    memory = MemorySystem.open(
        path, embedder=HashedEmbedder(), settings=Settings(search=search, maintenance=QUIET)
    ).sync
    rng = random.Random(3)
    items = [
        NewMemory(
            sentence(rng), tier="long_term", session_id=f"s{at // 30}", id=f"m{at}", metadata={"even": at % 2 == 0}
        )
        for at in range(COUNT)
    ]
    memory.remember_many("ada", items)
    memory.maintain("ada")
    return memory


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return a memory below the crossover."""
    with filled(tmp_path_factory.mktemp("exact"), SearchSettings()) as memory:
        yield memory


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the same memory above the crossover."""
    with filled(tmp_path_factory.mktemp("indexed"), SearchSettings(exact_up_to=1_000)) as memory:
        memory.close()  # what is held of a user is decided when it is read
        yield memory


def ids(memory: Engine, query: str, k: int = 10, **options: object) -> list[str]:
    """Return the ids of the hits."""
    return [hit.id for hit in memory.recall("ada", query, k, touch=False, **options)]  # type: ignore[arg-type] # tests


def test_status_says_which_path_serves(exact: Engine, indexed: Engine) -> None:
    assert exact.status("ada").search == "exact"
    assert indexed.status("ada").search == "chroma"
    assert indexed.status("ada").unindexed == 0


def test_recall_at_ten_of_the_index_against_the_exact_scan(exact: Engine, indexed: Engine) -> None:
    rng = random.Random(11)
    shares = []
    for _ in range(QUERIES):
        query = sentence(rng)
        wanted = ids(exact, query)
        shares.append(len(set(wanted) & set(ids(indexed, query))) / len(wanted))
    assert sum(shares) / len(shares) >= 0.98


def test_scores_are_the_same_on_both_paths(exact: Engine, indexed: Engine) -> None:
    query = sentence(random.Random(5))
    by_index = {hit.id: hit.score for hit in indexed.recall("ada", query, 10, touch=False)}
    by_scan = {hit.id: hit.score for hit in exact.recall("ada", query, 10, touch=False)}
    shared = by_index.keys() & by_scan.keys()
    assert len(shared) >= 9
    assert all(by_index[one] == pytest.approx(by_scan[one], abs=1e-5) for one in shared)


def test_a_filter_costs_no_recall_on_the_index(exact: Engine, indexed: Engine) -> None:
    rng = random.Random(13)
    for _ in range(10):
        query = sentence(rng)
        where = {"metadata.even": True}
        assert set(ids(indexed, query, filter=where)) == set(ids(exact, query, filter=where))


def test_what_is_not_in_the_index_yet_is_found(indexed: Engine) -> None:
    indexed.remember("ada", "the blue heron of Lisbon", tier="long_term", id="fresh")
    assert ids(indexed, "blue heron Lisbon", 3)[0] == "fresh"
    indexed.forget("ada", "fresh")
    assert "fresh" not in ids(indexed, "blue heron Lisbon", 10)


def test_what_says_nearly_the_same_makes_room_on_both_paths(exact: Engine, indexed: Engine) -> None:
    query = sentence(random.Random(6))
    by_index, by_scan = (
        [hit.id for hit in memory.recall("ada", query, 10, touch=False)] for memory in (indexed, exact)
    )
    assert len(set(by_index) & set(by_scan)) >= 9
    assert by_index[0] == by_scan[0]
