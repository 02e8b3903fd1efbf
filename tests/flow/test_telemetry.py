"""Spans, metrics and records tell how calls went, and nothing of what was said in them."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opentelemetry import metrics, trace
from opentelemetry.metrics import _internal as metrics_internal
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from opentelemetry.util._once import Once

from langchain_tiered_memory import MemorySystem, NotFound, TieredMemoryError, work_once
from langchain_tiered_memory.cli.demo import USER, demo_messages, run_demo
from langchain_tiered_memory.core import observing
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import NewMemory, Tier
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.telemetry import user_digest
from tests.conftest import FakeClock
from tests.flow.world import QUIET

SECRET = "xyzzy"
WORD = re.compile(r"[a-zà-ÿ]{6,}")
Figures = dict[str, Any]


class Collected:
    """What an application that collects spans, metrics and records has."""

    def __init__(self) -> None:
        self.spans_to = InMemorySpanExporter()
        self.metrics_to = InMemoryMetricReader()
        self.records: list[logging.LogRecord] = []

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.spans_to.get_finished_spans())

    def attributes(self, name: str) -> Figures:
        """Return the attributes of the last span with a name."""
        return dict([span for span in self.spans if span.name == name][-1].attributes or {})

    def figures(self) -> list[tuple[str, Figures, Any]]:
        """Return name, attributes and value of everything measured."""
        found = self.metrics_to.get_metrics_data()
        return [
            (metric.name, dict(point.attributes or {}), getattr(point, "value", getattr(point, "count", None)))
            for resource in (found.resource_metrics if found else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        ]

    def words(self) -> str:
        """Return everything that was told, as one text."""
        told = [
            (span.name, dict(span.attributes or {}), str(span.status.description), len(span.events))
            for span in self.spans
        ]
        said = [(one.getMessage(), str(one.__dict__.get("memory", "")), one.exc_text) for one in self.records]
        return json.dumps([told, self.figures(), said], default=str).lower()


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collected]:
    """An application that has set up OpenTelemetry and listens to every record."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "false")
    made = Collected()
    tracing, metering = TracerProvider(), MeterProvider(metric_readers=[made.metrics_to])
    tracing.add_span_processor(SimpleSpanProcessor(made.spans_to))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    monkeypatch.setattr(metrics_internal, "_METER_PROVIDER", None)
    monkeypatch.setattr(metrics_internal, "_METER_PROVIDER_SET_ONCE", Once())
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(metering)
    handler = logging.Handler()
    handler.emit = made.records.append  # type: ignore[method-assign,assignment] # all it does
    logger = logging.getLogger("langchain_tiered_memory")
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield made
    logger.removeHandler(handler)
    logger.setLevel(before)
    tracing.shutdown()
    metering.shutdown()


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engine]:
    system = MemorySystem.open(":memory:", embedder=HashedEmbedder(16), settings=QUIET, clock=clock)
    with system.sync as engine:
        yield engine


def test_a_span_tells_how_a_call_went(collected: Collected, memory: Engine) -> None:
    memory.remember(SECRET, "The pot is blue", importance=0.9)
    memory.recall(SECRET, "which pot?")
    memory.session(SECRET, "chat").context("which pot?")

    assert collected.attributes("memory.remember") == {
        "memory.user": user_digest(SECRET),
        "memory.memories": 1,
        "memory.tier": "long_term",
    }
    assert collected.attributes("memory.recall")["memory.hits"] == 1
    assert collected.attributes("memory.recall")["memory.tiers_failed"] == 0
    assert collected.attributes("memory.context")["memory.tokens"] > 0
    assert all(span.end_time and span.start_time and span.end_time >= span.start_time for span in collected.spans)


def test_every_call_named_is_watched(collected: Collected, memory: Engine, clock: FakeClock, tmp_path: Path) -> None:
    memory.remember_many("ada", [NewMemory("The pot is blue", id="pot"), NewMemory("I love the cello.")])
    memory.update("ada", "pot", importance=0.7)
    memory.session("ada", "chat").add({"role": "user", "content": "hello"})
    memory.session("ada", "chat").context()
    memory.recall("ada", "pot")
    memory.consolidate("ada", everything=True)
    memory.maintain("ada")
    memory.reindex()
    memory.export_user("ada", tmp_path / "ada.jsonl")
    memory.forget("ada", "pot")
    memory.import_user("bob", tmp_path / "ada.jsonl")
    clock.advance(minutes=10)
    work_once(memory)

    names = {span.name.removeprefix("memory.") for span in collected.spans}
    assert names == {*observing.CALLS.values(), "add", "context", "work"}
    assert collected.attributes("memory.consolidate")["memory.promoted"] == 3
    assert collected.attributes("memory.work")["memory.users"] == 2


async def test_calls_through_await_are_part_of_the_callers_trace(collected: Collected) -> None:
    async with MemorySystem.open(":memory:", embedder=HashedEmbedder(16), settings=QUIET) as memory:
        with trace.get_tracer("host").start_as_current_span("request") as request:
            await memory.remember("ada", "The pot is blue")

    (span,) = (one for one in collected.spans if one.name == "memory.remember")
    assert span.parent is not None
    assert span.parent.span_id == request.get_span_context().span_id


