"""Transcripts of sessions in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Engine,
    Select,
    bindparam,
    delete,
    exists,
    false,
    func,
    insert,
    select,
    true,
    update,
)

from langchain_tiered_memory.backends.sql.agenda import SqlAgenda
from langchain_tiered_memory.backends.sql.codec import (
    Values,
    digest,
    escaped,
    from_instant,
    from_json,
    plain,
    plain_or_none,
    to_instant,
    to_json,
)
from langchain_tiered_memory.backends.sql.counter import Counter
from langchain_tiered_memory.backends.sql.link import link_of
from langchain_tiered_memory.backends.sql.reading import readable
from langchain_tiered_memory.backends.sql.shelf import chunks
from langchain_tiered_memory.backends.sql.tables import MessageRow, State, table_of
from langchain_tiered_memory.backends.sql.tallying import tally_talk
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.ports import StoredMessage
from langchain_tiered_memory.core.tallies import TalkTally
from langchain_tiered_memory.core.text import escape

_STORE = "transcripts"
_ROWS, _STATE = table_of(MessageRow), table_of(State)
_OF = _ROWS.c
_USER: BindParameter[str] = bindparam("user")
_COLUMNS = (
    *(_OF.role, _OF.text, _OF.body, _OF.created_at),
    *(_OF.position, _OF.tokens, _OF.counter, _OF.agent_id, _OF.session_id),
)


class SqlTranscriptStore:
    """A `TranscriptStore` in SQLite or PostgreSQL. Positions grow over all sessions of a user."""

    def __init__(self, engine: Engine, agenda: SqlAgenda | None = None) -> None:
        """Use an engine whose tables are prepared (`schema.prepare`); it stays the caller's.

        With an agenda in the same database who is written to is noted there.
        """
        self._link = link_of(engine)
        self._counter = Counter(self._link, _STORE, agenda)
        session = (_OF.user_key == _USER, _OF.session_key == bindparam("session"))
        newest_first = select(*_COLUMNS).where(*session).order_by(_OF.position.desc()).limit(bindparam("most"))
        self._tail = {False: newest_first, True: newest_first.where(_OF.position < bindparam("before"))}
        self._system = select(*_COLUMNS).where(*session, _OF.system == true()).order_by(_OF.position)
        waiting = select(*_COLUMNS).where(_OF.user_key == _USER, _OF.placed == false())
        oldest_first = waiting.order_by(_OF.position).limit(bindparam("most"))
        self._unplaced = {False: oldest_first, True: oldest_first.where(*session)}
        self._known = select(_OF.message_key).where(*session, _OF.message_key.in_(bindparam("keys", expanding=True)))
        these = _OF.position.in_(bindparam("positions", expanding=True))
        self._place = update(_ROWS).where(*session, these).values(placed=True)
        self._insert = insert(_ROWS)

    @property
    def name(self) -> str:
        """What serves it."""
        return self._link.name

    def append(
        self, user_id: str, session_id: str, messages: Sequence[StoredMessage], *, placed: bool = False
    ) -> tuple[bool, ...]:
        """See `TranscriptStore.append`."""
        user = {"user_key": digest(user_id), "session_key": digest(session_id), "session_id": escape(session_id)}
        rows: list[Values] = [{**user, **_to_row(stored), "placed": placed} for stored in messages]
        if not rows:
            return ()
        added, new = list[bool](), list[Values]()
        with self._link.write("append to a transcript") as connection:
            last = self._counter.open(connection, user_id, by=len(rows))
            known = self._known_keys(connection, rows)
            for position, row in enumerate(rows, last - len(rows) + 1):
                added.append(row["message_key"] not in known)
                if added[-1]:
                    known.add(row["message_key"])
                    new.append({**row, "position": position})
            if new:
                connection.execute(self._insert, new)
            else:
                connection.rollback()
        return tuple(added)

    def _known_keys(self, connection: Connection, rows: Sequence[Values]) -> set[str]:
        session = {"user": rows[0]["user_key"], "session": rows[0]["session_key"]}
        found = set[str]()
        for chunk in chunks(row["message_key"] for row in rows):
            found.update(connection.execute(self._known, {**session, "keys": chunk}).scalars())
        return found

    def tail(self, user_id: str, session_id: str, *, before: int | None, limit: int) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.tail`."""
        asked = {**_session(user_id, session_id), "most": max(limit, 0)}
        return self._read(self._tail[before is not None], asked if before is None else {**asked, "before": before})

    def system(self, user_id: str, session_id: str) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.system`."""
        return self._read(self._system, _session(user_id, session_id))

    def unplaced(self, user_id: str, session_id: str | None, limit: int) -> tuple[StoredMessage, ...]:
        """See `TranscriptStore.unplaced`."""
        whose = {"user": digest(user_id)} if session_id is None else _session(user_id, session_id)
        return self._read(self._unplaced[session_id is not None], {**whose, "most": max(limit, 0)})

    def _read(self, chosen: Select[Any], asked: Mapping[str, object]) -> tuple[StoredMessage, ...]:
        with self._link.glance("read a transcript") as connection:
            rows = connection.execute(chosen, dict(asked)).all()
        return tuple(readable(rows, _from_row))

    def mark_placed(self, user_id: str, session_id: str, positions: Iterable[int]) -> None:
        """See `TranscriptStore.mark_placed`."""
        placed = list(positions)
        if placed:
            with self._link.write("mark messages") as connection:
                self._counter.hold(connection, digest(user_id))
                for chunk in chunks(placed):
                    connection.execute(self._place, {**_session(user_id, session_id), "positions": chunk})

    def sessions(self, user_id: str) -> Mapping[str, int]:
        """See `TranscriptStore.sessions`."""
        mine = select(_OF.session_id, func.count()).where(_OF.user_key == digest(user_id))
        with self._link.glance("list sessions") as connection:
            rows = connection.execute(mine.group_by(_OF.session_key, _OF.session_id))
            return {plain(session_id): count for session_id, count in rows}

    def clear(self, user_id: str, session_id: str) -> int:
        """See `TranscriptStore.clear`."""
        session = (_OF.user_key == digest(user_id), _OF.session_key == digest(session_id))
        with self._link.write("clear a transcript") as connection:
            self._counter.hold(connection, digest(user_id))
            return connection.execute(delete(_ROWS).where(*session)).rowcount

    def forget(self, user_id: str) -> int:
        """See `TranscriptStore.forget`."""
        user = digest(user_id)
        with self._link.write("forget a user's transcripts") as connection:
            self._counter.hold(connection, user)
            removed = connection.execute(delete(_ROWS).where(_OF.user_key == user)).rowcount
            self._counter.forget(connection, user)
        return removed

    def expire(self, before: datetime) -> int:
        """See `TranscriptStore.expire`."""
        ended = func.max(_OF.created_at) < to_instant(before)
        by_session = select(_OF.user_key, _OF.session_key).group_by(_OF.user_key, _OF.session_key).having(ended)
        removed = 0
        with self._link.write("let transcripts go") as connection:
            for user, session in sorted(connection.execute(by_session)):
                self._counter.hold(connection, user)
                mine = (_OF.user_key == user, _OF.session_key == session)
                still = select(ended).where(*mine)  # somebody may have added to it before the user's row was ours
                if connection.execute(still).scalar():
                    removed += connection.execute(delete(_ROWS).where(*mine)).rowcount
        return removed

    def users(self) -> tuple[str, ...]:
        """See `TranscriptStore.users`."""
        with self._link.glance("list its users") as connection:
            return tuple(self._counter.names(connection, exists().where(_OF.user_key == _STATE.c.user_key)).values())

    def tallies(self, apart: str) -> Iterator[TalkTally]:
        """See `core.tallies.talk_tallies`."""
        return tally_talk(self._link, _STORE, apart)

    def close(self) -> None:
        """Leave the engine open: it was given."""


def _session(user_id: str, session_id: str) -> dict[str, object]:
    return {"user": digest(user_id), "session": digest(session_id)}


def _to_row(stored: StoredMessage) -> Values:
    """Return the columns of a message but its place; a plain text stands beside the JSON, as it is."""
    message = stored.message
    text = message.content if isinstance(message.content, str) else None
    body: dict[str, Any] = {
        "id": message.id,
        "name": message.name,
        "parts": None if text is not None or message.content is None else list(message.content),
        "tool_calls": list(message.tool_calls) or None,
        "tool_call_id": message.tool_call_id,
        "extra": dict(message.extra) or None,
    }
    return {
        "message_key": digest(to_json(message.id)),
        "system": message.role in SYSTEM_ROLES,
        "created_at": None if message.created_at is None else to_instant(message.created_at),
        "tokens": stored.tokens,
        "counter": escape(stored.counter),
        "role": escape(message.role),
        "agent_id": escaped(stored.agent_id),
        "body": to_json({key: value for key, value in body.items() if value is not None}),
        "text": escaped(text),
    }


def _from_row(row: Sequence[Any]) -> StoredMessage:
    role, text, body, created_at, position, tokens, counter, agent_id, session_id = row
    given = from_json(body)
    message = Message(
        plain(role),
        given.get("parts") if text is None else plain(text),
        id=given.get("id"),
        name=given.get("name"),
        tool_calls=tuple(given.get("tool_calls", ())),
        tool_call_id=given.get("tool_call_id"),
        created_at=None if created_at is None else from_instant(created_at),
        extra=given.get("extra", {}),
    )
    return StoredMessage(message, position, tokens, plain(counter), plain_or_none(agent_id), plain(session_id))
