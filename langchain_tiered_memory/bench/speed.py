"""Speed of `remember` and `recall` with a free embedder, beside what each would cost with nothing around it.

    python -m langchain_tiered_memory.bench.speed [--memories 10000] [--calls 300]

One user, a store in a temporary folder, random texts of 20 words of a vocabulary of 5,000, sessions of 50 turns.
Printed are p50 and p95 in milliseconds and the ratio of the p50 to its floor, measured in the same run on the same
data: a committed insert into bare SQLite for `remember`, a numpy dot product with the 50 best for `recall`, and a
query of a bare Chroma collection.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory import MemorySystem, NewMemory
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder

WORDS = 5_000
TURN = 20
SESSION = 50
USER = "bench"


def texts(count: int, rng: random.Random) -> list[str]:
    """Return so many random texts."""
    return [" ".join(f"w{rng.randrange(WORDS)}" for _ in range(TURN)) for _ in range(count)]


def timed(calls: int, work: Callable[[int], object]) -> list[float]:
    """Return how long each call took, in milliseconds."""
    took = []
    for number in range(calls):
        start = time.perf_counter()
        work(number)
        took.append((time.perf_counter() - start) * 1e3)
    return took


def shown(name: str, took: Sequence[float], floor: float | None = None) -> str:
    """Return one row of the table."""
    middle, high = statistics.median(took), sorted(took)[int(len(took) * 0.95)]
    ratio = "" if floor is None else f"{middle / floor:8.1f}x"
    return f"{name:44s} {middle:8.3f} {high:8.3f} {ratio}"


def fill(memory: Engine, count: int, rng: random.Random) -> float:
    """Fill a memory, half of it short-term and half long-term; return the seconds it took."""
    items = [
        NewMemory(text, session_id=f"s{at // SESSION}", importance=0.9 if at % 2 else 0.5)
        for at, text in enumerate(texts(count, rng))
    ]
    start = time.perf_counter()
    memory.remember_many(USER, items)
    memory.maintain(USER)
    return time.perf_counter() - start


def ours(folder: Path, memories: int, calls: int, rng: random.Random) -> dict[str, list[float]]:
    """Time the calls of this package on a store of so many memories."""
    memory = MemorySystem.open(folder, embedder=HashedEmbedder()).sync
    try:
        seconds = fill(memory, memories, rng)
        print(f"filled with {memories} memories in {seconds:.1f} s ({memories / seconds:.0f}/s), vector index included")
        fresh, asked = texts(2 * calls, rng), [text[:40] for text in texts(2 * calls, rng)]
        memory.recall(USER, asked[0])

        def remember(number: int) -> object:
            return memory.remember(USER, fresh[number], importance=0.9 if number % 2 else 0.5)

        recall = timed(calls, lambda number: memory.recall(USER, asked[number]))
        alone = timed(calls, remember)
        alternating = []
        for number in range(calls, 2 * calls):
            remember(number)
            alternating += timed(1, lambda _, at=number: memory.recall(USER, asked[at]))  # type: ignore[misc] # bound
        return {"remember": alone, "recall": recall, "recall, alternating with remember": alternating}
    finally:
        memory.close()


def floors(folder: Path, vectors: NDArray[np.float32], calls: int, rng: random.Random) -> dict[str, list[float]]:
    """Time the bare parts on the same machine and data."""
    database = sqlite3.connect(folder / "bare.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT, vector BLOB)")
    rows = texts(calls, rng)

    def commit(number: int) -> object:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO bare (text, vector) VALUES (?, ?)", (rows[number], vectors[number].tobytes()))
        return database.execute("COMMIT")

    def dot(number: int) -> object:
        return np.argpartition(-(vectors @ vectors[number]), 50)[:50]

    measured = {"SQLite: one committed insert": timed(calls, commit), "numpy: dot and 50 best": timed(calls, dot)}
    database.close()
    return measured | {"Chroma: one query of 50": chroma(folder, vectors, calls)}


def chroma(folder: Path, vectors: NDArray[np.float32], calls: int) -> list[float]:
    """Time a bare Chroma collection of the same vectors."""
    from chromadb import PersistentClient

    client = PersistentClient(str(folder / "bare-chroma"))
    collection: Any = client.create_collection("bare", embedding_function=None)
    step = 5_000
    for start in range(0, len(vectors), step):
        part = vectors[start : start + step]
        collection.add(ids=[str(start + at) for at in range(len(part))], embeddings=part)
    return timed(calls, lambda number: collection.query(query_embeddings=[vectors[number]], n_results=50))


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    options = parser.parse_args()
    rng = random.Random(7)
    vectors = HashedEmbedder().embed_documents(texts(options.memories, rng))
    with tempfile.TemporaryDirectory() as folder:
        bare = floors(Path(folder), vectors, min(options.calls, options.memories), rng)
        made = ours(Path(folder) / "memory", options.memories, options.calls, rng)
    print(f"\n{'':44s} {'p50 ms':>8s} {'p95 ms':>8s} {'to floor':>9s}")
    commit, dot = (statistics.median(bare[name]) for name in list(bare)[:2])
    for name, took in bare.items():
        print(shown(name, took))
    for name, took in made.items():
        print(shown(name, took, commit if name == "remember" else dot))


if __name__ == "__main__":
    main()
