"""Bad input: each kind with its own typed error that names the field, and nothing written."""

from __future__ import annotations

import math
import os
import resource
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from langchain_tiered_memory import (
    BackendUnavailable,
    ConfigError,
    InvalidInput,
    Message,
    NewMemory,
    NotFound,
    RankingWeights,
    SchemaMismatch,
)
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import House

CIRCLE: dict[str, Any] = {}
CIRCLE["again"] = CIRCLE
DEEP: Any = "x"
for _ in range(100):
    DEEP = [DEEP]

USERS = [None, "", 5, b"ada", ["ada"], True]
LABELS = ["", 5, b"x", "x" * 513, True]
SHARES = [math.nan, math.inf, -0.1, 1.0000001, "0.5", True, [0.5]]
COUNTS = [0, -1, 1.5, "5", True, None, 2**63]
INSTANTS = ["2024-01-01", 5, datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))]
UNHOLDABLE = [
    {"a": object()},
    {"a": {1, 2}},
    {"a": math.nan},
    {"a": b"x"},
    {"a": datetime(2024, 1, 1, tzinfo=UTC)},
    {5: "x"},
    {"a": {5: "x"}},
    {"a": [{None: 1}]},
    {"a": CIRCLE},
    {"a": DEEP},
    {"a": "x" * 1_000_001},
    ["a"],
    "a",
    5,
]


def nothing(memory: Engine) -> bool:
    """Say whether nothing at all is stored."""
    status = memory.status()
    return (status.users, status.short_term, status.long_term, status.messages) == (0, 0, 0, 0)


def refused(call: Callable[[], object], field: str) -> InvalidInput:
    """Assert that the call is refused, naming the field and what to do; return the error."""
    with pytest.raises(InvalidInput) as error:
        call()
    assert error.value.field == field
    assert error.value.remedy
    assert field in str(error.value)
    return error.value


REMEMBER: list[tuple[str, Any]] = [
    *[("content", value) for value in ["", " \n\t", None, 5, b"x", ["x"], "x" * 16_000_001]],
    *[("memory_type", value) for value in ["banana", "", None, 5, "FACT", ["fact"]]],
    *[("importance", value) for value in SHARES],
    *[("tier", value) for value in ["banana", "", 5, "working", ["short_term"]]],
    *[(name, value) for name in ("slot", "session_id", "agent_id", "role", "name", "origin", "id") for value in LABELS],
    *[("observed_at", value) for value in INSTANTS],
    *[("metadata", value) for value in UNHOLDABLE],
    *[("pinned", value) for value in (1, "yes", None)],
]


def test_remember_refuses_what_it_cannot_keep(sync: Engine) -> None:
    """Blank content, NaN or out-of-range importance, unknown type or tier, metadata that JSON cannot hold: each with
    its own typed error and nothing written."""
    for field, value in REMEMBER:
        given = {"content": "a note", field: value}
        refused(lambda given=given: sync.remember("ada", **given), field)  # type: ignore[misc] # spelled as keywords
    assert nothing(sync)


def test_a_batch_is_refused_whole_and_the_item_is_named(sync: Engine) -> None:
    """`InvalidInput`: the field names its position; nothing was written."""
    for field, value in REMEMBER:
        bad = NewMemory(**{"content": "a note", field: value})
        items = [NewMemory("good", importance=0.1), NewMemory("good too", importance=0.9), bad]
        refused(lambda items=items: sync.remember_many("ada", items), f"items[2].{field}")  # type: ignore[misc] # bound now
    for other in ("text", None, 5, {"content": "x"}, NewMemory("x")):
        refused(lambda other=other: sync.remember_many("ada", other), "items")  # type: ignore[misc] # bound now
    for item in ("text", None, {"content": "x"}):
        refused(lambda item=item: sync.remember_many("ada", [NewMemory("x"), item]), "items[1]")  # type: ignore[misc] # bound now
    assert nothing(sync)


