"""What every store of memories must do with reads that count, updates, and vectors that come later."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from langchain_tiered_memory.core.errors import Conflict, NotFound
from langchain_tiered_memory.core.ports import Touched
from langchain_tiered_memory.testing.samples import DAY, MICROSECOND, NOW, passage, plain, vectors_as_bytes
from langchain_tiered_memory.testing.suites.base import ADA, S, StoreSuite
from langchain_tiered_memory.testing.suites.threads import at_once


class TouchCases(StoreSuite[S]):
    """A read is counted where it happened, and nowhere else."""

    def test_a_touch_counts_and_moves_last_accessed(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))

        store.touch(ADA, ["a"], NOW + DAY)
        store.touch(ADA, ["a"], NOW + 2 * DAY)

        again = self.reopened(store)
        a, b = again.get(ADA, ["a", "b"])
        assert (a.access_count, a.last_accessed) == (2, NOW + 2 * DAY)
        assert (b.access_count, b.last_accessed) == (0, NOW)
        assert self.head(again, ADA, "a").memory == replace(a, content="")

    @pytest.mark.parametrize("earlier", [DAY, MICROSECOND])
    def test_a_touch_never_moves_last_accessed_back(self, store: S, earlier: timedelta) -> None:
        self.write(store, ADA, self.entry("a"))

        store.touch(ADA, ["a"], NOW - earlier)

        assert self.one(store, ADA, "a").last_accessed == NOW
        assert self.one(store, ADA, "a").access_count == 1

    def test_a_touch_is_one_step_of_the_counter_and_a_change_of_the_touched_alone(self, store: S) -> None:
        self.write(store, ADA, *(self.entry(i) for i in "abc"))
        version = store.version(ADA)

        returned = store.touch(ADA, ["a", "unknown", "c"], NOW + DAY)

        changes = store.changes(ADA, version)
        assert returned == Touched(version + 1, frozenset("ac"))
        assert changes.version == store.version(ADA) == version + 1
        assert {e.memory.id for e in changes.entries} == {"a", "c"}
        assert {e.version for e in changes.entries} == {version + 1}
        assert (changes.gone, changes.whole) == ((), False)

    def test_a_touch_never_creates(self, store: S) -> None:
        assert store.touch(ADA, ["a"], NOW) == Touched(0)
        assert store.users() == ()

        self.write(store, ADA, self.entry("b"))
        version = store.version(ADA)

        assert store.touch(ADA, ["a"], NOW) == Touched(version)
        assert store.get(ADA, ["a"]) == ()
        assert self.raw_ids(store, ADA) == {"b"}
        assert {e.memory.id for e in store.changes(ADA, 0).entries} == {"b"}

    def test_a_touch_never_revives(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))
        self.wipe(store, ADA)

        store.touch(ADA, ["a"], NOW)

        assert store.get(ADA, ["a"]) == ()
        assert self.raw_ids(store, ADA) == set()
        assert store.changes(ADA, 0).entries == ()

    def test_counts_are_exact_under_many_threads(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))
        version = store.version(ADA)

        def touch(number: int) -> list[int]:
            order = ["b", "a"] if number % 2 else ["a", "b"]
            return [store.touch(ADA, order, NOW + n * DAY).version for n in range(25)]

        steps = [step for returned in at_once(touch) for step in returned]

        assert [m.access_count for m in store.get(ADA, ["a", "b"])] == [200, 200]
        assert [m.last_accessed for m in store.get(ADA, ["a", "b"])] == [NOW + 24 * DAY] * 2
        assert store.version(ADA) == version + 200
        assert min(steps) > version
        assert max(steps) == version + 200


class UpdateCases(StoreSuite[S]):
    """An update replaces what follows from the text and what people set, and keeps everything else."""

    def test_an_update_replaces_and_keeps(self, store: S) -> None:
        fields: dict[str, Any] = {"session_id": "s", "role": "user", "source_ids": ("x",), "observed_at": NOW - DAY}
        old = replace(self.entry("a", **fields), vectors=(passage(0, 1),), terms={"old": 1}, order=5)
        self.write(store, ADA, old)
        store.touch(ADA, ["a"], NOW + DAY)
        before = self.one(store, ADA, "a")
        version = store.version(ADA)

        changed = self.entry("a", "new", importance=0.9, pinned=True, metadata={"k": 1}, session_id="z", role="tool")
        new = replace(changed, terms={"new": 1}, passages=2, vectors=(passage(0, 2), passage(1, 3)), order=9)
        returned = store.update(ADA, new, NOW + 2 * DAY)

        expected = replace(before, content="new", importance=0.9, pinned=True, metadata={"k": 1})
        assert plain(returned) == expected
        assert plain(self.one(self.reopened(store), ADA, "a")) == expected
        (head,) = store.changes(ADA, version).entries
        assert (dict(head.terms), head.passages, head.order) == ({"new": 1}, 2, 5)
        assert vectors_as_bytes(head.vectors) == vectors_as_bytes(new.vectors)

    def test_an_update_without_vectors_removes_the_old_ones(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a"), passages=2, vectors=(passage(0, 1), passage(1, 2))))

        store.update(ADA, self.entry("a", "new"), NOW)

        assert self.head(store, ADA, "a").vectors == ()
        assert self.head(store, ADA, "a").passages == 1

    def test_an_update_of_the_unknown_is_not_found_and_writes_nothing(self, store: S) -> None:
        with pytest.raises(NotFound):
            store.update(ADA, self.entry("a"), NOW)
        assert store.users() == ()

        self.write(store, ADA, self.entry("b"))
        before = store.changes(ADA, 0)
        with pytest.raises(NotFound):
            store.update(ADA, self.entry("a"), NOW)

        assert store.changes(ADA, 0) == before
        assert self.raw_ids(store, ADA) == {"b"}

    def test_an_update_of_what_changed_meanwhile_is_a_conflict_and_writes_nothing(self, store: S) -> None:
        """Compare and set: whoever read the row first and writes last has to look again."""
        self.write(store, ADA, self.entry("a", "old"), self.entry("b"))
        seen = self.head(store, ADA, "a").version
        store.update(ADA, self.entry("b", "another row"), NOW)
        assert store.update(ADA, self.entry("a", "first"), NOW, version=seen).content == "first"

        before = store.changes(ADA, 0)
        with pytest.raises(Conflict):
            store.update(ADA, self.entry("a", "second"), NOW, version=seen)

        assert store.changes(ADA, 0) == before
        assert self.one(self.reopened(store), ADA, "a").content == "first"

    def test_an_access_is_a_change_that_an_update_notices(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))
        seen = self.head(store, ADA, "a").version
        store.touch(ADA, ["a"], NOW + DAY)

        with pytest.raises(Conflict):
            store.update(ADA, self.entry("a", "new"), NOW, version=seen)

        now = self.head(store, ADA, "a").version
        assert store.update(ADA, self.entry("a", "new"), NOW, version=now).access_count == 1

    def test_of_concurrent_updates_from_one_version_one_is_made(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))
        seen = self.head(store, ADA, "a").version

        def update(number: int) -> str:
            try:
                return store.update(ADA, self.entry("a", f"by {number}"), NOW, version=seen).content
            except Conflict:
                return ""

        made = [content for content in at_once(update, 8) if content]

        assert made == [self.one(store, ADA, "a").content]

    def test_after_an_update_the_new_text_is_the_statement(self, store: S) -> None:
        """The old statement may be made again; the new one is the updated memory's."""
        self.write(store, ADA, replace(self.entry("a", "old"), duplicate_key="old"))
        store.update(ADA, replace(self.entry("a", "new"), duplicate_key="new"), NOW)

        old = replace(self.entry("b", "old"), duplicate_key="old")
        new = replace(self.entry("c", "new"), duplicate_key="new")
        placed = self.write(store, ADA, old, new)

        assert [(p.outcome, p.memory.id) for p in placed] == [("created", "b"), ("reinforced", "a")]


