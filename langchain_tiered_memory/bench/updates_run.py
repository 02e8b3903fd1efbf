"""Saying a life to a memory, asking it before and after consolidation, and looking at what it holds then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from langchain_tiered_memory.bench import updates_judge as judge
from langchain_tiered_memory.bench.updates_data import Life, Said
from langchain_tiered_memory.bench.updates_model import perfect_model
from langchain_tiered_memory.core.config import ExtractionSettings, MaintenanceSettings, RankingWeights, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import EmbeddingError, ExtractionError
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import Embedder
from langchain_tiered_memory.system import MemorySystem

RULES, MODEL = EXTRACTORS = ("rules", "model")
BEFORE, RECENT = BASELINES = ("before", "before, RECENT")

_USER = "bench"
_AFTERWARDS = timedelta(days=1)
_FIRST_HOUR, _HOURS = 7, 14
_PAGE = 500
_SETTINGS = Settings(
    maintenance=MaintenanceSettings(automatic=False),
    extraction=ExtractionSettings(max_calls=1_000, max_tokens=5_000_000),
)
"""Nothing happens beside the calls, so that equal runs have equal figures; and the model may be asked about all."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What consolidation did with one extractor.

    Attributes:
        ends: Pair to what became of its outdated value, one of `updates_judge.ENDS`.
        current_retired: The pairs whose current value was retired.
        controls: The controls of which a statement was retired.
        unrelated: The unrelated facts that were retired.
        mixed: The unrelated facts that became one with another.
        drawn: From how many of the unrelated facts, and of the controls' statements, something was drawn.
    """

    ends: Mapping[str, str]
    current_retired: tuple[str, ...]
    controls: tuple[str, ...]
    unrelated: tuple[str, ...]
    mixed: tuple[str, ...]
    drawn: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one life.

    Attributes:
        life: What was said.
        orders: `BASELINES` and the extractors to pair to one of `updates_judge.ORDERS`.
        kept: Extractor to what its consolidation did.
    """

    life: Life
    orders: Mapping[str, Mapping[str, str]]
    kept: Mapping[str, Kept]


def measured(
    life: Life,
    embedder: Embedder,
    extractors: Sequence[str] = EXTRACTORS,
    k: int = 10,
    weights: RankingWeights = RankingWeights.DEFAULT,
) -> Measured:
    """Say everything, and ask every question before and after consolidation.

    Args:
        life: What is said.
        embedder: The memory's.
        extractors: Of `EXTRACTORS`, at least one.
        k: How many hits are asked for.
        weights: The recipe of all but the baseline that is named for another.

    Raises:
        EmbeddingError: The embedder failed.
        ExtractionError: The extractor failed.
    """
    talk = dated(life)
    now = talk[-1][0] + _AFTERWARDS
    orders: dict[str, Mapping[str, str]] = {}
    kept: dict[str, Kept] = {}
    for name in extractors:
        llm: dict[str, Any] = {"llm": perfect_model(life)} if name == MODEL else {}
        system = MemorySystem(
            vector_db="exact", path=":memory:", embedder=embedder, settings=_SETTINGS, clock=lambda: now, **llm
        )
        with system.sync as memory:
            _say(memory, talk)
            if not orders:
                orders[BEFORE] = _orders(memory, life, k, weights)
                orders[RECENT] = _orders(memory, life, k, RankingWeights.RECENT)
            _consolidate(memory)
            orders[name] = _orders(memory, life, k, weights)
            kept[name] = _kept(_everything(memory), life)
    return Measured(life, orders, kept)


def dated(life: Life) -> list[tuple[datetime, Said]]:
    """Return all messages with their times, in order; those of any day are spread evenly over all days."""
    fixed = [(one.at, one) for one in life.said() if one.at is not None]
    free = [one for one in life.said() if one.at is None]
    first, last = min(at for at, _ in fixed), max(at for at, _ in fixed)
    begin, days = first.replace(hour=0, minute=0), (last - first).days
    spread = [
        (begin + timedelta(days=place * days // len(free), hours=_FIRST_HOUR + place % _HOURS, minutes=place % 60), one)
        for place, one in enumerate(free)
    ]
    return sorted([*fixed, *spread], key=lambda pair: (pair[0], pair[1].id))


def _say(memory: Engine, talk: Sequence[tuple[datetime, Said]]) -> None:
    """Add the messages, those of a day in one session, what friends say to each other in one of its own."""

    def session(spoken: tuple[datetime, Said]) -> str:
        at, said = spoken
        return f"{at:%Y-%m-%d}" if said.speaker is None else f"{at:%Y-%m-%d} with {said.speaker}"

    for name, messages in groupby(talk, session):
        memory.session(_USER, name).add(
            *(
                {"id": said.id, "role": "user", "content": said.text, "name": said.speaker, "created_at": at}
                for at, said in messages
            )
        )
    report = memory.reindex(_USER)
    if report.failed:
        raise EmbeddingError("; ".join(report.failed))


def _consolidate(memory: Engine) -> None:
    """Consolidate everything, and embed what it drew."""
    report = memory.consolidate(_USER, everything=True)
    if left := report.failed + report.waiting:
        raise ExtractionError(f"the facts of {left} messages could not be found")
    memory.reindex(_USER)


def _orders(memory: Engine, life: Life, k: int, weights: RankingWeights) -> dict[str, str]:
    return {
        pair.id: judge.order(memory.recall(_USER, pair.question, k=k, weights=weights, touch=False), pair)
        for pair in life.pairs
    }


def _everything(memory: Engine) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    after: str | None = None
    while page := memory.list(_USER, include_superseded=True, limit=_PAGE, after=after):
        found.update((one.id, one) for one in page)
        after = page[-1].id
    return found


def _kept(records: Mapping[str, Memory], life: Life) -> Kept:
    every = records.values()
    both = [one for control in life.controls for one in control.both]
    lost = judge.losses(every, both)
    gone = [one for one in every if judge.retired(one)]
    return Kept(
        ends={pair.id: judge.end(records, pair) for pair in life.pairs},
        current_retired=tuple(
            pair.id for pair in life.pairs if any(judge.stated(one, pair) == judge.CURRENT for one in gone)
        ),
        controls=tuple(one.id for one in life.controls if not lost.isdisjoint(said.id for said in one.both)),
        unrelated=tuple(sorted(judge.losses(every, life.unrelated))),
        mixed=tuple(sorted(judge.mixed(every, life.unrelated))),
        drawn=(len(judge.drawn_from(every, life.unrelated)), len(judge.drawn_from(every, both))),
    )