def test_every_call_refuses_a_user_that_is_none(sync: Engine, tmp_path: Path) -> None:
    """Empty or non-string user id; no user → refuse, not "all"."""
    calls: list[Callable[[Any], object]] = [
        lambda user: sync.remember(user, "a note"),
        lambda user: sync.remember_many(user, [NewMemory("a note")]),
        lambda user: sync.recall(user, "a note"),
        lambda user: sync.explain(user, "a note", "id"),
        sync.consolidate,
        lambda user: sync.get(user, "id"),
        lambda user: sync.update(user, "id"),
        sync.list,
        lambda user: sync.history(user, "id"),
        lambda user: sync.forget(user, "id"),
        sync.forget_user,
        lambda user: sync.export_user(user, tmp_path / "x"),
        lambda user: sync.import_user(user, tmp_path / "x"),
        lambda user: sync.session(user, "s"),
        lambda user: sync.short_term.search(user, "q"),
        sync.long_term.get_high_access,
        lambda user: sync.short_term.delete(user, "id"),
    ]
    for call in calls:
        for user in USERS:
            refused(lambda call=call, user=user: call(user), "user_id")  # type: ignore[misc] # bound now
    for user in USERS[1:]:
        for name in ("maintain", "reindex", "status"):
            refused(lambda name=name, user=user: getattr(sync, name)(user), "user_id")  # type: ignore[misc] # bound now
    assert list(tmp_path.glob("x*")) == []
    assert nothing(sync)


def test_recall_refuses_what_it_cannot_ask(sync: Engine) -> None:
    """k < 1, unknown filter operator, and the other arguments of `recall`."""
    wrong: dict[str, list[Any]] = {
        "query": [None, 5, b"x", ["x"]],
        "k": COUNTS,
        "session_id": LABELS,
        "agent_id": LABELS,
        "memory_types": ["fact", 5, ["banana"], [None], {"fact": 1}],
        "as_of": INSTANTS,
        "known_at": INSTANTS,
        "include_superseded": [1, None, "yes"],
        "neighbors": [-1, 1.5, None, "1", True],
        "min_score": [*SHARES, "automatic", None],
        "max_tokens": [0, -1, "9", 1.5, True],
        "weights": ["CLASSIC", 5, {"importance": 1.0}],
        "touch": [1, None, "no"],
    }
    for field, values in wrong.items():
        for value in values:
            given = {"query": "a note", field: value}
            refused(lambda given=given: sync.recall("ada", **given), field)  # type: ignore[misc] # spelled as keywords
            if field not in {"neighbors", "max_tokens", "touch"}:
                given = {"memory_id": "id", **given}
                refused(lambda given=given: sync.explain("ada", **given), field)  # type: ignore[misc] # likewise
    assert sync.recall("ada", "a note", weights=RankingWeights.CLASSIC) == []


def test_a_filter_that_means_nothing_is_refused(sync: Engine) -> None:
    """An unknown operator is an error; so are unknown fields and operands that an operator cannot take."""
    wrong: list[Any] = [
        "importance > 0.5",
        5,
        ["importance"],
        {"importance": {"$gtt": 1}},
        {"importance": {"gt": 1}},
        {"importance": {}},
        {"$xor": []},
        {"$and": {}},
        {"$and": "x"},
        {"$or": [5]},
        {"$not": []},
        {"banana": 1},
        {"content": "x"},
        {"metadata": {}},
        {"metadata.": 1},
        {"session_id": {"$in": "abc"}},
        {"session_id": {"$nin": 5}},
        {"created_at": "yesterday"},
        {"created_at": {"$gt": 5}},
        {"observed_at": {"$in": ["soon"]}},
    ]
    for filter_ in wrong:
        for call in (sync.list, lambda user, **how: sync.recall(user, "x", **how)):
            with pytest.raises(InvalidInput) as error:
                call("ada", filter=filter_)
            assert error.value.field.startswith("filter"), filter_


def test_other_calls_refuse_their_arguments(sync: Engine) -> None:
    """Each with its own typed error, and nothing changed."""
    stored = sync.remember("ada", "a note", importance=0.1)
    for value in LABELS:
        for call in (sync.get, sync.update, sync.history, sync.forget):
            refused(lambda call=call, value=value: call("ada", value), "id")  # type: ignore[misc] # bound now
        refused(lambda value=value: sync.explain("ada", "q", value), "memory_id")  # type: ignore[misc] # bound now
        refused(lambda value=value: sync.list("ada", after=value), "after")  # type: ignore[misc] # bound now
    for value in COUNTS:
        refused(lambda value=value: sync.list("ada", limit=value), "limit")  # type: ignore[misc] # bound now
    for value in ("banana", 5, ""):
        refused(lambda value=value: sync.list("ada", tier=value), "tier")  # type: ignore[misc] # bound now
    for field, value in REMEMBER:
        if field in {"content", "importance", "metadata", "pinned"}:
            change = {field: value}
            refused(lambda change=change: sync.update("ada", stored.id, **change), field)  # type: ignore[misc] # spelled as keywords
    assert sync.list("ada") == (stored,)


