"""Recall: every argument of it, what a hit is, and how a score is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from langchain_tiered_memory import Memory, NewMemory, RankingWeights, RecallResult, ScoredMemory
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.tokens import TiktokenCounter
from tests.conftest import FakeClock
from tests.flow.systems import FailingEmbedder, House

CLASSIC = RankingWeights.CLASSIC


def notes(memory: Engine, *texts: str, **fields: Any) -> list[Memory]:
    return [memory.remember("ada", text, **fields) for text in texts]


def found(memory: Engine, query: str, k: int = 20, **how: Any) -> list[str]:
    return [hit.content for hit in memory.recall("ada", query, k, **{"touch": False, **how})]


# -- what is found -----------------------------------------------------------------------------------------------------


def test_what_was_just_remembered_is_recalled(sync: Engine) -> None:
    """`recall` right after `remember`, before consolidation, must see the item, in both tiers."""
    for tier in ("short_term", "long_term"):
        notes(sync, f"the {tier} gate is green", tier=tier)
        assert f"the {tier} gate is green" in found(sync, "gate")


def test_both_stored_tiers_are_searched(sync: Engine) -> None:
    """`recall` searches both stored tiers."""
    notes(sync, "green gate", "blue gate", tier="short_term")
    notes(sync, "red gate", tier="long_term")
    assert set(found(sync, "gate")) == {"green gate", "blue gate", "red gate"}


@pytest.mark.parametrize("k", [1, 3, 7])
def test_k_is_how_many(sync: Engine, k: int) -> None:
    """`k=5`: how many; `min_score=0.0` always gives the best k."""
    notes(sync, *(f"note {n} about the weather" for n in range(9)))
    assert len(sync.recall("ada", "a query about nothing of this", k)) == k
    assert len(sync.recall("ada", "weather")) == 5


def test_more_than_there_is_gives_what_there_is(sync: Engine) -> None:
    """`k` may be larger than the memory, and than the pool that is ranked."""
    notes(sync, *(f"note {n} about the weather" for n in range(60)))
    assert len(sync.recall("ada", "weather", 500)) == 60
    assert sync.recall("nobody", "weather", 500) == []


def test_a_word_that_only_one_memory_has_finds_it(sync: Engine) -> None:
    """A hit found by only one of them can win: unique token ("ERR-4711") must be rank 1."""
    sync.remember_many("ada", [NewMemory(f"error and failure number {n} of the pump") for n in range(50)])
    notes(sync, "the cellar said ERR-4711 on Sunday")
    assert found(sync, "what does ERR-4711 mean", 1) == ["the cellar said ERR-4711 on Sunday"]


def test_a_memory_without_a_shared_word_is_found_by_meaning(house: House) -> None:
    """A hit found by only one of them can win."""
    memory = house.open(embedder=meaning)
    memory.remember_many("ada", [NewMemory(f"remark number {n} on the weather") for n in range(30)])
    notes(memory, "Ruth adopted a feline")
    assert found(memory, "cat", 1) == ["Ruth adopted a feline"]


def meaning(texts: list[str]) -> list[list[float]]:
    """Embed by topic: cats, and everything else."""
    return [[1.0, 0.0] if any(w in text for w in ("cat", "feline")) else [0.0, 1.0] for text in texts]


def test_a_day_named_in_the_query_finds_what_was_said_on_it(sync: Engine) -> None:
    """Analysed terms of day, speaker and text."""
    for month in range(1, 13):
        notes(sync, "we met", observed_at=datetime(2023, month, 8, tzinfo=UTC), name="Ruth", session_id=str(month))
    names = ("January", "May", "December")
    days = [sync.recall("ada", f"whom did we meet in {name} 2023", 1)[0].observed_at for name in names]
    assert [day.month for day in days] == [1, 5, 12]


def test_a_blank_query_asks_for_nothing_in_particular(sync: Engine) -> None:
    """A query may be blank."""
    notes(sync, "one", "two")
    assert set(found(sync, "")) == set(found(sync, " \n")) == {"one", "two"}


# -- who and what may be an answer -------------------------------------------------------------------------------------


def test_an_agent_sees_its_own_and_the_shared(sync: Engine) -> None:
    """`recall(agent_id="x")` sees x's and the shared, `recall(agent_id=None)` all of the user's."""
    for agent in ("x", "y", None):
        notes(sync, f"a gate of {agent}", agent_id=agent)
    assert set(found(sync, "gate", agent_id="x")) == {"a gate of x", "a gate of None"}
    assert set(found(sync, "gate", agent_id="z")) == {"a gate of None"}
    assert len(found(sync, "gate")) == 3


def test_types_are_left_by_name(sync: Engine) -> None:
    """`memory_types`: leaves these types."""
    for kind in ("fact", "episode", "preference"):
        notes(sync, f"a gate as {kind}", memory_type=kind)
    assert found(sync, "gate", memory_types=["fact"]) == ["a gate as fact"]
    assert set(found(sync, "gate", memory_types=("fact", "episode"))) == {"a gate as fact", "a gate as episode"}
    assert set(found(sync, "gate", memory_types={"preference": 1}.keys())) == {"a gate as preference"}
    assert found(sync, "gate", memory_types=[]) == []


def test_a_filter_leaves_what_matches(sync: Engine, clock: FakeClock) -> None:
    """`filter`: over fields and `metadata.*`; every operator, in the search itself."""
    for n in range(6):
        notes(sync, f"gate {n}", metadata={"n": n, "odd": bool(n % 2)}, importance=n / 10, session_id=f"s{n}")

    def left(filter_: dict[str, Any]) -> set[int]:
        return {int(text[-1]) for text in found(sync, "gate", filter=filter_)}

    assert left({"metadata.n": 3}) == {3}
    assert left({"metadata.n": {"$gte": 1, "$lt": 4}}) == {1, 2, 3}
    assert left({"metadata.n": {"$in": [0, 5]}, "metadata.odd": True}) == {5}
    assert left({"$or": [{"session_id": "s1"}, {"importance": {"$gt": 0.4}}]}) == {1, 5}
    assert left({"$not": {"metadata.odd": True}}) == {0, 2, 4}
    assert left({"created_at": {"$lte": clock.now}}) == set(range(6))
    assert left({"metadata.nowhere": 1}) == set()
    assert left({"metadata.nowhere": {"$ne": 1}}) == set(range(6))


def test_a_filter_reaches_beyond_the_most_relevant(sync: Engine) -> None:
    """The pool is of those that a filter leaves: one match among hundreds is found."""
    sync.remember_many("ada", [NewMemory(f"gate gate gate {n}", metadata={"n": n}) for n in range(300)])
    notes(sync, "something quite different", metadata={"n": -1})
    assert found(sync, "gate", filter={"metadata.n": {"$lt": 0}}) == ["something quite different"]


def test_to_restrict_to_a_session_filter(sync: Engine) -> None:
    """To restrict to a session, filter."""
    for session in ("a", "b"):
        notes(sync, f"a gate of {session}", session_id=session)
    assert found(sync, "gate", filter={"session_id": "b"}) == ["a gate of b"]


def test_neighbours_come_behind_the_hits(sync: Engine) -> None:
    """`neighbors`: so many turns before and after each hit in its session are added behind the hits."""
    chat = sync.session("ada", "s")
    for text in ("one", "two", "the gate is green", "four", "five"):
        chat.add({"role": "user", "content": text})
    notes(sync, "elsewhere")
    assert found(sync, "gate green", 1, neighbors=1) == ["the gate is green", "two", "four"]
    assert found(sync, "gate green", 1, neighbors=2) == ["the gate is green", "two", "four", "one", "five"]
    hits = sync.recall("ada", "gate green", 1, neighbors=9)
    assert [hit.access_count for hit in hits] == [1] * 5


def test_turns_are_in_the_order_of_when_they_were_said(sync: Engine, clock: FakeClock) -> None:
    """Sessions and their order (by `observed_at`, then by order of writing)."""
    at = clock.now
    for text, minutes in (("the gate is green", 5), ("later", 9), ("before", 1)):
        notes(sync, text, session_id="s", observed_at=at + timedelta(minutes=minutes))
    assert found(sync, "gate green", 1, neighbors=1) == ["the gate is green", "before", "later"]


def test_a_token_budget_leaves_the_best(sync: Engine) -> None:
    """`max_tokens`: most tokens of the hits' texts together."""
    notes(sync, *(f"the gate number {n} is green and has a long description" for n in range(9)))
    count = TiktokenCounter().text
    for budget in (1, 15, 40, 1000):
        texts = found(sync, "gate", 9, max_tokens=budget)
        assert sum(map(count, texts)) <= budget
        assert texts == found(sync, "gate", 9)[: len(texts)]
    assert found(sync, "gate", 9, max_tokens=1) == []


