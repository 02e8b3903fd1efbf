"""A current value takes over the relevance of what it superseded, and the sources of that step back."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.outdated import STEPS_BACK, Outdated

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def memory(name: str, value: str | None = None, *, by: str | None = None, sources: tuple[str, ...] = ()) -> Memory:
    kind = "episode" if value is None else "fact"
    about = {} if value is None else {"value": value}
    slot = None if value is None else "employer"
    return Memory(
        "", MemoryType(kind), 0.5, DAY, DAY, id=name, superseded_by=by, slot=slot, source_ids=sources, metadata=about
    )


class Told:
    """Heads in rows, as a snapshot has them."""

    def __init__(self, *heads: Memory) -> None:
        self.heads = list(heads)
        self.outdated = Outdated()
        for row, head in enumerate(heads):
            self.outdated.note(row, head)

    def find(self, name: str) -> tuple[int, Memory] | None:
        return next(((row, head) for row, head in enumerate(self.heads) if head.id == name), None)

    def relevance(self, *values: float) -> list[float]:
        return list(self.outdated.adjusted(np.array(values), self.find).relevance)


def changed_once() -> Told:
    return Told(
        memory("turn"),
        memory("acme", "acme", by="globex", sources=("turn",)),
        memory("later turn"),
        memory("globex", "globex", sources=("later turn",)),
    )


def test_what_superseded_is_as_relevant_as_what_it_superseded_and_the_old_source_steps_back() -> None:
    told = changed_once()

    assert told.relevance(0.8, 0.7, 0.1, 0.2) == pytest.approx([0.8 * STEPS_BACK, 0.7, 0.1, 0.7])
    ending = told.outdated.adjusted(np.array([0.8, 0.7, 0.1, 0.2]), told.find).ending(0)
    assert ending is not None
    assert ending.by.id == "globex"


def test_a_source_that_is_met_by_something_else_that_it_says_stays_where_it_is() -> None:
    assert changed_once().relevance(0.8, 0.1, 0.1, 0.2) == pytest.approx([0.8, 0.1, 0.1, 0.2])


def test_the_last_of_a_chain_takes_over_from_all_before_it() -> None:
    told = Told(
        memory("a", "acme", by="b"), memory("b", "bolt", by="c"), memory("c", "globex"), memory("other", "x", by="gone")
    )

    assert told.relevance(0.5, 0.6, 0.1, 0.9) == pytest.approx([0.5, 0.6, 0.6, 0.9])


def test_what_is_true_again_is_not_outdated_by_having_been_otherwise() -> None:
    told = Told(
        memory("turn"),
        memory("acme", "acme", by="globex", sources=("turn",)),
        memory("globex", "globex", by="acme again"),
        memory("acme again", "acme"),
    )

    assert told.relevance(0.8, 0.7, 0.4, 0.2) == pytest.approx([0.8, 0.7, 0.4, 0.4])


def test_a_source_that_tells_both_values_stays() -> None:
    told = Told(
        memory("turn"),
        memory("acme", "acme", by="globex", sources=("turn",)),
        memory("globex", "globex", sources=("turn",)),
    )

    assert told.relevance(0.8, 0.7, 0.1) == pytest.approx([0.8, 0.7, 0.7])


def test_a_chain_that_bites_its_tail_changes_nothing() -> None:
    told = Told(memory("a", "acme", by="b"), memory("b", "bolt", by="a"))

    assert told.relevance(0.5, 0.6) == pytest.approx([0.5, 0.6])


def test_what_changes_later_is_followed() -> None:
    told = changed_once()
    told.relevance(0, 0, 0, 0)

    told.heads[1] = memory("acme", "acme", sources=("turn",))  # the successor was forgotten
    told.outdated.note(1, told.heads[1])
    assert told.relevance(0.8, 0.7, 0.1, 0.2) == pytest.approx([0.8, 0.7, 0.1, 0.2])

    told.heads[1] = memory("acme", "acme", by="globex", sources=("turn",))
    told.outdated.note(1, told.heads[1])
    told.heads[3] = memory("gone")
    told.outdated.moved(3)
    assert told.relevance(0.8, 0.7, 0.1, 0.2) == pytest.approx([0.8, 0.7, 0.1, 0.2])
