"""Where one store of memories keeps its rows, and how many values go into one statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Engine, Table

from langchain_tiered_memory.backends.sql.counter import Counter
from langchain_tiered_memory.backends.sql.link import Link, link_of
from langchain_tiered_memory.backends.sql.tables import ItemRow, ItemVector, RecordRow, RecordVector, table_of
from langchain_tiered_memory.core.model import Tier

if TYPE_CHECKING:
    from langchain_tiered_memory.backends.sql.agenda import SqlAgenda

T = TypeVar("T")

_CHUNK = 500
"""SQLite and PostgreSQL limit the variables of a statement."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One store's place in the database.

    Attributes:
        link: The engine.
        counter: The change counters.
        tier: The tier that the rows are of; its name is the store's in tables that stores share.
        rows: The table of rows.
        vectors: The table of their vectors.
    """

    link: Link
    counter: Counter
    tier: Tier
    rows: Table
    vectors: Table

    @classmethod
    def of_items(cls, engine: Engine, agenda: SqlAgenda | None = None) -> Shelf:
        """Return the place of short-term items."""
        link, tier = link_of(engine), Tier.SHORT_TERM
        return cls(link, Counter(link, tier, agenda), tier, table_of(ItemRow), table_of(ItemVector))

    @classmethod
    def of_records(cls, engine: Engine, agenda: SqlAgenda | None = None) -> Shelf:
        """Return the place of long-term records."""
        link, tier = link_of(engine), Tier.LONG_TERM
        return cls(link, Counter(link, tier, agenda), tier, table_of(RecordRow), table_of(RecordVector))


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Cut into lists that fit a statement."""
    every = list(values)
    for start in range(0, len(every), _CHUNK):
        yield every[start : start + _CHUNK]
