"""What a system is to be made of: its arguments, checked before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from langchain_tiered_memory.core.config import RankingWeights, Settings
from langchain_tiered_memory.core.errors import ConfigError, NotInstalled, extra, shown
from langchain_tiered_memory.core.ports import Clock, FactExtractor, ImportanceScorer

IN_MEMORY = ":memory:"
EXACT = "exact"


def system_clock() -> datetime:
    """Return the present in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a system is to be made of; checked, nothing opened."""

    redis: object
    vector_db: object
    postgres: object
    path: Path | str | None
    embedder: object = None
    llm: object = None
    scorer: ImportanceScorer | None = None
    extractor: FactExtractor | None = None
    reranker: object = None
    weights: RankingWeights = field(default_factory=lambda: RankingWeights.DEFAULT)
    settings: Settings = field(default_factory=Settings)
    clock: Clock = system_clock


def plan(redis: object, vector_db: object, postgres: object, path: object, options: dict[str, Any]) -> Plan:
    """Check the arguments of a system and return what it is to be made of.

    Raises:
        ConfigError: They cannot work; the message says how to mend them.
    """
    missing = [n for n, v in (("redis", redis), ("vector_db", vector_db), ("postgres", postgres)) if v is None]
    if path is None and missing:
        raise ConfigError(
            f"{', '.join(missing)} not given and no path to embed them in: give path='./memory', "
            "or use MemorySystem.open() for a temporary one"
        )
    if path is not None and (not isinstance(path, (str, Path)) or path == ""):
        raise ConfigError(f"path={shown(path)} cannot be used: a folder, or ':memory:', is needed")
    if type(redis).__module__.startswith("redis.asyncio"):
        raise ConfigError("redis is a redis.asyncio client: give a URL or a blocking redis.Redis, calls stay async")
    for name, value in (("redis", redis), ("vector_db", vector_db), ("postgres", postgres)):
        _check_place(name, value)
    if isinstance(postgres, str) and postgres.startswith("postgres") and not _installed("psycopg"):
        raise NotInstalled("PostgreSQL", "psycopg", extra("postgres"))
    given = {name: value for name, value in options.items() if value is not None}
    strangers = set(given) - {"embedder", "llm", "scorer", "extractor", "reranker", "weights", "settings", "clock"}
    if strangers:
        raise ConfigError(f"unknown options {', '.join(sorted(strangers))}: see MemorySystem")
    _check_type(given, "weights", RankingWeights)
    _check_type(given, "settings", Settings)
    _check_models(given)
    if not callable(given.get("clock", system_clock)):
        raise ConfigError(
            f"clock={shown(given['clock'])} cannot be used: a callable returning an aware datetime is needed"
        )
    where = path if path in {None, IN_MEMORY} else Path(str(path)).expanduser()
    return Plan(redis=redis, vector_db=vector_db, postgres=postgres, path=where, **given)


def _installed(package: str) -> bool:
    """Say whether a package is there, without loading it."""
    try:
        return find_spec(package) is not None
    except ValueError:  # somebody's stand-in for it
        return True


def _check_type(given: dict[str, Any], name: str, wanted: type) -> None:
    if name in given and not isinstance(given[name], wanted):
        raise ConfigError(f"{name}={shown(given[name])} cannot be used: a {wanted.__name__} is needed")


_SCHEMES = {
    "redis": ("redis://", "rediss://", "unix://"),
    "vector_db": ("http://", "https://"),
    "postgres": ("postgresql", "postgres://", "sqlite://", "sqlite+"),
}


def _check_place(name: str, value: object) -> None:
    """Refuse what is neither a URL of the kind nor an object that may be a client; a URL may hold a password."""
    if isinstance(value, str):
        if not value.startswith(_SCHEMES[name]) and not (name == "vector_db" and value == EXACT):
            known = ", ".join(one if one.endswith("://") else f"{one}…://" for one in _SCHEMES[name])
            raise ConfigError(f"{name} is text but no URL that can be used: it has to begin with one of {known}")
    elif isinstance(value, (bool, int, float, bytes, tuple, list, dict, set, type)):
        raise ConfigError(f"{name}={shown(value)} cannot be used: a URL or a client is needed")


def _check_models(given: dict[str, Any]) -> None:
    scorer = given.get("scorer")
    if scorer is not None and (isinstance(scorer, type) or not callable(getattr(scorer, "score", None))):
        raise ConfigError(f"scorer={shown(scorer)} cannot be used: an object with score(content, …) is needed")
    if "llm" in given:
        from langchain_tiered_memory.extraction import as_model

        as_model(given["llm"])
    if "reranker" in given:
        from langchain_tiered_memory.reranking import as_reranker

        as_reranker(given["reranker"])
    if "extractor" in given:
        from langchain_tiered_memory.extraction import as_extractor

        as_extractor(given["extractor"])
    if "embedder" in given:
        from langchain_tiered_memory.embedding import as_embedder

        as_embedder(given["embedder"])
