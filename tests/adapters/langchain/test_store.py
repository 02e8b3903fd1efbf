"""`TieredMemoryStore` does what LangGraph's own stores are tested for, and what they are not."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections import UserDict
from collections.abc import Iterable
from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from langchain_tiered_memory import InvalidInput, MemorySystem
from langchain_tiered_memory.langchain import TieredMemoryStore
from tests.conftest import FakeClock
from tests.flow.systems import House


def _spaces(found: Iterable[Item]) -> set[tuple[str, ...]]:
    return {one.namespace for one in found}


def _keys(found: Iterable[Item]) -> list[str]:
    return [one.key for one in found]


# -- items -------------------------------------------------------------------------------------------------------------


def test_an_item_is_put_replaced_and_deleted(store: TieredMemoryStore, clock: FakeClock) -> None:
    space = ("test", "documents")
    store.put(space, "doc1", {"title": "First"})
    first = store.get(space, "doc1")
    clock.advance(seconds=1)
    store.put(space, "doc1", {"title": "Second"})

    second = store.get(space, "doc1")

    assert first is not None
    assert second is not None
    assert (second.namespace, second.key, second.value) == (space, "doc1", {"title": "Second"})
    assert second.created_at == first.created_at == first.updated_at < second.updated_at
    assert store.get(("test", "other"), "doc1") is None
    store.delete(space, "doc1")
    assert store.get(space, "doc1") is None
    store.delete(space, "doc1")
    store.put(space, "doc1", {"title": "Third"})
    assert store.search(space)[0].value == {"title": "Third"}


async def test_the_asynchronous_calls_do_the_same(store: TieredMemoryStore) -> None:
    space = ("test", "documents")

    await store.aput(space, "doc1", {"text": "red apple"})
    await store.aput(space, "doc2", {"text": "blue car"}, index=False)

    got = await store.aget(space, "doc1")
    assert got is not None
    assert got.value == {"text": "red apple"}
    assert _keys(await store.asearch(space, query="an apple", limit=1)) == ["doc1"]
    assert _keys(await store.asearch(("test",), filter={"text": "blue car"})) == ["doc2"]
    assert await store.alist_namespaces(prefix=("test",), suffix=("documents",), max_depth=2) == [space]
    await store.adelete(space, "doc1")
    assert await store.aget(space, "doc1") is None


def test_values_come_back_as_they_were_and_are_the_callers_own(store: TieredMemoryStore) -> None:
    value = {"n": 1, "x": 1.5, "deep": [{"a": None, "ü": [True, "\ud83d\x00"]}], "nan": math.inf, "b": b"\x00", "": ""}
    store.put(("a",), "k", value)

    got = store.get(("a",), "k")
    assert got is not None
    assert got.value == value
    got.value["deep"].append("changed")

    again = store.get(("a",), "k")
    assert again is not None
    assert again.value == value
    found = store.search(("a",))[0]
    found.value["deep"].append("changed")
    assert store.search(("a",))[0].value == value


def test_a_value_may_have_many_levels(store: TieredMemoryStore) -> None:
    value: dict[str, Any] = {"bottom": 1}
    for _ in range(100):
        value = {"in": value}

    store.put(("a",), "deep", value)

    got = store.get(("a",), "deep")
    assert got is not None
    assert got.value == value


def test_any_mapping_is_a_value(store: TieredMemoryStore) -> None:
    store.put(("a",), "k", UserDict({"text": "searchable"}))
    store.put(("a",), "empty", {})

    assert store.search(("a",), query="searchable")[0].value == {"text": "searchable"}
    assert store.get(("a",), "empty") is not None


def test_equal_values_are_two_and_outlive_consolidation(store: TieredMemoryStore, memory: MemorySystem) -> None:
    for key in ("a", "b"):
        store.put(("facts",), key, {"text": "I work at Initech."})
    store.put(("facts", "deep"), "a", {"text": "I work at Initech."})

    for user in (store.user_of(("facts",)), store.user_of(("facts", "deep"))):
        memory.sync.consolidate(user, everything=True)
    memory.sync.maintain()

    assert len(store.search(("facts",))) == 3


def test_items_last(folder_house: House) -> None:
    first = folder_house.system()
    TieredMemoryStore(first).put(("ada@example.com", "notes"), "a", {"text": "peanuts"})
    first.sync.close()

    again = TieredMemoryStore(folder_house.system())

    assert again.list_namespaces() == [("ada@example.com", "notes")]
    assert again.search((), query="peanuts")[0].value == {"text": "peanuts"}


# -- batches -----------------------------------------------------------------------------------------------------------


def test_a_batch_answers_in_the_order_of_its_operations(store: TieredMemoryStore) -> None:
    store.put(("test", "foo"), "key1", {"data": "value1"})
    store.put(("test", "bar"), "key2", {"data": "value2"})
    ops: list[Op] = [
        GetOp(("test", "foo"), "key1"),
        PutOp(("test", "bar"), "key2", {"data": "value2"}),
        SearchOp(("test",), filter={"data": "value1"}),
        ListNamespacesOp(),
        GetOp(("test",), "key3"),
        PutOp(("test",), "key3", {"data": "value3"}),
        GetOp(("test",), "key3"),
        PutOp(("test",), "key3", None),
        GetOp(("test",), "key3"),
    ]

    got, put, found, listed, missing, _, there, _, gone = store.batch(ops)

    assert isinstance(got, Item)
    assert (got.key, got.value, got.namespace) == ("key1", {"data": "value1"}, ("test", "foo"))
    assert put is None
    assert isinstance(found, list)
    assert [type(one) for one in found] == [SearchItem]
    assert listed == [("test", "bar"), ("test", "foo")]
    assert missing is None
    assert isinstance(there, Item)
    assert there.value == {"data": "value3"}
    assert gone is None


async def test_an_asynchronous_batch_does_the_same(store: TieredMemoryStore) -> None:
    put, got, found = await store.abatch(
        [PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k"), SearchOp((), filter={"n": 1})]
    )

    assert put is None
    assert isinstance(got, Item)
    assert isinstance(found, list)
    assert got.value == found[0].value == {"n": 1}  # type: ignore[union-attr] # items, not namespaces


def test_a_batch_with_a_fault_does_nothing(store: TieredMemoryStore) -> None:
    good = PutOp(("valid",), "key", {})
    endless: dict[str, Any] = {}
    endless["self"] = endless
    for bad in (
        PutOp(("foo.bar",), "key", {}),
        PutOp(("a",), "key", "text"),  # type: ignore[arg-type] # that is the point
        PutOp(("a",), "key", {}, ttl=math.nan),
        PutOp(("a",), "key", {}, ttl=1e300),
        PutOp(("a",), "key", endless),
        SearchOp(("a",), filter={"n": {"$in": [1]}}),
        "get",
    ):
        with pytest.raises(ValueError, match=r"Invalid|cannot be used"):
            store.batch([good, bad])  # type: ignore[list-item] # that is the point

    assert store.get(("valid",), "key") is None


async def test_many_at_once_lose_nothing(store: TieredMemoryStore) -> None:
    await asyncio.gather(*(store.aput(("a", str(n % 3)), f"k{n}", {"n": n}) for n in range(30)))

    found = await store.asearch(("a",), limit=100)

    assert sorted(one.value["n"] for one in found) == list(range(30))


def test_threads_that_put_one_key_leave_one_value(store: TieredMemoryStore) -> None:
    def put(n: int) -> None:
        for _ in range(5):
            store.put(("a",), "k", {"n": n})

    threads = [threading.Thread(target=put, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert len(store.search(("a",))) == 1


async def test_it_serves_langgraphs_own_batching(store: TieredMemoryStore) -> None:
    class Batching(AsyncBatchedBaseStore):
        def batch(self, ops: Iterable[Op]) -> Any:
            return store.batch(ops)

        async def abatch(self, ops: Iterable[Op]) -> Any:
            return await store.abatch(ops)

    batching = Batching()
    await asyncio.gather(*(batching.aput(("a",), f"k{n}", {"n": n}) for n in range(10)))

    assert len(await batching.asearch(("a",), limit=20)) == 10


# -- namespaces --------------------------------------------------------------------------------------------------------

SPACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "123"),
    ("users", "456", "settings"),
    ("admin", "users", "789"),
]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, sorted(SPACES)),
        ({"prefix": ("a", "b")}, SPACES[:4]),
        ({"suffix": ("f",)}, SPACES[3:6]),
        ({"prefix": ("a",), "suffix": ("f",)}, SPACES[3:5]),
        ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
        ({"max_depth": 1}, [("a",), ("admin",), ("b",), ("users",)]),
        ({"prefix": ("a", "b"), "limit": 2}, SPACES[:2]),
        ({"prefix": ("a", "b"), "offset": 2}, SPACES[2:4]),
        ({"prefix": ("a", "*", "f")}, SPACES[3:5]),
        ({"suffix": ("*", "f")}, SPACES[3:6]),
        ({"prefix": ("*", "users"), "suffix": ("*", "settings")}, []),
        ({"prefix": ("users", "123")}, [("users", "123")]),
        ({"prefix": ("nonexistent",)}, []),
        ({"prefix": ("users", "123", "more")}, []),
    ],
)
async def test_namespaces_are_listed(
    store: TieredMemoryStore, asked: dict[str, Any], expected: list[tuple[str, ...]]
) -> None:
    for n, space in enumerate(SPACES):
        store.put(space, f"id_{n}", {"n": n})

    assert store.list_namespaces(**asked) == expected == await store.alist_namespaces(**asked)


def test_namespaces_come_in_pages(store: TieredMemoryStore) -> None:
    for n in range(20):
        store.put(("space", f"sub_{n:02}"), "k", {"n": n})

    for offset in (0, 5, 15, 19):
        page = store.list_namespaces(prefix=("space",), limit=5, offset=offset)
        assert page == [("space", f"sub_{n:02}") for n in range(offset, min(offset + 5, 20))]


def test_a_namespace_without_values_is_none(store: TieredMemoryStore, memory: MemorySystem) -> None:
    memory.sync.remember("ada", "I am no namespace", tier="long_term")
    memory.sync.remember("langgraph:", "nor I", tier="long_term")
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")

    assert store.list_namespaces() == []
    assert store.search(()) == []


def test_a_search_ends_at_whole_labels(store: TieredMemoryStore) -> None:
    for space in [("foo",), ("foo", "child"), ("foo", "child", "deep"), ("foobar",), ("foobar", "baz"), ("foo2",)]:
        store.put(space, "k", {"v": 1})

    assert _spaces(store.search(("foo",))) == {("foo",), ("foo", "child"), ("foo", "child", "deep")}
    assert _spaces(store.search(("foobar",), query="v")) == {("foobar",), ("foobar", "baz")}
    assert _spaces(store.search(("fo",))) == set()
    assert len(store.search(())) == 6


HOSTILE = [
    ("user_1", "userX1"),
    ("a%b", "axxb"),
    ("star*", "starX"),
    ("q?m", "qXm"),
    ("br[ack]et", "brXacXket"),
    ("plus+", "plusX"),
    ("a/b", "a"),
    ("a%2Fb", "a/b"),
    ("alice", "alice\n"),
    ("Foo", "foo"),
    ("ß", "ss"),
    ("\ud83d", "\ufffd"),
    ("langgraph:x", "x"),
]


@pytest.mark.parametrize(("label", "decoy"), HOSTILE)
def test_labels_mean_themselves(store: TieredMemoryStore, label: str, decoy: str) -> None:
    for space in [(label,), (decoy,), (label, "child"), ("x", label)]:
        store.put(space, "k", {"at": list(space)})

    assert store.list_namespaces(prefix=(label,)) == [(label,), (label, "child")]
    assert store.list_namespaces(suffix=(label,)) == sorted([(label,), ("x", label)])
    assert _spaces(store.search((label,))) == {(label,), (label, "child")}
    got = store.get((decoy,), "k")
    assert got is not None
    assert got.value == {"at": [decoy]}


def test_a_wildcard_is_one_in_a_listing_and_text_in_a_search(store: TieredMemoryStore) -> None:
    store.put(("tenant", "*"), "k", {"v": 1})
    store.put(("tenant", "b", "child"), "k", {"v": 1})

    assert _spaces(store.search(("tenant", "*"))) == {("tenant", "*")}
    assert store.list_namespaces(prefix=("tenant", "*"), suffix=("*",)) == [("tenant", "*"), ("tenant", "b", "child")]


INVALID: list[tuple[Any, ...]] = [("foo.bar",), ("foo\x00",), ("foo", ""), (123,), ("a@b.c\x00",), ("@b.c",)]


@pytest.mark.parametrize("space", INVALID)
async def test_labels_that_langgraph_refuses_are_refused(store: TieredMemoryStore, space: tuple[Any, ...]) -> None:
    """Also in a batch, which goes past the checks of LangGraph's own calls."""
    calls = (
        lambda: store.get(space, "k"),
        lambda: store.put(space, "k", {}),
        lambda: store.delete(space, "k"),
        lambda: store.search(space),
        lambda: store.list_namespaces(prefix=space),
        lambda: store.list_namespaces(suffix=space),
    )
    for call in calls:
        with pytest.raises(InvalidNamespaceError):
            call()
    ops: list[Op] = [
        GetOp(space, "k"),
        PutOp(space, "k", {}),
        PutOp(space, "k", None),
        SearchOp(space),
        ListNamespacesOp((MatchCondition("prefix", space),)),
        ListNamespacesOp((MatchCondition("suffix", space),)),
    ]
    for op in ops:
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
        with pytest.raises(InvalidNamespaceError):
            await store.abatch([op])


