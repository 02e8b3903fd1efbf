"""Spans, metrics and log records of the calls of a memory, for those who collect them.

Spans and metrics are made where the application has set up an OpenTelemetry SDK, and log records where it listens to
the logger `langchain_tiered_memory.calls` at DEBUG. They hold names of calls, durations, counts, kinds of errors and a
short digest of the user id; nothing that was said, asked or stored, and no id as it is. OpenTelemetry is never imported
here: an application that has set it up has imported it.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from langchain_tiered_memory.core.observing import Figure, Watch

NAME = "langchain_tiered_memory"
calls = logging.getLogger("langchain_tiered_memory.calls")


def user_digest(user_id: str) -> str:
    """Return the 12 hex digits that stand for a user in spans and logs: the same wherever the user appears."""
    return hashlib.blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def observe(call: str, user_id: str | None) -> Watching | None:
    """Return what watches a call; None when nobody collects spans, metrics or records."""
    tracing, metering = _set_up("trace"), _set_up("metrics")
    if tracing is None and metering is None and not calls.isEnabledFor(logging.DEBUG):
        return None
    return Watching(call, user_id, tracing, metering)


def _set_up(kind: str) -> Any:
    """Return OpenTelemetry's module for traces or metrics where an SDK stands behind it; None without one."""
    module: Any = sys.modules.get(f"opentelemetry.{kind}")
    if module is None:
        return None
    provider = module.get_tracer_provider() if kind == "trace" else module.get_meter_provider()
    placeholder = type(provider).__name__.lstrip("_").startswith(("Proxy", "NoOp"))
    return None if placeholder else module


_made: list[tuple[Any, Any, Any]] = []
"""The provider that was there last, with its two instruments: each is to be made once."""


def _instruments(metering: Any) -> tuple[Any, Any]:
    provider = metering.get_meter_provider()
    if not _made or _made[0][0] is not provider:
        meter = provider.get_meter(NAME)
        durations = meter.create_histogram("memory.call.duration", "s", "How long a call took.")
        counted = meter.create_counter("memory.figures", "1", "What calls report: hits, items promoted, facts found, …")
        _made[:] = [(provider, durations, counted)]
    return _made[0][1:]


class Watching:
    """Watches one call."""

    def __init__(self, call: str, user_id: str | None, tracing: Any, metering: Any) -> None:
        """Begin nothing yet."""
        self._call = call
        self._about: dict[str, Figure] = {} if user_id is None else {"user": user_digest(user_id)}
        self._figures: dict[str, Figure] = {}
        self._tracing, self._metering = tracing, metering
        self._started = 0.0
        self._open: Any = None
        self._span: Any = None

    def __enter__(self) -> Watch:
        """Begin the span."""
        if self._tracing is not None:
            tracer = self._tracing.get_tracer(NAME)
            # What an error says may be shown to people, but is not for those who collect: its kind is enough.
            self._open = tracer.start_as_current_span(
                f"memory.{self._call}", record_exception=False, set_status_on_exception=False
            )
            self._span = self._open.__enter__()
        self._started = time.perf_counter()
        return self

    def tell(self, figures: Mapping[str, Figure]) -> None:
        """Take the figures of the result."""
        self._figures.update(figures)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the span, and tell how it went."""
        seconds = time.perf_counter() - self._started
        failed: dict[str, Figure] = {} if kind is None else {"error.type": kind.__name__}
        if self._span is not None:
            told = {f"memory.{name}": value for name, value in (self._about | self._figures).items()}
            self._span.set_attributes(told | failed)
            if kind is not None:
                self._span.set_status(self._tracing.StatusCode.ERROR, kind.__name__)
            self._open.__exit__(None, None, None)
        if self._metering is not None:
            self._measure(seconds, failed)
        if calls.isEnabledFor(logging.DEBUG):
            record = {"call": self._call, "seconds": round(seconds, 6), **self._about, **self._figures, **failed}
            said = " ".join(f"{name}={value}" for name, value in record.items())
            calls.debug("%s", said, extra={"memory": record})

    def _measure(self, seconds: float, failed: Mapping[str, Figure]) -> None:
        durations, counted = _instruments(self._metering)
        about = {"memory.call": self._call, **failed}
        durations.record(seconds, about)
        for name, value in self._figures.items():
            if isinstance(value, int) and value > 0:
                counted.add(value, {**about, "memory.figure": name})
