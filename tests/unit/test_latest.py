"""Which hit gives way to one that says the same later."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from langchain_tiered_memory.core.latest import APART, Said, latest, names_in
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.times import asks_of_the_past

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def said(
    row: int,
    days: int,
    terms: str,
    direction: tuple[float, float] | None = (1.0, 0.0),
    *,
    session: str | None = None,
    name: str | None = None,
    role: str | None = "user",
    sources: tuple[str, ...] = (),
    beside: tuple[int, ...] = (),
) -> Said:
    kind = MemoryType.FACT if sources else MemoryType.EPISODE
    head = Memory(
        "",
        kind,
        0.5,
        DAY + timedelta(days=days),
        DAY,
        id=f"m{row}",
        session_id=session,
        name=name,
        role=role,
        source_ids=sources,
    )
    vector = None if direction is None else np.array(direction, np.float32)
    return Said(row, head, row, frozenset(terms.split()), vector, frozenset(beside))


OLD = said(0, 0, "live utrecht")
NEW = said(1, 9, "live haarlem")
OTHER = said(2, 5, "printer paper", (0.0, 1.0))


def test_the_best_gives_way_to_what_was_said_later_of_the_same() -> None:
    assert latest([OLD, OTHER, NEW], [0.9, 0.8, 0.7]) == 2


@pytest.mark.parametrize(
    ("hits", "scores"),
    [
        ([], []),
        ([OLD], [0.9]),
        ([NEW, OLD], [0.9, 0.8]),  # the best is the latest
        ([OLD, NEW], [0.9, 0.5]),  # hardly relevant
        ([OLD, said(1, 9, "live haarlem", (0.0, 1.0))], [0.9, 0.8]),  # of another meaning
        ([OLD, said(1, 9, "rent", (0.7, 0.7))], [0.9, 0.8]),  # in other words, and not close
        ([OLD, replace(NEW, vector=None)], [0.9, 0.8]),
        ([OLD, said(1, 9, "live haarlem", name="Ben")], [0.9, 0.8]),  # of another speaker
        ([said(0, 0, "live utrecht", role="assistant"), said(1, 9, "live haarlem", role="assistant")], [0.9, 0.8]),
        ([OLD, NEW, said(2, 5, "live haarlem soon")], [0.9, 0.8, 0.7]),  # nearer to another
    ],
)
def test_otherwise_the_order_stands(hits: list[Said], scores: list[float]) -> None:
    assert latest(hits, scores) is None


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where do I live?", set()),
        ("What is peanut fact number 1?", {"1"}),
        ("Is Ada at Initech?", {"ada", "initech"}),
        ("", set()),
    ],
)
def test_names_and_numbers_of_a_question_are_known(question: str, names: set[str]) -> None:
    assert names_in(question) == names


def test_what_gives_way_to_another_is_about_no_more_of_what_is_named() -> None:
    assert latest([OLD, NEW], [0.9, 0.8], frozenset({"utrecht"})) is None
    assert latest([OLD, NEW], [0.9, 0.8], frozenset({"live", "berlin"})) == 1


def test_a_preference_does_not_give_way_to_a_fact() -> None:
    fact, taste = (said(row, row, "peanuts", role=None, sources=(f"s{row}",)) for row in (1, 0))
    taste = replace(taste, head=replace(taste.head, memory_type=MemoryType.PREFERENCE))
    assert latest([taste, fact], [0.9, 0.8]) is None
    assert latest([taste, said(1, 1, "peanuts")], [0.9, 0.8]) == 1


def test_of_equal_times_what_was_written_later_is_later() -> None:
    assert latest([OLD, said(1, 0, "live haarlem")], [0.9, 0.8]) == 1
    assert latest([said(1, 0, "live haarlem"), OLD], [0.9, 0.8]) is None


def test_a_fact_and_its_message_are_one() -> None:
    fact = said(5, 9, "live haarlem", role=None, sources=("m1",))
    old = said(6, 0, "live utrecht", role=None, sources=("m0",))
    assert latest([OLD, old, fact, NEW], [0.9, 0.8, 0.7, 0.6]) == 2
    assert latest([NEW, fact], [0.9, 0.8]) is None


def test_turns_of_one_session_must_be_far_from_each_other() -> None:
    old = said(0, 0, "live utrecht", session="s", beside=tuple(range(1, APART + 1)))
    near = said(1, 0, "live haarlem", session="s", beside=(0,))
    far = said(40, 0, "live haarlem", session="s", beside=(39,))
    no_turn = said(0, 0, "live utrecht", session="s")
    assert latest([old, near], [0.9, 0.8]) is None
    assert latest([old, far], [0.9, 0.8]) == 1
    assert latest([no_turn, far], [0.9, 0.8]) is None


@pytest.mark.parametrize("text", ["Where did I live?", "What was my last job?", "Which car had Ada before?"])
def test_some_ask_of_the_past(text: str) -> None:
    assert asks_of_the_past(text)


@pytest.mark.parametrize("text", ["Where do I live?", "How far am I?", "Wo wohne ich?", ""])
def test_others_ask_of_the_present(text: str) -> None:
    assert not asks_of_the_past(text)
