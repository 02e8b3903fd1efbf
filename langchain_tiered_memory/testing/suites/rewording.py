"""What a `RecordStore` must do with what was drawn from a record that says something else now."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace

from langchain_tiered_memory.core.ports import RecordStore
from langchain_tiered_memory.testing.samples import DAY, NOW, passage
from langchain_tiered_memory.testing.suites.applying import RecordSuite, change_of
from langchain_tiered_memory.testing.suites.base import ADA, BOB


class RewordingCases(RecordSuite):
    """An update that changes the content of a record takes back what was drawn from the old one."""

    def test_what_rested_on_it_alone_goes_and_may_be_drawn_again(self, store: RecordStore) -> None:
        drawn = replace(self.fact("f", "a"), vectors=(passage(0, 1),))
        self.write(store, ADA, self.entry("a", "old"), drawn, self.fact("g", "f"))
        store.mark(ADA, indexed=[("f#0", passage(0, 1).vector)])
        version = store.version(ADA)

        store.update(ADA, self.entry("a", "new"), NOW + DAY)

        again = self.reopened(store)
        assert self.raw_ids(again, ADA) == {"a"}
        assert set(again.changes(ADA, version).gone) == {"f", "g"}
        assert again.removals(ADA, 10) == {ADA: ("f#0",)}
        assert again.tombstones(ADA, ["a", "f", "g"]) == frozenset()
        assert again.intents() == {}
        events = again.history(ADA, "f")
        assert [(e.kind, e.by, e.memory) for e in events][-1] == ("forgotten", "update", None)
        (placed,) = again.apply(ADA, change_of(self.fact("f", "a"), by="consolidate"))
        assert placed.outcome == "created"

    def test_it_leaves_the_ledger_and_may_be_consumed_again(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(self.entry("a", "old"), self.entry("b"), consumed=("a", "b")))
        store.apply(BOB, change_of(self.entry("a", "old"), consumed=("a",)))

        store.update(ADA, self.entry("a", "new"), NOW)

        again = self.reopened(store)
        assert again.consumed(ADA, ["a", "b"]) == {"b"}
        assert again.consumed(BOB, ["a"]) == {"a"}
        again.apply(ADA, change_of(consumed=("a",)))
        assert again.consumed(ADA, ["a"]) == {"a"}

    def test_what_rests_on_others_as_well_stays_without_it(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a", "old"), self.entry("b"), self.fact("f", "a", "b"))

        store.update(ADA, self.entry("a", "new"), NOW + DAY)

        assert self.one(store, ADA, "f").source_ids == ("b",)
        assert [(e.kind, e.by) for e in store.history(ADA, "f")][-1] == ("updated", "update")

    def test_chains_close_over_what_goes_and_keep_what_stays(self, store: RecordStore) -> None:
        """The reworded value of a slot stays in its chain; the fact that was drawn from a source leaves its chain."""
        self.write(store, ADA, self.entry("v1", "Acme", slot="employer", observed_at=NOW - 2 * DAY))
        self.write(store, ADA, self.entry("v2", "Globex", slot="employer", observed_at=NOW - DAY))
        self.write(store, ADA, self.entry("s", "I live in Oslo"))
        self.write(store, ADA, self.entry("h1", "Rome", slot="home", observed_at=NOW - 2 * DAY))
        self.write(store, ADA, self.fact("h2", "s", slot="home", observed_at=NOW - DAY))
        assert self.one(store, ADA, "h1").superseded_by == "h2"

        store.update(ADA, self.entry("v2", "Globex Inc.", slot="employer"), NOW)
        store.update(ADA, self.entry("s", "I have a cat"), NOW)

        assert self.one(store, ADA, "v1").superseded_by == "v2"
        assert (self.one(store, ADA, "h1").superseded_by, self.one(store, ADA, "h1").valid_to) == (None, None)

    def test_other_changes_take_nothing_back(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(self.entry("a", "same"), self.fact("f", "a"), consumed=("a",)))

        store.update(ADA, self.entry("a", "same", importance=0.9, pinned=True, metadata={"k": 1}), NOW)

        assert self.one(store, ADA, "f").source_ids == ("a",)
        assert store.consumed(ADA, ["a"]) == {"a"}
