"""What embedded Chroma leaves on disk of a collection that was deleted: it goes too, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, SearchSettings, Settings
from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
from langchain_tiered_memory.core.ports import Vector
from langchain_tiered_memory.embedding import HashedEmbedder

RANDOM = np.random.default_rng(0)


def rows(user: str, count: int) -> list[tuple[str, Vector]]:
    return [(f"{user}-{number}#0", RANDOM.standard_normal(16).astype(np.float32)) for number in range(count)]


def folders(path: Path) -> set[str]:
    return {one.name for one in (path / "data").iterdir() if one.is_dir()}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[ChromaVectorIndex]:
    made = ChromaVectorIndex.embedded(tmp_path)
    yield made
    made.close()


def test_the_folder_of_a_dropped_user_goes_and_those_of_others_stay(tmp_path: Path, index: ChromaVectorIndex) -> None:
    """1,500 rows, because Chroma writes references into the folder only now and then; also over a reopening."""
    kept = rows("bob", 1_500)
    index.upsert("ada", rows("ada", 1_500))
    index.upsert("bob", kept)
    assert len(folders(tmp_path)) == 2

    index.drop("ada")

    assert len(folders(tmp_path)) == 1
    left = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and path.name != "chroma.sqlite3"]
    assert [path for path in left if b"ada-7#0" in path.read_bytes()] == []
    assert index.query("bob", kept[7][1], 1) == ("bob-7#0",)
    index.upsert("ada", rows("ada", 3))
    index.close()
    again = ChromaVectorIndex.embedded(tmp_path)
    assert len(folders(tmp_path)) == 2
    again.drop("ada")
    assert len(folders(tmp_path)) == 1
    assert again.query("bob", kept[7][1], 1) == ("bob-7#0",)
    assert again.ids("ada") == frozenset()
    again.close()
    assert len(folders(tmp_path)) == 1


def test_an_index_that_is_written_anew_has_one_folder(tmp_path: Path, index: ChromaVectorIndex) -> None:
    for _ in range(3):
        index.drop("ada")
        index.upsert("ada", rows("ada", 3))
    assert len(folders(tmp_path)) == 1


def test_users_that_come_at_once_are_told_apart(tmp_path: Path, index: ChromaVectorIndex) -> None:
    users = {f"user {number}": rows(f"user {number}", 3) for number in range(12)}
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(index.upsert, users, users.values()))

    for gone, user in enumerate(users, 1):
        index.drop(user)
        assert len(folders(tmp_path)) == len(users) - gone
        for other in list(users)[gone:]:
            assert len(index.ids(other)) == 3
            assert index.query(other, users[other][1][1], 1) == (f"{other}-1#0",)


def test_compacting_removes_what_earlier_deletions_left(tmp_path: Path, index: ChromaVectorIndex) -> None:
    """Folders whose collection nobody knows any more go once every living collection's own folder is known."""
    index.upsert("old", rows("old", 3))
    index.upsert("gone", rows("gone", 3))
    index.close()
    (tmp_path / "folders.txt").unlink()  # as before these were noted
    index = ChromaVectorIndex.embedded(tmp_path)
    index.upsert("new", rows("new", 3))
    index.drop("gone")
    index.compact()
    assert len(folders(tmp_path)) == 3
    assert len(index.ids("old")) == 3

    index.drop("old")
    index.compact()

    assert len(folders(tmp_path)) == 1
    assert len(index.ids("new")) == 3
    index.upsert("old", rows("old", 3))
    index.drop("old")
    assert len(folders(tmp_path)) == 1
    index.close()


def test_only_chromas_own_folders_are_ever_removed(tmp_path: Path) -> None:
    """Whatever the note says."""
    precious = [tmp_path / "data" / "notes", tmp_path / "precious"]
    for folder in precious:
        folder.mkdir(parents=True)
        (folder / "file").touch()
    hostile = "ltm-x ../precious\nltm-y notes\n\xff torn"
    (tmp_path / "folders.txt").write_text(hostile, "utf-8")
    index = ChromaVectorIndex.embedded(tmp_path)
    index.upsert("ada", rows("ada", 3))
    index.drop("ada")
    index.compact()
    index.close()

    assert all((folder / "file").is_file() for folder in precious)
    assert folders(tmp_path) == {"notes"}


def test_a_forgotten_user_leaves_no_folder(tmp_path: Path) -> None:
    settings = Settings(maintenance=MaintenanceSettings(automatic=False), search=SearchSettings(exact_up_to=0))
    options = {"embedder": HashedEmbedder(), "settings": settings}
    with MemorySystem.open(tmp_path, **options).sync as memory:
        for user in ("ada", "bob"):
            memory.remember(user, "the lake is cold", tier="long_term")
            memory.maintain(user)
        assert len(folders(tmp_path / "chroma")) == 2
        memory.forget_user("ada")
        assert len(folders(tmp_path / "chroma")) == 1
        (tmp_path / "chroma" / "data" / "01234567-89ab-cdef-0123-456789abcdef").mkdir()
        memory.maintain(compact=True)
        assert len(folders(tmp_path / "chroma")) == 1
        assert memory.recall("bob", "lake")[0].content == "the lake is cold"
