"""Memory systems for the tests of the whole: on each backend, with a clock to move, opened again where they last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb
import numpy as np
import pytest
import redis
from numpy.typing import NDArray
from sqlalchemy import create_engine, text

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, ServerSettings, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import EmbeddingError
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock

__all__ = [
    "DAY",
    "MINUTE",
    "PATIENT",
    "QUIET",
    "FailingEmbedder",
    "House",
    "folder_house",
    "house",
    "memory",
    "server_house",
    "sync",
]

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
PATIENT = ServerSettings(
    **dict.fromkeys(("redis_deadline", "redis_timeout", "chroma_deadline", "sql_deadline", "sql_timeout"), MINUTE)
)
"""A server answers or not; how busy the machine is has no say in it."""
QUIET = Settings(maintenance=MaintenanceSettings(automatic=False), servers=PATIENT)
"""Nothing happens that a test did not ask for."""


@dataclass
class House:
    """Where the memories of one test live.

    Attributes:
        clock: The clock of every system opened here.
        path: A folder, ":memory:", or None when everything is given.
        given: What else every system here is made of.
    """

    clock: FakeClock
    path: Path | str | None
    given: dict[str, Any] = field(default_factory=dict)
    _opened: ExitStack = field(default_factory=ExitStack)

    @property
    def lasting(self) -> bool:
        """Whether a system opened later finds what an earlier one stored."""
        return self.path != ":memory:"

    def system(self, **options: Any) -> MemorySystem:
        """Return a new system here, closed at the end of the test; options as of `MemorySystem`."""
        made: dict[str, Any] = {"embedder": HashedEmbedder(), "settings": QUIET, "clock": self.clock}
        system = MemorySystem(path=self.path, **{**made, **self.given, **options})
        self._opened.callback(system.sync.close)
        return system

    def open(self, **options: Any) -> Engine:
        """Return a new system's blocking face."""
        return self.system(**options).sync

    def close(self) -> None:
        """Close every system opened here."""
        self._opened.close()

    def everything(self) -> bytes:
        """Return every byte of every file below the folder, and of their names."""
        assert isinstance(self.path, Path)
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        return b"\n".join(bytes(path) + path.read_bytes() for path in files)


@pytest.fixture(params=["ram", "folder"])
def house(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[House]:
    made = House(clock, ":memory:" if request.param == "ram" else tmp_path / "memory")
    yield made
    made.close()


@pytest.fixture
def folder_house(tmp_path: Path, clock: FakeClock) -> Iterator[House]:
    """A house whose memories are found again."""
    made = House(clock, tmp_path / "memory")
    yield made
    made.close()


@pytest.fixture
def server_house(redis_url: str, chroma_url: str, postgres_url: str, clock: FakeClock) -> Iterator[House]:
    """A house of empty servers."""
    empty(redis_url, chroma_url, postgres_url)
    made = House(clock, None, {"redis": redis_url, "vector_db": chroma_url, "postgres": postgres_url})
    yield made
    made.close()


def empty(redis_url: str, chroma_url: str, postgres_url: str) -> None:
    """Leave nothing on the servers."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
    address = urlsplit(chroma_url)
    chroma = chromadb.HttpClient(host=address.hostname or "", port=address.port or 0)
    for collection in chroma.list_collections():
        chroma.delete_collection(collection.name)
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        for (name,) in connection.execute(text("SELECT tablename FROM pg_tables WHERE tablename LIKE 'ltm_%'")).all():
            connection.execute(text(f"DROP TABLE {name} CASCADE"))
    engine.dispose()


@pytest.fixture
def memory(house: House) -> MemorySystem:
    """An empty memory."""
    return house.system()


@pytest.fixture
def sync(memory: MemorySystem) -> Engine:
    """An empty memory, blocking."""
    return memory.sync


class FailingEmbedder:
    """The free embedder, but for the times when it is told to fail.

    Attributes:
        fails: Set to make every call raise.
        asked: How many texts were embedded.
    """

    def __init__(self, model_id: str = "hashed", dimensions: int = 256) -> None:
        self.model_id = model_id
        self.fails = False
        self.asked = 0
        self._inner = HashedEmbedder(dimensions)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed, or fail."""
        self._answer(len(texts))
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed, or fail."""
        self._answer(1)
        return self._inner.embed_query(text)

    def _answer(self, count: int) -> None:
        if self.fails:
            raise EmbeddingError("told to fail")
        self.asked += count


def with_settings(**rooms: Any) -> Settings:
    """Return quiet settings with some rooms changed."""
    return replace(QUIET, **rooms)
