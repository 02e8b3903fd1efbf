"""How to reach Redis: whose client it is, and how it is made from a URL."""

from __future__ import annotations

from datetime import timedelta
from inspect import iscoroutinefunction
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from langchain_tiered_memory.backends.redis.calling import HURRIED, Caller, GivenCaller
from langchain_tiered_memory.core.errors import ConfigError, shown

_FILES = ("ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile")
"""What a URL may say of TLS that names a file or a folder."""


def connect(client_or_url: object, timeout: timedelta, pause: timedelta) -> Caller:
    """Return what sends commands; nothing is sent yet.

    The driver by itself tries again for seconds, and whoever waits for a memory would rather go without it.

    Args:
        client_or_url: A URL, or a client, which stays the caller's.
        timeout: How long a command may take; a URL's own (`?socket_timeout=2`) goes before it.
        pause: How long Redis is not asked after it did not answer.

    Raises:
        ConfigError: It is neither a Redis URL nor a blocking client of redis-py.
    """
    seconds, apart = timeout.total_seconds(), pause.total_seconds()
    if isinstance(client_or_url, str):
        client = _from_url(client_or_url, seconds)
        seconds = client.get_connection_kwargs()["socket_timeout"] or seconds
        return Caller(client, seconds, max(apart, seconds))
    if iscoroutinefunction(getattr(client_or_url, "execute_command", None)):
        raise ConfigError(
            "a redis.asyncio client belongs to one event loop: give a blocking redis.Redis, or a URL; "
            "the calls of MemorySystem stay asynchronous"
        )
    if not isinstance(client_or_url, redis.Redis | redis.RedisCluster):
        kind = type(client_or_url).__qualname__
        raise ConfigError(f"redis={kind} cannot be used: give a URL such as redis://localhost:6379/0, or a redis.Redis")
    return GivenCaller(client_or_url, seconds, max(apart, seconds))


def _from_url(url: str, seconds: float) -> redis.Redis:
    try:
        client = redis.Redis.from_url(
            url,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 0),
            decode_responses=False,
            protocol=2,  # the third begins with questions of its own, each of them an answer to wait for
        )
    except (ValueError, redis.RedisError):  # neither the URL nor what was said of it: both may show the password
        raise ConfigError(
            "the Redis URL cannot be used: it has to be like redis://user:password@host:6379/0, "
            "or rediss:// for TLS, or unix:// for a socket"
        ) from None
    pool = client.connection_pool
    for name in _FILES:
        path = pool.connection_kwargs.get(name)
        if path and not Path(path).exists():  # the driver would say so of every command, and not of what
            raise ConfigError(f"the Redis URL's {name}={shown(path)} cannot be used: there is no such file")
    pool.connection_class = HURRIED.get(pool.connection_class, pool.connection_class)
    return client
