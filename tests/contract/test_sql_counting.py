"""Counting all users in SQL: page by page, a move that was begun, what is damaged; on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event, text

from langchain_tiered_memory.backends.sql import (
    SqlAgenda,
    SqlItemStore,
    SqlRecordStore,
    SqlTranscriptStore,
    connect,
    prepare,
    tallying,
)
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.ports import Change
from langchain_tiered_memory.core.tallies import talk_tallies, tallies
from langchain_tiered_memory.testing.samples import NOW, entry_of, message_of, passage

MODEL = "model-a"


@pytest.fixture(scope="module", params=["file", "postgres"])
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    file = request.param == "file"
    source = tmp_path_factory.mktemp("sql") / "memory.db" if file else request.getfixturevalue("postgres_url")
    made, _ = connect(source)
    prepare(made)
    yield made
    made.dispose()


@pytest.fixture
def engine(prepared: Engine) -> Engine:
    with prepared.begin() as connection:
        for table in METADATA.sorted_tables:
            if table.name != "ltm_schema":
                connection.execute(table.delete())
    return prepared


def change(*ids: str) -> Change:
    """Return a change that writes records."""
    return Change(entries=tuple(entry_of(one, tier=Tier.LONG_TERM) for one in ids), at=NOW, by="test")


@pytest.fixture
def statements(engine: Engine) -> Iterator[list[str]]:
    """What is sent to the database."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("users", [0, 1, 3, 4, 6, 7])
def test_pages_leave_nobody_out_and_count_nobody_twice(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, statements: list[str], users: int
) -> None:
    monkeypatch.setattr(tallying, "PAGE", 3)
    records, transcripts = SqlRecordStore(engine), SqlTranscriptStore(engine)
    expected = {f"user {n}": n + 1 for n in range(users)}
    for user_id, count in expected.items():
        records.apply(user_id, change(*map(str, range(count))))
        transcripts.append(user_id, "chat", [message_of(str(n)) for n in range(count)])
    records.begin("nobody")
    statements.clear()

    found = [(one.user_id, one.rows) for one in tallies(records, MODEL)]
    talk = [(one.user_id, one.messages) for one in talk_tallies(transcripts, "apart")]

    assert sorted(found) == sorted(talk) == sorted(expected.items())
    assert len([one for one in statements if "count" in one.lower()]) <= (users + 1) // 3 + 1 + users // 3 + 1


def test_items_say_which_stand_or_were_forgotten_in_long_term_memory_too(engine: Engine) -> None:
    items, records = SqlItemStore(engine, SqlAgenda(engine)), SqlRecordStore(engine)
    items.put("ada", [entry_of(one) for one in "abcd"])
    items.put("bob", [entry_of("a")])
    records.apply("ada", change("a", "x"))
    records.forget("ada", ["b"], NOW)

    found = {one.user_id: (one.rows, one.begun, one.moved) for one in tallies(items, MODEL)}

    assert found == {"ada": (4, 2, 1), "bob": (1, 0, 0)}
    (one,) = (one for one in tallies(SqlItemStore(engine), MODEL) if one.user_id == "ada")
    assert (one.begun, one.moved) == (None, 0), "nobody says that long-term memory is in the same database"


def test_a_damaged_vector_is_pending_and_a_damaged_end_is_none(engine: Engine) -> None:
    items = SqlItemStore(engine)
    entry = entry_of("a", derived={"vectors": (passage(0, 1), passage(1, 2)), "passages": 2})
    items.put("ada", [replace(entry, expires_at=NOW + timedelta(days=1))])
    with engine.begin() as connection:
        connection.execute(text("UPDATE ltm_item_vectors SET vector = :cut WHERE passage = 0"), {"cut": b"short"})
        connection.execute(text("UPDATE ltm_items SET expires_at = :far"), {"far": 2**62})

    (one,) = tallies(items, MODEL)

    assert (one.pending, one.vectors, one.ends) == (1, 2, None)
