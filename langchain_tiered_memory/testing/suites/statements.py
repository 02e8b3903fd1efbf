"""What a `RecordStore` must do with what values of slots state: periods, negations, and what is said again."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from langchain_tiered_memory.core.derive import terms
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Entry, RecordStore
from langchain_tiered_memory.testing.samples import DAY, NOW, plain
from langchain_tiered_memory.testing.suites.applying import RecordSuite, change_of
from langchain_tiered_memory.testing.suites.base import ADA

YEAR = 365 * DAY


def year(number: int) -> datetime:
    """Return an instant that lies so many years after the year 2000 of the samples."""
    return NOW - (2026 - number) * YEAR


class StatementCases(RecordSuite):
    """Consolidation states values of slots: "acme" of "I still work at Acme", and when that was."""

    def said(
        self, memory_id: str, of: str, since: int, *sources: str, words: str | None = None, **fields: Any
    ) -> Entry:
        """Return a fact about an employer; "not acme" denies it, `until` is an end that it states itself."""
        about = fields.pop("about", {}) | {"value": of.removeprefix("not ")}
        about |= {"negated": True} if of.startswith("not ") else {}
        end = fields.pop("until", None)
        given = {"slot": "employer", "observed_at": year(since), "content": words or f"I work at {of}"} | fields
        ends = {} if end is None else {"valid_to": year(end)}
        return self.fact(memory_id, *sources, metadata=about, **ends, **given)

    def tell(self, store: RecordStore, *entries: Entry, at: datetime = NOW) -> None:
        """Apply each as a change of its own, as consolidation does."""
        for entry in entries:
            store.apply(ADA, change_of(entry, by="consolidate", at=at))

    def told(self, store: RecordStore) -> list[tuple[str, int, int | None]]:
        """Return value, first and last year of every record in order of time; heads and bodies agree."""
        found = self.stated(store)
        ends = [None if one.valid_to is None else _year(one.valid_to) for one in found]
        names = ["not " * bool(one.metadata.get("negated")) + one.metadata["value"] for one in found]
        return [(name, _year(one.observed_at), end) for name, one, end in zip(names, found, ends, strict=True)]

    def stated(self, store: RecordStore) -> list[Memory]:
        """Return every record in order of time; the store holds these and no more."""
        heads = [entry.memory for entry in store.changes(ADA, 0).entries]
        bodies = sorted(map(plain, store.get(ADA, [one.id for one in heads])), key=lambda one: one.observed_at)
        assert self.raw_ids(store, ADA) == {one.id for one in bodies}
        by_id = {one.id: one for one in heads}
        for one in bodies:
            head = by_id[one.id]
            assert (head.valid_to, head.superseded_by, dict(head.metadata), head.source_ids) == (
                one.valid_to,
                one.superseded_by,
                one.metadata,
                one.source_ids,
            )
        return bodies

    def kinds(self, store: RecordStore, memory_id: str) -> list[tuple[str, str]]:
        """Return kind and cause of every event."""
        return [(event.kind, event.by) for event in store.history(ADA, memory_id)]

    def test_equal_values_in_other_words_reinforce_and_are_remembered(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1", about={"spans": {"s1": [0, 14]}}))
        again = self.said("b", "Acme", 2024, "s2", words="I still work at Acme", about={"spans": {"s2": [3, 23]}})

        (placed,) = store.apply(ADA, change_of(again, by="consolidate", at=NOW + DAY))

        assert (placed.outcome, placed.memory.id, placed.superseded) == ("reinforced", "a", ())
        (one,) = self.stated(self.reopened(store))
        assert (one.content, one.source_ids, one.observed_at) == ("I work at acme", ("s1", "s2"), year(2018))
        assert one.metadata == {
            "value": "acme",
            "spans": {"s1": [0, 14], "s2": [3, 23]},
            "confirmed": {year(2024).isoformat(): {"s2": "I still work at Acme"}},
        }
        assert plain(placed.memory) == one
        assert [(e.kind, e.by, e.at) for e in store.history(ADA, "a")][1:] == [("reinforced", "consolidate", NOW + DAY)]

    def test_what_is_filled_in_leaves_both_periods(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1"), self.said("b", "acme", 2024, "s2", words="still at Acme"))
        version = store.version(ADA)

        self.tell(store, self.said("g", "globex", 2020, "s3"), at=NOW + DAY)

        assert self.told(self.reopened(store)) == [
            ("acme", 2018, 2020),
            ("globex", 2020, 2024),
            ("acme", 2024, None),
        ]
        first, between, again = self.stated(store)
        assert (first.id, first.superseded_by, between.superseded_by, again.current) == ("a", "g", again.id, True)
        assert (first.source_ids, again.source_ids) == (("s1",), ("s2",))
        assert (first.metadata, again.metadata) == ({"value": "acme"}, {"value": "acme"})
        assert (again.content, again.origin, again.created_at) == ("still at Acme", "consolidation", between.created_at)
        assert {e.memory.id for e in store.changes(ADA, version).entries} == {first.id, between.id, again.id}
        assert self.kinds(store, "a") == [
            ("created", "consolidate"),
            ("reinforced", "consolidate"),
            ("superseded", "g"),
        ]
        assert self.kinds(store, again.id) == [("created", "consolidate")]

    def test_what_holds_again_can_be_found_by_its_words(self, store: RecordStore) -> None:
        """It has terms at once, and vectors as soon as somebody embeds what is pending."""
        self.tell(store, self.said("a", "acme", 2018, "s1"), self.said("b", "acme", 2024, "s2", words="still at Acme"))
        self.tell(store, self.said("g", "globex", 2020, "s3"))

        (again,) = [entry for entry in store.changes(ADA, 0).entries if entry.memory.source_ids == ("s2",)]
        assert dict(again.terms) == dict(terms(self.one(store, ADA, again.memory.id)))
        assert (again.passages, again.vectors) == (1, ())
        others = [entry.order for entry in store.changes(ADA, 0).entries if entry.memory.id != again.memory.id]
        assert again.order > max(others)

    def test_a_negation_ends_its_value_and_is_current(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1"))

        (placed,) = store.apply(ADA, change_of(self.said("n", "not acme", 2020, "s2"), by="consolidate"))

        assert (placed.outcome, placed.superseded, placed.memory.current) == ("created", ("a",), True)
        assert self.told(self.reopened(store)) == [("acme", 2018, 2020), ("not acme", 2020, None)]
        assert self.kinds(store, "a")[-1] == ("superseded", "n")

        (placed,) = store.apply(ADA, change_of(self.said("g", "globex", 2022, "s3"), by="consolidate"))
        assert placed.superseded == ("n",)
        assert self.told(store)[1:] == [("not acme", 2020, 2022), ("globex", 2022, None)]

    def test_a_negation_of_another_value_retires_nothing(self, store: RecordStore) -> None:
        self.tell(store, self.said("g", "globex", 2020, "s1"))

        (placed,) = store.apply(ADA, change_of(self.said("n", "not acme", 2024, "s2"), by="consolidate"))

        assert (placed.outcome, placed.superseded) == ("created", ())
        assert (placed.memory.superseded_by, placed.memory.valid_to) == ("g", year(2024))
        assert self.told(store) == [("globex", 2020, None), ("not acme", 2024, 2024)]
        store.forget(ADA, ["g"], NOW)
        assert self.told(store) == [("not acme", 2024, None)]

    def test_a_closed_value_is_never_current_and_keeps_its_end(self, store: RecordStore) -> None:
        self.tell(store, self.said("c", "acme", 2015, "s1", until=2018))

        assert self.told(self.reopened(store)) == [("acme", 2015, 2018)]
        self.tell(store, self.said("g", "globex", 2017, "s2"), self.said("h", "hooli", 2020, "s3"))
        assert self.told(store) == [("acme", 2015, 2018), ("globex", 2017, 2020), ("hooli", 2020, None)]
        store.forget(ADA, ["g"], NOW)
        store.forget(ADA, ["h"], NOW)

        assert self.told(store) == [("acme", 2015, 2018)]
        assert self.one(store, ADA, "c").superseded_by is None
        assert self.kinds(store, "c") == [("created", "consolidate")]

    def test_a_closed_value_ends_the_same_value_without_an_end(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2016, "s1"), self.said("c", "acme", 2015, "s2", until=2018))

        assert self.told(store) == [("acme", 2015, 2018), ("acme", 2016, 2018)]
        assert self.one(store, ADA, "a").superseded_by == "c"
        store.forget(ADA, ["c"], NOW)
        assert self.told(store) == [("acme", 2016, None)]

    def test_forgetting_a_negation_lets_its_value_hold_again(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1"), self.said("n", "not acme", 2020, "s2"))

        store.forget(ADA, ["s2"], NOW + DAY)

        assert self.told(store) == [("acme", 2018, None)]
        assert self.kinds(store, "a")[-1] == ("updated", "forget")

    def test_a_forgotten_source_takes_its_spans_and_confirmations_along(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1", about={"spans": {"s1": [0, 1]}}))
        self.tell(store, self.said("b", "acme", 2020, "s2", words="still at Acme", about={"spans": {"s2": [0, 2]}}))
        self.tell(store, self.said("c", "acme", 2022, "s3", words="ever at Acme", about={"spans": {"s3": [0, 3]}}))

        store.forget(ADA, ["s2"], NOW + DAY)

        (one,) = self.stated(self.reopened(store))
        assert one.source_ids == ("s1", "s3")
        assert one.metadata == {
            "value": "acme",
            "spans": {"s1": [0, 1], "s3": [0, 3]},
            "confirmed": {year(2022).isoformat(): {"s3": "ever at Acme"}},
        }
        self.tell(store, self.said("g", "globex", 2019, "s4"))
        assert self.told(store) == [("acme", 2018, 2019), ("globex", 2019, 2022), ("acme", 2022, None)]

    @pytest.mark.parametrize("how", ["forget", "update"])
    def test_what_others_confirmed_outlives_the_source_of_the_words(self, store: RecordStore, how: str) -> None:
        """The words of a forgotten source are not kept for those who said the same in their own."""
        self.write(store, ADA, self.entry("s1", "secretly I work at Acme"), self.entry("s2"), self.entry("s3"))
        self.tell(store, self.said("a", "acme", 2018, "s1", words="secretly I work at Acme"))
        self.tell(store, self.said("b", "acme", 2020, "s2", words="still at Acme", about={"spans": {"s2": [0, 2]}}))
        self.tell(store, self.said("c", "acme", 2022, "s3", words="ever at Acme"))

        if how == "forget":
            assert store.forget(ADA, ["s1"], NOW + DAY).derived == ("a",)
        else:
            store.update(ADA, self.entry("s1", "nothing"), NOW + DAY)

        found = [one for one in store.get(ADA, list(self.raw_ids(store, ADA))) if one.slot]
        (one,) = map(plain, found)
        assert (one.content, one.source_ids, one.observed_at) == ("still at Acme", ("s2", "s3"), year(2020))
        assert one.metadata == {
            "value": "acme",
            "spans": {"s2": [0, 2]},
            "confirmed": {year(2022).isoformat(): {"s3": "ever at Acme"}},
        }
        assert (one.current, one.created_at) == (True, NOW + DAY)
        assert self.kinds(store, one.id) == [("created", how)]
        assert [event.memory for event in store.history(ADA, "a")] == [None] * len(store.history(ADA, "a"))
        store.forget(ADA, ["s2", "s3"], NOW + DAY)
        assert not [one for one in store.get(ADA, list(self.raw_ids(store, ADA))) if one.slot]

    def test_telling_the_same_again_changes_nothing(self, store: RecordStore) -> None:
        entries = [
            self.said("a", "acme", 2018, origin="remember"),
            self.said("b", "acme", 2024, origin="remember", words="still at Acme"),
            self.said("g", "globex", 2020, origin="remember"),
            self.said("n", "not acme", 2025, origin="remember"),
            self.said("c", "acme", 2010, until=2012, origin="remember"),
        ]
        self.tell(store, *entries)
        version, before = store.version(ADA), self.stated(store)

        self.tell(store, *entries)

        assert (store.version(ADA), self.stated(store)) == (version, before)
        assert len(store.history(ADA, "a")) == 3

    def test_an_update_keeps_what_is_stated_unless_it_is_stated_anew(self, store: RecordStore) -> None:
        self.tell(store, self.said("a", "acme", 2018, "s1"), self.said("n", "not acme", 2020, "s2"))

        store.update(ADA, self.entry("n", "I work at not acme", metadata={"tag": 1}), NOW)
        assert self.one(store, ADA, "n").metadata == {"value": "acme", "negated": True, "tag": 1}
        assert self.told(store) == [("acme", 2018, 2020), ("not acme", 2020, None)]

        updated = store.update(ADA, self.entry("n", "I work at Globex", metadata={"value": "globex"}), NOW + DAY)
        assert (dict(updated.metadata), updated.current) == ({"value": "globex"}, True)
        assert self.told(store) == [("acme", 2018, 2020), ("globex", 2020, None)]

        store.update(ADA, self.entry("n", "I work at Globex", metadata={"value": "initech", "negated": True}), NOW)
        assert self.told(store) == [("acme", 2018, None), ("not initech", 2020, 2020)]
        assert self.kinds(store, "a")[-1] == ("updated", "update")

    def test_without_a_slot_the_keys_are_the_callers(self, store: RecordStore) -> None:
        given = {"value": 5, "negated": "no", "confirmed": [1], "spans": "x"}
        self.write(store, ADA, self.entry("a", metadata=given))

        store.update(ADA, self.entry("a", "content of a", metadata={"value": 6}), NOW)

        assert dict(self.one(store, ADA, "a").metadata) == {"value": 6}

    def test_keys_that_state_nothing_do_no_harm(self, store: RecordStore) -> None:
        """They may have been given before they had a meaning."""
        odd = {"value": [1], "negated": "yes", "confirmed": {"never": 3}, "spans": 7}
        self.write(store, ADA, self.fact("a", "s1", slot="x", content="Acme", metadata=odd))
        self.write(store, ADA, self.fact("b", "s2", slot="x", content="acme", observed_at=NOW + DAY))
        self.write(store, ADA, self.fact("c", "s3", slot="x", content="Globex", observed_at=NOW + 2 * DAY))

        store.forget(ADA, ["s2"], NOW)

        assert [one.content for one in self.stated(store)] == ["Acme", "Globex"]


def _year(instant: datetime) -> int:
    return 2026 - round((NOW - instant) / YEAR)
