"""Search: every signal of every memory of a user, for one query."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from langchain_tiered_memory.core import ranking
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.dates import days_told, without_relative
from langchain_tiered_memory.core.errors import BackendUnavailable, EmbeddingError
from langchain_tiered_memory.core.indexing import Indexing
from langchain_tiered_memory.core.model import Memory, Signal, Tier
from langchain_tiered_memory.core.outdated import Adjusted, Ending
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import PassageVector, Vector, ref_memory_id
from langchain_tiered_memory.core.question import Past, Question, objection
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.core.times import asks_when

logger = logging.getLogger("langchain_tiered_memory.search")

BARE_TERMS = 3
"""A query of at most this many terms that points to something is read together with the session's last words."""
POINTING = frozenset(
    "he she it her him his hers its they them their theirs that this these those there then one ones and also too "
    "same".split()
)
_WORD = re.compile(r"\w+")
_FROM_INDEX = 8
"""The index is asked for this many times the pool: the neighbours' share of relevance reorders what it found."""
_SCAN_SELECTED = 20_000
"""Up to so many memories that a filter leaves are compared one by one, whatever the index."""
_DECIMALS = 6
"""What differs less is a difference of arithmetic, not of relevance."""


@dataclass(frozen=True, slots=True)
class Window:
    """What the current session shows anyway and need not be returned, and its last words."""

    session_id: str | None = None
    ids: frozenset[str] = frozenset()
    last_words: str = ""

    def shows(self, memory: Memory) -> bool:
        """Say whether this memory is one of the messages shown; another session may use the same ids."""
        return memory.id in self.ids and memory.session_id == self.session_id


@dataclass(frozen=True, slots=True)
class Found:
    """Signals and scores of every row of a snapshot for one question, shape `(rows,)`.

    Attributes:
        snapshot: The snapshot the rows belong to.
        failed: The tiers that could not be read, and "embedder" when keywords alone answered.
        relevance: How relevant each row is, in [0, 1].
        scores: The recipe's score, in [0, 1].
        outdated: What current values took over from outdated ones; None where the question is not about the present.
        beside: Vectors of rows that the snapshot does not hold, as far as they were read for this question.
        lifts: Row to what was added to its score, because it says later what the best hit says.
    """

    snapshot: Snapshot
    failed: tuple[str, ...]
    evidence: ranking.Evidence
    signals: Mapping[str, ranking.Numbers]
    scores: ranking.Numbers
    outdated: Adjusted | None = None
    beside: Mapping[int, Sequence[PassageVector]] = field(default_factory=dict)
    lifts: Mapping[int, float] = field(default_factory=dict)

    @property
    def relevance(self) -> ranking.Numbers:
        """How relevant each row is, in [0, 1]."""
        return self.signals["relevance"]

    def explain(self, row: int, question: Question) -> Mapping[str, Signal]:
        """Return the parts of a row's score."""
        values = {name: float(column[row]) for name, column in self.signals.items()}
        parts = {name: float(getattr(self.evidence, name)[row]) for name in ranking.PARTS}
        told = ranking.explain(values, {**parts, **self._changes(row)}, question.weights)
        lift = self.lifts.get(row)
        return told if lift is None else {**told, "latest": Signal(lift, 1.0, lift)}

    def lifted(self, row: int, score: float) -> Found:
        """Return the same with a row that has the score of another."""
        scores = self.scores.copy()
        scores[row] = score
        return replace(self, scores=scores, lifts={row: score - float(self.scores[row])})

    def vector(self, row: int) -> Vector | None:
        """Return the vector of a row's first passage; None where it has none, or none that was read."""
        read = {one.passage: one.vector for one in self.beside.get(row, ())}
        return self.snapshot.vector(row) if not read else read[min(read)]

    def _changes(self, row: int) -> Mapping[str, float]:
        """Return what became of the row's relevance because values changed; mostly nothing."""
        if self.outdated is None:
            return {}
        told = {"taken_over": self.outdated.taken_over[row], "superseded": self.outdated.superseded[row]}
        return {name: float(value) for name, value in told.items() if value}

    def ending(self, row: int) -> Ending | None:
        """Return what became of the value that a row is met by; None where it is met by what still holds."""
        return None if self.outdated is None else self.outdated.ending(row)


