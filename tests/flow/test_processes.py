"""Several processes on one folder: they see each other's writes at once, and double nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from langchain_tiered_memory.core.config import Settings
from langchain_tiered_memory.core.errors import NotFound
from tests.flow.child import ADA, serving, system

BOB = "bob"


def contents(folder: Path, user_id: str = ADA) -> list[str]:
    """Return what a new process finds, sorted."""
    with system(str(folder), exact=True).sync as engine:
        return sorted(one.content for one in engine.list(user_id, limit=100_000))


def test_two_processes_see_each_others_writes_and_forgets_at_once(tmp_path: Path) -> None:
    """The first one's searches go through Chroma, which it has locked; the second one scans exactly."""
    with serving((str(tmp_path),)) as (first,):
        first.ask("remember", ADA, "the lake is near", "fact", importance=0.9, id="lake")
        first.ask("maintain", ADA)
        with serving((str(tmp_path),)) as (second,):
            assert [hit.id for hit in second.ask("recall", ADA, "lake", 5)] == ["lake"]
            second.ask("remember", ADA, "the train is late", "fact", importance=0.9, id="train")
            second.ask("remember", ADA, "it rains", id="rain", importance=0.2)
            assert {hit.id for hit in first.ask("recall", ADA, "lake", 5)} == {"lake", "train", "rain"}
            assert (first.ask("status", ADA).search, second.ask("status", ADA).search) == ("chroma", "exact")
            assert second.ask("get", ADA, "lake").access_count == 2
            second.ask("update", ADA, "train", content="the train was on time")
            assert first.ask("recall", ADA, "train", 1)[0].content == "the train was on time"
            second.ask("forget", ADA, "lake")
            assert {hit.id for hit in first.ask("recall", ADA, "lake", 5)} == {"train", "rain"}
            with pytest.raises(NotFound):
                first.ask("get", ADA, "lake")
            second.ask("remember", BOB, "Bob was here", id="bob", importance=0.9)
            assert len(first.ask("recall", BOB, "Bob", 5)) == 1
            second.ask("forget_user", BOB)
            assert first.ask("recall", BOB, "Bob", 5) == ()
            first.ask("forget", ADA, "rain")
            assert [hit.id for hit in second.ask("recall", ADA, "rain", 5)] == ["train"]


def test_the_second_process_takes_the_index_over_once_the_first_has_closed(tmp_path: Path) -> None:
    with serving((str(tmp_path),)) as (first,):
        first.ask("remember", ADA, "the lake is near", "fact", importance=0.9, id="lake")
    with serving((str(tmp_path),)) as (second,):
        assert second.ask("maintain", ADA).failed == ()
        assert second.ask("status", ADA).search == "chroma"
        assert second.ask("status", ADA).unindexed == 0
        assert [hit.id for hit in second.ask("recall", ADA, "lake", 5)] == ["lake"]


def test_four_processes_consolidate_and_double_nothing(tmp_path: Path) -> None:
    episodes = [f"I love number {n}." for n in range(30)]
    with serving(*[(str(tmp_path), True)] * 4) as children:
        for n, content in enumerate(episodes):
            children[n % 4].ask("remember", ADA, content, importance=0.3, role="user")
        for child in children:
            child.tell("consolidate", ADA, everything=True)
        reports = [child.answer() for child in children]
        assert sum(report.failed for report in reports) == 0
        assert sum(report.facts for report in reports) == len(episodes)
        assert children[0].ask("consolidate", ADA, everything=True).facts == 0
    assert contents(tmp_path) == sorted([*episodes, *episodes])  # each as an episode, and as the fact drawn from it


def test_four_processes_write_a_hundred_each(tmp_path: Path) -> None:
    with serving(*[(str(tmp_path), True)] * 4) as children:
        for n, child in enumerate(children):
            child.tell("write", f"writer {n}", 100)
        for child in children:
            child.answer()
    assert contents(tmp_path) == sorted(f"writer {n} {m}" for n in range(4) for m in range(100))


def test_four_processes_writing_the_same_leave_it_once(tmp_path: Path) -> None:
    with serving(*[(str(tmp_path), True)] * 4) as children:
        for child in children:
            child.tell("write", "writer", 25)
        for child in children:
            child.answer()
    assert contents(tmp_path) == sorted(f"writer {m}" for m in range(25))


def test_an_open_system_serves_a_fork(tmp_path: Path) -> None:
    """Parent and child go on, each with connections of its own; the index stays the parent's."""
    with serving((str(tmp_path), False, Settings())) as (child,):
        child.ask("remember", ADA, "before the fork", "fact")
        for _ in range(3):
            assert child.ask("fork") == 0
            assert child.ask("recall", ADA, "child", 3)
    assert contents(tmp_path) == ["before the fork", "from the child", "from the parent"]
