"""Connections to PostgreSQL that give a server up when it stays silent; the driver by itself waits without end."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.waiting import Ready
from sqlalchemy import Engine, event

T = TypeVar("T")


class AnswerTimeout(psycopg.OperationalError):
    """The server was silent for too long; the connection is closed."""


class PatientConnection(psycopg.Connection[Any]):
    """A connection with a limit to silence.

    Attributes:
        silence: Seconds, or None for no limit.
    """

    silence: float | None = None

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        """Do a piece of the protocol.

        Raises:
            AnswerTimeout: Nothing came for `silence` seconds.
        """
        if self.silence is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(_watched(gen, self.silence), *args, **options)
        except AnswerTimeout:
            self.close()
            raise


def _watched(gen: Generator[Any, Any, T], silence: float) -> Generator[Any, Any, T]:
    """Pass on what a generator of the driver waits for; the driver wakes it now and then when nothing has come."""
    heard = time.monotonic()
    try:
        state = next(gen)
        while True:
            ready = yield state
            if ready != Ready.NONE:
                heard = time.monotonic()
            elif time.monotonic() - heard > silence:
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