def test_a_least_score_leaves_those_that_reach_it(sync: Engine) -> None:
    """`min_score`: least score in [0, 1]."""
    notes(sync, "the garden gate is green", "something else", "the gate")
    scores = [hit.score for hit in sync.recall("ada", "garden gate", touch=False)]
    assert scores == sorted(scores, reverse=True)
    assert len(found(sync, "garden gate", min_score=scores[1])) == 2
    assert found(sync, "garden gate", min_score=1.0) == []


def test_auto_makes_nothing_relevant_an_answer(house: House) -> None:
    """`min_score="auto"` applies a floor on relevance calibrated for the embedder in use, so that "nothing relevant" is
    an answer."""
    memory = house.open(embedder=None)
    notes(memory, "I am allergic to peanuts", "My sister Ruth keeps bees in Norwich", "I work at a bakery by the river")
    assert found(memory, "what am I allergic to?", 1, min_score="auto") == ["I am allergic to peanuts"]
    assert found(memory, "boiling point of tungsten", min_score="auto") == []
    assert len(found(memory, "boiling point of tungsten")) == 3


# -- hits --------------------------------------------------------------------------------------------------------------


def test_a_hit_is_a_memory_with_score_and_explanation(sync: Engine) -> None:
    """A hit is a `ScoredMemory`, which **is a** `Memory` plus `score` (0..1) and `explanation`."""
    (stored,) = notes(sync, "the garden gate is green", metadata={"a": 1})
    (hit,) = result = sync.recall("ada", "garden gate", touch=False)
    assert isinstance(result, RecallResult)
    assert isinstance(hit, ScoredMemory)
    assert isinstance(hit, Memory)
    assert all(getattr(hit, field) == getattr(stored, field) for field in Memory.__dataclass_fields__)
    assert 0 < hit.score <= 1


