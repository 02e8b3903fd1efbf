"""Construction: what a system is made of, when it opens, when it closes, and what it refuses."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

from langchain_tiered_memory import (
    BackendUnavailable,
    ConfigError,
    MemorySystem,
    RankingWeights,
    Settings,
    ShortTermSettings,
    WorkingSettings,
)
from langchain_tiered_memory.backends.inmemory import InMemoryVectorIndex
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.systems import QUIET, House

NOWHERE = {
    "redis": "redis://:secret@127.0.0.1:1/0",
    "vector_db": "http://127.0.0.1:1",
    "postgres": "postgresql+psycopg://me:secret@127.0.0.1:1/db",
}


# -- opening -----------------------------------------------------------------------------------------------------------


def test_the_constructor_does_no_io(tmp_path: Path) -> None:
    """It validates only; the first call opens."""
    path = tmp_path / "memory"
    memory = MemorySystem.open(path)
    memory.session("ada", "s")
    assert list(tmp_path.iterdir()) == []
    servers = MemorySystem(**NOWHERE)
    servers.session("ada", "s")
    assert "secret" not in repr(servers)


def test_the_first_call_opens(tmp_path: Path, clock: FakeClock) -> None:
    """The first call opens."""
    memory = MemorySystem.open(tmp_path / "new" / "memory", embedder=HashedEmbedder(), settings=QUIET)
    assert memory.sync.list("ada") == ()
    assert (tmp_path / "new" / "memory").is_dir()
    memory.sync.close()


async def test_a_block_opens_and_closes(tmp_path: Path) -> None:
    """As do `async with` and `with memory.sync`."""
    async with MemorySystem.open(tmp_path / "a", embedder=HashedEmbedder()) as memory:
        assert (tmp_path / "a").is_dir()
        await memory.remember("ada", "a note")
    with MemorySystem.open(tmp_path / "b", embedder=HashedEmbedder()).sync as sync:
        assert (tmp_path / "b").is_dir()
        sync.remember("ada", "a note")


async def test_closing_twice_is_fine(house: House) -> None:
    """`aclose()` / `memory.sync.close()`; twice is fine."""
    memory = house.system()
    await memory.aclose()
    await memory.remember("ada", "a note")
    await memory.aclose()
    await memory.aclose()
    memory.sync.close()
    memory.sync.close()


def test_a_call_after_closing_opens_anew(folder_house: House) -> None:
    """A call opens anew, and finds what was there."""
    memory = folder_house.open()
    memory.remember("ada", "the gate is green")
    memory.close()
    assert [hit.content for hit in memory.recall("ada", "gate")] == ["the gate is green"]


def test_open_without_a_path_is_a_folder_that_goes(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`MemorySystem.open()`: the same in a temporary folder; removed on closing."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    memory = MemorySystem.open(embedder=HashedEmbedder(), clock=clock)
    memory.sync.remember("ada", "a note", importance=0.9)
    memory.sync.maintain()
    assert memory.sync.status().backends["long_term"] == "sqlite"
    assert len(list(tmp_path.iterdir())) == 1
    memory.sync.close()
    assert list(tmp_path.iterdir()) == []
    assert memory.sync.list("ada") == ()
    memory.sync.close()
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_goes_with_its_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder does not outlive a system that nobody closed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    memory = MemorySystem.open(embedder=HashedEmbedder(), settings=QUIET)
    memory.sync.open()
    assert len(list(tmp_path.iterdir())) == 1
    memory.sync._opening._open_parts.__self__._remove()  # type: ignore[attr-defined] # what the interpreter calls at its end
    assert list(tmp_path.iterdir()) == []
    memory.sync.close()


def test_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`":memory:"` keeps all in RAM."""
    monkeypatch.chdir(tmp_path)
    with MemorySystem.open(":memory:", embedder=HashedEmbedder()).sync as memory:
        memory.remember("ada", "a note")
        assert set(memory.status().backends.values()) == {"memory", "none"}
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_text_and_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`MemorySystem.open("./memory")`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with MemorySystem.open("~/memory", embedder=HashedEmbedder()).sync as memory:
        memory.remember("ada", "a note")
    assert (tmp_path / "memory").is_dir()


