"""What once went wrong with arguments, clocks, instants and imported rows: each has its own words, and harms nobody."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import (
    ConfigError,
    InvalidInput,
    Memory,
    MemorySystem,
    MemoryType,
    Settings,
    ShortTermSettings,
    WorkingSettings,
)
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.systems import QUIET, House

T0 = datetime(2026, 1, 1, tzinfo=UTC)
BEGINNING = datetime.min.replace(tzinfo=UTC)
END = datetime.max.replace(tzinfo=UTC)
ROW = {
    "kind": "memory",
    "id": "a",
    "content": "plums are blue",
    "memory_type": "fact",
    "importance": 0.5,
    "created_at": T0.isoformat(),
    "last_accessed": T0.isoformat(),
}


def row(**changed: Any) -> str:
    """Return a line of an export; `json` writes NaN and infinity as many programs do."""
    return json.dumps({**ROW, **changed}) + "\n"


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [5, None, True, 3.5, ..., "", "a\0b", b"x", {"a": 1}], ids=repr)
def test_what_is_no_file_is_refused_in_words(sync: Engine, file: Any) -> None:
    sync.remember("ada", "the lake is cold")
    for call in (sync.import_user, sync.export_user):
        with pytest.raises(InvalidInput, match="file") as error:
            call("ada", file)
        assert error.value.field == "file"
    assert len(sync.list("ada")) == 1


def test_a_file_that_is_not_text_or_not_open_is_refused_in_words(sync: Engine, tmp_path: Path) -> None:
    sync.remember("ada", "the lake is cold")
    closed = (tmp_path / "closed").open("w+")
    closed.close()
    with (tmp_path / "read").open("w+b") as binary, (tmp_path / "read").open() as readable:
        binary.write(row().encode())
        binary.seek(0)
        for file in (binary, io.BytesIO(row().encode()), closed):
            with pytest.raises(InvalidInput, match="text"):
                sync.import_user("bob", file)  # type: ignore[arg-type] # the point
        for file in (binary, io.BytesIO(), closed, readable):
            with pytest.raises(InvalidInput, match="text"):
                sync.export_user("ada", file)  # type: ignore[arg-type] # the point
    assert sync.list("bob") == ()


def test_any_path_and_a_mark_at_the_beginning_are_fine(sync: Engine, tmp_path: Path) -> None:
    class Named:
        def __fspath__(self) -> str:
            return str(tmp_path / "ada.jsonl")

    (tmp_path / "ada.jsonl").write_text("\ufeff" + row(), "utf-8")
    assert sync.import_user("ada", Named()).memories == 1  # type: ignore[arg-type] # as `open` takes it


# -- rows --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"importance": float("nan")},
        {"importance": float("inf")},
        {"importance": 10**400},
        {"importance": "abc"},
        {"access_count": float("inf")},
        {"access_count": 2**63 - 1},
        {"access_count": "abc"},
        {"order": 1e300},
        {"order": 2**63},
        {"created_at": END.isoformat()},
        {"created_at": "2262-04-11T23:47:16.854770+00:00"},
        {"metadata": {"a": float("nan")}},
    ],
    ids=lambda changed: str(changed)[:40],
)
def test_a_row_of_garbage_is_refused_and_the_rows_before_it_are_not_imported(
    sync: Engine, changed: dict[str, Any]
) -> None:
    good = [row(id=str(number), content=f"plum {number}") for number in range(600)]
    with pytest.raises(InvalidInput, match="line 601"):
        sync.import_user("ada", io.StringIO("".join([*good, row(**changed)])))
    assert sync.list("ada") == ()


def test_a_row_from_the_far_future_stops_nobody_from_writing(folder_house: House) -> None:
    """The order of writing goes by the clock, not by what a file says."""
    memory = folder_house.open()
    for at in ("2261-12-31T23:59:59+00:00", "2300-01-01T00:00:00+00:00"):
        try:
            memory.import_user("eve", io.StringIO(row(id=at, created_at=at)))
        except InvalidInput:
            assert at.startswith("2300")
    for number in range(3):
        assert memory.remember("ada", f"the lake is cold {number}").content
    assert len(memory.list("ada")) == 3


def test_an_imported_count_can_be_counted_on(folder_house: House) -> None:
    memory = folder_house.open()
    memory.import_user("ada", io.StringIO(row(access_count=2**52)))
    memory.recall("ada", "plums")
    assert memory.get("ada", "a").access_count == 2**52 + 1


def test_a_forged_value_is_a_memory_like_any_other(sync: Engine) -> None:
    """Its origin alone does not make a memory a value under a key; maintenance goes on."""
    forged: dict[str, Any] = {"key": "k", "value": {}, "searchable": True, "updated_at": T0.isoformat()}
    wrong: list[dict[str, Any]] = [
        {**forged, "ttl_s": "abc"},
        {**forged, "ttl_s": 1e300},
        {**forged, "updated_at": "2026-01-01T00:00:00", "ttl_s": 1},
        {"updated_at": "abc"},
    ]
    for number, about in enumerate(wrong):
        sync.remember("ada", f"plum {number}", origin="values", metadata=about, tier="long_term")
    assert sync.maintain("ada").failed == ()
    assert sync.values.search("ada") == sync.values.search("ada", "plum") == ()
    assert len(sync.list("ada")) == 4


def test_every_value_that_can_be_put_can_be_imported(sync: Engine) -> None:
    sync.values.put("ada", " ", {"a": 1})
    sync.values.put("ada", "big", {"a": "x" * 3_000_000})
    file = io.StringIO()
    sync.export_user("ada", file)
    file.seek(0)
    assert sync.import_user("bob", file).memories == 2
    assert len(sync.values.search("bob")) == 2


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("key", {"key": 5}),
        ("value", {"value": 5}),
        ("ttl", {"ttl": "an hour"}),
        ("ttl", {"ttl": timedelta.max}),
    ],
)
def test_a_value_that_could_not_be_found_again_is_refused(sync: Engine, field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as error:
        sync.values.put("ada", **{"key": "k", "value": {}, **given})
    assert error.value.field == field
    assert sync.maintain("ada").failed == ()


# -- instants ----------------------------------------------------------------------------------------------------------


def plum(**fields: Any) -> Memory:
    return Memory(**{"content": "a plum", "memory_type": MemoryType.FACT, "importance": 0.5, **fields})


@pytest.mark.parametrize("at", [END, datetime(2262, 1, 1, tzinfo=UTC)], ids=str)
def test_nothing_is_written_at_the_end_of_time(sync: Engine, at: datetime) -> None:
    for tier in (sync.short_term, sync.long_term):
        with pytest.raises(InvalidInput, match="2262") as error:
            tier.store("ada", plum(created_at=at, last_accessed=T0))
        assert error.value.field == "created_at"
    assert sync.list("ada") == ()


@pytest.mark.parametrize("at", [BEGINNING, END], ids=str)
def test_the_first_and_the_last_instant_are_instants(house: House, at: datetime) -> None:
    memory = house.open()
    assert plum(created_at=T0, last_accessed=T0, observed_at=at).observed_at == at
    ids = [memory.remember("ada", f"plum {tier}", tier=tier, observed_at=at).id for tier in ("short_term", "long_term")]
    ids.append(memory.short_term.store("ada", plum(created_at=T0, last_accessed=T0, observed_at=at)).id)
    file = io.StringIO()
    memory.export_user("ada", file)
    file.seek(0)
    memory.import_user("bob", file)

    for user in ("ada", "bob"):
        assert {memory.get(user, one).observed_at for one in ids} == {at}
        assert len(memory.recall(user, "plum")) == 3


@pytest.mark.parametrize(
    "told",
    [
        END,
        datetime(2262, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, tzinfo=UTC),
        datetime(2026, 1, 1),  # noqa: DTZ001 - the point
        5,
        None,
    ],
    ids=str,
)
def test_a_clock_that_tells_no_present_is_refused_in_words(tmp_path: Path, told: Any) -> None:
    options: dict[str, Any] = {"embedder": HashedEmbedder(), "settings": QUIET, "clock": lambda: told}
    with MemorySystem.open(tmp_path / "memory", **options).sync as memory:
        chat = memory.session("ada", "s")
        calls: list[Callable[[], object]] = [
            lambda: memory.remember("ada", "a plum"),
            lambda: memory.recall("ada", "a plum"),
            lambda: chat.add({"role": "user", "content": "a plum"}),
            lambda: memory.import_user("ada", io.StringIO(row())),
        ]
        for call in calls:
            with pytest.raises(ConfigError, match="the clock returned"):
                call()
        assert chat.transcript() == ()


@pytest.mark.parametrize("longest", [timedelta.max, timedelta(days=2_000_000)])
def test_no_duration_leads_out_of_the_calendar(longest: timedelta) -> None:
    with pytest.raises(ConfigError, match=r"short_term\.ttl.*365000 days"):
        ShortTermSettings(ttl=longest)
    with pytest.raises(ConfigError, match=r"working\.transcript_ttl"):
        WorkingSettings(transcript_ttl=longest)
    long = Settings(
        short_term=ShortTermSettings(ttl=timedelta(days=365_000)),
        working=WorkingSettings(transcript_ttl=timedelta(days=365_000)),
    )
    with MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=long).sync as memory:
        memory.remember("ada", "a plum")
        assert memory.maintain("ada").failed == ()


# -- sessions and numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recalled", [[1], 5, "abc", ["x"], {"a": 1}, [None]], ids=repr)
def test_a_context_of_what_was_not_recalled_is_refused(sync: Engine, recalled: Any) -> None:
    chat = sync.session("ada", "s")
    chat.add({"role": "user", "content": "a plum"})
    with pytest.raises(InvalidInput) as error:
        chat.context("plum", recalled=recalled)
    assert error.value.field == "recalled"


@pytest.mark.parametrize("speakers", [5, ["user"], {"user": 5}, {5: "user"}, "user"], ids=repr)
def test_speakers_are_names(sync: Engine, speakers: Any) -> None:
    with pytest.raises(InvalidInput) as error:
        sync.session("ada", "s").context("plum", speakers=speakers)
    assert error.value.field == "speakers"


def test_a_context_never_shows_what_was_recalled_for_another_user(sync: Engine) -> None:
    for user, text in (("ada", "the plums of Ada"), ("bob", "the plums of Bob")):
        sync.remember(user, text, id="1")
    hits = sync.recall("bob", "plums")
    assert len(sync.session("bob", "s").context("plums", recalled=hits).memories) == 1
    assert sync.session("ada", "s").context("plums", recalled=hits).memories == ()


def test_numbers_without_end_are_refused_or_harmless(sync: Engine) -> None:
    sync.remember("ada", "a plum", session_id="s", observed_at=T0)
    for call in (
        lambda: sync.remember("ada", "x", importance=10**400),
        lambda: sync.recall("ada", "x", min_score=10**400),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert len(sync.recall("ada", "plum", k=2**63 - 1, neighbors=2**63 - 1)) == 1


@pytest.mark.parametrize("join", ["$not", "$and", "$or"])
@pytest.mark.parametrize("levels", [65, 150, 200, 250, 300, 5_000])
def test_a_filter_nested_too_deeply_is_refused_before_it_is_asked(sync: Engine, join: str, levels: int) -> None:
    """Whatever the depth at which compiling it or asking it would run out of stack."""
    sync.remember("ada", "a plum", role="user")
    where: Any = {"role": "user"}
    for _ in range(levels):
        where = {join: where if join == "$not" else [where]}
    with pytest.raises(InvalidInput, match="deep"):
        sync.list("ada", filter=where)
    inner: Any = {"role": "user"}
    for _ in range(60):
        inner = {join: inner if join == "$not" else [inner]}
    assert len(sync.list("ada", filter=inner)) == 1


def test_an_error_can_be_said_of_what_cannot_be_written(sync: Engine) -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("not me")

    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    unwritable: list[Any] = [Silent(), deep]
    for value in unwritable:
        with pytest.raises(InvalidInput, match="k=<"):
            sync.recall("ada", "plum", k=value)


def test_a_message_has_the_same_bounds_at_every_door(sync: Engine) -> None:
    said = {"role": "user", "content": "x" * 16_000_001, "id": "1", "created_at": T0.isoformat()}
    with pytest.raises(InvalidInput, match=r"line 1.*16000000 bytes"):
        sync.import_user("ada", io.StringIO(json.dumps({"kind": "message", "session_id": "s", **said})))
    assert sync.session("ada", "s").transcript() == ()
