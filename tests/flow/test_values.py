"""Values under keys: what replaces, what is found, what ends, and what is never taken for something said."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from langchain_tiered_memory import BackendUnavailable, InvalidInput, MemorySystem
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import House

MINUTES = timedelta(minutes=1)


def _keys(sync: Engine, *args: Any, **kwargs: Any) -> list[str]:
    return [one.key for one in sync.values.search("ada", *args, **kwargs)]


def test_a_value_replaces_the_one_under_its_key(sync: Engine, clock: FakeClock) -> None:
    sync.values.put("ada", "theme", {"color": "blue"}, text="blue")
    clock.advance(minutes=1)
    sync.values.put("ada", "theme", {"color": "red"}, text="red")

    value = sync.values.get("ada", "theme")

    assert value is not None
    assert (value.key, value.value) == ("theme", {"color": "red"})
    assert value.updated_at - value.created_at == MINUTES
    assert len(sync.values.search("ada")) == 1 == len(sync.list("ada"))
    assert sync.values.get("ada", "them") is None
    assert sync.values.get("bob", "theme") is None


def test_values_last(folder_house: House) -> None:
    first = folder_house.open()
    first.values.put("ada", "a", {"n": 1}, text="one")
    first.close()

    again = folder_house.open().values.get("ada", "a")

    assert again is not None
    assert again.value == {"n": 1}


def test_a_key_can_be_deleted_and_used_again_however_often(sync: Engine) -> None:
    for n in range(20):
        sync.values.put("ada", "a", {"n": n}, text=f"number {n}")
        value = sync.values.get("ada", "a")
        assert value is not None
        assert value.value == {"n": n}
        assert sync.values.delete("ada", "a")
        assert sync.values.get("ada", "a") is None
        assert not sync.values.delete("ada", "a")

    assert sync.values.search("ada", "number") == ()
    assert sync.list("ada") == ()


@pytest.mark.parametrize("key", ["", " ", "k" * 2_000, "a\x00b", "\ud83d", "%_*", "0"])
def test_any_text_is_a_key(sync: Engine, key: str) -> None:
    sync.values.put("ada", key, {"n": 1}, text="one")
    sync.values.put("ada", key + "x", {"n": 2}, text="two")

    value = sync.values.get("ada", key)

    assert value is not None
    assert (value.key, value.value) == (key, {"n": 1})
    assert sync.values.delete("ada", key)
    assert _keys(sync) == [key + "x"]


def test_equal_values_under_two_keys_are_two(sync: Engine) -> None:
    for key in ("a", "b"):
        sync.values.put("ada", key, {"text": "same"}, text="same")

    sync.consolidate("ada", everything=True)
    sync.maintain("ada")

    assert sorted(_keys(sync)) == ["a", "b"] == sorted(_keys(sync, "same"))


def test_consolidation_takes_nothing_from_values(sync: Engine, clock: FakeClock) -> None:
    sync.values.put("ada", "a", {"text": "I work at Initech."}, text="I work at Initech.")
    clock.advance(days=40)

    report = sync.consolidate("ada", everything=True)

    assert (report.facts, report.promoted, report.expired) == (0, 0, 0)
    assert _keys(sync) == ["a"]


def test_a_search_ranks_by_relevance_alone_and_counts_no_access(sync: Engine) -> None:
    sync.values.put("ada", "a", {"n": 1}, text="red apple")
    sync.values.put("ada", "b", {"n": 2}, text="blue car")

    best, other = sync.values.search("ada", "a red apple")

    assert (best.key, other.key) == ("a", "b")
    assert best.score is not None
    assert other.score is not None
    assert 1 >= best.score > other.score
    assert {one.access_count for one in sync.list("ada")} == {0}


def test_without_a_query_the_last_put_come_first(sync: Engine, clock: FakeClock) -> None:
    for key in ("a", "b", "c"):
        sync.values.put("ada", key, {"k": key}, text=key)
        clock.advance(minutes=1)
    sync.values.put("ada", "a", {"k": "a"}, text="a")

    assert _keys(sync) == ["a", "c", "b"] == _keys(sync, "  ")
    assert _keys(sync, limit=2) == ["a", "c"]


def test_a_condition_decides_before_the_limit(sync: Engine) -> None:
    for n in range(70):
        sync.values.put("ada", f"k{n:02}", {"n": n}, text=f"number {n}")

    def late(value: Mapping[str, Any]) -> bool:
        return bool(value["n"] >= 65)

    assert len(_keys(sync, "number", where=late)) == 5
    assert len(_keys(sync, where=late, limit=3)) == 3
    assert len(_keys(sync, "number", limit=100)) == 70


def test_what_is_not_searchable_comes_last_and_without_a_score(sync: Engine) -> None:
    sync.values.put("ada", "hidden", {"text": "red apple"})
    sync.values.put("ada", "shown", {"text": "blue car"}, text="blue car")
    sync.maintain("ada")
    sync.reindex("ada")

    found = sync.values.search("ada", "red apple")

    assert [(one.key, one.score is None) for one in found] == [("shown", False), ("hidden", True)]
    assert sync.status("ada").pending == 0
    sync.values.put("ada", "hidden", {"text": "red apple"}, text="red apple")
    assert _keys(sync, "red apple")[0] == "hidden"


def test_a_life_ends_and_reading_or_putting_lets_it_begin_anew(sync: Engine, clock: FakeClock) -> None:
    for key in ("read", "put", "left"):
        sync.values.put("ada", key, {"n": 1}, text="one", ttl=10 * MINUTES)
    clock.advance(minutes=9)
    read = sync.values.get("ada", "read")
    assert read is not None
    sync.values.touch("ada", [read.id, "unknown"])
    sync.values.put("ada", "put", {"n": 2}, text="two", ttl=10 * MINUTES)
    clock.advance(minutes=9)

    assert sorted(_keys(sync)) == ["put", "read"] == sorted(_keys(sync, "one two"))
    assert sync.values.get("ada", "left") is None
    assert sync.values.sweep("ada") == 1
    assert sync.values.sweep("ada") == 0
    clock.advance(minutes=1)
    assert _keys(sync) == []


def test_maintenance_deletes_what_is_past_its_life(sync: Engine, clock: FakeClock) -> None:
    sync.values.put("ada", "short", {"n": 1}, text="one", ttl=MINUTES)
    sync.values.put("ada", "long", {"n": 1}, text="one", ttl=9 * MINUTES)
    clock.advance(minutes=5)

    would = sync.maintain("ada", dry_run=True)
    did = sync.maintain("ada")

    assert (would.expired, did.expired, sync.maintain("ada").expired) == (1, 1, 0)
    assert [one.metadata["key"] for one in sync.list("ada")] == ["long"]


def test_a_value_put_over_one_past_its_life_is_a_new_one(sync: Engine, clock: FakeClock) -> None:
    sync.values.put("ada", "a", {"n": 1}, text="one", ttl=MINUTES)
    clock.advance(minutes=5)

    sync.values.put("ada", "a", {"n": 2}, text="two")

    value = sync.values.get("ada", "a")
    assert value is not None
    assert (value.value, value.created_at, value.ttl) == ({"n": 2}, clock(), None)


def test_values_and_memories_of_a_user_are_apart(sync: Engine) -> None:
    sync.remember("ada", "I like apples", tier="long_term")
    sync.values.put("ada", "a", {"n": 1}, text="apples")

    assert _keys(sync) == ["a"] == _keys(sync, "apples")
    assert sync.values.sweep("ada") == 0


def test_users_are_found_by_how_their_names_begin(sync: Engine) -> None:
    for user in ("app:a", "app:b", "ap", "other"):
        sync.values.put(user, "k", {"n": 1}, text="one")
    sync.values.delete("app:b", "k")

    assert sync.values.users("app") == ("app:a",)
    assert sync.values.users("") == ("ap", "app:a", "other")


@pytest.mark.parametrize(
    ("user", "prefix"), [("a%b", "a%"), ("a_b", "a_"), ("a\\b", "a\\"), ("\ud83d:", "\ud83d"), ("ab", "ab")]
)
def test_how_a_name_begins_is_text(sync: Engine, user: str, prefix: str) -> None:
    for one in (user, "axb", "AB", "a", "\ufffd:"):
        sync.values.put(one, "k", {"n": 1}, text="one")

    assert sync.values.users(prefix) == (user,)


def test_forgetting_the_user_leaves_no_value(folder_house: House) -> None:
    sync = folder_house.open()
    sync.values.put("ada", "a", {"secret": "canary"}, text="canary")
    sync.values.put("ada", "a", {"secret": "canary"}, text="canary")

    sync.forget_user("ada")
    sync.close()

    assert b"canary" not in folder_house.everything()


def test_a_deleted_value_leaves_no_content(folder_house: House) -> None:
    sync = folder_house.open()
    sync.values.put("ada", "a", {"secret": "canary"}, text="canary")
    sync.values.put("ada", "a", {"secret": "canary 2"}, text="canary 2")

    sync.values.delete("ada", "a")
    sync.maintain(compact=True)
    sync.close()

    assert b"canary" not in folder_house.everything()


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": object()}, {1: "a"}, {"a": "x" * 16_000_001}])
def test_what_cannot_be_stored_is_refused_and_nothing_is_written(sync: Engine, value: dict[Any, Any]) -> None:
    with pytest.raises(InvalidInput):
        sync.values.put("ada", "a", {"value": value} if 1 in value else value, text="x")

    assert sync.list("ada") == ()


def test_many_writers_of_one_key_leave_one_value(memory: MemorySystem) -> None:
    def write(name: str) -> None:
        for n in range(10):
            memory.sync.values.put("ada", "a", {"by": name, "n": n}, text=name)
            if n % 3 == 1:
                memory.sync.values.delete("ada", "a")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, ["a", "b", "c", "d"]))

    assert len(memory.sync.values.search("ada")) == 1
    assert len(memory.sync.list("ada")) == 1


def test_a_store_that_does_not_answer_is_said_to(memory: MemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BackendUnavailable("sqlite", "write", "the disk is full")

    monkeypatch.setattr(memory.sync._opening.rooms().parts.records, "apply", broken)

    with pytest.raises(BackendUnavailable):
        memory.sync.values.put("ada", "a", {"n": 1}, text="one")


async def test_the_asynchronous_face_does_the_same(memory: MemorySystem) -> None:
    values = memory.values

    await values.put("ada", "a", {"n": 1}, text="red apple", ttl=MINUTES)
    found = await values.search("ada", "apple", where=lambda value: value["n"] == 1, limit=3)
    await values.touch("ada", [found[0].id])

    assert await values.get("ada", "a") == memory.sync.values.get("ada", "a")
    assert await values.users("a") == ("ada",)
    assert await values.sweep("ada") == 0
    assert await values.delete("ada", "a")
    assert await values.get("ada", "a") is None