# -- what it is made of ------------------------------------------------------------------------------------------------


def test_without_a_path_something_must_be_given() -> None:
    """What is None is embedded under `path` (and without a path: ConfigError; `open()` gives a temporary one)."""
    with pytest.raises(ConfigError, match=r"redis, vector_db, postgres .*path=.*open\(\)"):
        MemorySystem()
    with pytest.raises(ConfigError, match=r"^vector_db, postgres"):
        MemorySystem("redis://localhost")


def test_an_asynchronous_redis_client_is_refused_in_a_sentence() -> None:
    """A `redis.asyncio` client is refused in a sentence."""
    client = redis.asyncio.Redis()
    with pytest.raises(ConfigError, match=r"redis\.asyncio.*blocking"):
        MemorySystem(client, path=":memory:")
    asyncio.run(client.aclose())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"path": 5}, "path"),
        ({"path": b"x"}, "path"),
        ({"path": ""}, "path"),
        ({"redis": 5}, "redis"),
        ({"redis": ""}, "redis"),
        ({"redis": "http://localhost"}, "redis"),
        ({"vector_db": 5}, "vector_db"),
        ({"vector_db": ""}, "vector_db"),
        ({"vector_db": "redis://localhost"}, "vector_db"),
        ({"postgres": 5}, "postgres"),
        ({"postgres": ""}, "postgres"),
        ({"postgres": "no url"}, "postgres"),
        ({"embedder": 5}, "embedder"),
        ({"embedder": HashedEmbedder}, "class"),
        ({"scorer": 5}, "scorer"),
        ({"extractor": 5}, "extractor"),
        ({"weights": "CLASSIC"}, "weights"),
        ({"settings": {}}, "settings"),
        ({"clock": datetime(2026, 1, 1, tzinfo=UTC)}, "clock"),
        ({"llm": 5}, r"^llm=5 .*LangChain chat model, a LlamaIndex LLM, or a function"),
        ({"llm": object()}, "llm"),
        ({"llm": asyncio.sleep}, "asynchronously"),
        ({"banana": 1}, "banana"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_said(options: dict[str, Any], told: str) -> None:
    """ConfigError: these arguments cannot work."""
    with pytest.raises(ConfigError, match=told):
        MemorySystem(**{"path": ":memory:", **options})


def test_none_is_as_good_as_not_given() -> None:
    """`options`: `embedder, llm, scorer, extractor, weights, settings, clock`."""
    names = ("embedder", "llm", "scorer", "extractor", "weights", "settings", "clock")
    assert MemorySystem.open(":memory:", **dict.fromkeys(names)).sync.list("ada") == ()


@pytest.mark.parametrize(("name", "backend"), [("redis", "redis"), ("postgres", "postgresql")])
def test_a_server_that_does_not_answer_is_unavailable(name: str, backend: str, tmp_path: Path) -> None:
    """`BackendUnavailable`, without the password; nothing is left open."""
    memory = MemorySystem(**{name: NOWHERE[name]}, path=tmp_path, embedder=HashedEmbedder(), settings=QUIET)
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match=backend) as error:
            memory.sync.remember("ada", "a note", importance=0.1)
        assert "secret" not in str(error.value)
    memory.sync.close()


def test_a_vector_index_of_ones_own_is_always_asked(house: House) -> None:
    """A `vector_db` passed by the caller is always asked (`exact_up_to=0`); our `VectorIndex`; we close only what we
    opened."""

    class Own(InMemoryVectorIndex):
        asked = closed = 0

        def query(self, user_id: str, vector: Any, k: int) -> tuple[str, ...]:
            self.asked += 1
            return super().query(user_id, vector, k)

        def close(self) -> None:
            self.closed += 1

    own = Own()
    memory = house.open(vector_db=own)
    memory.remember("ada", "the gate is green", importance=0.9)
    memory.remember("ada", "the door is blue", importance=0.9)
    memory.maintain()
    assert memory.recall("ada", "gate")[0].content == "the gate is green"
    assert own.asked
    assert memory.status("ada").search == own.name
    memory.close()
    assert own.closed == 0


