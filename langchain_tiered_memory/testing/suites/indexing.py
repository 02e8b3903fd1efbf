"""What a `RecordStore` must remember about the vector index, which is a copy that may lag."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from langchain_tiered_memory.core.ports import Entry, PassageVector, RecordStore, Vector, vector_ref
from langchain_tiered_memory.testing.samples import HOSTILE, NOW, once, passage, vectors_as_bytes
from langchain_tiered_memory.testing.suites.applying import RecordSuite
from langchain_tiered_memory.testing.suites.base import ADA, BOB


def as_bytes(waiting: Mapping[str, Sequence[tuple[str, Vector]]]) -> dict[str, dict[str, bytes]]:
    """Return user to reference to the bits of its vector."""
    return {user: {ref: vector.tobytes() for ref, vector in rows} for user, rows in waiting.items()}


def refs_of(*vectors: tuple[str, PassageVector]) -> dict[str, bytes]:
    """Return reference to bits for (memory id, vector) pairs."""
    return {vector_ref(memory_id, one.passage): one.vector.tobytes() for memory_id, one in vectors}


class IndexCases(RecordSuite):
    """Every vector reaches the index once, and every one that went leaves it."""

    def embedded(self, memory_id: str, *seeds: int) -> Entry:
        """Return an entry with a vector per seed."""
        return replace(self.entry(memory_id), vectors=tuple(passage(n, seed) for n, seed in enumerate(seeds)))

    def indexed(self, store: RecordStore, *entries: Entry) -> None:
        """Write entries and mark all their vectors."""
        self.write(store, ADA, *entries)
        assert store.mark(ADA, indexed=store.unindexed(ADA, 100)[ADA]) == frozenset()

    def test_a_new_vector_waits_until_it_is_marked(self, store: RecordStore) -> None:
        self.write(store, ADA, self.embedded("a", 1, 2), self.entry("b"))
        self.write(store, BOB, self.embedded("a", 3))
        of_ada = refs_of(("a", passage(0, 1)), ("a", passage(1, 2)))
        of_bob = refs_of(("a", passage(0, 3)))
        assert as_bytes(store.unindexed(None, 100)) == {ADA: of_ada, BOB: of_bob}
        assert as_bytes(store.unindexed(BOB, 100)) == {BOB: of_bob}

        store.mark(ADA, indexed=once(*store.unindexed(ADA, 100)[ADA]))

        assert as_bytes(self.reopened(store).unindexed(None, 100)) == {BOB: of_bob}
        assert store.unindexed(ADA, 100) == {}

    def test_at_most_so_many_are_given_in_all(self, store: RecordStore) -> None:
        for user in (ADA, BOB):
            self.write(store, user, *(self.embedded(f"{n}", n, n + 10) for n in range(5)))

        for limit in (1, 7, 13):
            assert sum(len(rows) for rows in store.unindexed(None, limit).values()) == limit
        store.forget(ADA, [f"{n}" for n in range(5)], NOW)
        store.forget(BOB, [f"{n}" for n in range(5)], NOW)
        for limit in (1, 7, 13):
            assert sum(len(refs) for refs in store.removals(None, limit).values()) == limit

    def test_repeating_what_is_given_until_it_is_marked_reaches_all(self, store: RecordStore) -> None:
        self.write(store, ADA, *(self.embedded(f"{n}", n) for n in range(30)))
        reached: set[str] = set()

        while waiting := store.unindexed(ADA, 7):
            refs = [ref for ref, _ in waiting[ADA]]
            assert not reached & set(refs)
            reached |= set(refs)
            store.mark(ADA, indexed=waiting[ADA])

        assert reached == {vector_ref(f"{n}", 0) for n in range(30)}

    def test_hostile_ids_make_references_that_can_be_marked(self, store: RecordStore) -> None:
        ids = list(HOSTILE.values())
        self.indexed(store, *(self.embedded(memory_id, 1) for memory_id in ids))
        assert store.unindexed(ADA, 100) == {}

        store.forget(ADA, ids, NOW)
        refs = store.removals(ADA, 100)[ADA]
        assert sorted(refs) == sorted(vector_ref(memory_id, 0) for memory_id in ids)
        store.mark(ADA, removed=refs)
        assert store.removals(ADA, 100) == {}

    def test_vectors_that_come_later_wait_too(self, store: RecordStore) -> None:
        self.indexed(store, self.embedded("a", 1, 2))

        store.embed(ADA, {"a": [passage(1, 3), passage(2, 4)]})

        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(1, 3)), ("a", passage(2, 4)))}
        assert store.removals(ADA, 10) == {}

    def test_vectors_replaced_by_an_update_leave_or_wait(self, store: RecordStore) -> None:
        self.indexed(store, self.embedded("a", 1, 2), self.embedded("b", 5))

        store.update(ADA, self.embedded("a", 3), NOW)

        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(0, 3)))}
        assert dict(store.removals(ADA, 10)) == {ADA: (vector_ref("a", 1),)}

    def test_a_reference_that_gets_a_vector_again_is_not_removed(self, store: RecordStore) -> None:
        """Removing it after it was written anew would take the new one out of the index."""
        self.indexed(store, self.embedded("a", 1))
        store.update(ADA, self.entry("a", "new"), NOW)
        assert dict(store.removals(ADA, 10)) == {ADA: (vector_ref("a", 0),)}

        store.embed(ADA, {"a": [passage(0, 2)]})

        assert store.removals(ADA, 10) == {}
        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(0, 2)))}

    def test_forgotten_vectors_leave_whether_marked_or_not(self, store: RecordStore) -> None:
        """An unmarked one may be in the index all the same: the process may have died before the mark."""
        self.indexed(store, self.embedded("a", 1))
        self.write(store, ADA, self.embedded("b", 2), replace(self.embedded("f", 3), memory=self.fact("f", "b").memory))

        assert store.forget(ADA, ["a", "b"], NOW).vectors == 3

        gone = {vector_ref(i, 0) for i in "abf"}
        assert store.unindexed(ADA, 10) == {}
        assert set(self.reopened(store).removals(None, 10)[ADA]) == gone
        store.mark(ADA, removed=once(*gone))
        assert store.removals(None, 10) == {}

    def test_marking_what_is_no_longer_there_names_what_strays(self, store: RecordStore) -> None:
        """Who wrote it to the index did so after it was forgotten, and has to take it out again."""
        one = ("a#0", passage(0, 1).vector)
        assert store.mark(ADA, indexed=[one], removed=["b#0", "no reference"]) == {"a#0"}
        assert store.version(ADA) == 0

        self.write(store, ADA, self.embedded("a", 1))
        strays = [(ref, one[1]) for ref in ("b#0", "a#7", "no reference")]
        assert store.mark(ADA, indexed=once(*strays, one), removed=["a#0"]) == {"b#0", "a#7", "no reference"}
        store.forget(ADA, ["a"], NOW)
        assert store.mark(ADA, indexed=[one]) == {"a#0"}
        self.write(store, ADA, self.embedded("b", 2))

        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("b", passage(0, 2)))}
        assert dict(store.removals(ADA, 10)) == {ADA: ("a#0",)}

    def test_marks_belong_to_their_user(self, store: RecordStore) -> None:
        self.write(store, ADA, self.embedded("a", 1))

        assert store.mark(BOB, indexed=[("a#0", passage(0, 1).vector)]) == {"a#0"}

        assert set(store.unindexed(ADA, 10)) == {ADA}

    def test_another_vector_than_the_one_that_reached_the_index_waits(self, store: RecordStore) -> None:
        self.write(store, ADA, self.embedded("a", 1))
        (waiting,) = store.unindexed(ADA, 10)[ADA]
        store.update(ADA, self.embedded("a", 2), NOW)

        assert store.mark(ADA, indexed=[waiting]) == frozenset()
        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(0, 2)))}

        store.mark(ADA, indexed=store.unindexed(ADA, 10)[ADA])
        assert store.mark(ADA, indexed=[waiting]) == frozenset()
        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(0, 2)))}

    def test_what_was_removed_late_waits_again(self, store: RecordStore) -> None:
        """It was forgotten as a vector, got another one that reached the index, and only then was taken out."""
        self.indexed(store, self.embedded("a", 1))

        store.mark(ADA, removed=["a#0"])

        assert as_bytes(store.unindexed(ADA, 10)) == {ADA: refs_of(("a", passage(0, 1)))}

    def test_all_vectors_can_wait_again(self, store: RecordStore) -> None:
        self.indexed(store, self.embedded("a", 1, 2), self.embedded("b", 3))
        self.write(store, BOB, self.embedded("a", 4))
        store.mark(BOB, indexed=store.unindexed(BOB, 10)[BOB])

        store.mark_unindexed(ADA)
        store.mark_unindexed("unknown")

        waiting = refs_of(("a", passage(0, 1)), ("a", passage(1, 2)), ("b", passage(0, 3)))
        assert as_bytes(self.reopened(store).unindexed(None, 10)) == {ADA: waiting}

    def test_a_reader_may_leave_the_indexed_vectors_out(self, store: RecordStore) -> None:
        self.indexed(store, self.embedded("a", 1, 2))
        store.embed(ADA, {"a": [passage(1, 3, model="model-b")]})
        self.write(store, ADA, self.embedded("b", 4))

        heads = {e.memory.id: e for e in store.changes(ADA, 0, indexed_vectors=False).entries}

        assert vectors_as_bytes(heads["a"].vectors) == vectors_as_bytes([passage(1, 3, model="model-b")])
        assert heads["a"].left_out == ((0, "model-a"),)
        assert vectors_as_bytes(heads["b"].vectors) == vectors_as_bytes([passage(0, 4)])
        assert heads["b"].left_out == ()
        assert len(self.head(store, ADA, "a").vectors) == 2

    def test_vectors_are_read_and_counted(self, store: RecordStore) -> None:
        self.write(store, ADA, self.embedded("a", 1, 2), self.embedded("b", 3), self.entry("c"))
        self.write(store, BOB, self.embedded("a", 4))

        found = store.vectors(ADA, once("a", "c", "unknown"))

        assert vectors_as_bytes(found["a"]) == vectors_as_bytes([passage(0, 1), passage(1, 2)])
        assert {memory_id for memory_id, vectors in found.items() if vectors} == {"a"}
        assert (store.vector_count(ADA), store.vector_count("unknown")) == (3, 0)
