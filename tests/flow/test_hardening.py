"""What once went wrong under attack, each in a small case of its own."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from langchain_tiered_memory import (
    ConfigError,
    EmbeddingError,
    ExtractedFact,
    ExtractionError,
    InvalidInput,
    MaintenanceSettings,
    Memory,
    MemorySystem,
    PlacementSettings,
    SearchSettings,
    Settings,
    WorkingSettings,
)
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder, as_embedder
from langchain_tiered_memory.testing.fakes import FakeClock

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
QUIET = MaintenanceSettings(automatic=False)


class Squeamish:
    """An extractor that refuses to look at one word."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return each text as a fact, unless one of them has the word."""
        if any("poison" in memory.content for memory in memories):
            raise ExtractionError("not this one")
        return tuple(ExtractedFact(content=f"fact: {m.content}", source_ids=(m.id,)) for m in memories)


@pytest.fixture
def clock() -> FakeClock:
    """Return a clock that moves by hand."""
    return FakeClock(T0)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engine]:
    """Return a quiet memory in RAM."""
    options = {"embedder": HashedEmbedder(), "clock": clock, "settings": Settings(maintenance=QUIET)}
    with MemorySystem.open(":memory:", **options).sync as system:
        yield system


class Boundless:
    """An extractor that finds more than a memory can hold."""

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Return one fact too long, one with a slot too long, and one that is neither."""
        ids = tuple(memory.id for memory in memories)
        return (
            ExtractedFact(content="x" * 17_000_000, source_ids=ids),
            ExtractedFact(content="too long a slot", slot="s" * 2_000, source_ids=ids),
            ExtractedFact(content="the gate is green", source_ids=ids),
        )


def test_a_fact_too_large_to_be_imported_again_is_not_stored(tmp_path: Path) -> None:
    options = {"embedder": HashedEmbedder(), "extractor": Boundless(), "settings": Settings(maintenance=QUIET)}
    with MemorySystem.open(":memory:", **options).sync as memory:
        memory.remember("ada", "an episode", id="m")
        assert memory.consolidate("ada", everything=True).facts == 1
        memory.export_user("ada", tmp_path / "ada.jsonl")
        memory.forget_user("ada")
        memory.import_user("ada", tmp_path / "ada.jsonl")
        assert {one.content for one in memory.list("ada")} == {"an episode", "the gate is green"}


def test_one_bad_source_does_not_hold_up_the_others() -> None:
    options = {"embedder": HashedEmbedder(), "extractor": Squeamish(), "settings": Settings(maintenance=QUIET)}
    with MemorySystem.open(":memory:", **options).sync as memory:
        for number in range(20):
            memory.remember("ada", f"number {number}", tier="long_term")
        memory.remember("ada", "poison", tier="long_term")

        first, second = memory.consolidate("ada"), memory.consolidate("ada")

    assert (first.facts, first.failed) == (20, 1)
    assert (second.facts, second.failed) == (0, 1)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [{"id": ["x"], "function": "f"}]},
        {"role": "user", "content": [{"type": ["text"], "text": "hello"}]},
    ],
)
def test_a_message_that_no_window_could_show_is_refused(memory: Engine, message: dict[str, object]) -> None:
    chat = memory.session("ada", "s")
    with pytest.raises(InvalidInput):
        chat.add(message)
    assert chat.window() == ()


def test_what_was_known_follows_the_chain_as_it_was_then(memory: Engine, clock: FakeClock) -> None:
    memory.remember("ada", "I work at Acme", slot="employer", observed_at=T0 - timedelta(days=30))
    clock.advance(days=1)
    memory.remember("ada", "I work at Corp", slot="employer", observed_at=T0 - timedelta(days=10))
    clock.advance(days=1)
    before = clock()
    clock.advance(days=1)
    memory.remember("ada", "I work at Beta", slot="employer", observed_at=T0 - timedelta(days=20))

    hits = memory.recall("ada", "work", k=9, known_at=before)

    assert [hit.content for hit in hits] == ["I work at Corp"]


def test_the_id_of_a_forgotten_message_is_free_in_another_session(memory: Engine) -> None:
    memory.session("ada", "a").add({"role": "user", "content": "the lake is cold", "id": "1"})
    memory.forget("ada", "1")
    memory.session("ada", "b").add({"role": "user", "content": "the hill is steep", "id": "1"})

    assert [hit.content for hit in memory.recall("ada", "hill lake", k=9)] == ["the hill is steep"]


def test_concurrent_updates_of_different_fields_are_all_kept(memory: Engine) -> None:
    made = memory.remember("ada", "the lake is cold", importance=0.1)
    changes: list[Callable[[], object]] = [
        lambda: memory.update("ada", made.id, importance=0.9),
        lambda: memory.update("ada", made.id, pinned=True),
        lambda: memory.update("ada", made.id, metadata={"a": 1}),
        lambda: memory.update("ada", made.id, content="the lake is warm"),
    ]
    threads = [threading.Thread(target=change) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    now = memory.get("ada", made.id)
    assert (now.importance, now.pinned, dict(now.metadata), now.content) == (0.9, True, {"a": 1}, "the lake is warm")


@pytest.mark.parametrize("harm", ["removed", "damaged"])
def test_a_vector_index_that_is_removed_or_damaged_costs_no_answer(tmp_path: Path, harm: str) -> None:
    settings = Settings(search=SearchSettings(exact_up_to=0), maintenance=QUIET)
    options = {"embedder": HashedEmbedder(), "settings": settings}
    with MemorySystem.open(tmp_path, **options).sync as memory:
        for number in range(30):
            memory.remember("ada", f"the lake number {number} is cold", tier="long_term")
        memory.maintain("ada")
    if harm == "removed":
        shutil.rmtree(tmp_path / "chroma")
    else:
        for path in (tmp_path / "chroma" / "data").rglob("*"):
            if path.is_file():
                path.write_bytes(b"no longer what it was" * 300)

    with MemorySystem.open(tmp_path, **options).sync as memory:
        assert memory.recall("ada", "lake number 17", k=1)[0].content == "the lake number 17 is cold"
        if harm == "removed":
            assert memory.maintain("ada").indexed == 30


def embedder_of(width: int) -> Callable[[Sequence[str]], list[list[float]]]:
    """Return a function that embeds in so many dimensions."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0 + len(text)] * width for text in texts]

    return embed


