"""Which vectors wait for the vector index, and which references wait for their removal from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, exists, false, func, select, update

from langchain_tiered_memory.backends.sql.codec import digest, from_vectors, plain, to_blob
from langchain_tiered_memory.backends.sql.counter import upsert
from langchain_tiered_memory.backends.sql.shelf import Shelf, chunks
from langchain_tiered_memory.backends.sql.tables import Removal, State, table_of
from langchain_tiered_memory.core.ports import Vector, ref_memory_id, vector_ref
from langchain_tiered_memory.core.text import escape

_REMOVALS, _STATE = table_of(Removal), table_of(State)


class Upkeep:
    """What the vector index lags behind; each method is part of its caller's transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        vectors = shelf.vectors
        one = (
            vectors.c.user_key == bindparam("user"),
            vectors.c.id == bindparam("row"),
            vectors.c.passage == bindparam("number"),
        )
        self._mark = update(vectors).where(*one).values(indexed=vectors.c.vector == bindparam("blob"))
        self._unmark = update(vectors).where(*one).values(indexed=False)
        self._doom = upsert(shelf.link)(_REMOVALS).on_conflict_do_nothing()

    def unindexed(
        self, connection: Connection, user_id: str | None, limit: int
    ) -> dict[str, tuple[tuple[str, Vector], ...]]:
        """Return vectors not yet in the index as user to (reference, vector)."""
        of = self._shelf.vectors.c
        chosen = select(_STATE.c.user_id, of.id, of.passage, of.dimension, of.vector).where(of.indexed == false())
        rows = connection.execute(self._of(chosen, of.user_key, user_id, limit)).all()
        vectors = from_vectors([row[3] for row in rows], [row[4] for row in rows])
        found: defaultdict[str, list[tuple[str, Vector]]] = defaultdict(list)
        for row, vector in zip(rows, vectors, strict=True):
            if vector is not None:
                found[plain(row[0])].append((vector_ref(plain(row[1]), row[2]), vector))
        return {user: tuple(waiting) for user, waiting in found.items()}

    def removals(self, connection: Connection, user_id: str | None, limit: int) -> dict[str, tuple[str, ...]]:
        """Return references to remove from the index as user to references."""
        chosen = select(_STATE.c.user_id, _REMOVALS.c.ref)
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name, ref in connection.execute(self._of(chosen, _REMOVALS.c.user_key, user_id, limit)):
            found[plain(name)].append(plain(ref))
        return {user: tuple(waiting) for user, waiting in found.items()}

    def _of(self, chosen: Select[Any], user_key: Any, user_id: str | None, limit: int) -> Select[Any]:
        """Restrict to one user, or name each: a digest alone would not tell who it is."""
        named = chosen.where(_STATE.c.user_key == user_key, _STATE.c.store == self._shelf.tier).limit(max(limit, 0))
        return named if user_id is None else named.where(user_key == digest(user_id))

    def mark(self, connection: Connection, user_id: str, rows: Iterable[tuple[str, Vector]]) -> frozenset[str]:
        """Note which of the rows reached the index, and return the references that no record has."""
        user, reached = digest(user_id), dict(rows)
        values = [
            {**one, "user": user, "blob": to_blob(reached[ref])} for ref in reached if (one := _split(ref)) is not None
        ]
        if values:
            connection.execute(self._mark, values)
        return frozenset(reached) - self._standing(connection, user, reached)

    def _standing(self, connection: Connection, user: str, refs: Iterable[str]) -> set[str]:
        of, found = self._shelf.vectors.c, set[str]()
        for chunk in chunks(dict.fromkeys(escape(ref_memory_id(ref)) for ref in refs)):
            chosen = select(of.id, of.passage).where(of.user_key == user, of.id.in_(chunk))
            found.update(vector_ref(plain(row), passage) for row, passage in connection.execute(chosen))
        return found

    def mark_left(self, connection: Connection, user_id: str, refs: Iterable[str]) -> None:
        """Note that what left the index and has a vector again waits again."""
        user = digest(user_id)
        values = [{**one, "user": user} for ref in refs if (one := _split(ref)) is not None]
        if values:
            connection.execute(self._unmark, values)

    def mark_none(self, connection: Connection, user_id: str, version: int) -> None:
        """Note that no vector of the user is in the index, and tell readers who left them to it."""
        rows, of, user = self._shelf.rows, self._shelf.vectors.c, digest(user_id)
        connection.execute(update(self._shelf.vectors).where(of.user_key == user).values(indexed=False))
        has_vectors = exists().where(of.user_key == rows.c.user_key, of.id == rows.c.id)
        connection.execute(update(rows).where(rows.c.user_key == user, has_vectors).values(version=version))

    def doom(self, connection: Connection, user_id: str, refs: Iterable[str]) -> None:
        """Note references to remove from the index: also of vectors never marked, which may have got there."""
        values = [{"user_key": digest(user_id), "ref": escape(ref)} for ref in refs]
        if values:
            connection.execute(self._doom, values)

    def spare(self, connection: Connection, user_id: str, refs: Iterable[str]) -> None:
        """Take references off the list of removals."""
        mine = _REMOVALS.c.user_key == digest(user_id)
        for chunk in chunks(map(escape, refs)):
            connection.execute(delete(_REMOVALS).where(mine, _REMOVALS.c.ref.in_(chunk)))

    def erase(self, connection: Connection, user_id: str) -> None:
        """Remove what waits for removal: of a whole user the index drops everything."""
        connection.execute(delete(_REMOVALS).where(_REMOVALS.c.user_key == digest(user_id)))

    def count(self, connection: Connection, user_id: str) -> int:
        """Return how many vectors the user has."""
        of = self._shelf.vectors.c
        counted = select(func.count()).select_from(self._shelf.vectors).where(of.user_key == digest(user_id))
        return int(connection.execute(counted).scalar_one())


def _split(ref: str) -> dict[str, Any] | None:
    """Return a reference as the values of the statements above; None when it is none of ours."""
    number = ref.rpartition("#")[2]
    return {"row": escape(ref_memory_id(ref)), "number": int(number)} if number.isdecimal() else None
