"""What a `RecordStore` must do with statements that become part of another one, which says the same."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import Change, Entry, Forgotten, RecordStore
from langchain_tiered_memory.testing.samples import DAY, NOW, once, plain
from langchain_tiered_memory.testing.suites.applying import RecordSuite, change_of
from langchain_tiered_memory.testing.suites.base import ADA, BOB
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


def joining(parts: dict[str, str], *, consumed: tuple[str, ...] = (), **fields: Any) -> Change:
    """Return a change that lets records become part of others."""
    return change_of(consumed=consumed, by="consolidate", joined=parts, **fields)


class JoiningCases(RecordSuite):
    """The one grows, the other stays as its part, and stands for itself again when it has to."""

    def stated_on(self, memory_id: str, days: int = 0, **fields: Any) -> Entry:
        """Return a statement that was told so many days from `NOW`, which a repetition would find."""
        at = NOW + days * DAY
        entry = self.entry(memory_id, observed_at=at, created_at=at, **fields)
        return replace(entry, duplicate_key=f"key of {memory_id}")

    def ended_by(self, store: RecordStore, memory_id: str) -> tuple[object, object]:
        """Return what superseded a record, and when."""
        memory = self.one(store, ADA, memory_id)
        return memory.superseded_by, memory.valid_to

    def test_the_one_grows_by_all_that_its_part_lends_it(self, store: RecordStore) -> None:
        one = self.stated_on("a", access_count=2, importance=0.6, source_ids=("s",))
        read = {"access_count": 3, "last_accessed": NOW + 5 * DAY}
        self.write(store, ADA, one, self.stated_on("b", 1, importance=0.9, pinned=True, source_ids=("t",), **read))
        version = store.version(ADA)

        assert store.apply(ADA, joining({"b": "a"}, consumed=("a", "b"))) == ()

        again = self.reopened(store)
        grown = replace(one.memory, user_id=ADA, importance=0.9, pinned=True, source_ids=("s", "t", "b"))
        grown = replace(grown, access_count=5, last_accessed=NOW + 5 * DAY)
        assert plain(self.one(again, ADA, "a")) == grown
        heads = {e.memory.id: e.memory for e in again.changes(ADA, version).entries}
        assert {one: plain(head) for one, head in heads.items()} == {
            "a": replace(grown, content=""),
            "b": replace(plain(self.one(again, ADA, "b")), content=""),
        }
        assert again.consumed(ADA, ["a", "b"]) == {"a", "b"}

    def test_its_part_stays_as_it_was_told_and_ends_where_it_began(self, store: RecordStore) -> None:
        part = self.stated_on("b", 1, access_count=3, metadata={"k": [1]})
        self.write(store, ADA, self.stated_on("a"), part)

        store.apply(ADA, joining({"b": "a"}))

        ended = replace(part.memory, user_id=ADA, superseded_by="a", valid_to=NOW + DAY)
        assert plain(self.one(self.reopened(store), ADA, "b")) == ended

    def test_the_history_tells_it_of_both(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))

        store.apply(ADA, joining({"b": "a"}, at=NOW + 2 * DAY))

        events = {one: store.history(ADA, one)[-1] for one in ("a", "b")}
        assert {one: (e.kind, e.by, e.at) for one, e in events.items()} == {
            "a": ("reinforced", "consolidate", NOW + 2 * DAY),
            "b": ("superseded", "a", NOW + 2 * DAY),
        }
        assert [e.memory and e.memory.source_ids for e in events.values()] == [("b",), ()]
        assert [len(store.history(ADA, one)) for one in ("a", "b")] == [2, 2]

    def test_several_join_in_one_change(self, store: RecordStore) -> None:
        self.write(store, ADA, *(self.stated_on(one, at, access_count=1) for at, one in enumerate("abcd")))
        self.write(store, BOB, *(self.stated_on(one, at) for at, one in enumerate("abcd")))

        store.apply(ADA, joining({"b": "a", "d": "a"}))

        assert self.one(store, ADA, "a").source_ids == ("b", "d")
        assert self.one(store, ADA, "a").access_count == 3
        assert [m.id for m in store.get(ADA, list("abcd")) if m.current] == ["a", "c"]
        assert all(m.current and not m.source_ids for m in store.get(BOB, list("abcd")))

    def test_a_drawn_part_lends_its_sources_and_not_itself(self, store: RecordStore) -> None:
        drawn = self.fact("f", "e1", "e2", metadata={"spans": {"e1": [0, 4]}})
        self.write(store, ADA, self.stated_on("a"), drawn)

        store.apply(ADA, joining({"f": "a"}))

        assert self.one(store, ADA, "a").source_ids == ("e1", "e2")
        assert dict(self.one(store, ADA, "a").metadata) == {"spans": {"e1": [0, 4]}}

    def test_said_again_in_the_words_of_a_part_it_is_a_record_of_its_own(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))
        store.apply(ADA, joining({"b": "a"}))

        (placed,) = self.write(store, ADA, replace(self.stated_on("c", 2), duplicate_key="key of b"))

        assert (placed.outcome, placed.memory.current) == ("created", True)

    @pytest.mark.parametrize("parts", [{"b": "a"}, {"a": "b"}], ids=["as the part", "as the one"])
    @pytest.mark.parametrize(
        "fields",
        [
            None,
            {"slot": "home"},
            {"memory_type": MemoryType.EPISODE},
            {"valid_to": NOW + 9 * DAY},
            {"superseded_by": "x", "valid_to": NOW},
        ],
        ids=["gone", "a value of a slot", "an episode", "over", "superseded"],
    )
    def test_what_is_no_current_statement_is_a_conflict_and_leaves_no_trace(
        self, store: RecordStore, fields: dict[str, Any] | None, parts: dict[str, str]
    ) -> None:
        self.write(store, ADA, self.stated_on("a"), *([] if fields is None else [self.stated_on("b", 1, **fields)]))
        before, history = store.changes(ADA, 0), store.history(ADA, "a")

        with pytest.raises(Conflict):
            store.apply(ADA, joining(parts, consumed=("a",)))
        with pytest.raises(Conflict):
            store.apply(ADA, replace(joining(parts), entries=(self.stated_on("c", 3),)))

        assert store.changes(ADA, 0) == before
        assert store.history(ADA, "a") == history
        assert store.consumed(ADA, ["a"]) == frozenset()

    def test_what_becomes_part_of_another_cannot_have_parts(self, store: RecordStore) -> None:
        self.write(store, ADA, *(self.stated_on(one, at) for at, one in enumerate("abc")))
        before = store.changes(ADA, 0)

        for parts in ({"b": "a", "c": "b"}, {"c": "b", "b": "a"}, {"a": "a"}):
            with pytest.raises(Conflict):
                store.apply(ADA, joining(parts))

        assert store.changes(ADA, 0) == before

    def test_what_was_reworded_or_looked_at_meanwhile_is_a_conflict(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))
        before = store.changes(ADA, 0)

        with pytest.raises(Conflict):
            store.apply(ADA, joining({"b": "a"}, as_read={"b": "what it said before"}))
        assert store.changes(ADA, 0) == before

        store.apply(ADA, change_of(consumed=("b",)))
        with pytest.raises(Conflict):
            store.apply(ADA, joining({"b": "a"}, consumed=("b",)))
        assert self.one(store, ADA, "b").current

    def test_of_many_who_join_the_same_one_wins(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a", access_count=1), self.stated_on("b", 1, access_count=1))

        def join(number: int) -> bool:
            try:
                store.apply(ADA, joining({"b": "a"} if number % 2 else {"a": "b"}))
            except Conflict:
                return False
            return True

        assert sorted(at_once(join)) == [False] * (THREADS - 1) + [True]
        assert [(m.access_count, len(m.source_ids)) for m in store.get(ADA, ["a", "b"]) if m.current] == [(2, 1)]

    # -- what becomes of the part later ----------------------------------------------------------------------------

    def test_when_the_one_is_forgotten_its_parts_stand_again_and_are_looked_at_anew(self, store: RecordStore) -> None:
        self.write(store, ADA, *(self.stated_on(one, at) for at, one in enumerate("abc")))
        store.apply(ADA, joining({"b": "a", "c": "a"}, consumed=("a", "b", "c")))
        version = store.version(ADA)

        assert store.forget(ADA, once("a"), NOW) == Forgotten(("a",), (), 0)

        again = self.reopened(store)
        assert [self.ended_by(again, one) for one in ("b", "c")] == [(None, None)] * 2
        assert again.consumed(ADA, ["a", "b", "c"]) == {"a"}
        changes = again.changes(ADA, version)
        assert (changes.gone, {e.memory.id for e in changes.entries}) == (("a",), {"b", "c"})
        assert [(e.kind, e.by) for e in again.history(ADA, "b")][-1] == ("updated", "forget")

    def test_when_a_part_is_forgotten_the_one_stays_without_it(self, store: RecordStore) -> None:
        self.write(store, ADA, *(self.stated_on(one, at) for at, one in enumerate("abc")))
        store.apply(ADA, joining({"b": "a", "c": "a"}, consumed=("a", "b", "c")))

        store.forget(ADA, ["b"], NOW)

        assert (self.one(store, ADA, "a").source_ids, self.ended_by(store, "c")) == (("c",), ("a", NOW + 2 * DAY))
        assert store.consumed(ADA, ["a", "c"]) == {"a", "c"}

    def test_a_part_of_a_part_stays_one_when_that_is_forgotten(self, store: RecordStore) -> None:
        """The oldest was told last: what it took over has a part of its own."""
        self.write(store, ADA, self.stated_on("b", 1), self.stated_on("c", 2), self.stated_on("a"))
        store.apply(ADA, joining({"c": "b"}, consumed=("b", "c")))
        store.apply(ADA, joining({"b": "a"}, consumed=("a",)))
        assert self.one(store, ADA, "a").source_ids == ("c", "b")

        store.forget(ADA, ["b"], NOW)

        assert self.ended_by(store, "c") == ("a", NOW + 2 * DAY)
        assert self.one(store, ADA, "a").source_ids == ("c",)
        store.forget(ADA, ["a"], NOW)
        assert self.ended_by(store, "c") == (None, None)

    def test_what_was_drawn_goes_with_its_source_and_its_part_stands_again(self, store: RecordStore) -> None:
        """The words of the drawn one came from the source; its part has words of its own."""
        self.write(store, ADA, self.entry("e"), self.fact("f", "e"), self.stated_on("b", 1), self.fact("g", "h"))
        store.apply(ADA, joining({"b": "f", "g": "f"}))
        assert set(self.one(store, ADA, "f").source_ids) == {"e", "b", "h"}

        assert store.forget(ADA, ["e"], NOW).derived == ("f",)

        assert self.raw_ids(store, ADA) == {"b", "g"}
        assert [self.ended_by(store, one) for one in ("b", "g")] == [(None, None)] * 2
        assert store.forget(ADA, ["h"], NOW).derived == ("g",)

    def test_what_rests_on_a_source_that_its_part_rests_on_too_goes_with_that(self, store: RecordStore) -> None:
        self.write(store, ADA, self.fact("f", "e"), self.fact("g", "e"))
        store.apply(ADA, joining({"g": "f"}))

        assert set(store.forget(ADA, ["e"], NOW).derived) == {"f", "g"}

    def test_what_a_drawn_one_needs_stays_though_its_part_tells_the_same(self, store: RecordStore) -> None:
        """Chosen by somebody who wants no consequence for others."""
        self.write(store, ADA, self.entry("e"), self.fact("f", "e"), self.stated_on("b", 1))
        store.apply(ADA, joining({"b": "f"}))
        version = {one: self.head(store, ADA, one).version for one in ("e", "f", "b")}

        assert store.forget(ADA, ["e"], NOW, versions=version) == Forgotten()
        assert store.forget(ADA, ["e", "f"], NOW, versions=version) == Forgotten()
        assert store.forget(ADA, ["e", "f", "b"], NOW, versions=version).removed == ("e", "f", "b")

    def test_a_part_that_says_something_else_now_stands_for_itself(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))
        store.apply(ADA, joining({"b": "a"}, consumed=("a", "b")))

        updated = store.update(ADA, self.stated_on("b", content="something else"), NOW + 3 * DAY)

        assert (updated.superseded_by, updated.valid_to, updated.content) == (None, None, "something else")
        again = self.reopened(store)
        assert plain(self.one(again, ADA, "b")) == plain(updated)
        assert self.one(again, ADA, "a").source_ids == ()
        assert again.consumed(ADA, ["a", "b"]) == {"a"}

    def test_another_change_of_a_part_leaves_it_one(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))
        store.apply(ADA, joining({"b": "a"}, consumed=("a", "b")))

        store.update(ADA, self.stated_on("b", pinned=True, metadata={"k": 1}), NOW + 3 * DAY)

        changed: Memory = self.one(store, ADA, "b")
        assert (changed.superseded_by, changed.valid_to, changed.pinned) == ("a", NOW + DAY, True)
        assert self.one(store, ADA, "a").source_ids == ("b",)

    def test_the_one_may_be_reworded_and_keeps_its_parts(self, store: RecordStore) -> None:
        self.write(store, ADA, self.stated_on("a"), self.stated_on("b", 1))
        store.apply(ADA, joining({"b": "a"}, consumed=("a", "b")))

        store.update(ADA, self.stated_on("a", content="in better words"), NOW + 3 * DAY)

        assert (self.one(store, ADA, "a").source_ids, self.ended_by(store, "b")) == (("b",), ("a", NOW + DAY))
        assert store.consumed(ADA, ["a", "b"]) == {"b"}
