"""Writes a store by the code of its time as SQL, for SQLite and for PostgreSQL: what upgrades are tested on.

    git worktree add ../then <commit>
    PYTHONPATH=../then python tests/contract/earlier/write.py tests/contract/earlier

`version_1.*.sql` is by ca9c135. The tables are those that the code declares, the rows those that it wrote to SQLite.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Boolean, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.backends.sql import SCHEMA_VERSION
from langchain_tiered_memory.backends.sql.tables import METADATA
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DIALECTS: dict[str, Any] = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}  # type: ignore[no-untyped-call] # SQLAlchemy's


def fill(memory: Engine) -> None:
    """Leave something in every table."""
    memory.remember("ada", "I am allergic to peanuts", "preference", id="peanuts")
    memory.remember("ada", "Ada works at Acme", "fact", slot="employer", observed_at=datetime(2026, 1, 1, tzinfo=UTC))
    memory.remember("ada", "Ada works at Initech", "fact", slot="employer")
    memory.remember("ada", "It rained; 'quotes', \"more\", back\\slash, \0, \ud800 and 🌧", importance=0.2, id="rain")
    memory.remember("ada", "I love the cello.", importance=0.9, id="cello")
    memory.remember("ada", "a secret", importance=0.9, id="secret")
    memory.forget("ada", "secret")
    memory.consolidate("ada")
    memory.session("ada", "chat").add({"role": "user", "content": "I met Bob in Lisbon", "id": "lisbon"})
    memory.recall("ada", "peanuts")
    memory.remember("bob's", "Bob is ada's friend", "fact", importance=0.9)
    memory.session("carl", "chat").add({"role": "system", "content": "Be brief."})


def literal(value: object, column: Any, dialect: str) -> str:
    """Return a value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'" if dialect == "sqlite" else f"'\\x{value.hex()}'"
    if isinstance(column.type, Boolean) and dialect == "postgresql":
        return "true" if value else "false"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def statements(table: Table, database: sqlite3.Connection, dialect: str) -> list[str]:
    """Return what makes a table and its rows."""
    said = [str(CreateTable(table).compile(dialect=DIALECTS[dialect]))]
    indexes = sorted(table.indexes, key=lambda one: str(one.name))
    said += [str(CreateIndex(index).compile(dialect=DIALECTS[dialect])) for index in indexes]
    names = [column.name for column in table.columns]
    quoted = ", ".join(f'"{name}"' for name in names)
    for row in database.execute(f"SELECT {quoted} FROM {table.name}"):  # noqa: S608 - names of our own
        values = ", ".join(literal(value, table.columns[name], dialect) for name, value in zip(names, row, strict=True))
        said.append(f"INSERT INTO {table.name} ({quoted}) VALUES ({values})")  # noqa: S608
    if dialect == "postgresql" and isinstance(table.columns.get("seq", table.columns[0]).type, BigInteger):
        said.append(f"SELECT setval('{table.name}_seq_seq', (SELECT coalesce(max(seq), 1) FROM {table.name}))")  # noqa: S608
    return ["\n".join(line.rstrip() for line in one.strip().splitlines()) for one in said]


def main() -> None:
    """Write a file for each database into the folder named."""
    with tempfile.TemporaryDirectory() as folder:
        system = MemorySystem(path=folder, vector_db="exact", embedder=HashedEmbedder(8), clock=lambda: NOW)
        with system.sync as memory:
            fill(memory)
        with sqlite3.connect(Path(folder) / "memory.db") as database:
            for dialect in DIALECTS:
                said = [one for table in METADATA.sorted_tables for one in statements(table, database, dialect)]
                target = Path(sys.argv[1]) / f"version_{SCHEMA_VERSION}.{dialect}.sql"
                target.write_text(";\n".join(said) + ";\n", encoding="utf-8")
        database.close()


if __name__ == "__main__":
    main()
