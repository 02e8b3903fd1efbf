"""Short-term memory in Redis keeps the contract of its port, on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis

from langchain_tiered_memory.backends.redis import RedisItemStore
from langchain_tiered_memory.backends.redis.codec import digest
from langchain_tiered_memory.core.ports import ItemStore
from langchain_tiered_memory.testing.contracts import ItemStoreContract

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


class TestRedisItems(ItemStoreContract):
    @pytest.fixture(autouse=True)
    def look_past_the_store(self, raw: redis.Redis, redis_url: str) -> None:
        self.raw, self.url = raw, redis_url

    @pytest.fixture
    def store(self, store: RedisItemStore) -> ItemStore:
        return store

    def raw_ids(self, store: ItemStore, user_id: str) -> set[str]:
        start = f"ltm:{{{digest(user_id)}}}:item:".encode()
        keys: Any = self.raw.keys("*")
        return {key[len(start) :].decode("utf-8", "surrogatepass") for key in keys if key.startswith(start)}

    def reopened(self, store: ItemStore) -> ItemStore:
        return RedisItemStore(redis.Redis.from_url(self.url), timeout=PATIENT)