def test_exact_needs_no_index(house: House) -> None:
    """`vector_db="exact"` needs none."""
    memory = house.open(vector_db="exact")
    memory.remember("ada", "the gate is green", importance=0.9)
    assert memory.status().backends["vector_index"] == "none"
    assert memory.status().unindexed == 0


def test_the_clock_is_the_one_given(house: House) -> None:
    """`clock` is a callable that returns the present as an aware datetime; everything is stored as aware UTC."""
    east = datetime(2026, 6, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    memory = house.open(clock=lambda: east)
    stored = memory.remember("ada", "a note", importance=0.9)
    assert stored.created_at == east
    assert stored.created_at.tzinfo is UTC
    assert memory.recall("ada", "note")[0].last_accessed.tzinfo is UTC
    assert memory.history("ada", stored.id)[0].at.tzinfo is UTC


@pytest.mark.parametrize("answer", [datetime(2026, 1, 1), 5, None, "now"])  # noqa: DTZ001 - the point
def test_a_clock_that_tells_no_instant_is_a_wrong_clock(house: House, answer: Any) -> None:
    """`clock` is a callable that returns the present as an aware datetime."""
    memory = house.open(clock=lambda: answer)
    with pytest.raises(ConfigError, match="clock"):
        memory.remember("ada", "a note")
    assert house.open().list("ada") == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: WorkingSettings(max_tokens=15),
        lambda: WorkingSettings(system_share=1.1),
        lambda: ShortTermSettings(ttl=timedelta(0)),
        lambda: ShortTermSettings(promote_after_reads=0),
        lambda: RankingWeights(importance=0.5),
        lambda: RankingWeights(importance=1.5, recency=-0.5),
        lambda: RankingWeights(importance=float("nan")),
        lambda: RankingWeights(importance=1.0, pool=0),
    ],
    ids=range(8),
)
def test_settings_out_of_range_are_refused_where_they_are_written(make: Any) -> None:
    """All of these numbers are settings; a value out of range raises ConfigError where it is written."""
    with pytest.raises(ConfigError):
        make()


def test_settings_are_frozen_values() -> None:
    """Frozen settings, one per room."""
    assert Settings() == Settings()
    assert hash(Settings()) == hash(Settings())
    assert RankingWeights(importance=0.4, recency=0.3, use=0.2, similarity=0.1) == RankingWeights.CLASSIC
    assert RankingWeights.CLASSIC.pool == RankingWeights.DEFAULT.pool == 50


# -- by name -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def name() -> Iterator[str]:
    yield "a memory of the tests"
    MemorySystem._registry.unregister("a memory of the tests")


def test_a_registered_system_is_found_by_name(name: str) -> None:
    """`MemorySystem.register(name, factory)` makes a system findable by name for adapters that are serialised."""
    with pytest.raises(ConfigError, match="a memory of the tests"):
        MemorySystem.registered(name)
    made: list[MemorySystem] = []

    def factory() -> MemorySystem:
        made.append(MemorySystem.open(":memory:"))
        return made[-1]

    MemorySystem.register(name, factory)
    assert made == []
    assert MemorySystem.registered(name) is MemorySystem.registered(name) is made[0]
    MemorySystem.register(name, factory)
    assert MemorySystem.registered(name) is made[1]


@pytest.mark.parametrize("factory", [None, 5, "memory"])
def test_only_a_factory_can_be_registered(name: str, factory: Any) -> None:
    """`register(name, factory)`."""
    with pytest.raises(ConfigError, match="factory"):
        MemorySystem.register(name, factory)


# -- what goes wrong in a folder ---------------------------------------------------------------------------------------


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """A path that cannot be a folder is a wrong path."""
    (tmp_path / "file").write_text("hello")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match="file"):
            MemorySystem.open(path, embedder=HashedEmbedder()).sync.open()
    assert (tmp_path / "file").read_text() == "hello"