@pytest.mark.parametrize("weights", [RankingWeights.DEFAULT, CLASSIC, RankingWeights(similarity=1.0), None])
def test_contributions_add_up_to_the_score(sync: Engine, clock: FakeClock, weights: RankingWeights | None) -> None:
    """`explanation`: a `Mapping` from signal name to `Signal(value, weight, contribution)`; the contributions add up to
    the score."""
    for n in range(8):
        notes(sync, f"the gate number {n}", importance=n / 8, observed_at=clock.now - timedelta(hours=n * 7))
    for _ in range(3):
        hits = sync.recall("ada", "gate number 5", 8, weights=weights)
        assert len(hits) == 8
        for hit in hits:
            assert hit.score == pytest.approx(sum(s.contribution for s in hit.explanation.values()), abs=2e-6)
            for signal in hit.explanation.values():
                assert signal.contribution == pytest.approx(signal.value * signal.weight, abs=1e-9)
                assert 0 <= signal.value <= 1
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_default_names_relevance_and_its_parts(sync: Engine) -> None:
    """`DEFAULT` has `relevance` in place of `similarity` and may list its parts with weight and contribution 0."""
    notes(sync, "the garden gate is green")
    (hit,) = sync.recall("ada", "garden gate")
    weighted = {name for name, signal in hit.explanation.items() if signal.weight}
    assert weighted == {"relevance", "importance", "recency", "use"}
    assert {"meaning", "keywords"} <= hit.explanation.keys()
    assert all(s.contribution == 0 for name, s in hit.explanation.items() if name not in weighted)


