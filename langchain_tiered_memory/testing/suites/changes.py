"""What every store of memories must tell a reader that is behind, and do for many threads."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from langchain_tiered_memory.core.ports import Changes, Entry
from langchain_tiered_memory.testing.samples import NOW, passage
from langchain_tiered_memory.testing.suites.base import ADA, BOB, S, StoreSuite
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once


class ChangesCases(StoreSuite[S]):
    """The change counter, and what a reader that is behind is told."""

    def test_the_counter_grows_with_every_write_and_never_otherwise(self, store: S) -> None:
        seen = [store.version(ADA)]
        self.write(store, ADA, self.entry("a"))
        seen.append(store.version(ADA))
        self.write(store, ADA, self.entry("b"), self.entry("c"))
        seen.append(store.version(ADA))
        store.embed(ADA, {"a": [passage(0, 1)]})
        seen.append(store.version(ADA))
        store.update(ADA, self.entry("a", "new"), NOW)
        seen.append(store.version(ADA))
        store.touch(ADA, ["a"], NOW)
        seen.append(store.version(ADA))

        store.get(ADA, ["a"])
        store.changes(ADA, 0)
        self.write(store, BOB, self.entry("a"))

        assert seen == sorted(set(seen))
        assert self.reopened(store).version(ADA) == seen[-1]

    def test_a_reader_gets_what_changed_since_its_version(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))
        version = store.version(ADA)
        assert store.changes(ADA, version) == Changes(version)

        self.write(store, ADA, self.entry("c"))
        store.touch(ADA, ["a"], NOW)

        changes = store.changes(ADA, version)
        assert {e.memory.id for e in changes.entries} == {"a", "c"}
        assert (changes.version, changes.gone, changes.whole) == (store.version(ADA), (), False)

    def test_a_reader_from_the_future_gets_everything(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"), self.entry("b"))

        changes = store.changes(ADA, store.version(ADA) + 1)

        assert changes.whole
        assert {e.memory.id for e in changes.entries} == {"a", "b"}

    def test_a_reader_from_nothing_gets_everything(self, store: S) -> None:
        self.write(store, ADA, self.entry("a"))

        assert store.changes(ADA, 0).whole

    def test_after_an_erasure_no_version_comes_again(self, store: S) -> None:
        """Else a reader that slept through it would keep what was erased."""
        self.write(store, ADA, self.entry("a"))
        old = store.touch(ADA, ["a"], NOW).version
        self.wipe(store, ADA)
        gone = store.changes(ADA, old)
        assert (gone.entries, gone.whole or gone.gone == ("a",)) == ((), True)

        self.write(store, ADA, self.entry("b"))

        changes = store.changes(ADA, old)
        assert changes.version > old
        assert {e.memory.id for e in changes.entries} == {"b"}
        assert changes.whole or changes.gone == ("a",)

    def test_a_reader_that_patches_ends_with_the_truth(self, store: S) -> None:
        """Whatever happens between two reads, none of it is missed."""
        held: dict[str, Entry] = {}
        version = 0

        def write(number: int) -> None:
            for step in range(12):
                self.write(store, ADA, self.entry(f"{number}-{step}"))
                store.touch(ADA, [f"{number}-{step // 2}"], NOW)

        def read() -> int:
            changes = store.changes(ADA, version)
            if changes.whole:
                held.clear()
            for gone in changes.gone:
                held.pop(gone, None)
            held.update({e.memory.id: e for e in changes.entries})
            assert all(e.version <= changes.version for e in changes.entries)
            return changes.version

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(at_once, write, 4)
            while not writing.done():
                version = read()
        writing.result()
        version = read()

        assert {i: e.memory for i, e in held.items()} == {e.memory.id: e.memory for e in store.changes(ADA, 0).entries}


class ConcurrencyCases(StoreSuite[S]):
    """Every call may come from any thread."""

    def test_equal_entries_written_at_once_leave_one_row(self, store: S) -> None:
        def write(number: int) -> str:
            (placed,) = self.write(store, ADA, replace(self.entry(f"{number}", "same"), duplicate_key="key"))
            return placed.outcome

        outcomes = at_once(write)

        assert sorted(outcomes) == ["created"] + ["reinforced"] * (THREADS - 1)
        (row,) = self.raw_ids(store, ADA)
        assert set(self.one(store, ADA, row).source_ids) == {f"{n}" for n in range(THREADS)} - {row}

    def test_one_id_written_at_once_is_one_row(self, store: S) -> None:
        outcomes = at_once(lambda _: self.write(store, ADA, self.entry("a"))[0].outcome)

        assert sorted(outcomes) == ["created"] + ["existing"] * (THREADS - 1)
        assert self.raw_ids(store, ADA) == {"a"}

    def test_users_written_at_once_are_all_there(self, store: S) -> None:
        at_once(lambda n: [self.write(store, f"user-{n}", self.entry(f"{i}")) for i in range(5)])

        assert sorted(store.users()) == [f"user-{n}" for n in range(THREADS)]
        assert all(len(store.changes(f"user-{n}", 0).entries) == 5 for n in range(THREADS))