def past_of(snapshot: Snapshot) -> Past:
    """Return what was known of a snapshot's memories when; its lock is held when that is asked."""
    return Past(lambda: (entry.memory for entry in sorted(snapshot.entries(), key=lambda entry: entry.order)))


def bare(text: str, terms: Sequence[str]) -> bool:
    """Say whether a query means nothing without what was said before: it is short and points ("and her sister?")."""
    return len(terms) <= BARE_TERMS and (not terms or not POINTING.isdisjoint(_WORD.findall(text.casefold())))


class Search:
    """Computes signals. Models and stores are asked outside the snapshot's lock."""

    def __init__(self, parts: Parts, snapshots: Snapshots, indexing: Indexing) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._indexing = indexing

    def run(self, question: Question, text: str, window: Window, now: datetime) -> Found:
        """Search for `text`; the question says whose memories and which may count."""
        snapshot, failed = self._current(question.user_id)
        terms = analyze(text)
        if window.last_words and bare(text, terms):
            text = f"{window.last_words}\n{text}"
            terms = analyze(text)
        days = days_told(text, now.date(), weeks=True)
        if days:
            terms = [*analyze(without_relative(text)), *days]
        vector = as_asked = None
        try:
            vector, as_asked = self._embedded(snapshot, text, terms, question.weights)
        except EmbeddingError as error:
            logger.warning("recall goes by keywords alone: %s", error)
            failed = (*failed, "embedder")
        else:
            snapshot.demand_dimension(vector)
        try:
            beside = self._from_index(snapshot, question, vector, terms, now)
        except BackendUnavailable:
            logger.warning("long-term memory does not answer: the rest is searched without it")
            beside, failed = {}, tuple(dict.fromkeys((*failed, str(Tier.LONG_TERM))))
        with snapshot.lock:
            evidence = self._evidence(snapshot, (vector, as_asked), text, terms, beside)
            signals = self._signals(snapshot, evidence, now)
            outdated = None
            if question.about_now:
                outdated = snapshot.outdated.adjusted(signals["relevance"], snapshot.find)
                signals = {**signals, "relevance": np.round(outdated.relevance, _DECIMALS)}
        scores: ranking.Numbers = np.round(ranking.scores(signals, question.weights), _DECIMALS)
        return Found(snapshot, failed, evidence, signals, scores, outdated, beside)

    def _current(self, user_id: str) -> tuple[Snapshot, tuple[str, ...]]:
        """Return the snapshot, after embedding a bounded number of passages that wait for it."""
        snapshot, failed = self._snapshots.get(user_id)
        limit = self._parts.settings.search.embed_pending
        if limit == 0 or not snapshot.has_pending:
            return snapshot, failed
        try:
            self._indexing.embed_pending(user_id, limit)
        except (EmbeddingError, BackendUnavailable):
            logger.warning("pending passages stay pending: they are found by keyword")
        return self._snapshots.get(user_id)

    def _embedded(
        self, snapshot: Snapshot, text: str, terms: Sequence[str], weights: RankingWeights
    ) -> tuple[Vector, Vector]:
        """Return the vector of what is meant, and of the question as it stands where the recipe counts its cosine.

        Whoever the question names is looked for by name; the meaning is looked for in what else it says. So the cosine
        tells of the subject, and not of who speaks.
        """
        with snapshot.lock:
            meant = snapshot.speakers.left_out(text, terms)
        vector = self._parts.embedder.embed_query(meant)
        if meant == text or not weights.similarity:
            return vector, vector
        return vector, self._parts.embedder.embed_query(text)

    @staticmethod
    def _evidence(
        snapshot: Snapshot,
        vectors: tuple[Vector | None, Vector | None],
        text: str,
        terms: Sequence[str],
        beside: Mapping[int, Sequence[PassageVector]],
    ) -> ranking.Evidence:
        vector, as_asked = vectors
        nearest, meaning = (np.where(snapshot.alive, one, np.float32(0)) for one in snapshot.cosines(vector, beside))
        if as_asked is not vector:
            nearest = np.where(snapshot.alive, snapshot.cosines(as_asked, beside)[0], np.float32(0))
        keywords = np.where(snapshot.alive, snapshot.keywords(terms), np.float32(0))
        return ranking.Evidence(
            similarity=nearest,
            meaning=meaning,
            keywords=keywords,
            meaning_beside=snapshot.best_beside(meaning),
            session_keywords=snapshot.session_keywords(terms),
            session_meaning=snapshot.session_best(meaning),
            speaker=snapshot.speakers.named(terms),
            time=snapshot.tells_when.astype(np.float32) * np.float32(asks_when(text)),
            alone=snapshot.alone,
            said_by=np.where(snapshot.said_by("assistant"), np.float32(ranking.SAID_BY_ASSISTANT), np.float32(1)),
        )

    @staticmethod
    def _signals(snapshot: Snapshot, evidence: ranking.Evidence, now: datetime) -> Mapping[str, ranking.Numbers]:
        return {
            "relevance": np.round(ranking.relevance(evidence), _DECIMALS),
            "similarity": evidence.similarity,
            "importance": snapshot.numbers("importance").copy(),
            "recency": ranking.recency(snapshot.numbers("last_accessed"), now.timestamp()),
            "use": ranking.use(snapshot.numbers("access_count")),
        }

    def _from_index(
        self,
        snapshot: Snapshot,
        question: Question,
        vector: Vector | None,
        terms: Sequence[str],
        now: datetime,
    ) -> Mapping[int, Sequence[PassageVector]]:
        """Return the vectors of the rows that could be relevant and are not held here: the index names them.

        Raises:
            BackendUnavailable: Long-term memory, which keeps the vectors, does not answer.
        """
        if not snapshot.partial or vector is None or self._parts.index is None:
            return {}
        many = _FROM_INDEX * max(question.weights.pool, question.k)
        with snapshot.lock:
            by_keyword = [int(row) for row in np.argsort(-snapshot.keywords(terms), kind="stable")[:many]]
            selected = self._selected(snapshot, question, now) if question.selective else None
        if selected is None or len(selected) > _SCAN_SELECTED:
            selected = self._nearest(snapshot, question.user_id, vector, many)
        with snapshot.lock:
            rows = dict.fromkeys([*selected, *by_keyword])
            rows |= dict.fromkeys(near for row in list(rows) for near in snapshot.neighbours(row, 1))
            wanted = {snapshot.entry(row).memory.id: row for row in rows}
        found = self._parts.records.vectors(question.user_id, list(wanted))
        model = self._parts.embedder.model_id
        return {wanted[one]: [v for v in vectors if v.model_id == model] for one, vectors in found.items()}

    def _nearest(self, snapshot: Snapshot, user_id: str, vector: Vector, many: int) -> list[int]:
        """Return the rows that the index names; all rows when it does not answer."""
        index = self._parts.index
        try:
            refs = () if index is None else index.query(user_id, vector, many)
        except BackendUnavailable:
            logger.warning("the vector index does not answer: every vector is compared")
            return list(range(len(snapshot)))
        if not refs:
            lost = [row for row in range(len(snapshot)) if snapshot.entry(row).left_out]
            if lost:
                logger.warning(
                    "the vector index has lost a user, and is rebuilt by reindex(): every vector is compared"
                )
            return lost
        rows = (snapshot.row_of(ref_memory_id(ref)) for ref in refs)
        return list(dict.fromkeys(row for row in rows if row is not None))

    @staticmethod
    def _selected(snapshot: Snapshot, question: Question, now: datetime) -> list[int]:
        past = past_of(snapshot)
        rows = map(int, np.flatnonzero(snapshot.alive))
        return [row for row in rows if objection(snapshot.entry(row), question, now, past) is None]