def test_classic_exactly_and_end_to_end(sync: Engine, clock: FakeClock) -> None:
    """`CLASSIC` is exactly `0.4·importance + 0.3·recency + 0.2·min(access_count/10, 1) + 0.1·similarity`,
    `recency = 1/(1 + hours since last access/24)`; recency and use are those before this read."""
    texts = {"the garden gate is green": 0.9, "the kitchen door is blue": 0.3, "gates of Rome": 0.55}
    embedder = HashedEmbedder()
    start = clock.now
    for n, (text, importance) in enumerate(texts.items()):
        notes(sync, text, importance=importance, observed_at=start - timedelta(hours=10 * n), id=str(n), name="Ada")
    asked = embedder.embed_query("garden gate")
    last = {str(n): start - timedelta(hours=10 * n) for n in range(3)}
    counts = dict.fromkeys(last, 0)

    for _ in range(12):
        clock.advance(hours=1, minutes=40)
        hits = sync.recall("ada", "garden gate", 2, weights=CLASSIC)
        expected = {}
        for n, (text, importance) in enumerate(texts.items()):
            said = start - timedelta(hours=10 * n)
            (vector,) = embedder.embed_documents([f"[{said.day} {said:%B %Y}] Ada: {text}"])
            similarity = min(max(float(np.dot(vector, asked)), 0), 1)
            hours = (clock.now - last[str(n)]).total_seconds() / 3600
            recency, use = 1 / (1 + hours / 24), min(counts[str(n)] / 10, 1)
            expected[str(n)] = 0.4 * importance + 0.3 * recency + 0.2 * use + 0.1 * similarity
        best = sorted(expected, key=lambda one: -expected[one])[:2]
        assert [hit.id for hit in hits] == best
        for hit in hits:
            assert hit.score == pytest.approx(expected[hit.id], abs=1e-5)
            assert hit.explanation.keys() == {"importance", "recency", "use", "similarity"}
            assert [hit.explanation[name].weight for name in ("importance", "recency", "use", "similarity")] == [
                0.4,
                0.3,
                0.2,
                0.1,
            ]
            counts[hit.id] += 1
            last[hit.id] = clock.now
            assert (hit.access_count, hit.last_accessed) == (counts[hit.id], clock.now)
    assert max(counts.values()) > 10


def test_classic_ranks_only_the_most_relevant(sync: Engine) -> None:
    """`CLASSIC`: … over the `pool=50` most relevant."""
    sync.remember_many("ada", [NewMemory(f"the gate number {n}", importance=0.1) for n in range(60)])
    notes(sync, "something quite different", importance=1.0)
    assert "something quite different" not in found(sync, "gate number", 5, weights=CLASSIC)
    wide = RankingWeights(importance=0.4, recency=0.3, use=0.2, similarity=0.1, pool=100)
    assert found(sync, "gate number", 1, weights=wide) == ["something quite different"]


def test_similarity_is_the_cosine_clipped(house: House) -> None:
    """Similarity is the cosine clipped to [0, 1]."""

    def opposite(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "yes" in text else [-1.0, 0.0] if "no" in text else [0.6, 0.8] for text in texts]

    memory = house.open(embedder=opposite)
    notes(memory, "yes", "no", "half")
    hits = memory.recall("ada", "yes?", weights=CLASSIC)
    values = {hit.content: hit.explanation["similarity"].value for hit in hits}
    assert values == pytest.approx({"yes": 1, "no": 0, "half": 0.6}, abs=1e-6)


def test_the_weights_of_the_system_are_the_default(house: House) -> None:
    """`options`: … weights; CLASSIC is a named recipe, the one-word switch."""
    memory = house.open(weights=CLASSIC)
    notes(memory, "the gate")
    assert memory.recall("ada", "gate")[0].explanation.keys() == {"importance", "recency", "use", "similarity"}


@pytest.mark.parametrize("weights", [RankingWeights.DEFAULT, CLASSIC])
def test_all_else_equal_the_more_important_recent_and_used_ranks_higher(
    sync: Engine, clock: FakeClock, weights: RankingWeights
) -> None:
    """All else equal, more important, more recent, more used ranks higher under both."""
    old = clock.now - timedelta(days=3)
    twins: dict[str, dict[str, Any]] = {
        "plain": {},
        "important": {"importance": 0.7},
        "recent": {"observed_at": clock.now},
    }
    for name, fields in twins.items():
        given: dict[str, Any] = {"importance": 0.3, "observed_at": old, "session_id": name, "id": name, **fields}
        notes(sync, "the gate is green", **given)
    notes(sync, "the gate is green", importance=0.3, observed_at=old, session_id="used", id="used")
    sync.recall("ada", "gate", filter={"session_id": "used"})
    clock.advance(seconds=1)
    order = [hit.id for hit in sync.recall("ada", "green gate", weights=weights, touch=False)]
    assert order[-1] == "plain"


def test_ties_are_newer_first_then_later_written(sync: Engine, clock: FakeClock) -> None:
    """Ties: newer, then later written, then id."""
    flat = RankingWeights(importance=1.0)
    old = clock.now - timedelta(days=1)
    for name, said in (("a", clock.now), ("b", old), ("c", clock.now), ("d", old)):
        notes(sync, f"gate {name}", importance=0.5, observed_at=said, id=name)
    assert [hit.id for hit in sync.recall("ada", "gate", weights=flat)] == ["c", "a", "d", "b"]


