"""How to reach Redis: whose client it is, how long to wait, and what its errors become."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError

NAME = "redis"
_REASON_LENGTH = 200


def connect(client_or_url: object, timeout: timedelta) -> tuple[Any, bool]:
    """Return a client and whether it is ours to close; nothing is sent.

    A client of ours fails within `timeout` instead of trying again for seconds: whoever waits for a memory would
    rather go without it. Parameters of the URL (`?socket_timeout=2`) go before it.

    Raises:
        ConfigError: It is neither a Redis URL nor a blocking client of redis-py.
    """
    if isinstance(client_or_url, str):
        return _from_url(client_or_url, timeout.total_seconds()), True
    if iscoroutinefunction(getattr(client_or_url, "execute_command", None)):
        raise ConfigError(
            "a redis.asyncio client belongs to one event loop: give a blocking redis.Redis, or a URL; "
            "the calls of MemorySystem stay asynchronous"
        )
    if not isinstance(client_or_url, redis.Redis | redis.RedisCluster):
        kind = type(client_or_url).__qualname__
        raise ConfigError(f"redis={kind} cannot be used: give a URL such as redis://localhost:6379/0, or a redis.Redis")
    return client_or_url, False


def _from_url(url: str, seconds: float) -> redis.Redis:
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 0),
            decode_responses=False,
        )
    except (ValueError, redis.RedisError):  # neither the URL nor what was said of it: both may show the password
        raise ConfigError(
            "the Redis URL cannot be used: it has to be like redis://user:password@host:6379/0, "
            "or rediss:// for TLS, or unix:// for a socket"
        ) from None


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Turn whatever redis-py raises into `BackendUnavailable`."""
    try:
        yield
    except redis.RedisError as error:
        reason = (str(error).splitlines() or [""])[0][:_REASON_LENGTH] or type(error).__name__
        raise BackendUnavailable(NAME, operation, reason) from error
