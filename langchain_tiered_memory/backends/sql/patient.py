"""Connections to PostgreSQL that give a server up when it stays silent; the driver by itself waits without end."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import psycopg
from psycopg.waiting import Ready
from sqlalchemy import Engine, event

from langchain_tiered_memory.backends.sql.silence import patience

T = TypeVar("T")


class AnswerTimeout(psycopg.OperationalError):
    """The server was silent for too long; the connection is closed."""


class PatientConnection(psycopg.Connection[Any]):
    """A connection on which silence lasts as long as `silence.patience` says."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        """Do a piece of the protocol.

        Raises:
            AnswerTimeout: Nothing came for too long.
        """
        limit = patience()
        if limit is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(_watched(gen, lambda: limit.answer), *args, **options)
        except AnswerTimeout:
            limit.gave_up()
            self.close()
            raise

    @classmethod
    def _connect_gen(cls, *args: Any, **options: Any) -> Generator[Any, Any, PatientConnection]:
        """Connect, with less patience than the driver's own, which is 2 s at least for each address of a host."""
        gen: Generator[Any, Any, PatientConnection] = super()._connect_gen(*args, **options)
        limit = patience()
        return gen if limit is None else _watched(gen, lambda: limit.connecting)


def _watched(gen: Generator[Any, Any, T], silence: Callable[[], float]) -> Generator[Any, Any, T]:
    """Pass on what a generator of the driver waits for; the driver wakes it now and then when nothing has come."""
    heard = time.monotonic()
    try:
        state = next(gen)
        while True:
            ready = yield state
            if ready != Ready.NONE:
                heard = time.monotonic()
            elif time.monotonic() - heard > silence():
                raise AnswerTimeout("the server did not answer in time")
            state = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def make_patient(engine: Engine) -> None:
    """Let an engine of ours make such connections."""

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, args: Any, options: Any) -> PatientConnection:
        return PatientConnection.connect(*args, **options)
