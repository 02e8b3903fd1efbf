"""The load run and the sizes: they measure what they say, and the ledger sees what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from langchain_tiered_memory.bench import load, sizes
from langchain_tiered_memory.core.model import NewMemory


def test_a_run_prints_what_was_served_and_that_nothing_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    left = load.main(["--minutes", "0.03", "--users", "3"])

    said = capsys.readouterr().out
    assert left == {"lost": 0, "doubled": 0, "strange": 0}
    assert said.startswith("3 users, 1 processes, ")
    assert "errors: none; asked for and found: 100.0%" in said
    assert "acknowledged: 0;" not in said


def test_the_ledger_sees_what_is_lost_doubled_or_anothers(tmp_path: Path) -> None:
    options = argparse.Namespace(
        redis=None, vector_db="exact", postgres=None, path=str(tmp_path), threads=1, model=False
    )
    with load.system_of(options, automatic=False).sync as memory:
        memory.remember_many(
            "ada",
            [
                NewMemory("ada said number 1: here", id="here", importance=0.9),
                NewMemory("ada said number 2: other words", id="reworded", importance=0.9),
                NewMemory("ada said number 3: twice", id="twice", importance=0.9),
                NewMemory("ada said number 3: twice", id="again", importance=0.9, session_id="other"),
                NewMemory("bob said number 1: a secret", id="strange", importance=0.9),
            ],
        )
    ledger = {
        "ada": [
            ("here", "ada said number 1: here"),
            ("reworded", "ada said number 2: words"),
            ("gone", "ada said number 4: gone"),
        ]
    }

    assert load.missing(options, ledger) == {"lost": 2, "doubled": 1, "strange": 1}


def test_sizes_of_servers_and_of_what_is_embedded_are_measured(
    redis_url: str, postgres_url: str, tmp_path: Path
) -> None:
    url = make_url(postgres_url)
    engine = create_engine(url, isolation_level="AUTOCOMMIT")  # other tests fill the shared one, by other embedders
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE sizes")
    engine.dispose()
    postgres_url = url.set(database="sizes").render_as_string(hide_password=False)
    embedded = argparse.Namespace(redis=None, postgres=None, users=2, memories=60)
    served = argparse.Namespace(redis=redis_url, postgres=postgres_url, users=2, memories=60)

    here = sizes.measured(embedded, tmp_path / "one")
    there = sizes.measured(served, tmp_path / "two")

    assert set(here) == {"Chroma, a vector (folder)", "SQLite, a memory (file)", "the process that searches it"}
    assert {"Redis, a short-term item", "PostgreSQL, a long-term record"} < set(there)
    assert all(500 < size < 100_000 for size in (*here.values(), *there.values())), (here, there)
