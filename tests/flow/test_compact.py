"""`maintain(compact=True)` gives freed space back."""

from __future__ import annotations

from pathlib import Path

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, NewMemory, Settings
from langchain_tiered_memory.embedding import HashedEmbedder


def test_compact_shrinks_the_file_of_an_erased_user_and_keeps_the_others(tmp_path: Path) -> None:
    settings = Settings(maintenance=MaintenanceSettings(automatic=False))
    with MemorySystem.open(tmp_path, embedder=HashedEmbedder(), settings=settings).sync as memory:
        memory.remember("bob", "I live in Oslo", id="kept")
        memory.remember_many("ada", [NewMemory(f"number {n} " + "x" * 2_000, id=f"m{n}") for n in range(500)])
        memory.forget_user("ada")
        before = (tmp_path / "memory.db").stat().st_size

        memory.maintain(compact=True)

        assert (tmp_path / "memory.db").stat().st_size < before / 2
        assert memory.get("bob", "kept").content == "I live in Oslo"


def test_a_dry_run_compacts_nothing(tmp_path: Path) -> None:
    settings = Settings(maintenance=MaintenanceSettings(automatic=False))
    with MemorySystem.open(tmp_path, embedder=HashedEmbedder(), settings=settings).sync as memory:
        memory.remember_many("ada", [NewMemory(f"number {n} " + "x" * 2_000, id=f"m{n}") for n in range(300)])
        memory.forget_user("ada")
        before = (tmp_path / "memory.db").stat().st_size

        memory.maintain(compact=True, dry_run=True)

        assert (tmp_path / "memory.db").stat().st_size == before
