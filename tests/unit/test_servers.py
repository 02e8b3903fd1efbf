"""The servers and the guards the other tests stand on."""

from __future__ import annotations

import os
import socket
import urllib.request
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis

from tests.conftest import NetworkForbiddenError

if TYPE_CHECKING:
    from tests.conftest import FakeClock


def test_redis_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()


def test_postgres_answers_with_a_utf8_database(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT 1, current_database()").fetchone() == (1, "memories")
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)


def test_chroma_answers(chroma_url: str) -> None:
    with urllib.request.urlopen(f"{chroma_url}/api/v2/heartbeat", timeout=5) as answer:
        assert b"heartbeat" in answer.read()


def test_another_machine_cannot_be_reached(network_guard: list[str]) -> None:
    with pytest.raises(NetworkForbiddenError), socket.socket() as client:
        client.connect(("192.0.2.1", 443))
    with pytest.raises(NetworkForbiddenError):
        socket.create_connection(("example.org", 443), timeout=1)

    assert network_guard == ["192.0.2.1", "example.org"]
    network_guard.clear()


def test_unix_sockets_and_loopback_can_be_reached() -> None:
    listening, closed = socket.socket(), socket.socket()
    with listening, closed, socket.socket() as client:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        client.connect(listening.getsockname())
        assert client.getpeername() == listening.getsockname()
    with pytest.raises(FileNotFoundError), socket.socket(socket.AF_UNIX) as client:
        client.connect("no-such-socket")


def test_no_key_of_a_provider_is_seen() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_the_clock_stands_until_it_is_moved(clock: FakeClock) -> None:
    before = clock()
    assert clock() == before

    clock.advance(hours=2, microseconds=1)

    assert clock() - before == timedelta(hours=2, microseconds=1)
    assert clock().tzinfo is UTC
