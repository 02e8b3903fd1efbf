"""Placement and identity: where a new memory goes, and when two are one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from langchain_tiered_memory import Conflict, MemorySystem, NewMemory, PlacementSettings, Tier
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import MINUTE, House, with_settings

LONG_AGO = datetime(2023, 5, 8, 9, tzinfo=UTC)


# -- placement ---------------------------------------------------------------------------------------------------------


def test_0_8_is_short_term_and_more_is_long_term(sync: Engine) -> None:
    """Placement is by importance alone: above `0.8` long-term, else short-term."""
    assert sync.remember("ada", "at the line", importance=0.8).tier is Tier.SHORT_TERM
    assert sync.remember("ada", "just above it", importance=0.8000001).tier is Tier.LONG_TERM
    assert sync.remember("ada", "nothing", importance=0).tier is Tier.SHORT_TERM
    assert sync.remember("ada", "everything", importance=1).tier is Tier.LONG_TERM


@pytest.mark.parametrize("memory_type", ["fact", "episode", "preference"])
def test_the_type_has_no_say_in_placement(sync: Engine, memory_type: str) -> None:
    """Placement is by importance alone."""
    assert sync.remember("ada", f"a low {memory_type}", memory_type, importance=0.3).tier is Tier.SHORT_TERM
    assert sync.remember("ada", f"a high {memory_type}", memory_type, importance=0.9).tier is Tier.LONG_TERM


def test_the_scorer_puts_stated_facts_above_the_line_and_small_talk_far_below(sync: Engine) -> None:
    """The scorer puts stated facts and preferences above, small talk far below."""
    assert sync.remember("ada", "I am allergic to peanuts", "preference").tier is Tier.LONG_TERM
    small = sync.remember("ada", "ok thanks")
    assert small.tier is Tier.SHORT_TERM
    assert small.importance <= 0.2


@pytest.mark.parametrize("tier", ["short_term", "long_term"])
@pytest.mark.parametrize("importance", [0.1, 0.9])
def test_a_tier_asked_for_is_the_tier(sync: Engine, tier: str, importance: float) -> None:
    """A `slot`, an import, or `tier=` goes where it says."""
    assert sync.remember("ada", f"{tier} {importance}", importance=importance, tier=tier).tier == tier


def test_a_slot_goes_to_long_term(sync: Engine) -> None:
    """A `slot`, an import, or `tier=` goes where it says (slots and imports: long-term)."""
    assert sync.remember("ada", "works at Acme", "fact", slot="employer", importance=0.1).tier is Tier.LONG_TERM


def test_the_line_is_a_setting(house: House) -> None:
    """All of these numbers are settings."""
    memory = house.open(settings=with_settings(placement=PlacementSettings(long_term_above=0.3)))
    assert memory.remember("ada", "a note", importance=0.31).tier is Tier.LONG_TERM


# -- identity ----------------------------------------------------------------------------------------------------------


def test_the_same_id_twice_is_one_memory(sync: Engine) -> None:
    """Idempotent by `id`."""
    first = sync.remember("ada", "met Bob", id="note-1")
    again = sync.remember("ada", "met Bob", id="note-1")
    assert again == first
    assert sync.list("ada") == (first,)


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.9), (0.9, 0.1)])
def test_the_same_id_stays_where_it_stands(sync: Engine, before: float, after: float) -> None:
    """Idempotent by `id`, whatever the importance given the second time."""
    first = sync.remember("ada", "met Bob", id="note-1", importance=before)
    assert sync.remember("ada", "met Bob", id="note-1", importance=after) == first
    assert len(sync.list("ada")) == 1


def test_the_same_id_with_other_words_is_a_conflict(sync: Engine) -> None:
    """Conflict: the id exists with another content; nothing was written."""
    first = sync.remember("ada", "met Bob", id="note-1")
    for importance in (0.1, 0.9):
        with pytest.raises(Conflict, match="note-1"):
            sync.remember("ada", "met Eve", id="note-1", importance=importance)
    assert sync.list("ada") == (first,)


def test_a_conflict_moves_nothing_to_long_term_memory(sync: Engine) -> None:
    """The same statement under an id that says something else is refused, and leaves its equal where it is."""
    blue = sync.remember("ada", "blue is nice", "fact", importance=0.2)
    sync.remember("ada", "Ada plays chess", "fact", id="a", importance=0.9)

    with pytest.raises(Conflict):
        sync.remember("ada", "blue is nice", "fact", id="a", importance=0.2)

    assert sync.get("ada", blue.id) == blue


def test_an_id_is_the_users_own(sync: Engine) -> None:
    """Idempotent by `id`: two users may use the same one."""
    sync.remember("ada", "met Bob", id="note-1")
    assert sync.remember("eve", "met Ada", id="note-1").content == "met Ada"


def test_a_derived_id_follows_from_what_was_said_by_whom_when(sync: Engine) -> None:
    """Without one the id is derived from user, session, role, name, content and `observed_at`."""

    def remembered(**changed: object) -> str:
        said: dict[str, Any] = {
            "user_id": "ada",
            "content": "hello",
            "session_id": "s",
            "role": "user",
            "name": "Ada",
            "observed_at": LONG_AGO,
        }
        return sync.remember(**{**said, **changed}).id

    assert remembered() == remembered()
    others = [
        remembered(**{field: other})
        for field, other in {
            "user_id": "bob",
            "content": "hallo",
            "session_id": "t",
            "role": "assistant",
            "name": "Eve",
            "observed_at": LONG_AGO + timedelta(microseconds=1),
        }.items()
    ]
    assert len({remembered(), *others}) == 7


@pytest.mark.parametrize("memory_type", ["fact", "preference"])
@pytest.mark.parametrize("importance", [0.3, 0.9])
def test_an_equal_statement_is_the_one_that_stands_and_its_sources_grow(
    sync: Engine, clock: FakeClock, memory_type: str, importance: float
) -> None:
    """An active fact or preference with the same normalised content is returned and its sources grow."""
    first = sync.remember("ada", "I love tea.", memory_type, importance=importance)
    clock.advance(hours=3)
    again = sync.remember("ada", "i  love TEA", memory_type, importance=importance, id="again")
    assert again.id == first.id
    assert again.content == "I love tea."
    assert again.source_ids == ("again",)
    assert [one.id for one in sync.list("ada")] == [first.id]


def test_an_equal_statement_is_found_in_the_other_tier(sync: Engine, clock: FakeClock) -> None:
    """An active fact or preference with the same normalised content is returned, wherever it stands."""
    for statement, before, after in (("I love tea", 0.3, 0.9), ("I hate rain", 0.9, 0.3)):
        first = sync.remember("ada", statement, "preference", importance=before)
        clock.advance(minutes=1)
        assert sync.remember("ada", statement, "preference", importance=after).id == first.id
    assert len(sync.list("ada")) == 2


def test_opposite_statements_are_two(sync: Engine) -> None:
    """The same normalised content, not a similar one."""
    sync.remember("ada", "I love tea", "preference")
    sync.remember("ada", "I hate tea", "preference")
    assert len(sync.list("ada")) == 2


def test_an_equal_statement_of_a_hundred_threads_is_one(sync: Engine) -> None:
    """Two concurrent calls with equal statements leave one memory."""
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: sync.remember("ada", "I love tea", "fact", importance=0.9).id, range(100)))
    assert len(ids) == 1
    assert len(sync.list("ada")) == 1


def test_a_repeated_episode_within_a_minute_is_the_same(sync: Engine, clock: FakeClock) -> None:
    """An episode without `observed_at`: the same content, session and role within 60 s is the same."""
    first = sync.remember("ada", "hello", session_id="s", role="user")
    clock.advance(seconds=60)
    assert sync.remember("ada", "hello", session_id="s", role="user").id == first.id
    clock.advance(seconds=1)
    later = sync.remember("ada", "hello", session_id="s", role="user")
    assert later.id != first.id


@pytest.mark.parametrize("changed", [{"session_id": "t"}, {"role": "assistant"}, {"content": "Hello"}])
def test_an_episode_is_another_when_any_of_it_differs(sync: Engine, clock: FakeClock, changed: dict[str, str]) -> None:
    """An episode without `observed_at`: the same content, session and role within 60 s is the same."""
    said: dict[str, Any] = {"content": "hello", "session_id": "s", "role": "user"}
    first = sync.remember("ada", **said)
    clock.advance(seconds=1)
    assert sync.remember("ada", **{**said, **changed}).id != first.id


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.9), (0.9, 0.1)])
def test_a_repeated_episode_is_the_same_whatever_its_importance(
    sync: Engine, clock: FakeClock, before: float, after: float
) -> None:
    """An episode without `observed_at`: the same content, session and role within 60 s is the same."""
    first = sync.remember("ada", "hello", importance=before)
    clock.advance(seconds=5)
    assert sync.remember("ada", "hello", importance=after).id == first.id
    assert len(sync.list("ada")) == 1


def test_an_episode_with_its_own_instant_is_not_repeated_by_another_instant(sync: Engine) -> None:
    """Only an episode without `observed_at` may be a repetition."""
    one = sync.remember("ada", "hello", observed_at=LONG_AGO)
    two = sync.remember("ada", "hello", observed_at=LONG_AGO + timedelta(seconds=1))
    assert one.id != two.id
    assert len(sync.list("ada")) == 2


def test_the_minute_is_a_setting(house: House, clock: FakeClock) -> None:
    """All of these numbers are settings."""
    memory = house.open(settings=with_settings(placement=PlacementSettings(repeat_within=60 * MINUTE)))
    first = memory.remember("ada", "hello")
    clock.advance(minutes=59)
    assert memory.remember("ada", "hello").id == first.id


# -- many at once ------------------------------------------------------------------------------------------------------


def test_remember_many_gives_one_memory_per_item_in_order(sync: Engine) -> None:
    """`tuple[Memory, ...]`, one per input, in order."""
    items = [NewMemory(f"note {n}", importance=0.9 if n % 2 else 0.1) for n in range(20)]
    stored = sync.remember_many("ada", iter(items))
    assert [one.content for one in stored] == [item.content for item in items]
    assert [one.tier for one in stored] == [Tier.LONG_TERM if n % 2 else Tier.SHORT_TERM for n in range(20)]
    assert sync.remember_many("ada", []) == ()


def test_remember_many_takes_the_same_fields_as_remember(house: House) -> None:
    """`remember_many(user_id, items: Iterable[NewMemory])` (same fields)."""
    fields: dict[str, Any] = {
        "memory_type": "preference",
        "importance": 0.35,
        "tier": "long_term",
        "slot": "drink",
        "session_id": "s",
        "agent_id": "a",
        "role": "user",
        "name": "Ada",
        "observed_at": LONG_AGO,
        "origin": "a letter",
        "metadata": {"a": [1]},
        "pinned": True,
        "id": "note-1",
    }
    one = house.open().remember("ada", "tea", **fields)
    many = house.open().remember_many("ada", [NewMemory("tea", **fields)])
    assert many == (one,)
    for field, value in fields.items():
        assert getattr(one, field) == value


def test_equal_items_of_one_call_are_one_memory(sync: Engine) -> None:
    """Identity holds inside a batch too, also when importance would part them over the tiers."""
    by_id = sync.remember_many("ada", [NewMemory("a", id="x", importance=i) for i in (0.9, 0.1)])
    said = sync.remember_many("ada", [NewMemory("I love tea", "fact", importance=i) for i in (0.1, 0.9)])
    seen = sync.remember_many("ada", [NewMemory("good morning", importance=i) for i in (0.1, 0.9)])
    assert [len({one.id for one in group}) for group in (by_id, said, seen)] == [1, 1, 1]
    assert len(sync.list("ada")) == 3


def test_a_repeated_import_doubles_nothing(sync: Engine) -> None:
    """A batch with instants of its own may be repeated: the same counts."""
    items = [NewMemory(f"note {n}", observed_at=LONG_AGO + timedelta(minutes=n)) for n in range(30)]
    first = sync.remember_many("ada", items)
    assert sync.remember_many("ada", items) == first
    assert len(sync.list("ada", limit=1000)) == 30


def test_a_hundred_batches_at_once_leave_each_memory_once(memory: MemorySystem) -> None:
    """Idempotent by `id`, also when everybody comes at the same time."""
    items = [NewMemory(f"note {n}", id=f"n{n}", importance=n / 10) for n in range(10)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: memory.sync.remember_many("ada", items), range(25)))
    assert sorted(one.id for one in memory.sync.list("ada")) == [f"n{n}" for n in range(10)]
