"""A memory is found again by a word: in this process the same one, in another one the same memories."""

from __future__ import annotations

import copy
import gc
import logging
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from langchain_tiered_memory import ConfigError, MemorySystem
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.systems import House

NAME = "a memory of the tests"
SECRET = "postgresql+psycopg://ada:hunter2@db/memory"


@pytest.fixture
def name() -> Iterator[str]:
    yield NAME
    MemorySystem._registry.unregister(NAME)


def test_a_folder_is_the_reference_of_a_memory_that_lives_in_it_alone(tmp_path: Path) -> None:
    memory = MemorySystem.open(tmp_path / "memory")

    assert memory.reference == str((tmp_path / "memory").resolve())
    assert MemorySystem.at(memory.reference) is memory
    assert MemorySystem.at(tmp_path / "memory") is memory


def test_a_folder_that_nobody_has_open_is_opened_once(tmp_path: Path) -> None:
    found = MemorySystem.at(str(tmp_path))

    assert MemorySystem.at(str(tmp_path)) is found
    found.sync.close()


def test_a_registered_name_is_the_reference(name: str, folder_house: House) -> None:
    """Whether it was taken from the registry, or stands in a factory that nobody has called yet."""
    memory = folder_house.system()
    MemorySystem.register(name, lambda: memory)

    assert memory.reference == name
    assert MemorySystem.registered(name) is MemorySystem.at(name) is memory


def test_options_are_not_in_the_folder_and_a_warning_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = MemorySystem.open(tmp_path, embedder=HashedEmbedder())

    with caplog.at_level(logging.WARNING):
        assert memory.reference == str(tmp_path.resolve())

    assert "without its options" in caplog.text


@pytest.mark.parametrize(
    "memory",
    [
        MemorySystem.open(":memory:"),
        MemorySystem.open(),
        MemorySystem(path="./memory", postgres=SECRET),
        MemorySystem(path="./memory", redis="redis://:hunter2@cache"),
        MemorySystem(path="./memory", vector_db="http://chroma"),
    ],
    ids=["RAM", "temporary", "postgres", "redis", "chroma"],
)
def test_what_is_not_in_one_folder_is_found_in_this_process_and_a_warning_says_so(
    memory: MemorySystem, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        references = {memory.reference for _ in range(3)}
        pickled = pickle.dumps(memory)

    assert [MemorySystem.at(reference) for reference in references] == [memory]
    assert caplog.text.count("another process finds this memory not at all") == 1
    assert pickle.loads(pickled) is memory  # noqa: S301 - pickled by this test
    assert b"hunter2" not in pickled


def test_a_memory_that_is_gone_is_not_found_any_more() -> None:
    reference = MemorySystem.open(":memory:").reference
    gc.collect()

    with pytest.raises(ConfigError, match="no memory is registered"):
        MemorySystem.at(reference)


@pytest.mark.parametrize("reference", ["nobody", "./memory", "team/support", SECRET])
def test_a_word_that_names_nothing_is_refused_and_a_password_never_shown(reference: str) -> None:
    with pytest.raises(ConfigError, match="no memory is registered") as caught:
        MemorySystem.at(reference)

    assert "hunter2" not in str(caught.value)
    assert "absolute path" in str(caught.value)


def test_what_is_no_word_names_nothing() -> None:
    with pytest.raises(ConfigError, match=r"'int'.*a registered name or a folder is needed"):
        MemorySystem.at(12)  # type: ignore[arg-type] # that is the point


def test_a_memory_is_pickled_by_its_reference(name: str) -> None:
    memory = MemorySystem(path="./memory", postgres=SECRET)
    MemorySystem.register(name, lambda: memory)

    pickled = pickle.dumps(memory)

    assert pickle.loads(pickled) is memory  # noqa: S301 - pickled by this test
    assert b"hunter2" not in pickled
    assert copy.deepcopy(memory) is memory


def test_another_process_finds_the_same_memories(tmp_path: Path) -> None:
    memory = MemorySystem.open(tmp_path)
    memory.sync.remember("ada", "I am allergic to peanuts", "preference")
    memory.sync.close()
    script = (
        "import pickle, sys\n"
        "memory = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(*[one.content for one in memory.sync.list('ada')])\n"
        "memory.sync.close()\n"
    )

    run = [sys.executable, "-c", script, pickle.dumps(memory).hex()]
    found = subprocess.run(run, check=True, capture_output=True, text=True).stdout

    assert found == "I am allergic to peanuts\n"
