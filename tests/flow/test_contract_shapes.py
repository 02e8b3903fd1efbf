"""The values of the public contract: what they are made of, and that they travel."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import Any

import pytest

import langchain_tiered_memory as root
from langchain_tiered_memory import (
    BackendUnavailable,
    ConfigError,
    Conflict,
    EmbeddingError,
    ExtractionError,
    InvalidInput,
    Memory,
    MemoryType,
    Message,
    ModelMismatch,
    NewMemory,
    NotFound,
    RankingWeights,
    SchemaMismatch,
    ScoredMemory,
    Settings,
    Signal,
    TieredMemoryError,
)
from langchain_tiered_memory.core.engine import Engine

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def travelled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def test_public_names_are_importable_from_the_root() -> None:
    """Public names, errors included, are importable from the root (`MemorySystem, Memory, NewMemory, ScoredMemory,
    Message, RankingWeights, Settings, TieredMemoryError, …`)."""
    named = {
        *("MemorySystem", "Memory", "NewMemory", "ScoredMemory", "Message", "RankingWeights", "Settings"),
        *("TieredMemoryError", "InvalidInput", "ConfigError", "NotFound", "Conflict", "BackendUnavailable"),
        *("SchemaMismatch", "ModelMismatch", "EmbeddingError", "ExtractionError"),
        *("WorkingMemory", "ShortTermMemory", "LongTermMemory", "MemoryType", "RecallResult", "Session", "Context"),
    }
    assert named <= set(root.__all__) <= set(dir(root))
    for name in root.__all__:
        assert getattr(root, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        root.nonsense  # noqa: B018 - it must not be there
    assert root.__version__


def test_errors_are_what_a_caller_would_catch() -> None:
    """Errors: `TieredMemoryError` ← `InvalidInput(ValueError)` with field, value, remedy · `ConfigError` ·
    `NotFound(LookupError)` · …"""
    made: dict[type[TieredMemoryError], tuple[TieredMemoryError, type[Exception]]] = {
        InvalidInput: (InvalidInput("k", 0, "at least 1"), ValueError),
        ConfigError: (ConfigError("no path"), ValueError),
        NotFound: (NotFound("id"), LookupError),
        Conflict: (Conflict("first"), Exception),
        BackendUnavailable: (BackendUnavailable("redis", "read", "refused"), ConnectionError),
        SchemaMismatch: (SchemaMismatch("sqlite", 9, 1), Exception),
        ModelMismatch: (ModelMismatch("old", "new"), Exception),
        EmbeddingError: (EmbeddingError("no"), Exception),
        ExtractionError: (ExtractionError("no"), Exception),
    }
    for kind, (error, builtin) in made.items():
        assert isinstance(error, builtin)
        assert isinstance(error, TieredMemoryError)
        again = travelled(error)
        assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))
    error = InvalidInput("items[3].k", 0, "at least 1")
    assert (error.field, error.value, error.remedy) == ("items[3].k", 0, "at least 1")
    assert "items[3].k=0" in str(error)
    for field in ("content", "items[3].content", "query", "metadata", "message.extra"):
        assert "secret" not in str(InvalidInput(field, "a secret", "say less"))
    assert "'old'" in str(made[ModelMismatch][0])
    assert "'new'" in str(made[ModelMismatch][0])
    assert "reindex" in str(made[ModelMismatch][0])


def test_a_memory_can_be_built_from_six_fields_alone() -> None:
    """`Memory`: `content, memory_type, importance, created_at, last_accessed, access_count` (a `Memory` can be built
    from these six alone), then `id, user_id, tier, …`. Frozen."""
    memory = Memory("tea", "preference", 0.5, NOW, NOW, 3)  # type: ignore[arg-type] # a plain word is read too
    assert memory.memory_type is MemoryType.PREFERENCE
    assert memory.observed_at == NOW
    assert [field.name for field in fields(Memory)] == [
        *("content", "memory_type", "importance", "created_at", "last_accessed", "access_count"),
        *("id", "user_id", "tier", "observed_at", "valid_to", "superseded_by", "slot"),
        *("session_id", "agent_id", "role", "name", "origin", "source_ids", "metadata", "pinned"),
    ]
    with pytest.raises(FrozenInstanceError):
        memory.content = "coffee"  # type: ignore[misc] # the point


def test_memory_types_are_words() -> None:
    """`memory_type` is `fact | episode | preference` (`StrEnum`)."""
    assert [str(one) for one in MemoryType] == ["fact", "episode", "preference"]
    assert MemoryType("fact") == "fact"


def test_new_memory_has_the_fields_of_remember() -> None:
    """`remember_many(user_id, items: Iterable[NewMemory])` (same fields), with the same defaults."""
    parameters = inspect.signature(Engine.remember).parameters
    expected = {name: one.default for name, one in parameters.items() if name not in {"self", "user_id"}}
    signature = inspect.signature(NewMemory).parameters
    assert list(signature) == list(expected)
    given = NewMemory("text")
    for name, default in expected.items():
        if name not in {"content", "metadata"}:
            assert getattr(given, name) == default, name


def test_a_scored_memory_is_a_memory() -> None:
    """A hit is a `ScoredMemory`, which **is a** `Memory` plus `score` (0..1) and `explanation`."""
    memory = Memory("tea", MemoryType.FACT, 0.5, NOW, NOW, id="a")
    hit = ScoredMemory.of(memory, 0.25, {"importance": Signal(0.5, 0.5, 0.25)})
    assert issubclass(ScoredMemory, Memory)
    assert [field.name for field in fields(hit)][-2:] == ["score", "explanation"]
    assert (hit.content, hit.id, hit.score) == ("tea", "a", 0.25)


def test_a_message_has_text_of_its_own() -> None:
    """`Message(role, content: str | Sequence[Mapping] | None, *, id, name, tool_calls, tool_call_id, created_at,
    extra)`."""
    assert Message("user", "hello").text == "hello"
    assert Message("assistant").text == ""
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {}},
        {"text": "b"},
        {"type": ["odd"]},
    ]
    assert Message("user", parts).text == "a\nb"
    expected = "role content id name tool_calls tool_call_id created_at extra"
    assert list(inspect.signature(Message).parameters) == expected.split()


def test_values_travel_by_pickle_and_copy(sync: Engine) -> None:
    """Values cross process borders: hits, results, messages, settings, weights."""
    sync.remember("ada", "the gate is green", metadata={"a": 1}, name="Ada")
    result = sync.recall("ada", "gate")
    context = sync.session("ada", "s").context("gate")
    message = Message("user", "x", id="1")
    for value in (result[0], context, Settings(), RankingWeights.CLASSIC, message, NewMemory("x")):
        assert travelled(value) == value
        assert copy.deepcopy(value) == value
    again = travelled(result)
    assert (list(again), again.failed) == (list(result), result.failed)


def test_values_can_be_hashed(sync: Engine) -> None:
    """Frozen values may stand in sets, whatever metadata they carry."""
    sync.remember("ada", "the gate is green", metadata={"a": [1]})
    hits = sync.recall("ada", "gate", touch=False)
    assert len({*hits, *hits, sync.get("ada", hits[0].id)}) == 2


def test_the_parameters_of_the_calls_are_those_of_the_contract() -> None:
    """`user_id: str` first, always; names are fixed: users depend on them."""
    calls = {
        "remember": "user_id content memory_type importance tier slot session_id agent_id role name observed_at origin"
        " metadata pinned id",
        "remember_many": "user_id items",
        "recall": "user_id query k session_id agent_id memory_types filter as_of known_at include_superseded neighbors"
        " min_score max_tokens weights touch",
        "consolidate": "user_id everything",
        "maintain": "user_id compact dry_run",
        "reindex": "user_id",
        "status": "user_id",
        "get": "user_id id",
        "update": "user_id id content importance pinned metadata",
        "list": "user_id tier memory_types filter include_superseded limit after",
        "history": "user_id id",
        "forget": "user_id ids",
        "forget_user": "user_id",
        "export_user": "user_id file",
        "import_user": "user_id file",
        "session": "user_id session_id agent_id max_tokens",
    }
    for name, expected in calls.items():
        assert list(inspect.signature(getattr(Engine, name)).parameters)[1:] == expected.split(), name
    defaults: dict[str, dict[str, Any]] = {
        "recall": {"k": 5, "neighbors": 0, "min_score": 0.0, "touch": True, "include_superseded": False},
        "list": {"limit": 100},
        "remember": {"memory_type": "episode", "pinned": False},
    }
    for name, expected_defaults in defaults.items():
        parameters = inspect.signature(getattr(Engine, name)).parameters
        assert {one: parameters[one].default for one in expected_defaults} == expected_defaults
