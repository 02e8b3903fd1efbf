"""What a memory takes on each store, and in the process that searches it.

    python -m langchain_tiered_memory.bench.sizes [--users 20] [--memories 500] [--redis URL] [--postgres URL]

Texts of 25 words of a vocabulary of 5,000, vectors of 384 numbers as the default model makes them, half of the memories
short-term. Without a URL only what is embedded is measured: SQLite and Chroma in a temporary folder. On servers the
growth of what they hold is measured, so nobody else should use them meanwhile.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, NewMemory, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder

WORDS = 5_000
TURN = 25
DIMENSION = 384
_QUIET = Settings(maintenance=MaintenanceSettings(automatic=False))

Size = Callable[[], int]
"""Tells how many bytes a store has."""


def fill(memory: Engine, users: int, memories: int) -> None:
    """Write everything, and bring the vector index up to it."""
    rng = random.Random(7)
    for user in range(users):
        items = [
            NewMemory(
                " ".join(f"w{rng.randrange(WORDS)}" for _ in range(TURN)),
                session_id=f"s{at // 50}",
                importance=0.9 if at % 2 else 0.5,
            )
            for at in range(memories)
        ]
        memory.remember_many(f"user {user}", items)
        memory.maintain(f"user {user}")


def in_files(folder: Path) -> Size:
    """Return what counts the bytes of the files of a folder."""
    return lambda: sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def in_redis(url: str) -> Size:
    """Return what asks a Redis."""
    from redis import Redis

    def size() -> int:
        with Redis.from_url(url) as client:
            told: Any = client.info("memory")
        return int(told["used_memory"])

    return size


def in_postgres(url: str) -> Size:
    """Return what asks a PostgreSQL: tables, their indexes and long values."""
    from langchain_tiered_memory.backends.sql import connect

    engine, _ = connect(url)
    asked = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'ltm%'"
    )

    def size() -> int:
        with engine.connect() as connection:
            found = int(connection.exec_driver_sql(asked.replace("%", "%%")).scalar_one())
        engine.dispose()
        return found

    return size


def measured(options: argparse.Namespace, folder: Path) -> Mapping[str, float]:
    """Return place to bytes per memory that lies there."""
    half = options.users * options.memories / 2
    system = MemorySystem(
        options.redis, None, options.postgres, path=folder, embedder=HashedEmbedder(DIMENSION), settings=_QUIET
    )
    sizes: dict[str, tuple[Size, float]] = {"Chroma, a vector (folder)": (in_files(folder / "chroma"), half)}
    if options.redis:
        sizes["Redis, a short-term item"] = in_redis(options.redis), half
    if options.postgres:
        sizes["PostgreSQL, a long-term record"] = in_postgres(options.postgres), half
    with system.sync as memory:
        before = {name: size() for name, (size, _) in sizes.items()}
        fill(memory, options.users, options.memories)
        memory.maintain(compact=True)
        found = {name: (size() - before[name]) / each for name, (size, each) in sizes.items()}
        held = memory._opening.rooms().snapshots  # noqa: SLF001 - what a process holds is no part of the contract
        memory.recall("user 0", "w1 w2", touch=False)
        found["the process that searches it"] = held.strict("user 0").nbytes / options.memories
    if not options.postgres:
        each = half if options.redis else 2 * half
        found["SQLite, a memory (file)"] = in_files(folder)() / each - found["Chroma, a vector (folder)"] * half / each
    return found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--memories", type=int, default=500, help="of each user")
    parser.add_argument("--redis")
    parser.add_argument("--postgres")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(options, Path(folder))
    for name, size in found.items():
        print(f"{name:36s} {size / 1000:7.2f} kB")


if __name__ == "__main__":
    main()
