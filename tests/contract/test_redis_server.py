"""What Redis does on its own, and what it is to be connected to it."""

from __future__ import annotations

import os
import pickle
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import redis
import redis.asyncio

from langchain_tiered_memory.backends.redis import RedisItemStore, items, lua
from langchain_tiered_memory.backends.redis.codec import GRACE, digest
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, SchemaMismatch
from langchain_tiered_memory.core.patience import waiting_at_most
from langchain_tiered_memory.core.ports import Entry, ItemStore, Touched
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, NOW, entry_of, passage
from tests.proxy import Proxy

ADA = "user:1"
BASE = f"ltm:{{{digest(ADA)}}}:"
INDEX = f"{BASE}index"
VERSION = f"{BASE}version"
OF_ALL = {b"ltm:users", b"ltm:life"}
"""What is no user's own."""
TOLERANCE_MS = 60_000
PATIENT = timedelta(seconds=20)
"""A store answers or not; how busy the machine is has no say in it."""


@pytest.fixture
def raw(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
        yield client


@pytest.fixture
def store(raw: redis.Redis, redis_url: str) -> Iterator[RedisItemStore]:
    store = RedisItemStore(redis_url, timeout=PATIENT)
    yield store
    store.close()


def item(memory_id: str, *, life: timedelta | None = DAY, key: str | None = None, pinned: bool = False) -> Entry:
    """Return an entry that lives from `NOW` on."""
    entry = entry_of(memory_id, pinned=pinned)
    return replace(entry, duplicate_key=key, expires_at=None if life is None else NOW + life)


def key_of(memory_id: str) -> str:
    """Return the key of Ada's item."""
    return f"{BASE}item:{memory_id}"


def keys(raw: redis.Redis) -> set[bytes]:
    """Return all keys there are."""
    found: Any = raw.keys("*")
    return set(found)


# -- what lies where ---------------------------------------------------------------------------------------------------


def test_all_keys_of_a_user_share_one_hash_tag(store: ItemStore, raw: redis.Redis) -> None:
    for number, user in enumerate(HOSTILE.values()):
        store.put(user, [item(f"{number}", key="key"), item("*{x}")])

    tags = {key.split(b"{")[1].split(b"}")[0] for key in keys(raw) - OF_ALL}
    assert tags == {digest(user).encode() for user in HOSTILE.values()}
    assert len(keys(raw)) == 5 * len(HOSTILE) + len(OF_ALL)


def test_forgetting_a_user_leaves_not_even_the_name(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a", key="key"), item("b", key="other", pinned=True)])
    store.remove(ADA, {"a": None})

    store.forget(ADA)

    assert keys(raw) == {b"ltm:life"}


def test_prefixes_are_stores_of_their_own(raw: redis.Redis, redis_url: str) -> None:
    one, other = RedisItemStore(redis_url, prefix="one"), RedisItemStore(redis_url, prefix="other")
    one.put(ADA, [item("a")])

    assert (other.users(), other.get(ADA, ["a"])) == ((), ())
    assert other.forget(ADA) == 0
    assert one.users() == (ADA,)


@pytest.mark.parametrize("prefix", ["", "{a}", "a{", "}"])
def test_a_prefix_that_would_break_the_tag_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError):
        RedisItemStore("redis://localhost", prefix=prefix)


# -- how long it lies there --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("created_at", [NOW - 10_000 * DAY, NOW + 10_000 * DAY])
def test_an_item_stands_for_a_week_after_its_life_whatever_the_caller_s_clock(
    store: ItemStore, raw: redis.Redis, created_at: Any
) -> None:
    entry = replace(entry_of("a", created_at=created_at), expires_at=created_at + DAY, duplicate_key="key")
    store.put(ADA, [entry])

    least = (DAY + GRACE) / timedelta(milliseconds=1) - TOLERANCE_MS
    for key in (key_of("a"), INDEX, f"{BASE}same:{digest('key')}"):
        assert least < raw.pttl(key)
        seconds, _ = raw.time()
        assert seconds * 1000 + raw.pttl(key) > (created_at + DAY + GRACE).timestamp() * 1000 - TOLERANCE_MS


def test_pinned_items_and_those_without_an_end_stand_for_good(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a"), item("b", pinned=True), item("c", life=None), item("d")])

    assert [raw.pttl(key_of(i)) > 0 for i in "abcd"] == [True, False, False, True]
    assert raw.pttl(INDEX) == -1


def test_pinning_and_unpinning_moves_the_end(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a", key="key"), item("b", pinned=True)])
    store.update(ADA, item("a", key="key", pinned=True), NOW)
    assert [raw.pttl(key_of(i)) for i in "ab"] == [-1, -1]
    assert raw.pttl(f"{BASE}same:{digest('key')}") == -1

    store.update(ADA, item("b"), NOW)

    assert raw.pttl(key_of("b")) > 0


def test_the_index_stands_as_long_as_the_last_item(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a", life=30 * DAY)])
    store.put(ADA, [item("b", life=DAY)])

    assert raw.pttl(INDEX) >= raw.pttl(key_of("a")) > raw.pttl(key_of("b"))


# -- what Redis drops --------------------------------------------------------------------------------------------------


@pytest.fixture(params=["expired", "evicted"])
def drop(request: pytest.FixtureRequest, raw: redis.Redis) -> Callable[[str], None]:
    """Return what makes Redis drop a key on its own."""

    def dropped(key: str) -> None:
        if request.param == "evicted":
            raw.delete(key)
            return
        raw.pexpire(key, 1)
        while raw.exists(key):
            time.sleep(0.001)

    return dropped


def test_a_dropped_item_is_no_phantom(store: ItemStore, raw: redis.Redis, drop: Callable[[str], None]) -> None:
    store.put(ADA, [item("a", key="key"), item("b")])
    version = store.version(ADA)
    drop(key_of("a"))

    assert store.touch(ADA, ["a"], NOW) == Touched(version)
    store.embed(ADA, {"a": [passage(0, 1)]})
    assert store.remove(ADA, {"a": None}) == ()
    assert [one.id for one in store.get(ADA, ["a", "b"])] == ["b"]
    assert not raw.exists(key_of("a"))
    assert store.version(ADA) == version + 1  # whoever looked for it has noticed, and so will all readers
    whole = store.changes(ADA, 0)
    assert [e.memory.id for e in whole.entries] == ["b"]

    later = store.changes(ADA, version)
    assert (later.gone, later.entries, later.whole) == (("a",), (), False)
    assert whole.version == later.version == version + 1


def test_a_dropped_item_may_come_again(store: ItemStore, drop: Callable[[str], None]) -> None:
    store.put(ADA, [item("a", key="key")])
    store.touch(ADA, ["a"], NOW)
    drop(key_of("a"))

    placed = store.put(ADA, [item("b", key="key"), item("a", key="key")])

    assert [(p.outcome, p.memory.id) for p in placed] == [("created", "b"), ("reinforced", "b")]


def test_a_user_whose_items_were_dropped_is_no_user(
    store: ItemStore, raw: redis.Redis, drop: Callable[[str], None]
) -> None:
    store.put(ADA, [item("a"), item("b")])
    drop(key_of("a"))
    assert store.users() == (ADA,)

    drop(key_of("b"))
    assert store.users() == ()
    assert raw.exists(INDEX)

    drop(INDEX)
    assert store.users() == ()
    assert keys(raw) == {b"ltm:life"}


def test_a_dropped_index_is_the_end_of_all_rows(store: ItemStore, drop: Callable[[str], None]) -> None:
    """Rows that no reader would ever hear of are not there, whoever asks."""
    store.put(ADA, [replace(item("a", key="key"), vectors=(passage(0, 1), passage(1, 2)))])
    version = store.version(ADA)
    drop(INDEX)

    assert (store.get(ADA, ["a"]), store.version(ADA), store.users()) == ((), 0, ())
    changes = store.changes(ADA, version)
    assert (changes.entries, changes.whole) == ((), True)
    store.touch(ADA, ["a"], NOW)
    (placed,) = store.put(ADA, [item("a", key="key")])
    assert (placed.outcome, placed.memory.access_count) == ("created", 0)
    assert store.version(ADA) > version
    assert store.changes(ADA, version).whole
    assert store.changes(ADA, 0).entries[0].vectors == ()


def test_only_so_many_removals_are_remembered(store: ItemStore, raw: redis.Redis) -> None:
    many = [f"{n}" for n in range(lua.GONE_LIMIT + 10)]
    store.put(ADA, [item(i) for i in [*many, "stays"]])
    early = store.version(ADA)
    for start in range(0, len(many), 100):
        store.remove(ADA, dict.fromkeys(many[start : start + 100]))
    late = store.version(ADA) - 1

    from_early, from_late = store.changes(ADA, early), store.changes(ADA, late)

    assert (from_early.whole, [e.memory.id for e in from_early.entries]) == (True, ["stays"])
    assert (from_late.whole, set(from_late.gone)) == (False, set(many[1000:]))
    assert raw.zcard(INDEX) < lua.GONE_LIMIT


def test_many_rows_are_read_in_pages_with_what_changes_meanwhile(
    store: RedisItemStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "PAGE", 10)
    store.put(ADA, [item(f"{n}") for n in range(35)])
    version = store.version(ADA)
    store.put(ADA, [item(f"new {n}") for n in range(35)])
    run, pages = store._run, []

    def meanwhile(operation: str, *args: Any, **how: Any) -> Any:
        if operation == "read items":
            pages.append(1)
            if len(pages) == 2:
                store.remove(ADA, {"0": None, "new 34": None})
                store.put(ADA, [item("late")])
        return run(operation, *args, **how)

    monkeypatch.setattr(store, "_run", meanwhile)

    whole = store.changes(ADA, 0)
    assert len(pages) == 7
    assert whole.whole
    assert whole.version == store.version(ADA)
    expected = {f"{n}" for n in range(1, 35)} | {f"new {n}" for n in range(34)} | {"late"}
    assert {e.memory.id for e in whole.entries} == expected

    later = store.changes(ADA, version)
    assert {e.memory.id for e in later.entries} == {f"new {n}" for n in range(34)} | {"late"}
    assert (set(later.gone), later.whole) == ({"0", "new 34"}, False)


def test_what_redis_lost_is_counted_once(store: RedisItemStore, raw: redis.Redis, redis_url: str) -> None:
    """Items one by one, a user's index, and everything at once; what was forgotten was not lost."""
    lost = ("redis_items_lost", "redis_users_lost", "redis_emptied")
    other = RedisItemStore(redis_url)

    def counted() -> tuple[int, ...]:
        return tuple(store.incidents()[name] for name in lost)

    def caught_up() -> int:
        return store.changes(ADA, version).version

    version = 0
    for user in (ADA, "bob"):
        store.put(user, [item(i) for i in "abcd"])
    version = caught_up()
    raw.delete(key_of("a"), key_of("b"))
    store.get(ADA, ["a", "a", "c"])
    version = caught_up()
    version = caught_up()
    assert counted() == (2, 0, 0)

    raw.delete(INDEX)
    store.get(ADA, ["c"])
    version = caught_up()
    assert (version, counted()) == (0, (2, 1, 0))

    store.put(ADA, [item("e")])
    version = caught_up()
    other.forget(ADA)
    version = caught_up()
    assert (version, counted()) == (0, (2, 1, 0))

    bob = store.changes("bob", 0).version
    store.put(ADA, [item("e")])
    version = caught_up()
    raw.flushdb()
    other.put(ADA, [item("f")])
    version = caught_up()
    store.changes("bob", bob)
    assert counted() == (2, 1, 1)
    other.close()


# -- what is not ours --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"\xff", pickle.dumps(print), b'[1,"fact"]'])
@pytest.mark.parametrize("field", ["h", "s", "t", "v0", "a", "l"])
def test_a_row_that_cannot_be_read_hides_only_itself(
    store: ItemStore, raw: redis.Redis, field: str, damage: bytes
) -> None:
    store.put(ADA, [replace(item(i), vectors=(passage(0, 1),)) for i in "ab"])
    raw.hset(key_of("a"), field, damage)

    found = {e.memory.id for e in store.changes(ADA, 0).entries}

    assert found == ({"a", "b"} if (field, damage) == ("t", b"{}") else {"b"})  # no terms at all are fine
    assert store.get(ADA, ["a", "b"])[-1].id == "b"


def test_a_row_of_another_version_is_said_to_be_one(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a")])
    raw.hset(key_of("a"), "h", '[2,"whatever"]')

    with pytest.raises(SchemaMismatch):
        store.changes(ADA, 0)


# -- the connection ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"decode_responses": True}, {"protocol": 3}, {"protocol": 2}])
def test_a_client_that_was_given_is_used_as_it_is_and_not_closed(
    raw: redis.Redis, redis_url: str, options: dict[str, Any]
) -> None:
    with redis.Redis.from_url(redis_url, **options) as client:
        store = RedisItemStore(client)
        text = HOSTILE["lone surrogate"]
        store.put(text, [replace(item(text), vectors=(passage(0, 1),))])
        store.close()

        assert [e.memory.id for e in store.changes(text, 0).entries] == [text]
        assert (store.users(), store.get(text, [text])[0].user_id) == ((text,), text)
        assert client.ping()


def test_a_client_of_ours_is_closed_and_opens_again(store: RedisItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a")])
    before = len(raw.client_list())

    store.close()

    while len(raw.client_list()) != before - 1:  # the server learns of it a moment later
        time.sleep(0.001)
    assert store.version(ADA) > 0


def test_an_idle_connection_that_the_server_closed_is_opened_again(store: RedisItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a")])
    raw.client_kill_filter(_type="normal", skipme=True)

    assert store.version(ADA) > 0


def test_an_asynchronous_client_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"give a blocking redis\.Redis, or a URL"):
        RedisItemStore(redis.asyncio.Redis())


@pytest.mark.parametrize("given", [None, 5, object(), "http://localhost", "localhost:6379", "redis://:secret@h:port"])
def test_what_cannot_be_connected_to_is_refused_before_anything_is_sent(given: object) -> None:
    with pytest.raises(ConfigError) as refused:
        RedisItemStore(given)

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["redis://:secret@127.0.0.1:1/0", "rediss://:secret@127.0.0.1:1/0", "unix://:secret@/nowhere.sock?db=1"]
)
def test_a_server_that_is_not_there_is_unavailable_at_once(url: str) -> None:
    store = RedisItemStore(url)
    started = time.monotonic()

    for call in every_call(store):
        with pytest.raises(BackendUnavailable) as failed:
            call()
        assert failed.value.backend == "redis"
        assert "secret" not in f"{failed.value}{store!r}{store.name}"

    assert time.monotonic() - started < 2
    store.close()


@pytest.mark.parametrize("given", [False, True])
def test_a_server_that_hangs_is_unavailable_in_time_and_then_not_asked_for_a_while(given: bool) -> None:  # noqa: FBT001
    """Also through a client that was given and would wait, and try again, for many seconds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}"
        store = RedisItemStore(redis.Redis.from_url(url) if given else url, timeout=timedelta(milliseconds=50))
        started = time.monotonic()

        for call in every_call(store):
            with pytest.raises(BackendUnavailable):
                call()

        assert time.monotonic() - started < 1
        assert (store.incidents()["redis_unavailable"], store.incidents()["redis_not_asked"]) == (1, 9)


def test_all_that_one_caller_asks_of_a_slow_server_is_bounded_together(store: ItemStore, raw: redis.Redis) -> None:
    """Each answer alone would be in time. What brings rows may take longer as long as it is arriving."""
    store.put(ADA, [item("a")])
    with slow(raw, 0.15) as url:
        far = RedisItemStore(url)
        started = time.monotonic()
        with waiting_at_most(0.25):
            assert far.touch(ADA, ["a"], NOW).ids == {"a"}
            with pytest.raises(BackendUnavailable):
                far.touch(ADA, ["a"], NOW)
            with pytest.raises(BackendUnavailable, match="no time is left"):
                far.touch(ADA, ["a"], NOW)
        assert time.monotonic() - started < 1
        assert far.touch(ADA, ["a"], NOW).ids == {"a"}  # who was given up for want of time is asked again by others
        far.close()


@contextmanager
def slow(raw: redis.Redis, seconds: float) -> Iterator[str]:
    """Give an address where each answer of the server comes late."""
    host = raw.get_connection_kwargs()
    with Proxy((host["host"], host["port"])) as proxy:
        proxy.delay = seconds
        yield f"redis://127.0.0.1:{proxy.port}/0"


def test_the_version_is_one_get(store: ItemStore, raw: redis.Redis) -> None:
    def counts() -> dict[str, int]:
        told: Any = raw.info("commandstats")
        return {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in told.items()}

    store.put(ADA, [item("a")])
    store.touch(ADA, ["a"], NOW)
    expected, before = store.changes(ADA, 0).version, counts()

    assert store.version(ADA) == expected

    after = counts()
    assert {name: n - before.get(name, 0) for name, n in after.items() if n != before.get(name)} == {
        "get": 1,
        "info": 1,
    }


def test_every_write_and_every_loss_that_is_noticed_moves_the_version_that_readers_get(
    store: ItemStore, raw: redis.Redis
) -> None:
    store.put(ADA, [item(i, key=i) for i in "abcd"])
    writes: list[Callable[[], object]] = [
        lambda: store.put(ADA, [item("e")]),
        lambda: store.touch(ADA, ["a"], NOW),
        lambda: store.update(ADA, item("a"), NOW),
        lambda: store.embed(ADA, {"a": [passage(0, 1)]}),
        lambda: store.remove(ADA, {"b": None}),
        lambda: (raw.delete(key_of("c")), store.get(ADA, ["c"])),
        lambda: (raw.delete(key_of("d")), store.changes(ADA, 0)),
    ]
    for write in writes:
        before = store.version(ADA)
        write()
        assert store.version(ADA) == before + 1 == store.changes(ADA, before).version
        assert raw.pttl(VERSION) == pytest.approx(raw.pttl(INDEX), abs=1_000)


def test_rows_of_an_earlier_release_have_a_version_too(store: ItemStore, raw: redis.Redis) -> None:
    """It did not write the version by itself; nor does it stand when Redis evicted it."""
    store.put(ADA, [item("a")])
    version = store.version(ADA)
    raw.delete(VERSION)

    assert store.version(ADA) == version
    assert raw.get(VERSION) == str(version).encode()


def every_call(store: ItemStore) -> list[Callable[[], object]]:
    """Return a call of every method that talks to the server."""
    return [
        lambda: store.version(ADA),
        lambda: store.changes(ADA, 0),
        lambda: store.get(ADA, ["a"]),
        lambda: store.put(ADA, [item("a")]),
        lambda: store.touch(ADA, ["a"], NOW),
        lambda: store.update(ADA, item("a"), NOW),
        lambda: store.embed(ADA, {"a": [passage(0, 1)]}),
        lambda: store.remove(ADA, {"a": None}),
        lambda: store.forget(ADA),
        store.users,
    ]


@contextmanager
def out_of_memory(raw: redis.Redis) -> Iterator[None]:
    """Let the server refuse whatever needs memory."""
    raw.config_set("maxmemory-policy", "noeviction")
    raw.config_set("maxmemory", 1)
    try:
        yield
    finally:
        raw.config_set("maxmemory", 0)


def test_a_server_out_of_memory_refuses_whole_writes_and_goes_on_reading(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item(i, key=i) for i in "abc"])
    raw.delete(key_of("c"))
    before = store.get(ADA, ["a", "b"])

    with out_of_memory(raw):
        for write in (
            lambda: store.put(ADA, [item("d"), item("e")]),
            lambda: store.put("another", [item("d")]),
            lambda: store.put(ADA, [replace(item("x"), duplicate_key="a")]),
            lambda: store.touch(ADA, ["a"], NOW + DAY),
            lambda: store.update(ADA, item("a"), NOW),
            lambda: store.embed(ADA, {"a": [passage(0, 1)]}),
        ):
            with pytest.raises(BackendUnavailable, match="memory"):
                write()
        assert store.get(ADA, ["a", "b"]) == before
        assert {e.memory.id for e in store.changes(ADA, 0).entries} == {"a", "b"}
        assert store.remove(ADA, {"b": None}) == ("b",)

    assert {e.memory.id for e in store.changes(ADA, 0).entries} == {"a"}
    assert [p.outcome for p in store.put(ADA, [item("d")])] == ["created"]
    assert store.users() == (ADA,)


def test_a_forked_process_opens_connections_of_its_own(store: ItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a")])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of threads, whose locks are not ours
        child = os.fork()
    if child == 0:
        try:
            for _ in range(20):
                store.touch(ADA, ["a"], NOW)
        finally:
            os._exit(0)
    for _ in range(20):
        store.touch(ADA, ["a"], NOW)
    os.waitpid(child, 0)

    assert store.get(ADA, ["a"])[0].access_count == 40


def test_no_connection_stays_checked_out(store: RedisItemStore, raw: redis.Redis) -> None:
    store.put(ADA, [item("a")])
    for call in every_call(store):
        call()
    with pytest.raises(BackendUnavailable), out_of_memory(raw):
        store.put(ADA, [item("b")])

    assert store._caller.client.connection_pool._in_use_connections == set()
