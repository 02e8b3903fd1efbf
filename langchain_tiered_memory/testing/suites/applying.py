"""What a `RecordStore` must do with a change: one transaction, a ledger, a history."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import Change, Entry, Placed, RecordStore
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, NOW, once, passage, plain
from langchain_tiered_memory.testing.suites.base import ADA, BOB, StoreSuite
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


def change_of(*entries: Entry, consumed: tuple[str, ...] = (), by: str = "remember", **fields: Any) -> Change:
    """Return a change at `NOW`."""
    given: dict[str, Any] = {"at": NOW, "by": by} | fields
    return Change(entries=entries, consumed=consumed, **given)


class RecordSuite(StoreSuite[RecordStore]):
    """How the suites for all stores write to long-term memory."""

    tier = Tier.LONG_TERM

    def write(self, store: RecordStore, user_id: str, *entries: Entry) -> tuple[Placed, ...]:
        """Apply the entries as one strict change."""
        return store.apply(user_id, change_of(*entries))

    def wipe(self, store: RecordStore, user_id: str) -> None:
        """Erase the user, and close the intent as the engine does once every other place is clear."""
        store.erase(user_id, NOW)
        store.close_intents(user_id, None)

    def fact(self, memory_id: str, *sources: str, **fields: Any) -> Entry:
        """Return a fact that consolidation drew from its sources."""
        return self.entry(memory_id, source_ids=sources, **{"origin": "consolidation"} | fields)


class ApplyCases(RecordSuite):
    """Records are written with what they were made from, or not at all."""

    def test_a_change_may_be_read_once_only(self, store: RecordStore) -> None:
        change = Change(entries=once(self.entry("a"), self.entry("b")), consumed=once("s1", "s2"), at=NOW, by="import")

        assert [p.outcome for p in store.apply(ADA, change)] == ["created", "created"]
        assert store.consumed(ADA, once("s1", "s2", "s3")) == {"s1", "s2"}

    def test_an_empty_change_does_nothing(self, store: RecordStore) -> None:
        assert store.apply(ADA, change_of()) == ()
        assert store.version(ADA) == 0
        assert store.users() == ()

    def test_a_change_is_one_step_of_the_counter(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))
        version = store.version(ADA)

        self.write(store, ADA, self.entry("b"), self.entry("c"))

        assert {e.version for e in store.changes(ADA, version).entries} == {version + 1}
        assert store.version(ADA) == version + 1

    def test_consumed_ids_are_in_the_ledger_of_their_user(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(self.fact("f", "s1"), consumed=tuple(HOSTILE.values())))

        again = self.reopened(store)
        assert again.consumed(ADA, [*HOSTILE.values(), "unknown"]) == set(HOSTILE.values())
        assert again.consumed(BOB, list(HOSTILE.values())) == frozenset()

    def test_a_forgotten_source_gives_nothing(self, store: RecordStore) -> None:
        """Its facts were found before it was forgotten; they would bring it back."""
        self.write(store, ADA, self.entry("a"))
        store.forget(ADA, ["a"], NOW)

        with pytest.raises(Conflict):
            store.apply(ADA, change_of(self.fact("f", "a"), consumed=("b", "a"), by="consolidate"))

        assert self.raw_ids(store, ADA) == set()
        assert store.consumed(ADA, ["a", "b"]) == frozenset()

    def test_a_ledger_without_records_is_no_row(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(consumed=("s1",)))

        assert store.consumed(ADA, ["s1"]) == {"s1"}
        assert store.users() == ()

    def test_a_consumed_source_is_a_conflict_and_leaves_no_trace(self, store: RecordStore) -> None:
        store.apply(ADA, change_of(self.fact("f", "s1"), consumed=("s1",)))
        before = store.changes(ADA, 0)

        with pytest.raises(Conflict):
            store.apply(ADA, change_of(self.fact("g", "s1", "s2"), consumed=("s2", "s1")))

        assert store.changes(ADA, 0) == before
        assert self.raw_ids(store, ADA) == {"f"}
        assert store.consumed(ADA, ["s1", "s2"]) == {"s1"}
        assert store.history(ADA, "g") == ()
        assert store.unindexed(ADA, 10) == {}

    def test_a_source_that_was_reworded_is_a_conflict_and_leaves_no_trace(self, store: RecordStore) -> None:
        """Its facts were drawn from what it said before."""
        self.write(store, ADA, self.entry("s1", "as it is"), self.entry("s2", "said"))
        before = store.changes(ADA, 0)
        change = change_of(self.fact("f", "s1"), consumed=("s2", "s1"), by="consolidate")

        with pytest.raises(Conflict):
            store.apply(ADA, replace(change, as_read={"s2": "said", "s1": "as it was"}))

        assert store.changes(ADA, 0) == before
        assert store.consumed(ADA, ["s1", "s2"]) == frozenset()
        store.apply(ADA, replace(change, as_read={"s2": "said", "s1": "as it is", "unknown": "x"}))
        assert store.consumed(ADA, ["s1", "s2"]) == {"s1", "s2"}

    def test_a_conflict_of_contents_leaves_the_ledger_alone(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a", "same"))

        with pytest.raises(Conflict):
            store.apply(ADA, change_of(self.entry("b"), self.entry("a", "other"), consumed=("s1",)))

        assert store.consumed(ADA, ["s1"]) == frozenset()
        assert len(store.history(ADA, "a")) == 1

    def test_of_two_that_consume_the_same_source_one_wins(self, store: RecordStore) -> None:
        def consolidate(number: int) -> bool:
            try:
                store.apply(ADA, change_of(self.fact(f"f{number}", "s1"), consumed=("s1",), by="consolidate"))
            except Conflict:
                return False
            return True

        assert sorted(at_once(consolidate)) == [False] * (THREADS - 1) + [True]
        assert len(self.raw_ids(store, ADA)) == 1

    def test_a_lenient_change_leaves_an_id_with_another_content_as_it_was(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a", "mine", importance=0.3))
        entries = (self.entry("a", "theirs", importance=0.9), self.entry("b"))

        placed = store.apply(ADA, change_of(*entries, by="import", strict=False))

        assert [p.outcome for p in placed] == ["existing", "created"]
        assert (placed[0].memory.content, placed[0].memory.importance) == ("mine", 0.3)
        assert self.one(store, ADA, "a").content == "mine"

    def test_an_existing_record_takes_the_higher_count_and_the_later_access(self, store: RecordStore) -> None:
        """An item that moved twice, with reads in between, has not lost them."""
        self.write(store, ADA, self.entry("a", access_count=3, last_accessed=NOW + DAY))
        version = store.version(ADA)

        (lower,) = self.write(store, ADA, self.entry("a", access_count=3, last_accessed=NOW + 9 * DAY))
        assert (lower.memory.access_count, lower.memory.last_accessed) == (3, NOW + DAY)
        assert store.version(ADA) == version

        (higher,) = self.write(store, ADA, self.entry("a", access_count=5, last_accessed=NOW + 2 * DAY))
        assert higher.outcome == "existing"
        assert (higher.memory.access_count, higher.memory.last_accessed) == (5, NOW + 2 * DAY)
        assert plain(self.one(store, ADA, "a")) == plain(higher.memory)
        assert [e.memory.access_count for e in store.changes(ADA, version).entries] == [5]

    def test_a_record_that_is_over_is_no_duplicate(self, store: RecordStore) -> None:
        over = replace(self.entry("a", valid_to=NOW), duplicate_key="key")
        self.write(store, ADA, over)

        (placed,) = self.write(store, ADA, replace(self.entry("b"), duplicate_key="key"))

        assert placed.outcome == "created"

    def test_values_of_the_whole_store_are_kept(self, store: RecordStore) -> None:
        assert store.read_meta("embedding_model") is None

        store.write_meta("embedding_model", "one")
        store.write_meta("embedding_model", "two\0\ud800")
        store.write_meta("other", "")

        again = self.reopened(store)
        assert again.read_meta("embedding_model") == "two\0\ud800"
        assert again.read_meta("other") == ""


class HistoryCases(RecordSuite):
    """Every change of a record leaves an event."""

    def kinds(self, store: RecordStore, memory_id: str) -> list[tuple[str, str]]:
        """Return kind and cause of every event."""
        return [(event.kind, event.by) for event in store.history(ADA, memory_id)]

    def test_history_tells_what_happened_oldest_first(self, store: RecordStore) -> None:
        entry = replace(self.entry("a", "old", metadata={"k": [1]}), duplicate_key="key")
        store.apply(ADA, change_of(entry, at=NOW, by="session"))
        store.apply(ADA, change_of(replace(self.entry("b"), duplicate_key="key"), at=NOW + DAY, by="import"))
        store.update(ADA, self.entry("a", "new"), NOW + 2 * DAY)

        events = self.reopened(store).history(ADA, "a")

        assert [(e.kind, e.at) for e in events] == [
            ("created", NOW),
            ("reinforced", NOW + DAY),
            ("updated", NOW + 2 * DAY),
        ]
        assert [e.by for e in events][:2] == ["session", "import"]
        memories = [e.memory for e in events]
        assert [m.content for m in memories if m] == ["old", "old", "new"]
        assert [m.source_ids for m in memories if m] == [(), ("b",), ("b",)]
        assert plain(memories[0]) == replace(entry.memory, user_id=ADA) if memories[0] else False

    def test_an_item_that_consolidation_moves_is_promoted_and_its_facts_are_created(self, store: RecordStore) -> None:
        moved = self.entry("a", origin="session")

        store.apply(ADA, change_of(moved, self.fact("f", "a"), consumed=("a",), by="consolidate"))

        assert self.kinds(store, "a") == [("promoted", "consolidate")]
        assert self.kinds(store, "f") == [("created", "consolidate")]

    def test_reads_repetitions_and_vectors_are_no_events(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))

        store.touch(ADA, ["a"], NOW + DAY)
        store.embed(ADA, {"a": [passage(0, 1)]})
        self.write(store, ADA, self.entry("a", access_count=9))

        assert self.kinds(store, "a") == [("created", "remember")]

    def test_history_belongs_to_its_user(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))

        assert store.history(BOB, "a") == ()
        assert store.history(ADA, "unknown") == ()

    def test_changing_a_returned_event_changes_nothing(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a", metadata={"list": [1]}))

        (event,) = store.history(ADA, "a")
        assert event.memory is not None
        event.memory.metadata["list"].append(2)

        (again,) = store.history(ADA, "a")
        assert again.memory is not None
        assert dict(again.memory.metadata) == {"list": [1]}
