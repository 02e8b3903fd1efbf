"""Counting what is stored of every user: one statement for a page of users, so that none takes the database for long.

See `core.tallies` for what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    or_,
    select,
)

from langchain_tiered_memory.backends.sql.codec import instant_or_none, plain
from langchain_tiered_memory.backends.sql.link import Link
from langchain_tiered_memory.backends.sql.shelf import Shelf
from langchain_tiered_memory.backends.sql.tables import MessageRow, RecordRow, State, Tombstone, table_of
from langchain_tiered_memory.core.lives import VALUES
from langchain_tiered_memory.core.tallies import TalkTally, Tally
from langchain_tiered_memory.core.text import escape

PAGE = 100
"""Users that one statement counts."""

_STATE, _RECORDS, _TOMBSTONES = table_of(State), table_of(RecordRow), table_of(Tombstone)
_MESSAGES = table_of(MessageRow)
_AFTER: BindParameter[str] = bindparam("after")
_LAST: BindParameter[str] = bindparam("last")
_MODEL: BindParameter[str] = bindparam("model")
_APART: BindParameter[str] = bindparam("apart")
_FLOAT32_BYTES = 4


def tally(shelf: Shelf, model_id: str, *, beside: bool) -> Iterator[Tally]:
    """Count the rows of every user in one store of memories.

    Args:
        shelf: The store's place.
        model_id: The model whose vectors rows are to have.
        beside: Whether long-term memory is in the same database, so that it is seen what stands there too.
    """
    asked = {"model": escape(model_id)}
    for names, row in _paged(shelf.link, str(shelf.tier), _count(shelf, beside=beside), asked):
        yield Tally(
            user_id=names[row[0]],
            rows=row[1],
            superseded=int(row[2]),
            pending=int(row[3]),
            vectors=int(row[4]),
            ends=_end(row[5]),
            mortal=int(row[6]),
            begun=int(row[7]) if beside else None,
            moved=int(row[8]) if beside else 0,
        )


def tally_talk(link: Link, store: str, apart: str) -> Iterator[TalkTally]:
    """Count the messages of every user; see `core.tallies.talk_tallies`."""
    of = _MESSAGES.c
    aside = func.substr(of.session_id, 1, len(escape(apart))) == _APART
    counts = (_how_many(~aside), _how_many(aside), _how_many(of.placed == false()))
    counted = select(of.user_key, *counts).where(*_in_page(_MESSAGES)).group_by(of.user_key)
    for names, row in _paged(link, store, counted, {"apart": escape(apart)}):
        yield TalkTally(user_id=names[row[0]], messages=int(row[1]), apart=int(row[2]), unplaced=row[3] > 0)


def _paged(
    link: Link, store: str, counted: Select[Any], asked: dict[str, str]
) -> Iterator[tuple[dict[str, str], Sequence[Any]]]:
    """Yield the rows of a statement over all users of a store, page by page, with the names of the page's users."""
    of, after = _STATE.c, ""
    page = select(of.user_key, of.user_id).where(of.store == store, of.user_key > _AFTER)
    page = page.order_by(of.user_key).limit(PAGE)
    while True:
        with link.glance("count what is stored", long=True) as connection:
            names = {key: plain(name) for key, name in connection.execute(page, {"after": after})}
            span = {"after": after, "last": max(names, default=after)}
            rows = connection.execute(counted, {**asked, **span}).all() if names else ()
        if not names:
            return
        yield from ((names, row) for row in rows if row[0] in names)
        after = span["last"]


def _count(shelf: Shelf, *, beside: bool) -> Select[Any]:
    rows, of = shelf.rows.c, shelf.vectors.c
    whole = func.length(of.vector) == of.dimension * _FLOAT32_BYTES  # a damaged one is made anew
    made = select(
        of.user_key, of.id, func.count().label("every"), _how_many((of.model_id == _MODEL) & whole).label("mine")
    )
    made_of = made.where(*_in_page(shelf.vectors)).group_by(of.user_key, of.id).subquery()
    lacking = rows.passages - func.coalesce(made_of.c.mine, 0)
    with_life = and_(rows.origin == escape(VALUES), rows.attached.contains('"ttl_s"', autoescape=True))
    counts = [
        func.count(),
        _how_many(or_(rows.valid_to.is_not(None), rows.superseded_by.is_not(None))),
        func.sum(case((lacking > 0, lacking), else_=0)),
        func.sum(func.coalesce(made_of.c.every, 0)),
        func.min(rows.expires_at),
        _how_many(with_life),
    ]
    if beside:
        there, gone = (_stands(shelf.rows, table) for table in (_RECORDS, _TOMBSTONES))
        counts += [_how_many(or_(there, gone)), _how_many(there)]
    together = (rows.user_key == made_of.c.user_key) & (rows.id == made_of.c.id)
    counted = select(rows.user_key, *counts).select_from(shelf.rows.outerjoin(made_of, together))
    return counted.where(*_in_page(shelf.rows)).group_by(rows.user_key)


def _in_page(table: Table) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return table.c.user_key > _AFTER, table.c.user_key <= _LAST


def _end(at: int | None) -> datetime | None:
    try:
        return instant_or_none(at)
    except (OverflowError, ValueError):  # a damaged row
        return None


def _how_many(condition: ColumnElement[bool]) -> Any:
    return func.sum(case((condition, 1), else_=0))


def _stands(rows: Table, table: Table) -> ColumnElement[bool]:
    return exists().where(table.c.user_key == rows.c.user_key, table.c.id == rows.c.id)
