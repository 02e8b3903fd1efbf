"""What a `RecordStore` must do with values of slots: which of them holds when."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Entry, RecordStore
from langchain_tiered_memory.testing.samples import DAY, NOW
from langchain_tiered_memory.testing.suites.applying import RecordSuite, change_of
from langchain_tiered_memory.testing.suites.base import ADA, BOB
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


class SlotCases(RecordSuite):
    """A newer value supersedes an older one, whatever the order in which they are told."""

    def value(self, memory_id: str, content: str, at: datetime = NOW, **fields: Any) -> Entry:
        """Return a value of the slot "employer" that holds from `at` on."""
        return self.entry(memory_id, content, **{"slot": "employer", "observed_at": at} | fields)

    def chain(self, store: RecordStore, user_id: str = ADA) -> dict[str, tuple[str | None, datetime | None]]:
        """Return by id what superseded each record, and when it ended; heads and bodies agree."""
        heads = {e.memory.id: e.memory for e in store.changes(user_id, 0).entries}
        bodies = {m.id: m for m in store.get(user_id, list(heads))}
        ends = {i: (m.superseded_by, m.valid_to) for i, m in bodies.items()}
        assert {i: (m.superseded_by, m.valid_to) for i, m in heads.items()} == ends
        return ends

    def test_a_newer_value_supersedes(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"))
        version = store.version(ADA)

        (placed,) = self.write(store, ADA, self.value("b", "Bolt", NOW + DAY))

        assert (placed.outcome, placed.superseded, placed.memory.current) == ("created", ("a",), True)
        assert self.chain(self.reopened(store)) == {"a": ("b", NOW + DAY), "b": (None, None)}
        assert {e.memory.id for e in store.changes(ADA, version).entries} == {"a", "b"}
        assert [(e.kind, e.by) for e in store.history(ADA, "a")] == [("created", "remember"), ("superseded", "b")]

    def test_an_older_value_is_filed_behind(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("b", "Bolt", NOW + DAY))

        (placed,) = self.write(store, ADA, self.value("a", "Acme"))

        assert (placed.outcome, placed.superseded) == ("created", ())
        assert (placed.memory.superseded_by, placed.memory.valid_to) == ("b", NOW + DAY)
        assert self.chain(store) == {"a": ("b", NOW + DAY), "b": (None, None)}

    def test_a_value_between_two_is_filed_between(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"), self.value("c", "Core", NOW + 2 * DAY))

        self.write(store, ADA, self.value("b", "Bolt", NOW + DAY))

        ends = {"a": ("b", NOW + DAY), "b": ("c", NOW + 2 * DAY), "c": (None, None)}
        assert self.chain(store) == ends

    def test_of_two_values_of_one_instant_the_later_written_holds(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("z", "Acme"))
        self.write(store, ADA, self.value("a", "Bolt"))

        assert self.chain(store) == {"z": ("a", NOW), "a": (None, None)}

    def test_the_same_value_reinforces(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme Ltd."))

        (placed,) = self.write(store, ADA, self.value("b", "acme  ltd", NOW + DAY, source_ids=("s",)))

        assert (placed.outcome, placed.memory.id, placed.superseded) == ("reinforced", "a", ())
        assert set(self.one(store, ADA, "a").source_ids) == {"s", "b"}
        assert self.one(store, ADA, "a").observed_at == NOW
        assert self.chain(store) == {"a": (None, None)}

    def test_the_same_value_reinforces_the_period_that_it_falls_in(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"), self.value("b", "Bolt", NOW + 2 * DAY))

        (placed,) = self.write(store, ADA, self.value("c", "Acme", NOW + DAY))

        assert (placed.outcome, placed.memory.id) == ("reinforced", "a")

    def test_the_same_value_in_another_period_is_a_record_of_its_own(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"), self.value("b", "Bolt", NOW + DAY))

        (placed,) = self.write(store, ADA, self.value("c", "Acme", NOW + 2 * DAY))

        assert (placed.outcome, placed.superseded) == ("created", ("b",))
        ends = {"a": ("b", NOW + DAY), "b": ("c", NOW + 2 * DAY), "c": (None, None)}
        assert self.chain(store) == ends

    def test_an_older_telling_of_the_present_value_is_a_record_of_its_own(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("b", "Acme", NOW + DAY))

        (placed,) = self.write(store, ADA, self.value("a", "Acme"))

        assert placed.outcome == "created"
        assert self.chain(store) == {"a": ("b", NOW + DAY), "b": (None, None)}

    @pytest.mark.parametrize("fields", [{"name": "Bo"}, {"agent_id": "x"}, {"slot": "employers"}, {"slot": "Employer"}])
    def test_other_chains_are_left_alone(self, store: RecordStore, fields: dict[str, Any]) -> None:
        """A speaker's employer is not another speaker's."""
        self.write(store, ADA, self.value("a", "Acme", **fields))

        (placed,) = self.write(store, ADA, self.value("b", "Bolt", NOW + DAY))

        assert placed.superseded == ()
        assert self.chain(store) == {"a": (None, None), "b": (None, None)}

    def test_the_chain_of_another_user_is_left_alone(self, store: RecordStore) -> None:
        self.write(store, BOB, self.value("a", "Acme"))

        self.write(store, ADA, self.value("b", "Bolt", NOW + DAY))

        assert self.chain(store, BOB) == {"a": (None, None)}

    def test_values_of_one_change_see_each_other(self, store: RecordStore) -> None:
        entries = [self.value("b", "Bolt", NOW + DAY), self.value("a", "Acme"), self.value("c", "Bolt", NOW + 2 * DAY)]

        placed = store.apply(ADA, change_of(*entries, by="import"))

        assert [p.outcome for p in placed] == ["created", "created", "reinforced"]
        assert self.chain(store) == {"a": ("b", NOW + DAY), "b": (None, None)}

    def test_a_record_without_a_slot_is_in_no_chain(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"), self.entry("b", "Bolt", observed_at=NOW + DAY))

        assert self.chain(store) == {"a": (None, None), "b": (None, None)}

    def test_values_told_at_once_make_one_chain(self, store: RecordStore) -> None:
        at_once(lambda n: self.write(store, ADA, self.value(f"{n}", f"employer {n}", NOW + n * DAY)))

        last = THREADS - 1
        ends: dict[str, tuple[str | None, datetime | None]] = {
            f"{n}": (f"{n + 1}", NOW + (n + 1) * DAY) for n in range(last)
        }
        assert self.chain(store) == {**ends, f"{last}": (None, None)}

    def test_forgetting_a_link_closes_the_chain_over_the_gap(self, store: RecordStore) -> None:
        values = [self.value(name, name, NOW + n * DAY) for n, name in enumerate("abcd")]
        self.write(store, ADA, *values)

        store.forget(ADA, ["b", "c"], NOW)
        assert self.chain(store) == {"a": ("d", NOW + 3 * DAY), "d": (None, None)}
        assert store.history(ADA, "a")[-1].kind == "superseded"
        assert store.history(ADA, "a")[-1].by == "d"

        store.forget(ADA, ["d"], NOW)
        assert self.chain(store) == {"a": (None, None)}
        a: Memory = self.one(store, ADA, "a")
        assert a.current

    def test_what_a_forgotten_value_left_current_can_be_superseded_again(self, store: RecordStore) -> None:
        self.write(store, ADA, self.value("a", "Acme"), self.value("b", "Bolt", NOW + DAY))
        store.forget(ADA, ["b"], NOW)

        (placed,) = self.write(store, ADA, self.value("c", "Core", NOW + 2 * DAY))

        assert placed.superseded == ("a",)
        assert self.chain(store) == {"a": ("c", NOW + 2 * DAY), "c": (None, None)}
