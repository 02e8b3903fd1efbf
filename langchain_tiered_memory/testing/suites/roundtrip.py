"""What every store of memories must do: round trips, the wall between users, ownership of arguments."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import Memory, ScoredMemory
from langchain_tiered_memory.core.ports import Changes, Entry, PassageVector, Touched
from langchain_tiered_memory.testing.samples import (
    DAY,
    HOSTILE,
    NOW,
    full_entry,
    memory_of,
    once,
    passage,
    plain,
    vectors_as_bytes,
)
from langchain_tiered_memory.testing.suites.base import ADA, BOB, S, StoreSuite


class RoundTripCases(StoreSuite[S]):
    """What is written comes back, whole and unaltered."""

    def test_an_unknown_user_has_nothing(self, store: S) -> None:
        assert store.version(ADA) == 0
        assert store.changes(ADA, 0) == Changes(0, whole=True)
        assert store.get(ADA, ["a"]) == ()
        assert store.users() == ()
        assert self.raw_ids(store, ADA) == set()

    def test_every_field_of_a_memory_comes_back(self, store: S) -> None:
        entry = full_entry("a", ADA)
        entry = replace(entry, memory=replace(entry.memory, tier=self.tier))

        (placed,) = self.write(store, ADA, entry)

        assert placed.outcome == "created"
        assert plain(placed.memory) == entry.memory
        assert plain(self.one(self.reopened(store), ADA, "a")) == entry.memory
        assert self.raw_ids(store, ADA) == {"a"}

    def test_changes_give_every_field_but_the_content(self, store: S) -> None:
        entry = full_entry("a", ADA)
        entry = replace(entry, memory=replace(entry.memory, tier=self.tier))
        self.write(store, ADA, entry)

        head = self.head(self.reopened(store), ADA, "a")

        assert plain(head.memory) == replace(entry.memory, content="")
        assert dict(head.terms) == dict(entry.terms)
        assert vectors_as_bytes(head.vectors) == vectors_as_bytes(entry.vectors)
        assert (head.passages, head.left_out, head.order) == (entry.passages, (), entry.order)
        assert (head.expires_at, head.duplicate_key, head.duplicate_within) == (None, entry.duplicate_key, None)
        assert head.version == store.version(ADA)

    def test_the_smallest_entry_comes_back(self, store: S) -> None:
        entry = self.entry("a", "")
        self.write(store, ADA, entry)

        assert plain(self.one(store, ADA, "a")) == replace(entry.memory, user_id=ADA)
        assert dict(self.head(store, ADA, "a").terms) == {}

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    def test_hostile_text_is_ordinary_data(self, store: S, text: str) -> None:
        fields = dict.fromkeys(("session_id", "agent_id", "role", "name", "origin", "slot"), text)
        entry = self.entry(text, text, **fields, source_ids=(text, text + "2"), metadata={text: [text]})
        entry = replace(
            entry, terms={text: 1}, duplicate_key=text, vectors=(passage(0, 1, model=text, text_hash=text),)
        )

        self.write(store, text, entry)

        again = self.reopened(store)
        assert plain(self.one(again, text, text)) == replace(entry.memory, user_id=text)
        head = self.head(again, text, text)
        assert (dict(head.terms), head.duplicate_key) == ({text: 1}, text)
        assert vectors_as_bytes(head.vectors) == vectors_as_bytes(entry.vectors)
        assert again.users() == (text,)
        assert self.raw_ids(store, text) == {text}

    def test_ten_megabytes_come_back_to_the_last_byte(self, store: S) -> None:
        content = "0123456\0\ud800é" * 1_000_000
        self.write(store, ADA, self.entry("a", content))

        assert self.one(store, ADA, "a").content == content
        assert self.head(store, ADA, "a").memory.content == ""

    def test_1500_items_come_back_and_not_one_page(self, store: S) -> None:
        ids = [f"item-{n}" for n in range(1_500)]
        self.write(store, ADA, *(self.entry(i) for i in ids))

        assert {e.memory.id for e in store.changes(ADA, 0).entries} == set(ids)
        assert [m.id for m in store.get(ADA, ids)] == ids
        assert self.raw_ids(store, ADA) == set(ids)

    def test_get_keeps_the_order_asked_and_leaves_out_the_unknown(self, store: S) -> None:
        self.write(store, ADA, *(self.entry(i) for i in "abc"))

        assert [m.id for m in store.get(ADA, ["c", "x", "a", "b"])] == ["c", "a", "b"]
        assert store.get(ADA, []) == ()

    @pytest.mark.parametrize(
        "instant",
        [
            datetime(1, 1, 2, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
            datetime(2026, 3, 29, 2, 30, 0, 999999, tzinfo=timezone(timedelta(hours=5, minutes=30))),
            datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC),
        ],
    )
    def test_instants_come_back_aware_and_equal_to_the_microsecond(self, store: S, instant: datetime) -> None:
        fields: dict[str, Any] = dict.fromkeys(("created_at", "last_accessed", "observed_at", "valid_to"), instant)
        self.write(store, ADA, self.entry("a", **fields))

        for memory in (self.one(store, ADA, "a"), self.head(store, ADA, "a").memory):
            for name in fields:
                found = getattr(memory, name)
                assert found == instant
                assert found.utcoffset() is not None

    @pytest.mark.parametrize("importance", [0.0, 5e-324, 0.1 + 0.2, 0.8, 0.8000001, 1.0])
    def test_importance_comes_back_exactly(self, store: S, importance: float) -> None:
        self.write(store, ADA, self.entry("a", importance=importance))

        assert self.one(store, ADA, "a").importance == importance
        assert self.head(store, ADA, "a").memory.importance == importance

    def test_vectors_come_back_bit_by_bit(self, store: S) -> None:
        numbers = np.array([0.0, -0.0, 1e-45, 1.1754944e-38, 3.4028235e38, 1 / 3, 1.0, -1.0], np.float32)
        many = tuple(PassageVector(n, "m", "h", np.roll(numbers, n)) for n in range(256))
        self.write(store, ADA, replace(self.entry("a"), passages=256, vectors=many))

        found = self.head(store, ADA, "a").vectors

        assert vectors_as_bytes(found) == vectors_as_bytes(many)
        assert {(v.vector.dtype, v.vector.shape) for v in found} == {(np.dtype(np.float32), (8,))}

    def test_close_may_be_called_twice(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))

        store.close()
        store.close()

    def test_the_store_has_a_name_for_people(self, store: S) -> None:
        assert store.name
        assert "://" not in store.name


class WallCases(StoreSuite[S]):
    """No call returns or changes another user's rows."""

    def test_users_that_look_alike_never_see_each_other(self, store: S) -> None:
        users = list(HOSTILE.values())
        for number, user in enumerate(users):
            self.write(store, user, self.entry("same", f"of user {number}"))

        for number, user in enumerate(users):
            (memory,) = store.get(user, ["same"])
            assert (memory.user_id, memory.content) == (user, f"of user {number}")
            assert [e.memory.id for e in store.changes(user, 0).entries] == ["same"]
        assert sorted(store.users()) == sorted(users)

    @pytest.mark.parametrize("user", HOSTILE.values(), ids=HOSTILE)
    def test_wiping_one_user_leaves_all_others(self, store: S, user: str) -> None:
        others = [other for other in HOSTILE.values() if other != user]
        for one in (user, *others):
            self.write(store, one, self.entry("same"))

        self.wipe(store, user)

        assert store.get(user, ["same"]) == ()
        assert self.raw_ids(store, user) == set()
        assert sorted(store.users()) == sorted(others)
        assert all(store.get(other, ["same"]) for other in others)

    def test_an_id_of_another_user_is_unknown(self, store: S) -> None:
        self.write(store, BOB, self.entry("b"))
        before = store.changes(BOB, 0)

        assert store.get(ADA, ["b"]) == ()
        assert store.touch(ADA, ["b"], NOW + DAY).version == 0
        store.embed(ADA, {"b": [passage(0, 1)]})
        with pytest.raises(NotFound):
            store.update(ADA, self.entry("b", "changed"), NOW)

        assert store.changes(BOB, 0) == before
        assert self.raw_ids(store, ADA) == set()

    def test_a_duplicate_of_another_user_is_none(self, store: S) -> None:
        entries = [replace(self.entry(i, "same"), duplicate_key="key") for i in ("a", "b")]
        self.write(store, ADA, entries[0])

        assert [p.outcome for p in self.write(store, BOB, entries[1])] == ["created"]


