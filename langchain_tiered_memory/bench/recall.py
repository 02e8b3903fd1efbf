"""How much of what a question rests on is recalled, of conversations whose evidence is known turn by turn.

Every conversation becomes one user of a memory of its own. Every turn is remembered verbatim, in order, with speaker,
session and date; then every question is asked as it stands. A gold turn is found when a hit, or one of the first
sources of a hit, is it. The baselines are asked the same, of the same turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from langchain_tiered_memory.bench.baselines import Ranking, Remembering, bm25, dense
from langchain_tiered_memory.bench.corpora import Corpus, Talk, Turn
from langchain_tiered_memory.core.config import MaintenanceSettings, RankingWeights, Settings
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import EmbeddingError, InvalidInput
from langchain_tiered_memory.core.model import Memory, NewMemory
from langchain_tiered_memory.core.ports import Embedder
from langchain_tiered_memory.core.text import passages
from langchain_tiered_memory.system import MemorySystem

MEMORY, BM25, DENSE = METHODS = ("memory", "BM25", "dense")
"""What is measured: this package, and the baselines."""
CUTOFFS = (5, 10)
MRR = "MRR"

_USER = "bench"
_AFTERWARDS = timedelta(hours=1)
_SOURCES = 4
"""Most sources of a hit that count as found: what rests on more than that points to none of them."""
_QUIET = Settings(maintenance=MaintenanceSettings(automatic=False))
"""Nothing happens beside the questions, so that equal runs have equal figures."""


@dataclass(frozen=True, slots=True)
class Row:
    """How one method answered one question.

    Attributes:
        talk: The conversation's place in the corpus.
        category: The question's.
        method: One of `METHODS`.
        measures: Measure to value: the share of gold turns found ("R@5"), whether one was ("hit@10"), and "MRR".
    """

    talk: int
    category: str
    method: str
    measures: Mapping[str, float]


def cutoffs(k: int) -> tuple[int, ...]:
    """Return after how many hits recall is measured."""
    return (*(one for one in CUTOFFS if one < k), k)


def judged(found: Sequence[frozenset[str]], gold: frozenset[str], k: int) -> dict[str, float]:
    """Return every measure of one answer.

    Args:
        found: The turns that each hit stands for, best hit first.
        gold: The turns that the question rests on.
        k: How many hits were asked for.
    """
    measures = {
        f"R@{cut}": len(gold & frozenset().union(*found[:cut])) / len(gold) if found else 0.0 for cut in cutoffs(k)
    }
    first = next((place for place, turns in enumerate(found[:k], 1) if turns & gold), None)
    return measures | {f"hit@{k}": float(first is not None), MRR: 1 / first if first else 0.0}


def spoken(talk: Talk, roles: Sequence[str] = ()) -> tuple[Turn, ...]:
    """Return the turns that are remembered: not blank, and of these roles if any are named."""
    return tuple(turn for turn in talk.turns if turn.content.strip() and (not roles or turn.role in roles))


def work(talk: Talk, roles: Sequence[str] = ()) -> int:
    """Return how much there is to do for a conversation: texts to embed and questions to ask."""
    cut = (len(passages(turn.content)) for turn in spoken(talk, roles))
    return sum(parts + (parts > 1) for parts in cut) + len(talk.questions)  # once in parts, and once whole


def measured(
    corpus: Corpus,
    embedder: Embedder,
    *,
    weights: RankingWeights = RankingWeights.DEFAULT,
    k: int = 10,
    roles: Sequence[str] = (),
    tick: Callable[[int], object] = lambda _: None,
) -> Iterator[Row]:
    """Ask every question of every conversation, and yield how each method answered.

    Args:
        corpus: The conversations.
        embedder: The embedder of the memory, and of the dense baseline.
        weights: The memory's ranking recipe.
        k: How many hits are asked for.
        roles: Only what these roles said is remembered; empty for all.
        tick: Told of every few texts and of every question, as `work` counts them.

    Raises:
        InvalidInput: Nothing of a conversation is by these roles.
        EmbeddingError: The embedder failed.
    """
    kept = Remembering(embedder, tick)
    for place, talk in enumerate(corpus.talks):
        kept.forget()
        turns = spoken(talk, roles)
        if not turns:
            raise InvalidInput("role", list(roles), f"nothing in the conversation {talk.id!r} was said by them")
        now = _asked_at(talk, turns)
        system = MemorySystem(
            vector_db="exact",
            path=":memory:",
            embedder=kept,
            weights=weights,
            settings=_QUIET,
            clock=lambda now=now: now,
        )
        with system.sync as memory:
            stored = _remembered(memory, turns)
            ways = _ways(memory, stored, [turn.id for turn in turns], kept)
            for question in talk.questions:
                for method, ask in ways.items():
                    found = ask(question.text, k)
                    yield Row(place, question.category, method, judged(found, question.gold, k))
                tick(1)


def _asked_at(talk: Talk, turns: Sequence[Turn]) -> datetime:
    """Return when the questions are asked: after all that was said."""
    told = [turn.observed_at for turn in turns if turn.observed_at is not None]
    after = max(told, default=datetime.now(UTC)) + _AFTERWARDS
    return after if talk.asked_at is None else max(after, talk.asked_at)


def _remembered(memory: Engine, turns: Sequence[Turn]) -> Sequence[Memory]:
    """Remember all turns, and embed what would be embedded later."""
    stored = memory.remember_many(
        _USER,
        [
            NewMemory(
                turn.content, session_id=turn.session_id, role=turn.role, name=turn.name, observed_at=turn.observed_at
            )
            for turn in turns
        ],
    )
    report = memory.reindex(_USER)
    if report.failed:
        raise EmbeddingError("; ".join(report.failed))
    return stored


def _ways(
    memory: Engine, stored: Sequence[Memory], names: Sequence[str], embedder: Embedder
) -> Mapping[str, Callable[[str, int], list[frozenset[str]]]]:
    """Return what is asked, by method: each returns the turns that its hits stand for."""
    turn_of: dict[str, frozenset[str]] = {}
    for one, name in zip(stored, names, strict=True):  # said twice at the same instant it is one memory
        turn_of[one.id] = turn_of.get(one.id, frozenset()) | {name}

    def recalled(text: str, k: int) -> list[frozenset[str]]:
        hits = memory.recall(_USER, text, k=k, touch=False)
        if hits.failed:
            raise EmbeddingError(f"not all could be searched: {', '.join(hits.failed)} failed")
        nothing: frozenset[str] = frozenset()
        return [nothing.union(*(turn_of.get(i, nothing) for i in _stands_for(hit))) for hit in hits]

    def baseline(ranking: Ranking) -> Callable[[str, int], list[frozenset[str]]]:
        return lambda text, k: [frozenset({names[place]}) for place in ranking(text, k)]

    return {MEMORY: recalled, BM25: baseline(bm25(stored)), DENSE: baseline(dense(stored, embedder))}


def _stands_for(hit: Memory) -> tuple[str, ...]:
    return (hit.id, *[source for source in hit.source_ids if source != hit.id][:_SOURCES])
