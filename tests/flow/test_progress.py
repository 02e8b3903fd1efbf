"""Long work tells how far it is, of every step to its end, and tells nothing else."""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path

import pytest

from langchain_tiered_memory import MemorySystem, NewMemory
from langchain_tiered_memory.core.config import ForgettingRule, ForgettingSettings, MaintenanceSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.progress import Progress, one_by_one, told_to
from langchain_tiered_memory.embedding.hashed import HashedEmbedder
from tests.conftest import FakeClock

SECRET = "I live in Bergen, at the old harbour"


class Listened:
    """What was told, by step."""

    def __init__(self) -> None:
        self.steps: dict[str, list[tuple[int, int | None]]] = defaultdict(list)

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self.steps[step].append((done, total))

    def whole(self) -> set[str]:
        """Return the steps that had something to do; each began at nothing, never went back, and was done."""
        for told in self.steps.values():
            dones = [done for done, _ in told]
            begun = [at for at, done in enumerate(dones) if done == 0]
            assert begun[0] == 0
            for start, end in zip(begun, [*begun[1:], len(told)], strict=True):
                assert dones[start:end] == sorted(dones[start:end])
                assert told[end - 1][0] == told[end - 1][1]
        return {step for step, told in self.steps.items() if any(total for _, total in told)}


@pytest.fixture
def memory(clock: FakeClock, tmp_path: Path) -> Engine:
    """A memory that does nothing by itself, with 250 short-term items of two users."""
    rules = ForgettingSettings(rules=(ForgettingRule(importance_below=0.2),))
    settings = Settings(maintenance=MaintenanceSettings(automatic=False, batch=60), forgetting=rules)
    system = MemorySystem(path=tmp_path / "memory", embedder=HashedEmbedder(16), clock=clock, settings=settings)
    said = [NewMemory(f"{SECRET} {n}", tier="short_term", importance=0.6) for n in range(125)]
    system.sync.remember_many("ada", said)
    system.sync.remember_many("bob", said)
    return system.sync


def test_every_long_call_tells_each_step_to_its_end(memory: Engine, clock: FakeClock, tmp_path: Path) -> None:
    def steps_of(work: object) -> set[str]:
        listened = Listened()
        with told_to(listened):
            work()  # type: ignore[operator]
        assert not any(SECRET in step for step in listened.steps)
        return listened.whole()

    assert steps_of(lambda: memory.consolidate("ada", everything=True)) >= {"consolidating"}
    assert steps_of(lambda: memory.maintain("ada")) == {"indexing"}
    clock.advance(days=2)
    assert steps_of(memory.maintain) == {"promoting", "indexing", "serving users"}
    assert steps_of(memory.reindex) == {"indexing", "serving users"}
    assert steps_of(lambda: memory.export_user("ada", tmp_path / "ada.jsonl")) == {"exporting"}
    assert steps_of(lambda: memory.import_user("eve", tmp_path / "ada.jsonl")) == {"importing"}
    assert steps_of(lambda: memory.maintain("eve")) == {"embedding", "indexing"}
    memory.remember_many("ada", [NewMemory(f"chatter {n}", tier="long_term", importance=0.1) for n in range(70)])
    assert steps_of(lambda: memory.maintain("ada")) >= {"forgetting"}


def test_vectors_that_are_missing_are_told_of_one_batch_after_the_other(
    memory: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    memory.close()
    other = MemorySystem(path=tmp_path / "memory", embedder=HashedEmbedder(32), clock=clock, settings=memory.settings)
    listened = Listened()
    with other.sync as engine, told_to(listened):
        assert engine.reindex().embedded == 250
    assert listened.whole() == {"embedding", "serving users"}
    assert listened.steps["embedding"][:4] == [(0, 125), (60, 125), (120, 125), (125, 125)]


async def test_the_asynchronous_face_tells_the_same(memory: Engine, clock: FakeClock, tmp_path: Path) -> None:
    memory.close()
    listened = Listened()
    async with MemorySystem(path=tmp_path / "memory", embedder=HashedEmbedder(16), clock=clock) as system:
        with told_to(listened):
            await system.consolidate("ada", everything=True)
    assert listened.steps["consolidating"][-1] == (125, 125)


def test_nobody_listens_after_the_block_nor_in_another_thread() -> None:
    listened = Listened()
    with told_to(listened):
        other = threading.Thread(target=lambda: Progress("elsewhere", lambda: 1))
        other.start()
        other.join()
        Progress("here", lambda: 1).advance(1)
    Progress("later", lambda: 1)

    assert dict(listened.steps) == {"here": [(0, 1), (1, 1)]}


def test_what_nobody_listens_to_is_not_counted() -> None:
    def counted() -> int:
        raise AssertionError

    Progress("anything", counted).advance(1)
    assert list(one_by_one("users", [1, 2])) == [1, 2]


def test_more_than_was_counted_is_told_as_such() -> None:
    listened = Listened()
    with told_to(listened):
        grown, unknown = Progress("growing", lambda: 1), Progress("unknown")
        grown.advance(3)
        unknown.advance(3)
    assert listened.steps == {"growing": [(0, 1), (3, 3)], "unknown": [(0, None), (3, None)]}


def test_what_a_listener_raises_stops_the_work_between_two_batches(memory: Engine) -> None:
    def stop(step: str, done: int, total: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with told_to(stop), pytest.raises(KeyboardInterrupt):
        memory.consolidate("ada", everything=True)

    assert memory.status("ada").short_term == 25
    assert memory.consolidate("ada", everything=True).promoted == 25
