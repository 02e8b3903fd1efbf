"""Ways to a Redis: a password, an account with few rights, a socket of this machine; and no password is shown."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
import redis

from langchain_tiered_memory import BackendUnavailable, MemorySystem
from langchain_tiered_memory.backends.redis import RedisItemStore
from langchain_tiered_memory.backends.redis.calling import (
    HurriedConnection,
    HurriedSSLConnection,
    HurriedUnixConnection,
)
from langchain_tiered_memory.testing.samples import NOW, entry_of
from tests.conftest import need
from tests.faults.machines import Machine, redis_machine

PASSWORD = "xyzzy-4711"
ADA = "ada"
PATIENT = timedelta(seconds=20)


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[Machine, str]]:
    """A Redis with passwords, and the path of its socket."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = f"{folder}/socket"
        machine = need(stack, lambda: redis_machine("--unixsocket", path))
        with redis.Redis.from_url(machine.url) as client:
            client.acl_setuser(
                "worker",
                enabled=True,
                passwords=[f"+{PASSWORD}"],
                keys=["ltm:*"],
                categories=["+@all", "-@admin", "-@dangerous"],
            )
            client.config_set("requirepass", PASSWORD)
        yield machine, path


@pytest.fixture(params=["password", "account", "socket"])
def url(request: pytest.FixtureRequest, guarded: tuple[Machine, str]) -> str:
    machine, path = guarded
    address = machine.url.removeprefix("redis://")
    return {
        "password": f"redis://:{PASSWORD}@{address}",
        "account": f"redis://worker:{PASSWORD}@{address}",
        "socket": f"unix://:{PASSWORD}@{path}?db=0",
    }[request.param]


def test_every_way_serves(url: str) -> None:
    store = RedisItemStore(url, timeout=PATIENT)
    store.put(ADA, [entry_of("a"), entry_of("b")])
    assert store.touch(ADA, ["a"], NOW).ids == {"a"}
    version = store.changes(ADA, 0).version
    assert store.remove(ADA, {"b": None}) == ("b",)
    assert store.changes(ADA, version).gone == ("b",)
    assert ADA in store.users()
    assert store.forget(ADA) == 1
    assert store.changes(ADA, version).whole
    assert set(store.incidents().values()) == {0}
    store.close()


def test_a_wrong_password_is_said_to_be_one_and_shown_nowhere(
    guarded: tuple[Machine, str], caplog: pytest.LogCaptureFixture
) -> None:
    address = guarded[0].url.removeprefix("redis://")
    with caplog.at_level(logging.DEBUG):
        memory = MemorySystem(f"redis://:wrong-{PASSWORD}@{address}", "exact", path=":memory:")
        with memory.sync as sync, pytest.raises(BackendUnavailable, match="invalid username-password") as refused:
            sync.status(ADA)
    shown = f"{refused.value!r} {refused.value.__cause__!r} {memory!r} {caplog.text}"
    assert PASSWORD not in shown


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://h", HurriedConnection),
        ("rediss://h:6380/1?ssl_cert_reqs=none", HurriedSSLConnection),
        ("unix:///run/redis.sock", HurriedUnixConnection),
    ],
)
def test_the_deadline_holds_on_every_kind_of_connection(url: str, kind: type) -> None:
    pool = RedisItemStore(url)._caller.client.connection_pool
    assert pool.connection_class is kind
    assert pool.connection_kwargs["socket_timeout"] == 1


def test_a_time_out_of_the_url_s_own_goes_before_ours() -> None:
    store = RedisItemStore("redis://h?socket_timeout=7")
    assert store._caller._seconds == 7
