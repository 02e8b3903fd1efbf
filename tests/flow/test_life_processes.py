"""Several processes on one folder: each sees what the others write, one keeps the index, and nothing is lost."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langchain_tiered_memory import MemorySystem, Message
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.systems import QUIET, House

PROCESSES, WRITES = 3, 10


def live(path: Path, number: int) -> int:
    """Write, read and consolidate as one of several; return how often the shared note was read."""
    options = {"embedder": HashedEmbedder(), "settings": QUIET, "clock": lambda: datetime(2026, 1, 1, 13, tzinfo=UTC)}
    with MemorySystem.open(path, **options).sync as memory:
        reads = 0
        for n in range(WRITES):
            memory.remember(
                "ada", f"note {n} of process {number}", importance=0.9 if n % 2 else 0.1, id=f"{number}-{n}"
            )
            memory.remember("ada", "I love tea", "preference", importance=0.9)
            memory.session("ada", "s").add(Message("user", f"message {n} of process {number}"))
            reads += len(memory.recall("ada", "the shared note", 1, filter={"id": "shared"}))
            if n % 5 == number:
                memory.consolidate("ada", everything=True)
                memory.maintain()
        return reads


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_on_one_folder_lose_and_double_nothing(folder_house: House) -> None:
    """Embedded Chroma belongs to one process: a file lock names the indexer; others on the folder scan exactly. 4
    processes × 100 writes on SQLite; counters are exact under concurrent callers."""
    assert isinstance(folder_house.path, Path)
    memory = folder_house.open()
    memory.remember("ada", "the shared note", id="shared", importance=0.9)
    memory.maintain()
    context = multiprocessing.get_context("fork")  # without importing everything anew
    with context.Pool(PROCESSES) as pool:
        running = pool.starmap_async(live, [(folder_house.path, number) for number in range(PROCESSES)])
        while not running.ready():
            assert memory.recall("ada", "the shared note", 3, touch=False)
            running.wait(0.05)
        reads = running.get(60)
    assert reads == [WRITES] * PROCESSES
    assert memory.maintain().failed == ()
    found = memory.list("ada", include_superseded=True, limit=9999)
    mine = {one.id for one in found if one.id.partition("-")[0].isdigit()}
    assert mine == {f"{number}-{n}" for number in range(PROCESSES) for n in range(WRITES)}
    assert sum(one.content == "I love tea" for one in found if one.origin == "remember") == 1
    assert sum(one.content.startswith("message ") for one in found) == PROCESSES * WRITES
    assert len({one.id for one in found}) == len(found)
    assert len(memory.session("ada", "s").transcript()) == PROCESSES * WRITES
    assert memory.get("ada", "shared").access_count == sum(reads)
    status = memory.status()
    assert (status.unindexed, status.pending) == (0, 0)
    memory.close()
    again = folder_house.open()
    assert len(again.list("ada", include_superseded=True, limit=9999)) == len(found)
    assert again.reindex().failed == ()