class EmbedCases(StoreSuite[S]):
    """Vectors that come after the row."""

    def test_vectors_are_added_and_replaced_by_passage(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a"), passages=3, vectors=(passage(1, 1),)), self.entry("b"))
        version = store.version(ADA)

        replaced = passage(1, 3, model="model-b", text_hash="other")
        store.embed(ADA, {"a": [passage(2, 4), replaced, passage(0, 2)]})

        changes = self.reopened(store).changes(ADA, version)
        assert changes.version == version + 1
        (head,) = changes.entries
        assert vectors_as_bytes(head.vectors) == vectors_as_bytes([passage(0, 2), replaced, passage(2, 4)])
        assert plain(self.one(store, ADA, "a")) == replace(self.entry("a").memory, user_id=ADA)

    def test_ids_that_are_gone_are_passed_over(self, store: S) -> None:
        store.embed(ADA, {"a": [passage(0, 1)]})
        assert store.version(ADA) == 0

        self.write(store, ADA, self.entry("b"))
        store.embed(ADA, {"a": [passage(0, 1)], "b": [passage(0, 2)]})

        assert {e.memory.id for e in store.changes(ADA, 0).entries} == {"b"}
        assert self.raw_ids(store, ADA) == {"b"}
        assert vectors_as_bytes(self.head(store, ADA, "b").vectors) == vectors_as_bytes([passage(0, 2)])

    def test_embedding_nothing_changes_nothing(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))
        before = store.changes(ADA, 0)

        store.embed(ADA, {})
        store.embed(ADA, {"a": []})

        assert store.changes(ADA, 0) == before
