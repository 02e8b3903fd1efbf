"""What a `RecordStore` must do to forget what was chosen before, by somebody who may be behind."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from langchain_tiered_memory.core.ports import FROM_CONSOLIDATION, Forgotten, RecordStore
from langchain_tiered_memory.testing.samples import DAY, NOW
from langchain_tiered_memory.testing.suites.applying import RecordSuite
from langchain_tiered_memory.testing.suites.base import ADA


class ChosenCases(RecordSuite):
    """What changed since it was chosen stays, and so does what others cannot do without."""

    def versions(self, store: RecordStore, *ids: str) -> dict[str, int]:
        """Return the versions of these rows."""
        return {one: self.head(store, ADA, one).version for one in ids}

    def test_what_is_as_it_was_goes_and_the_history_says_why(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))
        chosen = self.versions(store, "a")

        assert store.forget(ADA, ["a"], NOW, by="policy", versions=chosen).removed == ("a",)

        assert [(one.kind, one.by, one.memory) for one in store.history(ADA, "a")][-1] == ("forgotten", "policy", None)
        assert self.raw_ids(self.reopened(store), ADA) == {"b"}

    def test_what_was_read_or_changed_since_stays_without_a_trace(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("read"), self.entry("changed"), self.entry("same"))
        chosen = self.versions(store, "read", "changed", "same")
        store.touch(ADA, ["read"], NOW)
        store.update(ADA, self.entry("changed", "another content"), NOW)

        assert store.forget(ADA, list(chosen), NOW, versions=chosen).removed == ("same",)

        assert store.tombstones(ADA, list(chosen)) == {"same"}
        assert dict(store.intents()) == {ADA: ("same",)}
        assert self.raw_ids(store, ADA) == {"read", "changed"}

    def test_with_nothing_left_to_go_nothing_is_written(self, store: RecordStore) -> None:
        self.write(store, ADA, self.entry("a"))
        version = store.version(ADA)

        assert store.forget(ADA, ["a", "unknown"], NOW, versions={"a": -1, "unknown": 1}) == Forgotten()
        assert store.forget("nobody", ["a"], NOW, versions={"a": 1}) == Forgotten()

        assert (store.version(ADA), dict(store.intents()), store.tombstones(ADA, ["a", "unknown"])) == (
            version,
            {},
            frozenset(),
        )
        assert store.version("nobody") == 0

    def test_what_a_record_that_stays_rests_on_alone_stays(self, store: RecordStore) -> None:
        drawn = self.entry("fact", origin=FROM_CONSOLIDATION, source_ids=("a",))
        self.write(store, ADA, self.entry("a"), self.entry("b"), drawn)
        chosen = self.versions(store, "a", "b")

        assert store.forget(ADA, ["a", "b"], NOW, versions=chosen).removed == ("b",)

        every = self.versions(store, "a", "fact")
        assert store.forget(ADA, ["a", "fact"], NOW, versions=every) == Forgotten(("a", "fact"), (), 0)

    def test_a_value_stays_while_one_that_it_replaced_does(self, store: RecordStore) -> None:
        values = [self.entry(str(n), slot="home", observed_at=NOW - (9 - n) * DAY) for n in range(3)]
        self.write(store, ADA, *values)

        newer = self.versions(store, "1", "2")
        assert store.forget(ADA, ["1", "2"], NOW, versions=newer) == Forgotten()

        every = self.versions(store, "0", "1", "2")
        assert store.forget(ADA, ["0", "1", "2"], NOW, versions=every).removed == ("0", "1", "2")
