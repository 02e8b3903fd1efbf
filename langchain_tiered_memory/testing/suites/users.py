"""What a `RecordStore` must say of its users, all of them or those whose ids begin alike."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from langchain_tiered_memory.core.ports import RecordStore
from langchain_tiered_memory.testing.samples import HOSTILE, NOW
from langchain_tiered_memory.testing.suites.applying import RecordSuite

WILDCARDS = ("%", "_", "*", "?", "[", ".", "\\", "^", "'")
"""Signs that mean something else where patterns are matched."""


class UsersCases(RecordSuite):
    """A user is listed as long as there is a row, and by a prefix only if the id begins with it."""

    def test_a_prefix_leaves_those_whose_ids_begin_so_character_by_character(self, store: RecordStore) -> None:
        ids = [*HOSTILE.values(), *(f"{one}/inside" for one in HOSTILE.values()), *(f"{one}a" for one in WILDCARDS)]
        for user_id in ids:
            self.write(store, user_id, self.entry("a"))

        again = self.reopened(store)
        for prefix in ["", *ids, *(one[: len(one) // 2] for one in ids), *WILDCARDS, "A", "\0", "\x1a", "x" * 9_998]:
            begun = [user_id for user_id in ids if user_id.startswith(prefix)]
            assert sorted(again.users(prefix)) == sorted(begun), ascii(prefix)

    def test_a_prefix_that_nobody_has_leaves_nobody(self, store: RecordStore) -> None:
        self.write(store, "rooms/a/", self.entry("a"))

        assert store.users("rooms/b/") == ()
        assert store.users("rooms/a/b") == ()
        assert store.users("Rooms/") == ()

    def test_a_user_is_listed_once_whatever_there_is(self, store: RecordStore) -> None:
        self.write(store, "rooms/a/", self.entry("a"), self.entry("b"), self.entry("c"))

        assert store.users("rooms/") == ("rooms/a/",)

    def test_a_user_without_a_row_is_not_listed(self, store: RecordStore) -> None:
        for user_id in ("rooms/full/", "rooms/erased/", "rooms/emptied/"):
            self.write(store, user_id, self.entry("a"))
        store.begin("rooms/begun/")

        store.forget("rooms/emptied/", ["a"], NOW)
        self.wipe(store, "rooms/erased/")

        assert self.reopened(store).users("rooms/") == ("rooms/full/",)
