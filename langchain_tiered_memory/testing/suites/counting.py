"""What is counted of all users of a store of memories, by the store itself or user by user: `core.tallies`."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace

from langchain_tiered_memory.core.lives import VALUES
from langchain_tiered_memory.core.tallies import Tally, tallies
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, NOW, passage
from langchain_tiered_memory.testing.suites.base import ADA, BOB, S, StoreSuite

MODEL, OTHER_MODEL = "model-a", "model-b"


class TallyCases(StoreSuite[S]):
    """Each user with a row is counted once, and what is counted is what `changes` would tell."""

    def tally(self, store: S, user_id: str, model_id: str = MODEL) -> Tally:
        """Return one user's tally."""
        (one,) = (one for one in tallies(store, model_id) if one.user_id == user_id)
        return one

    def test_of_nobody_nothing_is_counted(self, store: S) -> None:
        assert list(tallies(store, MODEL)) == []

    def test_rows_vectors_and_what_lacks_one_are_counted_of_each_user(self, store: S) -> None:
        whole = replace(self.entry("whole"), passages=2, vectors=(passage(0, 1), passage(1, 2)))
        half = replace(self.entry("half", valid_to=NOW), passages=2, vectors=(passage(1, 3),))
        other = replace(self.entry("other", superseded_by="x"), vectors=(passage(0, 4, model=OTHER_MODEL),))
        self.write(store, ADA, whole, half, other)
        self.write(store, BOB, self.entry("none"))

        again = self.reopened(store)
        ada, bob, for_other = self.tally(again, ADA), self.tally(again, BOB), self.tally(again, ADA, OTHER_MODEL)

        assert (ada.rows, ada.superseded, ada.pending, ada.vectors) == (3, 2, 2, 4)
        assert (bob.rows, bob.superseded, bob.pending, bob.vectors) == (1, 0, 1, 0)
        assert (for_other.pending, for_other.vectors) == (4, 4)

    def test_a_tally_follows_what_is_written(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))
        store.embed(ADA, {"a": [passage(0, 1)]})
        assert (self.tally(store, ADA).pending, self.tally(store, ADA).vectors) == (1, 1)

        store.update(ADA, replace(self.entry("a", "another text"), passages=3, vectors=(passage(2, 1),)), NOW)
        assert (self.tally(store, ADA).pending, self.tally(store, ADA).vectors) == (3, 1)

        self.write(store, BOB, self.entry("a"))
        self.wipe(store, ADA)
        assert [one.user_id for one in tallies(self.reopened(store), MODEL)] == [BOB]

    def test_only_a_value_with_a_life_is_mortal(self, store: S) -> None:
        put = {"key": "k", "value": {"ttl": 1}, "searchable": False, "updated_at": NOW.isoformat()}
        self.write(store, ADA, self.entry("mortal", origin=VALUES, metadata={**put, "ttl_s": 5.0}))
        self.write(store, BOB, self.entry("lasting", origin=VALUES, metadata=put), self.entry("a"))

        assert (self.tally(store, ADA).mortal, self.tally(store, BOB).mortal) == (1, 0)

    def test_the_first_end_of_a_life_is_told(self, store: S) -> None:
        if self.entry("x").memory.tier == "long_term":
            self.write(store, ADA, self.entry("a"))
            assert self.tally(store, ADA).ends is None
            return
        ends = {"a": NOW + 2 * DAY, "b": NOW + DAY, "c": None}
        self.write(store, ADA, *(replace(self.entry(one), expires_at=at) for one, at in ends.items()))
        self.write(store, BOB, self.entry("c"))

        assert (self.tally(store, ADA).ends, self.tally(store, BOB).ends) == (NOW + DAY, None)

    def test_users_are_named_to_the_last_byte_and_each_once(self, store: S) -> None:
        for user_id in HOSTILE.values():
            self.write(store, user_id, self.entry("a"))

        assert sorted(one.user_id for one in tallies(self.reopened(store), MODEL)) == sorted(HOSTILE.values())