@pytest.mark.parametrize("flag", [1, "yes", None])
def test_a_flag_that_is_none_changes_nothing(sync: Engine, flag: Any, clock: FakeClock) -> None:
    """Nothing written: also when the wrong argument is the last one."""
    sync.remember("ada", "a note", importance=0.1)
    clock.advance(days=2)
    refused(lambda: sync.consolidate("ada", everything=flag), "everything")
    refused(lambda: sync.maintain("ada", compact=flag), "compact")
    refused(lambda: sync.maintain("ada", dry_run=flag), "dry_run")
    assert sync.status("ada").short_term == 1


def test_another_users_id_is_unknown(sync: Engine) -> None:
    """Another user's id: NotFound, and nothing changed."""
    stored = sync.remember("ada", "a note")
    for call in (sync.get, sync.update, sync.history, sync.forget):
        with pytest.raises(NotFound):
            call("bob", stored.id)
    with pytest.raises(NotFound):
        sync.list("bob", after=stored.id)
    assert sync.get("ada", stored.id) == stored


# -- sessions ----------------------------------------------------------------------------------------------------------


MESSAGES: list[tuple[Any, str]] = [
    ("hello", "message"),
    (None, "message"),
    (5, "message"),
    ({"content": "hi"}, "message.role"),
    ({"role": "", "content": "hi"}, "message.role"),
    ({"role": 5, "content": "hi"}, "message.role"),
    ({"role": "user", "content": 5}, "message.content"),
    ({"role": "user", "content": b"x"}, "message.content"),
    ({"role": "user", "content": {"type": "text"}}, "message.content"),
    ({"role": "user", "content": [5]}, "message.content"),
    ({"role": "user", "content": "x" * 16_000_001}, "message.content"),
    ({"role": "user", "content": [{"type": "text", "text": object()}]}, "message"),
    ({"role": "user", "content": "x", "id": ""}, "message.id"),
    ({"role": "user", "content": "x", "id": 5}, "message.id"),
    ({"role": "user", "content": "x", "name": ""}, "message.name"),
    ({"role": "tool", "content": "x", "tool_call_id": 5}, "message.tool_call_id"),
    ({"role": "assistant", "tool_calls": "abc"}, "message.tool_calls"),
    ({"role": "assistant", "tool_calls": [5]}, "message.tool_calls"),
    ({"role": "assistant", "tool_calls": {"id": "x"}}, "message.tool_calls"),
    ({"role": "assistant", "tool_calls": [{"id": object()}]}, "message"),
    ({"role": "user", "content": "x", "created_at": "now"}, "message.created_at"),
    ({"role": "user", "content": "x", "extra": [1]}, "message"),
    ({"role": "user", "content": "x", "other": object()}, "message"),
    (Message("user", 5), "message.content"),  # type: ignore[arg-type] # the point
    (Message("user", "x", tool_calls=5), "message.tool_calls"),  # type: ignore[arg-type] # the point
    (Message("user", "x", extra=5), "message.extra"),  # type: ignore[arg-type] # the point
]


def test_a_message_that_is_none_is_refused_with_its_whole_call(sync: Engine) -> None:
    """`InvalidInput`: a message cannot be used; nothing was added."""
    chat = sync.session("ada", "s")
    for message, field in MESSAGES:
        refused(lambda message=message: chat.add({"role": "user", "content": "good"}, message), field)  # type: ignore[misc] # bound now
    assert nothing(sync)


def test_a_session_refuses_an_address_that_is_none(sync: Engine) -> None:
    """`session(user_id, session_id, *, agent_id=None, max_tokens=4000)`."""
    for value in [None, *LABELS]:
        refused(lambda value=value: sync.session("ada", value), "session_id")  # type: ignore[misc] # bound now
    for value in LABELS:
        refused(lambda value=value: sync.session("ada", "s", agent_id=value), "agent_id")  # type: ignore[misc] # bound now
    for value in (0, 15, "9", 1.5, True):
        refused(lambda value=value: sync.session("ada", "s", max_tokens=value), "max_tokens")  # type: ignore[misc] # bound now
        context = sync.session("ada", "s").context
        refused(lambda value=value, context=context: context(max_tokens=value), "max_tokens")  # type: ignore[misc] # likewise
    refused(lambda: sync.session("ada", "s").context(query=5), "query")  # type: ignore[arg-type] # the point
    refused(lambda: sync.session("ada", "s").context(k=0), "k")