def test_another_model_of_the_same_name_is_told_by_its_dimension(tmp_path: Path) -> None:
    settings = Settings(maintenance=QUIET)
    models = {width: as_embedder(embedder_of(width), model_id="the same") for width in (2, 3)}
    with MemorySystem.open(tmp_path, embedder=models[3], settings=settings).sync as memory:
        memory.remember("ada", "the lake is cold")

    with MemorySystem.open(tmp_path, embedder=models[2], settings=settings).sync as memory:
        with pytest.raises(EmbeddingError, match="model_id"):
            memory.recall("ada", "lake")
        with pytest.raises(EmbeddingError, match="model_id"):
            memory.remember("ada", "the hill is steep")
        assert [one.content for one in memory.list("ada")] == ["the lake is cold"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: WorkingSettings(transcript_ttl=timedelta(-1)),
        lambda: PlacementSettings(max_content_bytes=0),
        lambda: PlacementSettings(repeat_within=timedelta(-1)),
        lambda: MaintenanceSettings(every=timedelta(-1)),
        lambda: MaintenanceSettings(batch=1.5),  # type: ignore[arg-type] # the point
        lambda: MaintenanceSettings(automatic="no"),  # type: ignore[arg-type] # the point
        lambda: Settings(search="x"),  # type: ignore[arg-type] # the point
    ],
    ids=["ttl", "bytes", "repeat", "every", "batch", "automatic", "room"],
)
def test_settings_that_cannot_work_are_refused_where_they_are_written(make: Callable[[], object]) -> None:
    with pytest.raises(ConfigError):
        make()


def test_a_filter_nested_without_end_is_refused_in_words(memory: Engine) -> None:
    where: dict[str, object] = {"role": "user"}
    for _ in range(5_000):
        where = {"$not": where}
    with pytest.raises(InvalidInput, match="deep"):
        memory.recall("ada", "lake", filter=where)


def test_a_device_is_written_into_and_not_replaced(memory: Engine) -> None:
    memory.remember("ada", "the lake is cold")

    memory.export_user("ada", "/dev/null")

    assert Path("/dev/null").is_char_device()


def test_a_recall_beside_a_small_window_returns_what_the_window_no_longer_shows(memory: Engine) -> None:
    """The session is known by its name alone, and its window by the budget it was last used with."""
    for name, (budget, length) in BUDGETS.items():
        chat = memory.session("ada", name, max_tokens=budget)
        chat.add({"role": "user", "content": f"The spare key of {name} lies under the third pot."})
        chat.add(*({"role": "user", "content": f"And number {n} is {'blah ' * 40}"} for n in range(length)))

    for name, (budget, _) in BUDGETS.items():
        shown = "spare key" in memory.session("ada", name, max_tokens=budget).window()[0].text
        assert shown is (name != "small")
        found = memory.recall("ada", "Where is the spare key?", k=3, session_id=name, filter={"session_id": name})
        assert any("spare key" in hit.content for hit in found) is not shown, name


BUDGETS = {"plain": (None, 60), "small": (100, 60), "large": (20_000, 100)}
"""Session to its budget, and to how many messages follow; about 80 of them fit into a window of the default size."""


def test_a_status_of_all_users_counts_them_and_holds_none_of_them(clock: FakeClock, tmp_path: Path) -> None:
    """Whoever is in use stays at hand, however many others are counted."""
    settings = Settings(maintenance=QUIET)
    with MemorySystem.open(tmp_path, embedder=HashedEmbedder(), clock=clock, settings=settings).sync as memory:
        for number in range(5):
            memory.remember(f"user {number}", "the lake is cold", importance=0.2 * number)
            memory.session(f"user {number}", "s").add({"role": "user", "content": "it waits for its vector"})
        memory.remember("user 0", "I live in Bergen", slot="home")
        memory.remember("user 0", "I live in Oslo", slot="home")
    with MemorySystem.open(tmp_path, embedder=HashedEmbedder(), clock=clock, settings=settings).sync as memory:
        memory.recall("hot", "lake")
        held = memory._opening.rooms().snapshots._held

        whole = memory.status()

        assert set(held) == {"hot"}
        each = [memory.status(f"user {number}") for number in range(5)]
        for name in ("users", "short_term", "long_term", "superseded", "messages", "pending"):
            assert getattr(whole, name) == sum(getattr(one, name) for one in each), name
        assert (whole.users, whole.superseded, whole.pending) == (5, 1, 5)
        clock.advance(days=2)
        assert memory.status().oldest_due_s == timedelta(days=1).total_seconds()
