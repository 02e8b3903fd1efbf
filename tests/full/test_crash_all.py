"""Every crash there is: before and after every call on every store, and all pairs that stores can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.testing import Plan
from tests.flow.crash import crashed_right, described, golden, points, tell
from tests.flow.test_crash import Disks, crash_at_each, fresh


@pytest.fixture(params=["exact", "chroma"])
def disks(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disks]:
    index = ChromaVectorIndex.embedded(tmp_path / "chroma") if request.param == "chroma" else InMemoryVectorIndex()
    made = Disks(tmp_path, index)
    yield made
    made.close()
    index.close()


@pytest.mark.parametrize("maintained", [False, True])
def test_every_call_in_memory(*, maintained: bool) -> None:
    telling = tell(fresh(), [])
    crash_at_each(fresh, telling, Plan.every_crash(len(telling.calls)), golden(fresh()), maintained=maintained)


def test_every_call_on_disk(disks: Disks) -> None:
    telling = tell(disks(), [])
    crash_at_each(disks, telling, Plan.every_crash(len(telling.calls)), golden(disks()))


def test_every_pair_in_memory() -> None:
    expected, telling = golden(fresh()), tell(fresh(), [])
    for one in points(telling):
        again = tell(fresh(), [one])
        for two in points(again):
            try:
                crashed_right(fresh(), [one, two], expected)
            except AssertionError as error:
                error.add_note(f"after a crash {described(telling, one)}, then {described(again, two)}")
                raise
