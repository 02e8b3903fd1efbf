"""Recall: from a question to ranked, explained, counted hits."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np

from langchain_tiered_memory.core import ranking
from langchain_tiered_memory.core.bodies import items_of
from langchain_tiered_memory.core.derive import terms_about
from langchain_tiered_memory.core.diversity import Crowd
from langchain_tiered_memory.core.errors import BackendUnavailable, TieredMemoryError
from langchain_tiered_memory.core.latest import AMONG, APART, Said, latest, may_give_way, names_in
from langchain_tiered_memory.core.model import Memory, RecallResult, ScoredMemory, Signal, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.patience import waiting_at_most
from langchain_tiered_memory.core.ports import Judgement
from langchain_tiered_memory.core.question import Question, objection
from langchain_tiered_memory.core.reports import Explanation
from langchain_tiered_memory.core.search import Found, Search, Window, past_of
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.times import asks_of_the_past

logger = logging.getLogger("langchain_tiered_memory.recall")

_FIRST_TAKE = 2
_MORE = 8
"""So many times the pool are sorted at first, and so many times more whenever too much of it was ruled out."""


class Recall:
    """Answers questions. A tier that cannot be read is named in the result; the others answer."""

    def __init__(
        self,
        parts: Parts,
        snapshots: Snapshots,
        search: Search,
        window: Callable[[str, str], Window],
    ) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._search = search
        self._window = window

    def recall(self, question: Question) -> RecallResult:
        """Return the best k memories, count the access, and say what could not be read."""
        limits = self._parts.settings.servers
        with waiting_at_most(limits.redis_deadline.total_seconds(), limits.sql_deadline.total_seconds()):
            result = self.look_up(question, question.text, self._seen(question))
            if not question.touch or not result:
                return result
            return RecallResult(self.count_access(question.user_id, result), result.failed)

    def look_up(self, question: Question, text: str, window: Window) -> RecallResult:
        """Return the best k memories for `text` without counting an access."""
        now = self._parts.clock()
        question = replace(question, keeps=self._parts.settings.short_term.promote_importance)
        found = self._search.run(question, text, window, now)
        found, ranked = self._ranked(found, question, text, now, window)
        hits, failed = self._best(found, ranked, question, text, now)
        if question.neighbors and hits:
            hits += self._beside(found, hits, question, now, window)
        return RecallResult(self._within(hits, question.max_tokens), failed)

    def still_there(self, user_id: str, hits: Sequence[ScoredMemory]) -> tuple[ScoredMemory, ...]:
        """Return those of earlier hits that have not gone meanwhile."""
        snapshot, _ = self._snapshots.get(user_id)
        with snapshot.lock:
            return tuple(hit for hit in hits if snapshot.row_of(hit.id) is not None)

    def count_access(self, user_id: str, hits: Sequence[ScoredMemory]) -> tuple[ScoredMemory, ...]:
        """Count one access in the tier that owns each hit, and return the hits showing it.

        While an item is on its way to long-term memory and stands in both tiers, the item counts; what has arrived
        since the search is counted there. So each access counts once, and what the item hands over is the whole count.
        A tier that fails to count is logged, and its hits are returned as they were.
        """
        now = self._parts.clock()
        on_their_way = self._snapshots.in_both(user_id, [hit.id for hit in hits])
        short = [hit.id for hit in hits if hit.tier is Tier.SHORT_TERM or hit.id in on_their_way]
        counted = self._count(user_id, Tier.SHORT_TERM, short, now)
        counted |= self._count(user_id, Tier.LONG_TERM, [hit.id for hit in hits if hit.id not in counted], now)
        return tuple(_accessed(hit, now) if hit.id in counted else hit for hit in hits)

    def _count(self, user_id: str, tier: Tier, ids: Sequence[str], now: datetime) -> frozenset[str]:
        """Count one access of each id that is in this tier, and return those ids."""
        if not ids:
            return frozenset()
        store = self._parts.items if tier is Tier.SHORT_TERM else self._parts.records
        try:
            touched = store.touch(user_id, ids, now)
        except BackendUnavailable:
            logger.warning("%d accesses in %s could not be counted", len(ids), tier)
            return frozenset()
        self._snapshots.touch(user_id, tier, touched, now)
        return touched.ids

    def explain(self, question: Question, memory_id: str) -> Explanation | None:
        """Say why one memory is, or is not, among the hits; None when the user has no such memory."""
        now = self._parts.clock()
        window = self._seen(question)
        question = replace(question, keeps=self._parts.settings.short_term.promote_importance)
        found = self._search.run(question, question.text, window, now)
        row = found.snapshot.row_of(memory_id)
        if row is None:
            return None
        no = objection(found.snapshot.entry(row), question, now, past_of(found.snapshot))
        if window.shows(found.snapshot.entry(row).memory):
            no = "the session's window shows it already"
        if no is not None:
            return Explanation(memory_id, False, None, None, {}, f"Not recalled: {no}.")  # noqa: FBT003 - by position
        found, ranked = self._ranked(found, question, question.text, now, window)
        score, signals = float(found.scores[row]), found.explain(row, question)
        if row not in ranked:
            reason = f"Not recalled: not among the {question.weights.pool} most relevant, or below the least score."
            return Explanation(memory_id, False, None, score, signals, reason)  # noqa: FBT003 - by position
        rank = ranked.index(row) + 1
        hits, _ = self._best(found, ranked, question, question.text, now)
        recalled = any(hit.id == memory_id for hit in hits)
        judge = " before the reranker judged" if self._parts.reranker is not None else ""
        said = "Recalled" if recalled else "Not recalled"
        reason = f"{said}: rank {rank} of {len(ranked)}{judge} for k={question.k}."
        if not recalled and not judge and rank <= question.k:
            reason += " Others that say nearly the same come before it."
        return Explanation(memory_id, recalled, rank, score, signals, reason)

    def _seen(self, question: Question) -> Window:
        if question.session_id is None:
            return Window()
        return self._window(question.user_id, question.session_id)

    def _ranked(
        self, found: Found, question: Question, text: str, now: datetime, window: Window
    ) -> tuple[Found, list[int]]:
        """Return the rows that may be returned, best first: the most relevant that nothing speaks against, ranked."""
        snapshot, past = found.snapshot, past_of(found.snapshot)
        pool: list[int] = []
        need = max(question.weights.pool, question.k)
        for row in _by_relevance(found, need):
            entry = snapshot.entry(row)
            if window.shows(entry.memory) or str(entry.memory.tier) in found.failed:
                continue
            if objection(entry, question, now, past) is None:
                pool.append(row)
                if len(pool) == need:
                    break
        if question.min_score is None:
            least = ranking.least_relevance(self._parts.embedder.model_id)
            pool = [row for row in pool if found.relevance[row] >= least]
        else:
            pool = [row for row in pool if found.scores[row] >= question.min_score]
        ranked = sorted(pool, key=lambda row: (-found.scores[row], *_newest(snapshot, row)))
        if question.weights.latest_first and question.about_now and not asks_of_the_past(text):
            return _latest_first(found, ranked, names_in(text))
        return found, ranked

    def _best(
        self, found: Found, ranked: Sequence[int], question: Question, text: str, now: datetime
    ) -> tuple[list[ScoredMemory], tuple[str, ...]]:
        """Return the best k, by the reranker's judgement where there is one, and what could not be read or asked."""
        reranker = self._parts.reranker
        if reranker is None:
            hits, unread = self._hits(found, ranked, question, now)
            return hits, tuple(dict.fromkeys((*found.failed, *unread)))
        many = max(question.k, self._parts.settings.search.rerank)
        hits, unread = self._hits(found, ranked, replace(question, k=many), now)
        failed = dict.fromkeys((*found.failed, *unread))
        try:
            judged = reranker.rerank(text, tuple(hits)) if hits else ()
        except TieredMemoryError as error:
            logger.warning("the order of the search stands: %s", error)
            return hits[: question.k], (*failed, "reranker")
        last = max(len(judged), 1)
        order = [_judged(hits[one.place], one, 1 - at / last) for at, one in enumerate(judged)]
        return order[: question.k], tuple(failed)

    def _hits(
        self, found: Found, ranked: Sequence[int], question: Question, now: datetime
    ) -> tuple[list[ScoredMemory], tuple[str, ...]]:
        """Fetch bodies until k stand; what is gone meanwhile is left out and the gap refilled.

        What says nearly the same as others makes room while there is anything else.
        """
        snapshot, past = found.snapshot, past_of(found.snapshot)
        scarce = len(ranked) > question.k  # where there is room for all, none has to make room
        crowd = Crowd(self._parts.embedder.model_id, question.weights.most_alike if scarce else 0)
        hits: dict[int, ScoredMemory] = {}
        spare: dict[int, ScoredMemory] = {}
        unread: set[str] = set()
        at = 0
        while len(hits) < question.k and at < len(ranked):
            rows = ranked[at : at + question.k - len(hits)]
            at += len(rows)
            bodies = self._bodies(question.user_id, [snapshot.entry(row).memory for row in rows], unread)
            for row in rows:
                body = bodies.get(snapshot.entry(row).memory.id)
                if body is None or objection(replace(snapshot.entry(row), memory=body), question, now, past):
                    continue
                hit = _dated(ScoredMemory.of(body, float(found.scores[row]), found.explain(row, question)), found, row)
                (hits if crowd.takes(found.vector(row), body.content) else spare)[row] = hit
        hits |= dict(islice(spare.items(), question.k - len(hits)))
        return [hits[row] for row in ranked if row in hits], tuple(sorted(unread))

    def _bodies(self, user_id: str, heads: Iterable[Memory], unread: set[str]) -> dict[str, Memory]:
        """Fetch bodies; an item that was promoted since the search is found where it went."""
        wanted = list(heads)
        short = [head.id for head in wanted if head.tier is Tier.SHORT_TERM]
        found: dict[str, Memory] = {}
        try:
            found = {memory.id: memory for memory in items_of(self._parts, user_id, short)}
        except BackendUnavailable:
            unread.add(str(Tier.SHORT_TERM))
        try:
            rest = [head.id for head in wanted if head.id not in found]
            found |= {memory.id: memory for memory in (self._parts.records.get(user_id, rest) if rest else ())}
        except BackendUnavailable:
            unread.add(str(Tier.LONG_TERM))
        return found

    def _beside(
        self, found: Found, hits: Sequence[ScoredMemory], question: Question, now: datetime, window: Window
    ) -> list[ScoredMemory]:
        """Return the session's neighbours of the hits that are not hits themselves, in the order of the hits."""
        snapshot = found.snapshot
        with snapshot.lock:
            rows = [row for hit in hits if (row := snapshot.row_of(hit.id)) is not None]
            near = dict.fromkeys(one for row in rows for one in snapshot.neighbours(row, question.neighbors))
            shown = {row for row in near if window.shows(snapshot.entry(row).memory)}
        fresh = [row for row in near if row not in rows and row not in shown and row < len(found.scores)]
        return self._hits(found, fresh, replace(question, k=len(fresh)), now)[0] if fresh else []

    def _within(self, hits: list[ScoredMemory], max_tokens: int | None) -> list[ScoredMemory]:
        """Return the best hits whose texts together cost at most `max_tokens`."""
        if max_tokens is None:
            return hits
        kept, left = [], max_tokens
        for hit in hits:
            left -= self._parts.counter.text(hit.content)
            if left < 0:
                break
            kept.append(hit)
        return kept


