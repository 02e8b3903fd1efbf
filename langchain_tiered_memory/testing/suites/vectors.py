"""The contract of `VectorIndex`."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pytest

from langchain_tiered_memory.core.ports import VectorIndex
from langchain_tiered_memory.testing.samples import DIM, HOSTILE, once, vector_of
from langchain_tiered_memory.testing.suites.base import ADA, BOB
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


class VectorIndexContract(ABC):
    """Every sentence of `VectorIndex` as a case. Subclass it, and give the fixture `index` and `raw_ids`."""

    @pytest.fixture
    def index(self) -> Any:
        """Return an empty index; a test class for a backend overrides this."""
        pytest.fail("a contract's subclass has to give a fixture `index`")

    @abstractmethod
    def raw_ids(self, index: VectorIndex, user_id: str) -> set[str]:
        """Return the references that physically lie in the backend for the user, read without the index's own API."""

    def reopened(self, index: VectorIndex) -> VectorIndex:
        """Return another object on the same data; an index that lives in its object returns itself."""
        return index

    def test_an_unknown_user_has_nothing(self, index: VectorIndex) -> None:
        assert index.query(ADA, vector_of(1), 5) == ()
        assert index.ids(ADA) == frozenset()
        assert self.raw_ids(index, ADA) == set()

    def test_the_nearest_come_first(self, index: VectorIndex) -> None:
        rows = [(f"{n}#0", vector_of(n)) for n in range(30)]
        index.upsert(ADA, rows)

        for query in (vector_of(3), vector_of(99)):
            by_cosine = sorted(rows, key=lambda row: -float(row[1] @ query))
            assert index.query(ADA, query, 5) == tuple(ref for ref, _ in by_cosine[:5])

    def test_fewer_come_when_there_are_fewer(self, index: VectorIndex) -> None:
        index.upsert(ADA, [("a#0", vector_of(1)), ("b#0", vector_of(2))])

        assert set(index.query(ADA, vector_of(1), 50)) == {"a#0", "b#0"}
        assert index.query(ADA, vector_of(1), 1) == ("a#0",)

    def test_a_reference_written_again_is_replaced(self, index: VectorIndex) -> None:
        index.upsert(ADA, [("a#0", vector_of(1)), ("b#0", vector_of(2))])

        index.upsert(ADA, [("a#0", vector_of(3))])
        index.upsert(ADA, [("a#0", vector_of(3))])

        assert index.query(ADA, vector_of(3), 1) == ("a#0",)
        assert index.query(ADA, vector_of(2), 1) == ("b#0",)
        assert index.ids(ADA) == {"a#0", "b#0"}

    def test_a_reference_twice_in_one_call_is_the_later_one(self, index: VectorIndex) -> None:
        index.upsert(ADA, [("a#0", vector_of(1)), ("b#0", vector_of(2)), ("a#0", vector_of(3))])

        assert index.ids(ADA) == {"a#0", "b#0"}
        assert index.query(ADA, vector_of(3), 1) == ("a#0",)

    def test_writing_and_removing_nothing_is_fine(self, index: VectorIndex) -> None:
        index.upsert(ADA, [])
        index.delete(ADA, [])
        index.delete(ADA, ["unknown"])
        index.drop(ADA)

        assert index.ids(ADA) == frozenset()

    def test_1500_rows_are_all_there(self, index: VectorIndex) -> None:
        refs = {f"{n}#0" for n in range(1_500)}
        index.upsert(ADA, [(ref, vector_of(n)) for n, ref in enumerate(sorted(refs))])

        assert index.ids(ADA) == refs == self.raw_ids(index, ADA)
        index.delete(ADA, sorted(refs)[:1_200])
        assert len(index.ids(ADA)) == 300

    def test_the_removed_are_not_found(self, index: VectorIndex) -> None:
        index.upsert(ADA, [(f"{n}#0", vector_of(n)) for n in range(5)])

        index.delete(ADA, once("1#0", "unknown#0", "3#0"))

        again = self.reopened(index)
        assert again.ids(ADA) == {"0#0", "2#0", "4#0"} == self.raw_ids(index, ADA)
        assert set(again.query(ADA, vector_of(1), 5)) == {"0#0", "2#0", "4#0"}

    def test_a_dropped_space_is_gone_and_may_start_anew_with_another_dimension(self, index: VectorIndex) -> None:
        index.upsert(ADA, [("a#0", vector_of(1))])
        index.upsert(BOB, [("b#0", vector_of(1))])

        index.drop(ADA)

        assert (index.ids(ADA), self.raw_ids(index, ADA)) == (frozenset(), set())
        assert index.query(ADA, vector_of(1), 5) == ()
        assert index.query(BOB, vector_of(1), 5) == ("b#0",)
        index.upsert(ADA, [("c#0", vector_of(1, DIM * 2))])
        assert index.query(ADA, vector_of(1, DIM * 2), 5) == ("c#0",)

    def test_users_that_look_alike_never_see_each_other(self, index: VectorIndex) -> None:
        users = list(HOSTILE.values())
        for number, user in enumerate(users):
            index.upsert(user, [(f"{number}#0", vector_of(1))])

        assert [index.query(user, vector_of(1), 5) for user in users] == [(f"{n}#0",) for n in range(len(users))]
        for user in users[::2]:
            index.drop(user)
        assert [len(index.ids(user)) for user in users] == [n % 2 for n in range(len(users))]

    def test_hostile_references_are_ordinary_data(self, index: VectorIndex) -> None:
        refs = [f"{text}#0" for text in HOSTILE.values()]
        index.upsert(ADA, [(ref, vector_of(n)) for n, ref in enumerate(refs)])

        again = self.reopened(index)
        assert again.ids(ADA) == set(refs) == self.raw_ids(index, ADA)
        assert [again.query(ADA, vector_of(n), 1) for n in range(len(refs))] == [(ref,) for ref in refs]
        index.delete(ADA, refs[1:])
        assert index.ids(ADA) == {refs[0]}

    def test_a_vector_without_meaning_does_no_harm(self, index: VectorIndex) -> None:
        nothing = np.zeros(DIM, np.float32)
        index.upsert(ADA, [("a#0", vector_of(1)), ("zero#0", nothing)])

        assert index.query(ADA, vector_of(1), 1) == ("a#0",)
        assert set(index.query(ADA, nothing, 5)) <= {"a#0", "zero#0"}

    def test_arguments_are_not_kept(self, index: VectorIndex) -> None:
        vector = vector_of(1).copy()
        index.upsert(ADA, once(("a#0", vector), ("b#0", vector_of(2))))

        vector[:] = -vector_of(1)

        assert index.query(ADA, vector_of(1), 1) == ("a#0",)

    def test_rows_written_and_asked_at_once_are_all_there(self, index: VectorIndex) -> None:
        def work(number: int) -> None:
            for step in range(5):
                ref = f"{number}-{step}#0"
                index.upsert(ADA, [(ref, vector_of(100 * number + step))])
                assert index.query(ADA, vector_of(100 * number + step), 1) == (ref,)

        at_once(work)

        assert len(index.ids(ADA)) == THREADS * 5

    def test_close_may_be_called_twice_and_the_index_has_a_name(self, index: VectorIndex) -> None:
        index.upsert(ADA, [("a#0", vector_of(1))])

        index.close()
        index.close()

        assert index.name
        assert "://" not in index.name
