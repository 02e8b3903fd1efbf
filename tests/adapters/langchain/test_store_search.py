"""`TieredMemoryStore` finds values by queries and filters, and lets them end when their lives are over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from langgraph.store.base import (
    Item,
)

from langchain_tiered_memory import BackendUnavailable, ConfigError, InvalidInput, MemorySystem
from langchain_tiered_memory.langchain import TieredMemoryStore
from tests.conftest import FakeClock


def _keys(found: Iterable[Item]) -> list[str]:
    return [one.key for one in found]


# -- searches ----------------------------------------------------------------------------------------------------------

FRUIT = [
    ("doc1", {"text": "red apple", "color": "red", "score": 4.5}),
    ("doc2", {"text": "red car", "color": "red", "score": 3.0}),
    ("doc3", {"text": "green apple", "color": "green", "score": 4.0}),
    ("doc4", {"text": "blue car", "color": "blue", "score": 3.5}),
]


@pytest.fixture
def fruit(store: TieredMemoryStore) -> TieredMemoryStore:
    """A store with four things in it."""
    for key, value in FRUIT:
        store.put(("test",), key, value)
    return store


@pytest.mark.parametrize(
    ("query", "filter", "expected"),
    [
        ("apple", {"color": "red"}, ["doc1", "doc2"]),
        ("car", {"color": "red"}, ["doc2", "doc1"]),
        ("blue", {"score": {"$gt": 3.2}}, ["doc4", ...]),
        ("apple", {"score": {"$gte": 4.0}, "color": "green"}, ["doc3"]),
        ("apple", {"score": {"$gt": 9}}, []),
    ],
)
def test_a_query_ranks_what_the_filter_leaves(
    fruit: TieredMemoryStore, query: str, filter: dict[str, Any], expected: list[Any]
) -> None:
    found = fruit.search(("test",), query=query, filter=filter)

    assert [key for key, wanted in zip(_keys(found), expected, strict=False) if wanted is not ...] == [
        wanted for wanted in expected if wanted is not ...
    ]
    scores = [one.score for one in found if one.score is not None]
    assert len(scores) == len(found)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_an_update_is_found_by_its_new_text(store: TieredMemoryStore) -> None:
    store.put(("test",), "doc1", {"text": "zany zebra Xerxes"})
    store.put(("test",), "doc2", {"text": "something about dogs"})
    store.put(("test",), "doc3", {"text": "text about birds"})
    before = store.search(("test",), query="Zany Xerxes")

    store.put(("test",), "doc1", {"text": "new text about dogs"})

    after = {one.key: one.score for one in store.search(("test",), query="Zany Xerxes")}
    anew = {one.key: one.score for one in store.search(("test",), query="new text about dogs")}
    assert before[0].key == "doc1"
    assert before[0].score is not None
    assert after["doc1"] is not None
    assert anew["doc1"] is not None
    assert after["doc1"] < before[0].score
    assert after["doc1"] < anew["doc1"]


def test_what_is_not_indexed_is_no_answer_to_a_query(store: TieredMemoryStore) -> None:
    for n in range(3):
        store.put(("test",), f"doc{n}", {"text": f"something about dogs {n}"})
    store.put(("test",), "hidden", {"text": "new text about dogs"}, index=False)

    assert "hidden" not in _keys(store.search(("test",), query="new text about dogs", limit=3))
    every = store.search(("test",), query="new text about dogs")
    assert (every[-1].key, every[-1].score) == ("hidden", None)
    assert "hidden" in _keys(store.search(("test",)))


def test_fields_say_what_a_value_is_found_by(memory: MemorySystem) -> None:
    store = TieredMemoryStore(memory, index={"fields": ["title", "parts[*].text"]})
    store.put(("t",), "a", {"title": "zebra", "parts": [{"text": "yak"}, {"text": "gnu"}], "note": "lynx"})
    store.put(("t",), "b", {"title": "moose", "note": "tapir"})
    store.put(("t",), "c", {"other": "zebra"})
    store.put(("t",), "d", {"title": "zebra", "note": "okapi"}, index=["note"])

    def best(query: str) -> str:
        return store.search(("t",), query=query)[0].key

    assert [best(word) for word in ("zebra", "yak", "gnu", "moose", "okapi")] == ["a", "a", "a", "b", "d"]
    by_note = {one.key: one.score for one in store.search(("t",), query="lynx")}
    by_title = {one.key: one.score for one in store.search(("t",), query="zebra")}
    assert by_note["a"] is not None
    assert by_title["a"] is not None
    assert by_note["a"] < by_title["a"]
    assert by_note["c"] is None


def test_pages_make_up_the_whole(store: TieredMemoryStore) -> None:
    for space in [("a",), ("a", "b"), ("ab",), ("a", "c", "d")]:
        for n in range(7):
            store.put(space, f"k{n}", {"n": n, "even": n % 2 == 0, "text": f"number {n}"})

    def keys(**asked: Any) -> list[tuple[tuple[str, ...], str]]:
        return [(one.namespace, one.key) for one in store.search(("a",), **asked)]

    for asked in ({}, {"query": "number 3"}, {"filter": {"even": True}}, {"query": "number", "filter": {"even": True}}):
        full = keys(limit=100, **asked)
        assert {space for space, _ in full} == {("a",), ("a", "b"), ("a", "c", "d")}
        assert len(full) == (12 if "filter" in asked else 21)
        assert [key for at in range(0, len(full), 4) for key in keys(limit=4, offset=at, **asked)] == full
    assert keys(limit=0) == []


def test_without_a_query_the_last_put_come_first(store: TieredMemoryStore, clock: FakeClock) -> None:
    for key in ("a", "b", "c"):
        store.put(("x", key), key, {"k": key})
        clock.advance(seconds=1)
    store.put(("x", "a"), "a", {"k": "a"})

    assert _keys(store.search(("x",))) == ["a", "c", "b"]
    assert [one.score for one in store.search(("x",), query="")] == [None] * 3


@pytest.mark.parametrize("query", ["", None, "test " * 100, "test!@#$%^&*()", "' OR 1=1 --", "\ud83d\x00"])
def test_any_text_is_a_query(store: TieredMemoryStore, query: str | None) -> None:
    store.put(("test",), "doc1", {"text": "test document"})

    assert len(store.search(("test",), query=query)) == 1


def test_text_in_any_script_is_found(store: TieredMemoryStore) -> None:
    texts = {"1": "这是中文", "2": "これは日本語です", "3": "이건 한국어야", "4": "Это русский", "5": "यह रूसी है"}
    for key, text in texts.items():
        store.put(("user_123", "memories"), key, {"text": text})

    for key, text in texts.items():
        assert store.search(("user_123", "memories"), query=text)[0].key == key


FILTERED = [
    ("a", {"access": "public", "n": 10, "on": True, "tags": ["x", "y"], "user": {"name": "Ann", "access-level": 2}}),
    ("b", {"access": "private", "n": 20, "on": False, "tags": ["x"], "user": {"name": "Bob"}, "123abc": "ok"}),
    ("c", {"access": "o'brien", "n": -5, "on": True, "tags": [], "user.name": "dotted", "nothing": None}),
]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({}, "abc"),
        ({"access": "public"}, "a"),
        ({"access": {"$eq": "public"}}, "a"),
        ({"access": {"$ne": "public"}}, "bc"),
        ({"n": {"$gt": 10}}, "b"),
        ({"n": {"$gte": 10}}, "ab"),
        ({"n": {"$lt": 0}}, "c"),
        ({"n": {"$gt": 0, "$lt": 20}}, "a"),
        ({"n": {"$lte": float("inf")}}, "abc"),
        ({"n": {"$gt": float("-inf")}}, "abc"),
        ({"n": {"$eq": float("nan")}}, ""),
        ({"n": {"$lt": 10**100}}, "abc"),
        ({"n": {"$gt": "5"}}, ""),
        ({"access": {"$gt": "prix"}}, "a"),
        ({"on": True}, "ac"),
        ({"on": False}, "b"),
        ({"on": 1}, ""),
        ({"tags": ["x"]}, "b"),
        ({"tags": ["x", "y"]}, "a"),
        ({"tags": []}, "c"),
        ({"user": {"name": "Ann"}}, "a"),
        ({"user": {"access-level": {"$gte": 2}}}, "a"),
        ({"user.access-level": 2}, "a"),
        ({"user.name": "Bob"}, "b"),
        ({"user.name": "dotted"}, "c"),
        ({"123abc": "ok"}, "b"),
        ({"nothing": None}, "abc"),
        ({"missing": {"$gt": 1}}, ""),
        ({"access": "o'brien"}, "c"),
        ({"access": "public' OR '1'='1"}, ""),
        ({"access": "public\x00' OR '1'='1"}, ""),
        ({"access') = 'public' OR '1'='1' OR json_extract(value, '$.": "dummy"}, ""),
        ({"access": "public", "n": {"$gt": 10}}, ""),
    ],
)
def test_filters(store: TieredMemoryStore, filter: dict[str, Any], expected: str) -> None:
    for key, value in FILTERED:
        store.put(("f",), key, value)

    assert "".join(sorted(_keys(store.search(("f",), filter=filter)))) == expected
    assert "".join(sorted(_keys(store.search(("f",), query="access", filter=filter)))) == expected


@pytest.mark.parametrize("operator", ["$in", "$near", "$", "$gt "])
async def test_an_unknown_operator_is_an_error(store: TieredMemoryStore, operator: str) -> None:
    """Even when there is nothing to compare."""
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("f",), filter={"n": {operator: 1}})
    with pytest.raises(InvalidInput):
        await store.asearch(("f",), filter={"n": {"$eq": 1, operator: 1}})


# -- lives -------------------------------------------------------------------------------------------------------------


def test_lives_are_in_minutes_and_reading_lets_them_begin_anew(store: TieredMemoryStore, clock: FakeClock) -> None:
    assert store.supports_ttl
    for key in ("read", "found", "left", "seen"):
        store.put(("t",), key, {"key": key}, ttl=10)
    store.put(("t",), "kept", {"key": "kept"})
    clock.advance(minutes=9)
    store.get(("t",), "read")
    store.search(("t",), filter={"key": "found"})
    store.get(("t",), "seen", refresh_ttl=False)
    store.search(("t",), filter={"key": "left"}, refresh_ttl=False)
    clock.advance(minutes=2)

    assert sorted(_keys(store.search(("t",), refresh_ttl=False))) == ["found", "kept", "read"]
    assert store.get(("t",), "left") is None
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    clock.advance(minutes=8)
    assert _keys(store.search((), query="found read left")) == ["kept"]


def test_only_what_a_search_returns_begins_anew(store: TieredMemoryStore, clock: FakeClock) -> None:
    for n in range(4):
        store.put(("t", str(n % 2)), f"k{n}", {"n": n}, ttl=10)
        clock.advance(seconds=1)
    clock.advance(minutes=5)

    assert _keys(store.search(("t",), limit=2)) == ["k3", "k2"]
    clock.advance(minutes=6)

    assert sorted(_keys(store.search(("t",)))) == ["k2", "k3"]


async def test_settings_of_lives_hold(memory: MemorySystem, clock: FakeClock) -> None:
    store = TieredMemoryStore(memory, ttl={"default_ttl": 5, "refresh_on_read": False})
    await store.aput(("t",), "default", {"n": 1})
    await store.aput(("t",), "short", {"n": 1}, ttl=1)
    await store.aput(("t",), "for ever", {"n": 1}, ttl=None)
    clock.advance(minutes=4)

    assert sorted(_keys(await store.asearch(("t",)))) == ["default", "for ever"]
    clock.advance(minutes=2)

    assert _keys(await store.asearch(("t",))) == ["for ever"]
    assert await store.asweep_ttl() == 2
    clock.advance(days=400)
    assert _keys(await store.asearch(("t",))) == ["for ever"]


def test_maintenance_sweeps(store: TieredMemoryStore, memory: MemorySystem, clock: FakeClock) -> None:
    store.put(("t",), "k", {"n": 1}, ttl=1)
    clock.advance(minutes=2)

    memory.sync.maintain()

    assert store.sweep_ttl() == 0
    assert store.list_namespaces() == []


# -- faults and set-up -------------------------------------------------------------------------------------------------


def test_the_memorys_embedder_is_the_stores(memory: MemorySystem) -> None:
    with pytest.raises(ConfigError, match="embedder"):
        TieredMemoryStore(memory, index={"dims": 3, "embed": lambda texts: [[1.0, 0, 0] for _ in texts]})


async def test_a_store_that_does_not_answer_is_said_to(
    store: TieredMemoryStore, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BackendUnavailable("sqlite", "answer", "gone")

    monkeypatch.setattr(memory.sync._opening.rooms().parts.records, "get", broken)

    with pytest.raises(BackendUnavailable):
        store.get(("a",), "k")
    with pytest.raises(BackendUnavailable):
        await store.aput(("a",), "k", {"n": 1})


def test_two_event_loops_one_after_the_other_use_one_store(store: TieredMemoryStore) -> None:
    asyncio.run(store.aput(("a",), "k", {"n": 1}))

    assert asyncio.run(store.aget(("a",), "k")) is not None
