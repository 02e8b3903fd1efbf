"""The contract of `ItemStore`."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import Entry, ItemStore, Placed
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, MICROSECOND, NOW, once, passage
from langchain_tiered_memory.testing.suites.access import EmbedCases, TouchCases, UpdateCases
from langchain_tiered_memory.testing.suites.base import ADA, BOB
from langchain_tiered_memory.testing.suites.changes import ChangesCases, ConcurrencyCases
from langchain_tiered_memory.testing.suites.counting import TallyCases
from langchain_tiered_memory.testing.suites.repeats import RepeatCases
from langchain_tiered_memory.testing.suites.roundtrip import OwnershipCases, RoundTripCases, WallCases
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


class ItemStoreContract(
    RoundTripCases[ItemStore],
    WallCases[ItemStore],
    OwnershipCases[ItemStore],
    RepeatCases[ItemStore],
    TouchCases[ItemStore],
    UpdateCases[ItemStore],
    EmbedCases[ItemStore],
    ChangesCases[ItemStore],
    ConcurrencyCases[ItemStore],
    TallyCases[ItemStore],
):
    """Every sentence of `ItemStore` as a case. Subclass it, and give the fixture `store` and `raw_ids`."""

    tier = Tier.SHORT_TERM

    def write(self, store: ItemStore, user_id: str, *entries: Entry) -> tuple[Placed, ...]:
        """Put the entries in one call."""
        return store.put(user_id, entries)

    def wipe(self, store: ItemStore, user_id: str) -> None:
        """Forget the user."""
        store.forget(user_id)

    def item(self, memory_id: str, *, life: timedelta | None = DAY, key: str | None = None) -> Entry:
        """Return an entry that lives from `NOW` on."""
        entry = self.entry(memory_id)
        return replace(entry, duplicate_key=key, expires_at=None if life is None else NOW + life)

    # -- put -------------------------------------------------------------------------------------------------------

    def test_entries_may_be_read_once_only(self, store: ItemStore) -> None:
        assert [p.outcome for p in store.put(ADA, once(self.item("a"), self.item("b")))] == ["created", "created"]

    def test_putting_nothing_does_nothing(self, store: ItemStore) -> None:
        assert store.put(ADA, ()) == ()
        assert store.version(ADA) == 0
        assert store.users() == ()

    @pytest.mark.parametrize("life", [DAY, timedelta(0), -400 * DAY, 100_000 * DAY, None])
    def test_the_end_of_a_life_comes_back_and_the_row_stands_meanwhile(
        self, store: ItemStore, life: timedelta | None
    ) -> None:
        """The store compares no clocks: whether an item is past its life is the caller's business."""
        store.put(ADA, [self.item("a", life=life)])

        assert self.head(store, ADA, "a").expires_at == (None if life is None else NOW + life)
        assert self.one(store, ADA, "a").id == "a"

    def test_the_time_of_a_repetition_comes_back(self, store: ItemStore) -> None:
        within = timedelta(days=2, seconds=3, microseconds=4)
        store.put(ADA, [replace(self.item("a", key="key"), duplicate_within=within)])

        assert self.head(store, ADA, "a").duplicate_within == within

    def test_an_item_at_the_end_of_its_life_is_no_duplicate_and_a_microsecond_before_it_is(
        self, store: ItemStore
    ) -> None:
        store.put(ADA, [self.item("a", key="key")])
        before = replace(self.entry("b", created_at=NOW + DAY - MICROSECOND), duplicate_key="key")
        at_end = replace(self.entry("c", created_at=NOW + DAY), duplicate_key="key")

        placed = store.put(ADA, [before, at_end])

        assert [(p.outcome, p.memory.id) for p in placed] == [("reinforced", "a"), ("created", "c")]

    def test_an_expired_item_is_still_the_same_id(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a", life=-DAY)])

        assert [p.outcome for p in store.put(ADA, [self.item("a", life=DAY)])] == ["existing"]

    # -- remove ----------------------------------------------------------------------------------------------------

    def test_an_item_is_removed_at_the_version_that_was_read(self, store: ItemStore) -> None:
        store.put(ADA, [self.item(i) for i in "abc"])
        read = {e.memory.id: e.version for e in store.changes(ADA, 0).entries}
        store.touch(ADA, ["b"], NOW)

        assert store.remove(ADA, read) == ("a", "c")
        assert self.raw_ids(store, ADA) == {"b"}
        assert self.one(store, ADA, "b").access_count == 1

    def test_an_item_is_removed_whatever_its_version(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a"), self.item("b")])

        assert store.remove(ADA, {"unknown": None, "a": None}) == ("a",)
        assert self.raw_ids(store, ADA) == {"b"}

    def test_removing_the_unknown_is_fine_and_changes_nothing(self, store: ItemStore) -> None:
        assert store.remove(ADA, {"a": None, "b": 5}) == ()
        assert store.version(ADA) == 0

        store.put(ADA, [self.item("a")])
        before = store.changes(ADA, 0)
        assert store.remove(ADA, {}) == ()
        assert store.remove(ADA, {"b": None, "a": store.version(ADA) + 1}) == ()
        assert store.remove(BOB, {"a": None}) == ()

        assert store.changes(ADA, 0) == before

    def test_the_removed_are_reported_as_gone(self, store: ItemStore) -> None:
        store.put(ADA, [self.item(i) for i in "abc"])
        version = store.version(ADA)

        store.remove(ADA, {"a": None, "b": None})

        changes = self.reopened(store).changes(ADA, version)
        assert (set(changes.gone), changes.entries, changes.whole) == ({"a", "b"}, (), False)
        assert changes.version == version + 1
        assert store.changes(ADA, changes.version).gone == ()
        assert store.get(ADA, ["a"]) == ()
        assert {e.memory.id for e in store.changes(ADA, 0).entries} == {"c"}

    def test_the_removed_and_written_again_is_not_gone(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a")])
        version = store.version(ADA)
        store.touch(ADA, ["a"], NOW)
        store.remove(ADA, {"a": None})

        (placed,) = store.put(ADA, [self.item("a")])

        assert (placed.outcome, placed.memory.access_count) == ("created", 0)
        changes = store.changes(ADA, version)
        assert ([e.memory.id for e in changes.entries], changes.gone) == (["a"], ())

    def test_a_removed_item_leaves_nothing_behind(self, store: ItemStore) -> None:
        """Neither its statement, nor its vectors, nor a row for a touch or a vector to revive."""
        old = replace(self.item("a", key="key"), vectors=(passage(0, 1), passage(1, 2)))
        store.put(ADA, [old])
        store.remove(ADA, {"a": None})

        store.touch(ADA, ["a"], NOW)
        store.embed(ADA, {"a": [passage(0, 3)]})
        assert self.raw_ids(store, ADA) == set()
        (placed,) = store.put(ADA, [self.item("b", key="key")])
        assert placed.outcome == "created"

        store.put(ADA, [self.item("a")])
        assert self.head(store, ADA, "a").vectors == ()

    def test_a_user_without_items_is_no_user(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a")])
        store.put(BOB, [self.item("a")])

        store.remove(ADA, {"a": None})

        assert store.users() == (BOB,)

    def test_the_counter_outlives_the_last_item(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a")])
        version = store.version(ADA)
        store.remove(ADA, {"a": None})

        store.put(ADA, [self.item("b")])

        assert store.version(ADA) == version + 2

    def test_of_many_that_remove_the_same_item_one_does(self, store: ItemStore) -> None:
        store.put(ADA, [self.item("a")])

        removed = at_once(lambda _: store.remove(ADA, {"a": None}))

        assert sorted(removed) == [()] * (THREADS - 1) + [("a",)]

    # -- forget ----------------------------------------------------------------------------------------------------

    def test_forgetting_a_user_removes_everything_and_counts(self, store: ItemStore) -> None:
        store.put(ADA, [self.item(i, key=i) for i in "abc"])
        store.put(BOB, [self.item("a", key="a")])
        store.remove(ADA, {"a": None})

        assert store.forget(ADA) == 2

        assert self.raw_ids(store, ADA) == set()
        assert (store.version(ADA), store.changes(ADA, 0).entries, store.users()) == (0, (), (BOB,))
        assert store.forget(ADA) == 0
        assert [p.outcome for p in store.put(ADA, [self.item("d", key="b")])] == ["created"]

    @pytest.mark.parametrize("user", HOSTILE.values(), ids=HOSTILE)
    def test_forgetting_an_unknown_user_is_fine(self, store: ItemStore, user: str) -> None:
        store.put(ADA if user != ADA else BOB, [self.item("a")])

        assert store.forget(user) == 0
        assert len(store.users()) == 1