def test_scores_do_not_depend_on_the_company(sync: Engine) -> None:
    """Every signal is … independent of which other candidates are there: a filter changes no score."""
    notes(sync, "the garden gate is green", metadata={"a": 1})
    notes(sync, "garden paths", "green beans")
    (alone,) = sync.recall("ada", "garden gate", filter={"metadata.a": 1}, touch=False)
    among = sync.recall("ada", "garden gate", touch=False)[0]
    assert alone == among


# -- what cannot be read -----------------------------------------------------------------------------------------------


def test_when_the_embedder_fails_keywords_answer(house: House) -> None:
    """`.failed` names what could not be read; the others answer."""
    embedder = FailingEmbedder()
    memory = house.open(embedder=embedder)
    notes(memory, "the garden gate is green", "something else")
    embedder.fails = True
    result = memory.recall("ada", "garden gate", 1)
    assert [hit.content for hit in result] == ["the garden gate is green"]
    assert result.failed == ("embedder",)


def test_an_empty_result_is_an_empty_list(sync: Engine) -> None:
    """`RecallResult` is a sequence of hits, best first, `.failed` …, equal to `[]` when empty."""
    result = sync.recall("ada", "anything")
    assert result == []
    assert [].__eq__(result) is NotImplemented  # so that `[] == result` asks the result
    assert not result
    assert (len(result), list(result), result.failed) == (0, [], ())
    assert result[:1] == []


def test_a_result_is_a_sequence_of_hits(sync: Engine) -> None:
    """`RecallResult` is a sequence of hits."""
    notes(sync, "the gate is green", "the gate is blue", "the gate is red")
    result = sync.recall("ada", "gate", touch=False)
    assert list(result) == [result[0], result[1], result[2]] == list(reversed(list(reversed(result))))
    assert result[-1] in result
    assert isinstance(result[:2], RecallResult)
    assert len(result[:2]) == 2
    assert result == list(result)
    assert result == tuple(result)
    assert result != list(result)[:2]
    assert "3" in repr(result)


# -- why ---------------------------------------------------------------------------------------------------------------


def test_explain_says_why_it_is_recalled(sync: Engine) -> None:
    """`explain(user_id, query, memory_id, …)`: why it is or is not recalled."""
    stored = notes(sync, "the garden gate is green", "the gate", "beans")
    hits = sync.recall("ada", "garden gate", touch=False)
    for memory in stored:
        why = sync.explain("ada", "garden gate", memory.id)
        rank = [hit.id for hit in hits].index(memory.id) + 1
        assert (why.recalled, why.rank, why.score) == (True, rank, hits[rank - 1].score)
        assert why.signals == hits[rank - 1].explanation
        assert why.reason
    assert not sync.explain("ada", "garden gate", stored[2].id, k=1).recalled
    assert sync.explain("ada", "garden gate", stored[2].id, k=1).rank == 3


def test_explain_says_why_it_is_not_recalled(sync: Engine, clock: FakeClock) -> None:
    """*Rejected* candidates with the reason."""
    old = sync.remember("ada", "works at Acme", "fact", slot="employer", observed_at=datetime(2020, 1, 1, tzinfo=UTC))
    sync.remember("ada", "works at Globex", "fact", slot="employer")
    gate = sync.remember("ada", "the gate is green", agent_id="x", importance=0.1)
    (message,) = sync.session("ada", "s").add({"role": "user", "content": "hello there"})
    assert message.id

    def reason(memory_id: str, **how: Any) -> str:
        why = sync.explain("ada", "gate", memory_id, **how)
        assert not why.recalled
        assert why.rank is None
        return why.reason

    assert "superseded" in reason(old.id)
    assert "no longer true" in reason(old.id, as_of=clock.now)
    assert "not true yet" in reason(old.id, as_of=datetime(2019, 1, 1, tzinfo=UTC))
    assert "not known yet" in reason(old.id, known_at=clock.now - timedelta(days=1))
    assert "another agent" in reason(gate.id, agent_id="y")
    assert "type" in reason(gate.id, memory_types=["fact"])
    assert "filter" in reason(gate.id, filter={"importance": {"$gt": 0.5}})
    assert "least score" in reason(gate.id, min_score=1.0)
    assert "window" in reason(message.id, session_id="s")
    clock.advance(days=2)
    assert "over" in reason(gate.id)