class OwnershipCases(StoreSuite[S]):
    """Arguments are read once and never kept; what is returned is the caller's own."""

    def test_changing_an_argument_afterwards_changes_nothing(self, store: S) -> None:
        metadata: dict[str, Any] = {"list": [1]}
        terms, vector = {"tea": 1}, passage(0, 1)
        entry = replace(self.entry("a", metadata=metadata), terms=terms, vectors=(vector,))
        before = vectors_as_bytes([vector])
        (placed,) = self.write(store, ADA, entry)

        metadata["list"].append(2)
        terms["tea"] = 9
        vector.vector[:] = 0
        placed.memory.metadata["list"].append(3)

        assert dict(self.one(store, ADA, "a").metadata) == {"list": [1]}
        assert dict(self.head(store, ADA, "a").terms) == {"tea": 1}
        assert vectors_as_bytes(self.head(store, ADA, "a").vectors) == before

    def test_changing_what_was_returned_changes_nothing(self, store: S) -> None:
        self.write(store, ADA, replace(self.entry("a", metadata={"list": [1]}), vectors=(passage(0, 1),)))
        before = vectors_as_bytes(self.head(store, ADA, "a").vectors)

        self.one(store, ADA, "a").metadata["list"].append(2)
        head = self.head(store, ADA, "a")
        head.memory.metadata["list"].append(2)
        head.vectors[0].vector[:] = 0

        assert dict(self.one(store, ADA, "a").metadata) == {"list": [1]}
        assert vectors_as_bytes(self.head(store, ADA, "a").vectors) == before

    def test_arguments_may_be_read_once_only(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))
        version = store.version(ADA)

        assert [m.id for m in store.get(ADA, once("b", "a"))] == ["b", "a"]
        assert store.touch(ADA, once("a", "b"), NOW) == Touched(version + 1, frozenset("ab"))
        assert [m.access_count for m in store.get(ADA, ["a", "b"])] == [1, 1]
        store.embed(ADA, {"a": once(passage(0, 1), passage(1, 2))})
        assert len(self.head(store, ADA, "a").vectors) == 2

    def test_a_hit_of_a_recall_may_be_written_as_a_memory(self, store: S) -> None:
        """A subclass of `Memory` comes back as a plain one."""
        hit = ScoredMemory.of(memory_of("a", tier=self.tier, user_id=ADA), 0.5, {})
        self.write(store, ADA, Entry(memory=hit))

        assert type(self.one(store, ADA, "a")) is Memory
