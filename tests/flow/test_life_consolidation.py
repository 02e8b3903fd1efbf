"""Consolidation: what is promoted, what is extracted, what is left alone, and that doing it twice does nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from langchain_tiered_memory import (
    ConsolidationReport,
    ExtractedFact,
    ExtractionError,
    Memory,
    MemorySystem,
    MemoryType,
    Tier,
)
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.testing import FakeExtractor
from tests.conftest import FakeClock
from tests.flow.systems import House

LONG_AGO = datetime(2023, 5, 8, 9, tzinfo=UTC)


def promote(memory: Engine, user_id: str = "ada") -> ConsolidationReport:
    """Consolidate every short-term item."""
    return memory.consolidate(user_id, everything=True)


def test_promotion_moves_the_item_itself(sync: Engine, clock: FakeClock) -> None:
    """Promotion moves the item itself to long-term, always, with its id, type, verbatim text, importance, counts and
    provenance … Then the short-term copy is deleted."""
    stored = sync.remember(
        "ada",
        " Ada:  the gate\tis GREEN \n",
        "fact",
        importance=0.31,
        session_id="s",
        agent_id="a",
        role="user",
        name="Ada",
        observed_at=LONG_AGO,
        origin="a letter",
        metadata={"page": 3},
        id="gate",
    )
    assert stored.tier is Tier.SHORT_TERM
    clock.advance(hours=1)
    sync.recall("ada", "gate")
    before = sync.get("ada", "gate")
    assert promote(sync).promoted == 1
    after = sync.get("ada", "gate")
    for field in Memory.__dataclass_fields__:
        expected = Tier.LONG_TERM if field == "tier" else getattr(before, field)
        assert getattr(after, field) == expected, field
    assert after.access_count == 1
    assert sync.status("ada").short_term == 0
    assert [event.kind for event in sync.history("ada", "gate")] == ["promoted"]


@pytest.mark.parametrize("memory_type", MemoryType)
def test_a_preference_stays_a_preference(sync: Engine, memory_type: MemoryType) -> None:
    """A preference stays a preference: its type goes with an item."""
    stored = sync.remember("ada", "I like the window seat", memory_type, importance=0.4)
    promote(sync)
    assert sync.get("ada", stored.id).memory_type is memory_type


def test_everything_takes_every_item_whatever_its_reads(sync: Engine) -> None:
    """`everything=True` takes every short-term item as well, whatever its reads."""
    for number in range(5):
        sync.remember("ada", f"note number {number}", importance=0.1)
    assert sync.consolidate("ada").kept == 5
    assert promote(sync).promoted == 5


def test_a_second_consolidate_does_nothing(house: House) -> None:
    """A second `consolidate` does nothing."""
    memory = house.open(extractor=FakeExtractor({"I moved to Oslo": ["lives in Oslo"]}))
    memory.remember("ada", "I moved to Oslo", importance=0.1)
    memory.remember("ada", "I moved to Oslo", session_id="other", importance=0.9)
    first = promote(memory)
    assert (first.promoted, first.facts, first.merged) == (1, 1, 1)
    before = memory.list("ada")
    assert promote(memory) == memory.consolidate("ada") == ConsolidationReport()
    assert memory.list("ada") == before


def test_facts_are_added_beside_their_source(house: House, clock: FakeClock) -> None:
    """Facts extracted from it are added as `fact` records with `source_ids`, the importance inherited,
    `access_count` 0."""
    memory = house.open(extractor=FakeExtractor({"I moved to Oslo": ["lives in Oslo"]}))
    source = memory.remember(
        "ada",
        "I moved to Oslo",
        importance=0.1,
        session_id="s",
        agent_id="a",
        role="user",
        name="Ada",
        observed_at=LONG_AGO,
    )
    for _ in range(4):
        memory.recall("ada", "Oslo")
    clock.advance(hours=1)
    assert memory.consolidate("ada").facts == 1
    (fact,) = memory.list("ada", memory_types=["fact"])
    assert fact.content == "lives in Oslo"
    assert fact.source_ids == (source.id,)
    assert (fact.importance, fact.access_count, fact.tier) == (source.importance, 0, Tier.LONG_TERM)
    assert (fact.observed_at, fact.session_id, fact.agent_id) == (LONG_AGO, "s", "a")
    assert (fact.role, fact.name, fact.origin) == ("user", "Ada", "consolidation")
    assert memory.get("ada", source.id).content == "I moved to Oslo"


def test_a_long_term_episode_stays_and_gives_its_facts_once(house: House) -> None:
    """The long-term episodes not yet in the ledger of consumed sources (which stay; facts are added)."""
    extractor = FakeExtractor({"I moved to Oslo": ["lives in Oslo"]})
    memory = house.open(extractor=extractor)
    source = memory.remember("ada", "I moved to Oslo", importance=0.9)
    assert memory.consolidate("ada").facts == 1
    memory.consolidate("ada")
    assert [[one.id for one in asked] for asked in extractor.asked] == [[source.id]]
    assert {one.content for one in memory.list("ada")} == {"I moved to Oslo", "lives in Oslo"}


def test_statements_are_not_asked_for_facts(house: House) -> None:
    """Only episodes are sources: a fact or a preference is one already."""
    extractor = FakeExtractor()
    memory = house.open(extractor=extractor)
    memory.remember("ada", "I like tea", "preference", importance=0.1)
    memory.remember("ada", "Acme", "fact", slot="employer")
    promote(memory)
    assert extractor.asked == []


def test_an_equal_fact_of_two_sources_is_one_with_both(house: House) -> None:
    """An active fact with the same normalised content … its sources grow; active count after `consolidate` is no
    larger than needed."""
    script = {"I moved to Oslo": ["Lives in Oslo."], "Oslo is my home now": ["lives in  Oslo"]}
    memory = house.open(extractor=FakeExtractor(script))
    sources = [memory.remember("ada", text, importance=0.9).id for text in script]
    report = memory.consolidate("ada")
    assert (report.facts, report.merged) == (1, 1)
    (fact,) = memory.list("ada", memory_types=["fact"])
    assert set(sources) <= set(fact.source_ids)


def test_five_ways_to_extract_the_same_leave_one(house: House) -> None:
    """Running it over ever more equal talk leaves one fact."""
    memory = house.open(extractor=FakeExtractor({f"Oslo again {n}": ["lives in Oslo"] for n in range(5)}))
    for number in range(5):
        memory.remember("ada", f"Oslo again {number}", importance=0.9)
        memory.consolidate("ada")
    assert len(memory.list("ada", memory_types=["fact"])) == 1


def test_a_newer_value_of_a_slot_supersedes_when_consolidated(house: House, clock: FakeClock) -> None:
    """Consolidation writes facts, supersessions and the ids of consumed sources together."""
    script = {
        f"I work at {name}": [ExtractedFact(content=name, slot="employer", source_ids=())]
        for name in ("Acme", "Globex")
    }
    memory = house.open(extractor=FakeExtractor(script))
    memory.remember("ada", "I work at Acme", importance=0.9)
    memory.consolidate("ada")
    clock.advance(days=1)
    memory.remember("ada", "I work at Globex", importance=0.9)
    assert memory.consolidate("ada").superseded == 1
    assert [one.content for one in memory.list("ada", memory_types=["fact"])] == ["Globex"]


class Breaking:
    """An extractor that raises what it is given."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """Fail until `error` is None."""
        if self.error is not None:
            raise self.error
        return tuple(ExtractedFact(content=f"fact of {one.content}", source_ids=(one.id,)) for one in memories)


@pytest.mark.parametrize("error", [ExtractionError("no answer"), TimeoutError("late"), ValueError("no JSON")])
def test_an_extractor_that_fails_holds_nothing_up_and_is_asked_again(house: House, error: Exception) -> None:
    """ExtractionError: it failed; the sources are left for the next time. Promotion moves the item always."""
    extractor = Breaking(error)
    memory = house.open(extractor=extractor)
    short = memory.remember("ada", "one", importance=0.1)
    long = memory.remember("ada", "two", importance=0.9)
    report = promote(memory)
    assert (report.promoted, report.facts, report.failed) == (1, 0, 2)
    assert memory.get("ada", short.id).tier is Tier.LONG_TERM

    extractor.error = None
    report = memory.consolidate("ada")
    assert (report.facts, report.failed) == (2, 0)
    sources = {source for one in memory.list("ada", memory_types=["fact"]) for source in one.source_ids}
    assert sources == {short.id, long.id}


@pytest.mark.parametrize("answer", [None, 5, ["a fact"], [{"content": "a fact"}], "a fact"])
def test_an_answer_that_is_no_fact_counts_as_a_failure(house: House, answer: Any) -> None:
    """ExtractionError: … or its answer is unusable."""

    class Babbling:
        def extract(self, memories: Sequence[Memory]) -> Any:
            return answer

    memory = house.open(extractor=Babbling())
    memory.remember("ada", "hello", importance=0.9)
    assert memory.consolidate("ada").failed == 1
    assert [one.content for one in memory.list("ada")] == ["hello"]


@pytest.mark.parametrize("answer", [RuntimeError("down"), math.nan, 7.0, "high", None])
def test_a_scorer_that_fails_leaves_the_rules(house: House, answer: Any) -> None:
    """`importance=None` asks the scorer; where it fails the rules judge, and nothing that is said is lost."""

    class Moody:
        def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[no-any-return] # what it should not return is the point

    memory = house.open(scorer=Moody())
    assert memory.remember("ada", "I am allergic to peanuts", "preference").tier is Tier.LONG_TERM
    memory.session("ada", "s").add({"role": "user", "content": "ok thanks"})
    assert {hit.content for hit in memory.recall("ada", "thanks peanuts")} == {"I am allergic to peanuts", "ok thanks"}


def test_a_scorer_of_ones_own_is_asked_with_type_and_role(house: House) -> None:
    """An LLM scorer plugs into the same port."""
    asked: list[tuple[str, MemoryType, str | None]] = []

    class Own:
        def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
            asked.append((content, memory_type, role))
            return 0.8000001

    memory = house.open(scorer=Own())
    assert memory.remember("ada", "ok", "fact", role="user").tier is Tier.LONG_TERM
    memory.remember("ada", "no question asked", importance=0.5)
    assert asked == [("ok", MemoryType.FACT, "user")]


def test_facts_of_unknown_sources_are_dropped(house: House) -> None:
    """Source ids outside `memories` are dropped; a fact without a source is none."""
    invented = ExtractedFact(content="invented", source_ids=("nowhere",))
    blank = ExtractedFact(content=" \n", source_ids=())
    memory = house.open(extractor=FakeExtractor({"hello": [invented, blank]}))
    memory.remember("ada", "hello", importance=0.9)
    assert memory.consolidate("ada").facts == 0
    assert [one.content for one in memory.list("ada")] == ["hello"]


def test_what_is_remembered_meanwhile_survives(house: House) -> None:
    """Only what was read is removed: `remember` during `consolidate` survives."""
    memory: Engine

    class Slow(FakeExtractor):
        def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
            memory.remember("ada", "said meanwhile", importance=0.1, id="meanwhile")
            memory.recall("ada", "said", k=9)
            memory.update("ada", "first", content="said first, and mended")
            return super().extract(memories)

    memory = house.open(extractor=Slow())
    memory.remember("ada", "said first", importance=0.1, id="first")
    assert promote(memory).promoted == 1
    first, meanwhile = memory.get("ada", "first"), memory.get("ada", "meanwhile")
    assert (first.content, first.tier, first.access_count) == ("said first, and mended", Tier.LONG_TERM, 1)
    assert (meanwhile.tier, meanwhile.access_count) == (Tier.SHORT_TERM, 1)


def test_two_workers_at_once_double_nothing(house: House) -> None:
    """A second run or worker meets a Conflict and writes nothing."""
    memory = house.open(extractor=FakeExtractor({f"note {n}": [f"fact {n}"] for n in range(30)}))
    for number in range(30):
        memory.remember("ada", f"note {number}", importance=0.1 if number % 2 else 0.9)
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: promote(memory), range(4)))
    assert sum(one.facts for one in reports) == 30
    assert sum(one.failed for one in reports) == 0
    assert len(memory.list("ada", limit=1000)) == 60
    assert memory.status("ada").short_term == 0


def test_users_are_consolidated_apart(memory: MemorySystem) -> None:
    """`consolidate(user_id)` is of one user."""
    for user in ("ada", "bob"):
        memory.sync.remember(user, "a note", importance=0.1)
    promote(memory.sync)
    assert memory.sync.status("bob").short_term == 1


def test_the_plain_extractor_finds_what_people_say_of_themselves(house: House) -> None:
    """Consolidation with a plain rule-based extractor."""
    memory = house.open()
    chat = memory.session("ada", "s")
    chat.add({"role": "user", "content": "Hi! I live in Oslo. Do you like it?"})
    chat.add({"role": "assistant", "content": "I live in a computer. I love Oslo."})
    memory.consolidate("ada", everything=True)
    facts = memory.list("ada", filter={"origin": "consolidation"})
    assert [(one.content, one.slot) for one in facts] == [("I live in Oslo.", "home")]
