"""What a `RecordStore` must do to forget: records and what rests on them, whole users, and the traces of both."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace

import pytest

from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.ports import Change, Forgotten, RecordStore
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, NOW, once, passage
from langchain_tiered_memory.testing.suites.applying import RecordSuite, change_of
from langchain_tiered_memory.testing.suites.base import ADA, BOB


class ForgetCases(RecordSuite):
    """A forgotten record is gone for good, and so is what rested on it alone."""

    def test_a_forgotten_record_is_gone_and_reported(self, store: RecordStore) -> None:
        self.write(store, ADA, replace(self.entry("a"), vectors=(passage(0, 1), passage(1, 2))), self.entry("b"))
        version = store.version(ADA)

        assert store.forget(ADA, once("a", "unknown"), NOW) == Forgotten(("a",), (), 2)

        again = self.reopened(store)
        assert self.raw_ids(again, ADA) == {"b"}
        assert again.get(ADA, ["a"]) == ()
        changes = again.changes(ADA, version)
        assert (changes.gone, changes.entries, changes.whole) == (("a",), (), False)
        assert {e.memory.id for e in again.changes(ADA, 0).entries} == {"b"}
        assert again.vectors(ADA, ["a"]).get("a", ()) == ()

    def test_forgetting_nothing_does_nothing(self, store: RecordStore) -> None:
        assert store.forget(ADA, [], NOW) == Forgotten()
        assert store.intents() == {}

    def test_a_forgotten_id_is_not_written_again(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))
        store.forget(ADA, ["a"], NOW)

        entries = (self.entry("a", "another content"), self.entry("b"))
        placed = store.apply(ADA, change_of(*entries, by="import"))

        assert [(p.outcome, p.memory.id) for p in placed] == [("forgotten", "a"), ("created", "b")]
        assert self.raw_ids(store, ADA) == {"b"}
        store.touch(ADA, ["a"], NOW)
        store.embed(ADA, {"a": [passage(0, 1)]})
        assert self.raw_ids(store, ADA) == {"b"}

    @pytest.mark.parametrize("memory_id", HOSTILE.values(), ids=HOSTILE)
    def test_an_id_that_is_not_here_gets_its_tombstone_too(self, store: RecordStore, memory_id: str) -> None:
        """It may be a short-term item on its way here."""
        assert store.forget(ADA, [memory_id], NOW) == Forgotten()

        again = self.reopened(store)
        assert again.tombstones(ADA, [memory_id, memory_id + "x"]) == {memory_id}
        assert again.tombstones(BOB, [memory_id]) == frozenset()
        assert dict(again.intents()) == {ADA: (memory_id,)}
        (placed,) = again.apply(ADA, change_of(self.entry(memory_id)))
        assert placed.outcome == "forgotten"
        assert again.users() == ()

    def test_the_tombstone_of_one_user_stops_no_other(self, store: RecordStore) -> None:
        store.forget(ADA, ["a"], NOW)

        assert [p.outcome for p in self.write(store, BOB, self.entry("a"))] == ["created"]

    def test_what_rested_on_it_alone_goes_too_repeatedly(self, store: RecordStore) -> None:
        self.write(
            store, ADA, self.entry("a"), self.fact("f", "a", "item"), self.fact("g", "f"), self.fact("h", "g", "x")
        )

        forgotten = store.forget(ADA, ["a", "item"], NOW)

        assert (forgotten.removed, set(forgotten.derived)) == (("a",), {"f", "g"})
        assert self.raw_ids(store, ADA) == {"h"}
        assert self.one(store, ADA, "h").source_ids == ("x",)
        assert store.tombstones(ADA, ["a", "item", "f", "g", "h"]) == {"a", "item", "f", "g"}

    def test_what_rests_on_something_else_as_well_stays_and_loses_the_source(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"), self.fact("f", "a", "b"), self.fact("none"))
        version = store.version(ADA)

        assert store.forget(ADA, ["a"], NOW).derived == ()

        assert self.one(store, ADA, "f").source_ids == ("b",)
        assert "f" in {e.memory.id for e in store.changes(ADA, version).entries}
        assert store.forget(ADA, ["b"], NOW).derived == ("f",)
        assert self.raw_ids(store, ADA) == {"none"}

    @pytest.mark.parametrize("slot", [None, "home"])
    def test_a_fact_drawn_twice_goes_with_both_sources(self, store: RecordStore, slot: str | None) -> None:
        """What became part of another record has no row that could be forgotten: only its sources count."""
        keys = None if slot else "key"
        drawn = [replace(self.fact(i, s, slot=slot, content="same"), duplicate_key=keys) for i, s in ("fa", "gb")]
        store.apply(ADA, change_of(*drawn, consumed=("a", "b"), by="consolidate"))
        assert set(self.one(store, ADA, "f").source_ids) == {"a", "b"}

        assert store.forget(ADA, ["a"], NOW).derived == ()
        assert store.forget(ADA, ["b"], NOW).derived == ("f",)

        assert self.raw_ids(store, ADA) == set()

    def test_what_was_not_consolidated_stays_whatever_its_sources(self, store: RecordStore) -> None:
        self.write(
            store, ADA, self.entry("a"), self.fact("own", "a", origin="import"), self.entry("said", source_ids=("a",))
        )

        assert store.forget(ADA, ["a"], NOW).derived == ()

        assert [m.source_ids for m in store.get(ADA, ["own", "said"])] == [(), ()]

    def test_records_of_other_users_with_the_same_ids_stay(self, store: RecordStore) -> None:
        for user in (ADA, BOB):
            self.write(store, user, self.entry("a"), self.fact("f", "a"))

        store.forget(ADA, ["a"], NOW)

        assert self.raw_ids(store, BOB) == {"a", "f"}
        assert self.one(store, BOB, "f").source_ids == ("a",)

    def test_history_keeps_the_events_without_any_content(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a", "secret"), self.fact("f", "a"))
        store.update(ADA, self.entry("a", "another secret"), NOW + DAY)

        store.forget(ADA, ["a"], NOW + 2 * DAY)

        events = store.history(ADA, "a")
        assert [(e.kind, e.at) for e in events] == [
            ("created", NOW),
            ("updated", NOW + DAY),
            ("forgotten", NOW + 2 * DAY),
        ]
        assert [e.memory for e in events] == [None, None, None]
        assert [e.memory for e in store.history(ADA, "f")] == [None, None]

    def test_the_ledger_outlives_the_records(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(self.fact("f", "s"), consumed=("s",)))

        store.forget(ADA, ["f"], NOW)

        assert store.consumed(ADA, ["s"]) == {"s"}

    def test_a_forgotten_statement_can_be_made_again(self, store: RecordStore) -> None:
        self.write(store, ADA, replace(self.entry("a"), duplicate_key="key"))
        store.forget(ADA, ["a"], NOW)

        (placed,) = self.write(store, ADA, replace(self.entry("b"), duplicate_key="key"))

        assert placed.outcome == "created"


class IntentCases(RecordSuite):
    """An intent stays open until every other place is clear."""

    def test_intents_are_open_until_they_are_closed(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))
        store.forget(ADA, ["a", "b", "c"], NOW)
        store.forget(BOB, ["a"], NOW)

        store.close_intents(ADA, once("a", "unknown"))
        open_now = self.reopened(store).intents()
        assert {user: set(ids or ()) for user, ids in open_now.items()} == {ADA: {"b", "c"}, BOB: {"a"}}

        store.close_intents(ADA, ["b", "c"])
        assert dict(store.intents()) == {BOB: ("a",)}
        assert store.tombstones(ADA, ["a", "b", "c"]) == {"a", "b", "c"}

    def test_forgetting_again_opens_the_intent_again(self, store: RecordStore) -> None:
        store.forget(ADA, ["a"], NOW)
        store.close_intents(ADA, ["a"])

        store.forget(ADA, ["a"], NOW)

        assert dict(store.intents()) == {ADA: ("a",)}

    def test_closing_what_is_not_open_is_fine(self, store: RecordStore) -> None:
        store.close_intents(ADA, ["a"])
        store.close_intents(ADA, None)

        assert store.intents() == {}


class EraseCases(RecordSuite):
    """A whole user goes in one transaction."""

    def test_everything_of_the_user_goes_and_one_intent_stays(self, store: RecordStore) -> None:
        entry = replace(self.entry("a"), vectors=(passage(0, 1), passage(1, 2)))
        store.apply(ADA, change_of(entry, self.entry("b"), consumed=("s",)))
        store.forget(ADA, ["b", "c"], NOW)
        self.write(store, BOB, self.entry("a"))

        assert dict(store.erase(ADA, NOW)) == {"long_term": 1, "vectors": 2}

        again = self.reopened(store)
        assert dict(again.intents()) == {ADA: None}
        assert self.raw_ids(again, ADA) == set()
        assert (again.version(ADA), again.users()) == (0, (BOB,))
        assert again.history(ADA, "a") == again.history(ADA, "b") == ()
        assert again.consumed(ADA, ["s"]) == again.tombstones(ADA, ["b", "c"]) == frozenset()
        assert (again.unindexed(ADA, 10), again.removals(ADA, 10), again.vector_count(ADA)) == ({}, {}, 0)
        assert self.raw_ids(again, BOB) == {"a"}

    @pytest.mark.parametrize("user", HOSTILE.values(), ids=HOSTILE)
    def test_erasing_an_unknown_user_leaves_an_intent_until_it_is_closed(self, store: RecordStore, user: str) -> None:
        """Other places may know a user that this one does not."""
        assert dict(store.erase(user, NOW)) == {"long_term": 0, "vectors": 0}
        assert dict(self.reopened(store).intents()) == {user: None}

        store.close_intents(user, None)

        assert store.intents() == {}
        assert store.users() == ()

    def test_the_intent_for_the_whole_user_covers_those_for_ids(self, store: RecordStore) -> None:
        store.forget(ADA, ["a"], NOW)
        store.erase(ADA, NOW)
        store.erase(ADA, NOW)

        store.close_intents(ADA, ["a"])
        assert dict(store.intents()) == {ADA: None}

        store.close_intents(ADA, None)
        assert store.intents() == {}

    def test_to_begin_is_to_have_a_counter_and_no_row(self, store: RecordStore) -> None:
        version = store.begin(ADA)

        again = self.reopened(store)
        assert again.begin(ADA) == again.version(ADA) == version > 0
        assert again.users() == ()
        (placed,) = again.apply(ADA, change_of(self.entry("a"), since=version))
        assert placed.outcome == "created"
        assert again.begin(ADA) == again.version(ADA) > version

    @pytest.mark.parametrize("known", [True, False])
    @pytest.mark.parametrize("closed", [True, False])
    @pytest.mark.parametrize("anew", [True, False])
    def test_a_change_begun_before_an_erasure_is_refused(
        self, store: RecordStore, *, known: bool, closed: bool, anew: bool
    ) -> None:
        """What it rests on was erased; it would bring the user back."""
        if known:
            self.write(store, ADA, self.entry("a"))
        since = store.begin(ADA)
        store.erase(ADA, NOW)
        if closed:
            store.close_intents(ADA, None)
        if anew:
            self.write(store, ADA, self.entry("b"))

        with pytest.raises(Conflict):
            store.apply(ADA, change_of(self.entry("c"), consumed=("a",), since=since))

        assert self.raw_ids(store, ADA) == ({"b"} if anew else set())
        assert store.consumed(ADA, ["a"]) == frozenset()
        assert closed or dict(store.intents()) == {ADA: None}

    def test_a_change_begun_while_an_erasure_is_open_is_refused(self, store: RecordStore) -> None:
        store.erase(ADA, NOW)
        since = store.begin(ADA)

        with pytest.raises(Conflict):
            store.apply(ADA, change_of(self.entry("a"), since=since))

        store.close_intents(ADA, None)
        assert (store.version(ADA), store.users()) == (0, ())

    def test_an_erased_user_may_start_anew(self, store: RecordStore) -> None:
        change = Change(entries=(self.entry("a", "old"),), consumed=("s",), at=NOW, by="remember")
        store.apply(ADA, change)
        store.forget(ADA, ["a"], NOW)
        self.wipe(store, ADA)

        (placed,) = store.apply(ADA, replace(change, entries=(self.entry("a", "new"),)))

        assert placed.outcome == "created"
        assert [e.kind for e in store.history(ADA, "a")] == ["created"]