def _dated(hit: ScoredMemory, found: Found, row: int) -> ScoredMemory:
    """Return a hit that says until when it held, if it is met by what it tells of something that has changed."""
    ending = found.ending(row)
    return hit if ending is None else replace(hit, superseded_by=ending.by.id, valid_to=ending.at)


def _accessed(hit: ScoredMemory, now: datetime) -> ScoredMemory:
    return replace(hit, access_count=hit.access_count + 1, last_accessed=max(hit.last_accessed, now))


def _judged(hit: ScoredMemory, judgement: Judgement, by_order: float) -> ScoredMemory:
    """Return the hit telling what the reranker said of it; its score stays what the search found."""
    value = by_order if judgement.relevance is None else judgement.relevance
    return replace(hit, explanation={**hit.explanation, "reranked": Signal(value, 0.0, 0.0)})


def _newest(snapshot: Snapshot, row: int) -> tuple[float, int, str]:
    """Return what decides between equals: newer, then later written, then id."""
    entry = snapshot.entry(row)
    return -entry.memory.observed_at.timestamp(), -entry.order, entry.memory.id


def _latest_first(found: Found, ranked: list[int], named: frozenset[str]) -> tuple[Found, list[int]]:
    """Let the best row give way to the one that says the same later, if there is one: that gets its score."""
    snapshot, best = found.snapshot, ranked[:AMONG]
    scores = [float(found.scores[row]) for row in best]
    with snapshot.lock:
        heads = [snapshot.entry(row).memory for row in best]
        if not may_give_way(heads, scores):
            return found, ranked
        sessions = Counter(head.session_id for head in heads)
        hits = [_said(found, row, shared=sessions[head.session_id] > 1) for row, head in zip(best, heads, strict=True)]
    place = latest(hits, scores, named)
    if place is None:
        return found, ranked
    row = ranked[place]
    return found.lifted(row, float(found.scores[ranked[0]])), [row, *(one for one in ranked if one != row)]


def _said(found: Found, row: int, *, shared: bool) -> Said:
    """Return what a row says; what is beside it matters only where its session is that of another hit."""
    snapshot = found.snapshot
    entry = snapshot.entry(row)
    return Said(
        row=row,
        head=entry.memory,
        order=entry.order,
        terms=snapshot.postings.terms(row, besides=terms_about(entry.memory)),
        vector=found.vector(row),
        beside=frozenset(snapshot.neighbours(row, APART) if shared else ()),
    )


def _by_relevance(found: Found, need: int) -> Iterable[int]:
    """Yield living rows, most relevant first, ties newest first; only as many are sorted as are asked for."""
    count = len(found.relevance)
    values = np.where(found.snapshot.alive[:count], found.relevance, -1.0)
    done = np.zeros(count, np.bool_)
    take = _FIRST_TAKE * need
    while count:
        take = min(take, count)
        threshold = max(float(np.partition(values, count - take)[count - take]), 0.0)
        fresh = map(int, np.flatnonzero((values >= threshold) & ~done))
        rows = sorted(fresh, key=lambda row: (-values[row], *_newest(found.snapshot, row)))
        yield from rows
        done[rows] = True
        if take == count:
            return
        take *= _MORE