# -- what is fine ------------------------------------------------------------------------------------------------------


def test_what_is_odd_but_right_is_taken(sync: Engine) -> None:
    """Being strict about what is wrong must not make trouble for what is right."""
    sync.remember("ada", "zero and one are shares", importance=0)
    sync.remember("ada", "so is an int", importance=1)
    sync.remember("ada", ".", metadata=MappingProxyType({"a": (1, 2), "b": {"c": None}}))
    sync.remember("ada", "no metadata", metadata=None)
    sync.remember("a" * 10_000, "a long user id")
    sync.remember("ada", "a long id", id="x" * 512)
    sync.remember("ada", "old", observed_at=datetime(1, 1, 2, tzinfo=UTC))
    sync.remember("ada", "the future", observed_at=datetime(9999, 12, 30, tzinfo=UTC))
    assert sync.remember_many("ada", iter(())) == ()
    assert sync.recall("ada", "x" * 100_000, 10**9)
    assert sync.list("ada", limit=10**9, filter={}, memory_types=("fact", "episode"))
    chat = sync.session("ada", "s")
    chat.add()
    chat.add(Message("banana", None), {"role": "user", "content": []}, {"role": "user"})
    assert len(chat.transcript()) == 3
    assert isinstance(sync.list("ada", filter={"importance": {"$lte": 1}})[0].metadata, Mapping)


# -- folders -----------------------------------------------------------------------------------------------------------


def test_a_folder_of_another_schema_version_is_refused(folder_house: House) -> None:
    """A folder of another schema version."""
    memory = folder_house.open()
    memory.remember("ada", "a note")
    memory.close()
    assert isinstance(folder_house.path, Path)
    database = sqlite3.connect(folder_house.path / "memory.db")
    table, column = schema_column(database)
    database.execute(f"UPDATE {table} SET {column} = 99")  # noqa: S608 - our own names
    database.commit()
    database.close()
    memory = folder_house.open()
    for _ in range(2):
        with pytest.raises(SchemaMismatch, match=r"99.*upgrade") as error:
            memory.recall("ada", "note")
        assert error.value.found == 99


def schema_column(database: sqlite3.Connection) -> tuple[str, str]:
    """Find where the schema's version stands."""
    columns = [row[1] for row in database.execute("PRAGMA table_info(ltm_schema)")]
    return "ltm_schema", next(name for name in columns if name != "id" and "version" in name)


@pytest.fixture
def nobody() -> Iterator[None]:
    """Be somebody who may not write everywhere, as root may."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    yield
    os.seteuid(was)


@pytest.mark.parametrize("folder_is", ["there", "missing"])
def test_a_read_only_folder_is_refused(clock: FakeClock, nobody: None, folder_is: str) -> None:
    """A read-only folder, and one that cannot be made: a typed error, and nothing is left behind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "memory" if folder_is == "there" else Path(name)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o555)
        house = House(clock, folder if folder_is == "there" else folder / "memory")
        with pytest.raises((BackendUnavailable, ConfigError), match=r"sqlite|path="):
            house.open().remember("ada", "a note")
        house.close()
        assert list(folder.iterdir()) == []
        folder.chmod(0o755)


def test_a_full_disk_is_unavailable_and_nothing_is_half_written(folder_house: House) -> None:
    """A full disk: the store did not take it, what was there stays, and there is room again later."""
    memory = folder_house.open()
    before = memory.remember("ada", "a note", importance=0.9)
    memory.maintain()
    memory.close()
    assert isinstance(folder_house.path, Path)

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(path.stat().st_size for path in folder_house.path.rglob("*") if path.is_file())
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    memory = folder_house.open(vector_db="exact")
    memory.open()
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        with pytest.raises(BackendUnavailable):
            memory.remember_many("ada", [NewMemory("x" * 100_000 + str(n), importance=0.9) for n in range(50)])
        assert memory.list("ada") == (before,)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert memory.remember("ada", "room again", importance=0.9).content == "room again"
    assert len(memory.list("ada")) == 2
