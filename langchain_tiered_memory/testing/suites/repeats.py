"""What every store of memories must do when the same is written again."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from langchain_tiered_memory.core.errors import Conflict
from langchain_tiered_memory.core.ports import Entry
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, MICROSECOND, NOW
from langchain_tiered_memory.testing.suites.base import ADA, S, StoreSuite


class RepeatCases(StoreSuite[S]):
    """Writing is idempotent by id, and whole or not at all."""

    def test_writing_twice_leaves_it_as_it_was(self, store: S) -> None:
        entry = self.entry("a", "same", importance=0.5)
        self.write(store, ADA, entry)
        store.touch(ADA, ["a"], NOW + DAY)
        before = store.changes(ADA, 0)

        later = self.entry("a", "same", importance=0.9, created_at=NOW + DAY, metadata={"new": 1})
        (placed,) = self.write(store, ADA, later)

        assert placed.outcome == "existing"
        assert (placed.memory.importance, placed.memory.created_at) == (0.5, NOW)
        assert placed.memory.access_count == 1
        assert store.changes(ADA, 0) == before

    def test_two_entries_with_equal_text_in_one_call_are_both_stored(self, store: S) -> None:
        placed = self.write(store, ADA, self.entry("a", "same"), self.entry("b", "same"))

        assert [p.outcome for p in placed] == ["created", "created"]
        assert self.raw_ids(store, ADA) == {"a", "b"}

    def test_the_same_id_twice_in_one_call_is_one(self, store: S) -> None:
        placed = self.write(store, ADA, self.entry("a", "same"), self.entry("a", "same"))

        assert [p.outcome for p in placed] == ["created", "existing"]

    @pytest.mark.parametrize("content", ["other", "", "Same", "same ", "same\0"])
    def test_an_id_with_another_content_is_a_conflict_and_nothing_is_written(self, store: S, content: str) -> None:
        self.write(store, ADA, self.entry("a", "same"))
        before = store.changes(ADA, 0)

        with pytest.raises(Conflict):
            self.write(store, ADA, self.entry("new"), self.entry("a", content), self.entry("newer"))

        assert store.changes(ADA, 0) == before
        assert self.raw_ids(store, ADA) == {"a"}

    def test_an_id_with_two_contents_in_one_call_is_a_conflict(self, store: S) -> None:
        with pytest.raises(Conflict):
            self.write(store, ADA, self.entry("a", "one"), self.entry("a", "another"))

        assert self.raw_ids(store, ADA) == set()
        assert store.users() == ()

    def test_a_reinforced_memory_takes_the_sources_and_the_id(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a", source_ids=("s1",)), duplicate_key="key"))
        again = replace(self.entry("b", source_ids=("s2", "s1")), duplicate_key="key")

        (placed,) = self.write(store, ADA, again)

        assert (placed.outcome, placed.memory.id) == ("reinforced", "a")
        assert placed.memory.content == "content of a"
        assert set(placed.memory.source_ids) == {"s1", "s2", "b"}
        assert self.one(store, ADA, "a").source_ids == placed.memory.source_ids
        assert len(placed.memory.source_ids) == 3
        assert self.raw_ids(store, ADA) == {"a"}

    def test_a_memory_is_never_its_own_source(self, store: S) -> None:
        """As when the fact drawn from a memory says what the memory says."""
        self.write(store, ADA, replace(self.entry("a"), duplicate_key="key"))

        self.write(store, ADA, replace(self.entry("b", source_ids=("a", "c")), duplicate_key="key"))

        assert self.one(store, ADA, "a").source_ids == ("c", "b")

    def test_sources_with_hostile_ids_are_told_apart(self, store: S) -> None:
        ids = list(HOSTILE.values())
        self.write(store, ADA, replace(self.entry("a", source_ids=(ids[0],)), duplicate_key="key"))

        for memory_id in [*ids, *ids]:
            self.write(store, ADA, replace(self.entry(memory_id), duplicate_key="key"))

        assert self.one(self.reopened(store), ADA, "a").source_ids == tuple(ids)

    def test_reinforcing_is_a_change_and_doing_it_again_adds_nothing(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a"), duplicate_key="key"))
        version = store.version(ADA)
        again = replace(self.entry("b"), duplicate_key="key")

        self.write(store, ADA, again)
        self.write(store, ADA, again)

        assert self.one(store, ADA, "a").source_ids == ("b",)
        assert [e.memory.source_ids for e in store.changes(ADA, version).entries] == [("b",)]

    @pytest.mark.parametrize("moved", [timedelta(0), timedelta(seconds=60), timedelta(seconds=-60)])
    def test_an_episode_within_the_time_is_a_repetition(self, store: S, moved: timedelta) -> None:
        self.write(store, ADA, self.episode("a", NOW))

        (placed,) = self.write(store, ADA, self.episode("b", NOW + moved))

        assert (placed.outcome, placed.memory.id, placed.memory.source_ids) == ("repeated", "a", ())
        assert self.raw_ids(store, ADA) == {"a"}

    @pytest.mark.parametrize("sign", [1, -1])
    def test_an_episode_outside_the_time_is_another(self, store: S, sign: int) -> None:
        self.write(store, ADA, self.episode("a", NOW))

        (placed,) = self.write(store, ADA, self.episode("b", NOW + sign * (timedelta(seconds=60) + MICROSECOND)))

        assert placed.outcome == "created"

    def test_a_repetition_is_found_among_several(self, store: S) -> None:
        """The one it repeats need not be the newest, nor the oldest, with its key."""
        times = [NOW, NOW + timedelta(seconds=100), NOW + timedelta(seconds=200)]
        for number, at in enumerate(times):
            self.write(store, ADA, self.episode(f"{number}", at))

        placed = [self.write(store, ADA, self.episode(f"again {at}", at + MICROSECOND))[0] for at in times]

        assert [(p.outcome, p.memory.id) for p in placed] == [("repeated", "0"), ("repeated", "1"), ("repeated", "2")]

    def test_entries_of_one_call_see_each_other(self, store: S) -> None:
        entries = [replace(self.entry(i), duplicate_key="key") for i in "abc"]

        placed = self.write(store, ADA, *entries, self.episode("d", NOW), self.episode("e", NOW))

        outcomes = ["created", "reinforced", "reinforced", "created", "repeated"]
        assert [p.outcome for p in placed] == outcomes
        assert self.one(store, ADA, "a").source_ids == ("b", "c")

    def test_the_id_comes_before_the_statement(self, store: S) -> None:
        """An entry written twice is the same one, although another says the same meanwhile."""
        self.write(store, ADA, self.episode("a", NOW), self.episode("b", NOW + DAY))

        (placed,) = self.write(store, ADA, self.episode("b", NOW + DAY))

        assert (placed.outcome, placed.memory.id) == ("existing", "b")

    def test_another_key_or_none_is_another_statement(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a"), duplicate_key="key"), self.entry("b"))
        entries: Sequence[Entry] = [replace(self.entry("c"), duplicate_key="KEY"), self.entry("d")]

        assert [p.outcome for p in self.write(store, ADA, *entries)] == ["created", "created"]

    def episode(self, memory_id: str, created_at: datetime) -> Entry:
        """Return an entry that repeats within a minute."""
        entry = self.entry(memory_id, "ok", created_at=created_at)
        return replace(entry, duplicate_key="ok", duplicate_within=timedelta(seconds=60))