async def test_a_text_is_no_namespace(store: TieredMemoryStore) -> None:
    """Its letters would be the labels."""
    text: Any = "ada"
    for call in (store.get, store.delete):
        with pytest.raises(InvalidNamespaceError, match="tuple of labels"):
            call(text, "k")
    for op in (
        GetOp(text, "k"),
        PutOp(text, "k", {}),
        SearchOp(text),
        ListNamespacesOp((MatchCondition("prefix", text),)),
    ):
        with pytest.raises(InvalidNamespaceError, match="tuple of labels"):
            await store.abatch([op])


async def test_what_only_a_put_may_not_do(store: TieredMemoryStore) -> None:
    for space in ((), ("langgraph", "foo")):
        with pytest.raises(InvalidNamespaceError):
            store.put(space, "k", {})
        with pytest.raises(InvalidNamespaceError):
            await store.aput(space, "k", {})
    store.put(("foo", "langgraph"), "k", {"v": 1})

    store.batch([PutOp(("langgraph", "foo"), "k", {"v": 2})])

    got = store.get(("langgraph", "foo"), "k")
    assert got is not None
    assert got.value == {"v": 2}


ADDRESSES = ["ada@example.com", "ada@example%2Ecom", "a.b+c@x.y.z", "ada%@example.com"]


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_label_may_be_an_email_address(store: TieredMemoryStore, address: str) -> None:
    space = ("memories", address)
    store.put(space, "k", {"text": "peanuts"})
    for other in ADDRESSES:
        if other != address:
            store.put(("memories", other), "k", {"text": "cars"})

    got = await store.aget(space, "k")
    found = store.search(space, query="peanuts")
    listed = store.list_namespaces(prefix=("memories", address), suffix=(address,))
    raw = store.batch([GetOp(space, "k"), ListNamespacesOp((MatchCondition("suffix", (address,)),))])

    assert got is not None
    assert (got.namespace, got.value) == (space, {"text": "peanuts"})
    assert _spaces(found) == {space}
    assert listed == [space]
    assert raw == [got, [space]]
    assert len(store.list_namespaces()) == len(ADDRESSES)
    await store.adelete(space, "k")
    assert await store.asearch(space) == []


CALLS = ("get", "put", "delete", "search", "list_namespaces", "batch")


@pytest.mark.parametrize("name", [*CALLS, *(f"a{one}" for one in CALLS)])
def test_every_call_takes_what_langgraphs_takes(name: str) -> None:
    ours, theirs = (inspect.signature(getattr(one, name)).parameters for one in (TieredMemoryStore, BaseStore))

    assert [(one.name, one.kind, one.default) for one in ours.values()] == [
        (one.name, one.kind, one.default) for one in theirs.values()
    ]


def test_only_a_memory_of_ours_will_do() -> None:
    with pytest.raises(InvalidInput, match="MemorySystem"):
        TieredMemoryStore("./memory")  # type: ignore[arg-type] # that is the point


def test_a_namespace_can_be_erased_as_a_user(store: TieredMemoryStore, memory: MemorySystem) -> None:
    store.put(("memories", "ada"), "k", {"text": "secret"})
    store.put(("memories", "adam"), "k", {"text": "other"})

    receipt = memory.sync.forget_user(store.user_of(("memories", "ada")))

    assert receipt.long_term == 1
    assert store.list_namespaces() == [("memories", "adam")]
