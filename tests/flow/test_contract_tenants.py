"""`user_id` is the wall: in every tier and in every call, whatever the names of the users."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_tiered_memory import MemorySystem, Message, NotFound
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.systems import QUIET, House

NEIGHBOURS = [
    "user",
    "user1",
    "user_1",
    "user%",
    "user*",
    "USER",
    "user ",
    " user",
    "user:1",
    "user:10",
    "uſer",
    "user\0",
]
users = st.sampled_from(NEIGHBOURS) | st.text(min_size=1, max_size=6)


def open_(clock: FakeClock) -> Engine:
    return MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET, clock=clock).sync


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(st.tuples(users, st.integers(0, 9), st.sampled_from(["low", "high", "chat"])), max_size=15))
def test_recall_finds_only_what_the_user_remembered(told: list[tuple[str, int, str]], clock: FakeClock) -> None:
    """Property test with random users; recall(user) ⊆ remembered(user)."""
    memory = open_(clock)
    remembered: dict[str, set[str]] = {}
    for user, number, how in told:
        text = f"the number {number} {how} of {user!r}"
        remembered.setdefault(user, set()).add(text)
        if how == "chat":
            memory.session(user, "s").add(Message("user", text))
        else:
            memory.remember(user, text, "fact", importance=0.1 if how == "low" else 0.9)
    for user in {*remembered, *NEIGHBOURS}:
        mine = remembered.get(user, set())
        assert {hit.content for hit in memory.recall(user, "the number of", 99)} == mine
        assert {one.content for one in memory.list(user, limit=999)} == mine
        assert {one.user_id for one in memory.list(user, limit=999)} <= {user}
        assert {one.text for one in memory.session(user, "s").transcript()} <= mine
        context = memory.session(user, "new").context("the number of", k=99)
        assert {hit.content for hit in context.memories} <= mine
    memory.consolidate("user", everything=True)
    for user, mine in remembered.items():
        assert {hit.content for hit in memory.recall(user, "the number of", 99)} == mine


def test_every_call_stops_at_the_wall(house: House) -> None:
    """Every public call with another user's id: nothing is told and nothing is changed."""
    memory = house.open()
    short = memory.remember("ada", "the gate is green", importance=0.1, id="short")
    long = memory.remember("ada", "the door is blue", importance=0.9, id="long")
    memory.session("ada", "s").add(Message("user", "a secret of Ada", id="m1"))

    def image() -> object:
        return (
            memory.list("ada", include_superseded=True),
            memory.session("ada", "s").transcript(),
            memory.status("ada"),
            [memory.history("ada", one.id) for one in (short, long)],
        )

    before = image()
    for other in ("bob", "ada ", "Ada", "ad", "ada1", "*", "%", "_da"):
        assert memory.recall(other, "gate door secret", 99) == []
        assert memory.list(other) == ()
        assert memory.session(other, "s").transcript() == memory.session(other, "s").window() == ()
        assert memory.session(other, "s").context("secret").memories == ()
        assert memory.session(other, "s").clear() == 0
        assert memory.consolidate(other, everything=True).promoted == 0
        assert memory.maintain(other).expired == 0
        assert memory.short_term.search(other, "gate") == memory.long_term.search(other, "door") == []
        assert memory.short_term.get_high_access(other, 0) == ()
        status = memory.status(other)
        assert (status.users, status.short_term, status.long_term, status.messages) == (0, 0, 0, 0)
        for tier in (memory.short_term, memory.long_term):
            assert not any(tier.delete(other, one) for one in ("short", "long", "m1"))
        for one in ("short", "long", "m1"):
            calls: list[Callable[[str, str], object]] = [memory.get, memory.update, memory.history, memory.forget]
            for call in calls:
                with pytest.raises(NotFound):
                    call(other, one)
            with pytest.raises(NotFound):
                memory.explain(other, "gate", one)
            with pytest.raises(NotFound):
                memory.list(other, after=one)
        assert memory.forget_user(other).long_term == 0
        assert image() == before


def test_the_same_ids_and_words_of_two_users_are_two(sync: Engine) -> None:
    """Two users, interleaved, with the same ids, sessions, slots and words."""
    for user in ("ada", "bob", "ada", "bob"):
        sync.remember(user, "I love tea", "preference", id="tea")
        sync.remember(user, f"works at {user}", "fact", slot="employer")
        sync.session(user, "s").add(Message("user", f"I am {user}", id="1"))
    for user, other in (("ada", "bob"), ("bob", "ada")):
        texts = {one.content for one in sync.list(user, include_superseded=True)}
        assert texts == {"I love tea", f"works at {user}", f"I am {user}"}
        assert all(other not in text for text in texts)
    sync.forget("ada", "tea")
    assert sync.get("bob", "tea").content == "I love tea"


def test_users_at_once_do_not_meet(house: House) -> None:
    """One object serves many users from many threads."""
    memory = house.open()

    def live(number: int) -> set[str]:
        user = f"user {number}"
        for n in range(4):
            memory.remember(user, f"note {n} of {user}", importance=0.9 if n % 2 else 0.1)
            memory.session(user, "s").add(Message("user", f"message {n} of {user}"))
            memory.recall(user, "note message")
        memory.consolidate(user, everything=True)
        return {hit.content for hit in memory.recall(user, "note message", 99)}

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(live, range(16)))
    for number, texts in enumerate(found):
        expected = {f"{kind} {n} of user {number}" for kind in ("note", "message") for n in range(4)}
        assert texts == expected