def test_an_error_marks_the_span_by_its_kind_alone(collected: Collected, memory: Engine) -> None:
    with pytest.raises(NotFound):
        memory.forget("ada", SECRET)

    (span,) = collected.spans
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "NotFound"
    assert dict(span.attributes or {}) == {"memory.user": user_digest("ada"), "error.type": "NotFound"}
    assert span.events == ()


def test_durations_and_figures_are_measured(collected: Collected, memory: Engine) -> None:
    for n in range(3):
        memory.remember("ada", f"pot {n}", importance=0.9)
    memory.recall("ada", "pot")
    with pytest.raises(NotFound):
        memory.get("ada", "nothing")
    with pytest.raises(NotFound):
        memory.forget("ada", "nothing")

    found = collected.figures()
    durations = {
        (about["memory.call"], about.get("error.type")): value for name, about, value in found if "duration" in name
    }
    assert durations == {("remember", None): 3, ("recall", None): 1, ("forget", "NotFound"): 1}
    assert ("memory.figures", {"memory.call": "recall", "memory.figure": "hits"}, 3) in found


def test_a_record_has_the_same_as_fields(collected: Collected, memory: Engine) -> None:
    memory.remember("ada", "The pot is blue", importance=0.9)

    (record,) = (one for one in collected.records if one.name.endswith(".calls"))
    told = record.__dict__["memory"]
    assert told.pop("seconds") > 0
    assert told == {"call": "remember", "user": user_digest("ada"), "memories": 1, "tier": "long_term"}
    assert record.getMessage().startswith("call=remember seconds=")


def test_without_an_sdk_or_a_listener_nobody_watches(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(metrics_internal, "_METER_PROVIDER", None)

    assert observing._installed
    assert observing._installed[0]("recall", "ada") is None


def test_a_memory_that_is_in_use_has_not_imported_opentelemetry() -> None:
    code = (
        "import sys; from langchain_tiered_memory import MemorySystem; from langchain_tiered_memory.embedding import "
        "HashedEmbedder; m = MemorySystem.open(':memory:', embedder=HashedEmbedder(8)).sync; m.remember('a', 'b'); "
        "m.recall('a', 'b'); print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"


# Nothing of what is said


def test_nothing_of_a_whole_demo_is_told(collected: Collected) -> None:
    run_demo(None)

    values = [value for span in collected.spans for value in (span.attributes or {}).values()]
    values += [value for _, about, _ in collected.figures() for value in about.values()]
    words = {one for one in values if isinstance(one, str)} - {user_digest(USER), *map(str, Tier)}
    figures = {str(key).removeprefix("memory.") for span in collected.spans for key in span.attributes or {}}
    assert len(collected.spans) > 50
    assert words <= {*observing.CALLS.values(), *figures, "add", "context", "work"}
    assert all(span.events == () and span.status.description is None for span in collected.spans)

    said = set(WORD.findall(" ".join(message.text for message in demo_messages()).lower()))
    told = " ".join(str(one.args).lower() for one in collected.records if not one.name.endswith(".calls"))
    assert len(said) > 100
    assert said & set(WORD.findall(told)) == set()
    assert USER not in collected.words()


class Telling(HashedEmbedder):
    """A model of somebody else's, whose errors quote what it was given."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ValueError(f"cannot embed {list(texts)}")


class Quoting:
    """An extractor whose errors quote what it was given."""

    def extract(self, memories: Sequence[Any]) -> Any:
        raise ValueError(f"cannot read {[one.content for one in memories]}")


def test_neither_errors_nor_records_quote_what_was_said(collected: Collected, clock: FakeClock) -> None:
    system = MemorySystem.open(
        ":memory:", embedder=Telling(16).embed_documents, extractor=Quoting(), settings=QUIET, clock=clock
    )
    said: list[str] = []
    with system.sync as memory:
        user = f"user-{SECRET}"
        memory.remember(user, f"{SECRET} is said", importance=0.9, id="one")
        attempts: list[Any] = [
            lambda: memory.remember(user, f"{SECRET} again", id="one"),
            lambda: memory.remember(user, f"{SECRET}", metadata={"a": object(), SECRET: 1}),
            lambda: memory.remember(user, SECRET * 10, "no type"),
            lambda: memory.remember(user, SECRET, importance=3),
            lambda: memory.recall(user, SECRET, k=-1),
            lambda: memory.session(user, "chat").add({"role": "user", "content": SECRET, "created_at": "now"}),
            lambda: memory.import_user(user, Path("no such file")),
            lambda: memory.maintain(user),
            lambda: memory.consolidate(user),
            lambda: work_once(memory),
        ]
        clock.advance(minutes=10)
        for attempt in attempts:
            try:
                said += [str(attempt())]
            except (TieredMemoryError, OSError) as error:
                said += [f"{type(error).__name__}: {error}"]

    assert len([one for one in said if one.startswith(("InvalidInput", "Conflict"))]) >= 5
    assert [one for one in said if SECRET in one] == []
    assert SECRET not in collected.words()
