"""`llm=`: consolidation asks a language model for facts, in limits, off the acknowledged path, and loses nothing."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from langchain_tiered_memory import (
    ConsolidationReport,
    ExtractionSettings,
    Memory,
    MemorySystem,
    ModelExtractor,
    ModelScorer,
    NewMemory,
    Tier,
)
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.testing import Crash, FakeExtractor
from tests.conftest import FakeClock
from tests.flow import script as told
from tests.flow.crash import STEPS, crashed_right, described, golden, points, tell
from tests.flow.systems import House, with_settings
from tests.flow.world import Shown, World, in_memory
from tests.scripted import KINDS, Script, fact, facts, function, generic, shown

WORKS = "I started at Initech in May"
MOVES = "Initech was a mistake, from now on I am at Globex"
LIKES = "I could drink green tea all day"


def understanding(statements: dict[str, list[dict[str, Any]]]) -> Callable[[str], dict[str, Any]]:
    """Return answers of a model that finds these statements in memories of these contents, as `FakeExtractor` does."""

    def answer(asked: str) -> dict[str, Any]:
        return facts(
            *(one | {"sources": [handle]} for handle, text in shown(asked).items() for one in statements.get(text, []))
        )

    return answer


ADA = understanding(
    {
        WORKS: [fact("Ada works at Initech", slot="employer")],
        MOVES: [fact("Ada works at Globex", slot="employer")],
        LIKES: [fact("Ada likes green tea", kind="preference")],
    }
)


def long_term(memory: Engine, *texts: str) -> list[Memory]:
    """Remember texts as long-term episodes."""
    return [memory.remember("ada", text, tier="long_term", role="user", name="Ada") for text in texts]


def drawn(memory: Engine) -> list[Memory]:
    """Return what consolidation added, oldest first."""
    found = memory.list("ada", filter={"origin": "consolidation"}, include_superseded=True, limit=10_000)
    return list(reversed(found))


@pytest.mark.parametrize("kind", KINDS)
def test_facts_with_their_sources_and_history(house: House, clock: FakeClock, kind: str) -> None:
    script = Script(ADA)
    memory = house.open(llm=KINDS[kind](script))
    works, likes = long_term(memory, WORKS, LIKES)
    memory.remember("ada", "hello there", importance=0.1, role="user")
    report = memory.consolidate("ada", everything=True)
    assert (report.promoted, report.facts, report.failed, report.waiting) == (1, 2, 0, 0)
    assert report.model_calls == len(script.prompts) == 2  # of what was promoted, and of what was there
    assert report.model_tokens > 1_000
    assert sorted((one.content, str(one.memory_type), one.slot, one.source_ids) for one in drawn(memory)) == [
        ("Ada likes green tea", "preference", None, (likes.id,)),
        ("Ada works at Initech", "fact", "employer", (works.id,)),
    ]
    employer = next(one for one in drawn(memory) if one.slot)
    assert (employer.importance, employer.name, employer.access_count) == (works.importance, "Ada", 0)
    assert [(event.kind, event.by) for event in memory.history("ada", employer.id)] == [("created", "consolidate")]
    assert memory.recall("ada", "who does Ada work for?", 1)[0].id == employer.id
    assert memory.consolidate("ada", everything=True) == ConsolidationReport()
    assert len(script.prompts) == 2

    clock.advance(days=1)
    long_term(memory, MOVES)
    assert memory.consolidate("ada").superseded == 1
    current, former = (memory.get("ada", one.id) for one in reversed(drawn(memory)) if one.slot)
    assert (current.content, former.superseded_by) == ("Ada works at Globex", current.id)
    memory.forget("ada", likes.id)
    assert [one.content for one in drawn(memory)] == ["Ada works at Initech", "Ada works at Globex"]


def test_langchains_own_fake_end_to_end() -> None:
    answer = facts(fact("Ada works at Initech", "m1", slot="employer"))
    with MemorySystem.open(":memory:", llm=generic(Script("no JSON", answer))).sync as memory:
        source = memory.remember("ada", WORKS, importance=0.9)
        report = memory.consolidate("ada")
        assert (report.facts, report.model_calls) == (1, 2)
        assert [(one.content, one.source_ids) for one in drawn(memory)] == [("Ada works at Initech", (source.id,))]


def test_only_consolidate_asks(house: House) -> None:
    """`remember`, `recall`, `session.add`, `maintain` and closing call no model, and neither does having nothing."""
    script = Script()
    memory = house.open(llm=function(script))
    assert memory.consolidate("ada") == ConsolidationReport()
    memory.remember("ada", WORKS)
    memory.remember_many("ada", [NewMemory(LIKES, importance=0.9), NewMemory("Ada has a cat", "fact", importance=0.9)])
    chat = memory.session("ada", "s")
    chat.add({"role": "user", "content": MOVES})
    chat.context("where do I work?")
    memory.recall("ada", "work")
    memory.maintain()
    house.clock.advance(days=2)
    memory.maintain()
    memory.close()
    assert script.prompts == []


def test_only_machines_and_facts_are_nothing_to_ask_about(house: House) -> None:
    script = Script()
    memory = house.open(llm=function(script))
    memory.remember("ada", "I live in a computer", importance=0.9, role="assistant")
    memory.remember("ada", "Ada has a cat", "fact", importance=0.9)
    assert memory.consolidate("ada") == ConsolidationReport()
    assert script.prompts == []


def test_an_extractor_given_wins(house: House) -> None:
    script = Script(ADA)
    memory = house.open(llm=function(script), extractor=FakeExtractor({WORKS: ["from the extractor"]}))
    long_term(memory, WORKS)
    report = memory.consolidate("ada")
    assert (report.facts, report.model_calls, report.model_tokens) == (1, 0, 0)
    assert [one.content for one in drawn(memory)] == ["from the extractor"]
    assert script.prompts == []


def test_an_extractor_that_asks_a_model_is_counted_too(house: House) -> None:
    memory = house.open(extractor=ModelExtractor(function(Script(ADA))))
    long_term(memory, WORKS)
    assert memory.consolidate("ada").model_calls == 1


@pytest.mark.parametrize("kind", KINDS)
def test_malformed_twice_is_left_for_later(house: House, kind: str) -> None:
    """What failed is promoted all the same, counted, not asked about again in the same run, and found the next time."""
    script = Script("no", "no", ADA)
    memory = house.open(llm=KINDS[kind](script))
    short = memory.remember("ada", WORKS, importance=0.1, role="user", name="Ada")
    report = memory.consolidate("ada", everything=True)
    assert (report.promoted, report.facts, report.failed, report.model_calls) == (1, 0, 1, 2)
    assert memory.get("ada", short.id).tier is Tier.LONG_TERM
    assert drawn(memory) == []
    report = memory.consolidate("ada")
    assert (report.facts, report.failed, report.model_calls) == (1, 0, 1)
    assert memory.consolidate("ada") == ConsolidationReport()


@pytest.mark.parametrize("error", [TimeoutError("late"), Crash("killed")])
@pytest.mark.parametrize("at", range(1, 7))
def test_a_model_that_fails_at_any_call_loses_and_doubles_nothing(
    folder_house: House, at: int, error: BaseException
) -> None:
    """Half are promoted, half long-term already; two memories a question, so that each call may be the one."""
    count = iter(range(1, 100))

    def answer(asked: str) -> dict[str, Any]:
        if next(count) == at:
            raise error
        return facts(*(fact(f"Ada counted {text}", handle) for handle, text in shown(asked).items()))

    settings = with_settings(extraction=ExtractionSettings(batch=2))
    memory = folder_house.open(llm=function(Script(answer)), settings=settings)
    texts = [f"pebble {n}" for n in range(12)]
    for number, text in enumerate(texts):
        memory.remember("ada", text, importance=0.9 * (number % 2), id=text, role="user")
    if isinstance(error, Crash):
        with pytest.raises(Crash):
            memory.consolidate("ada", everything=True)
    else:
        report = memory.consolidate("ada", everything=True)
        assert (report.promoted, report.facts, report.failed) == (6, 10, 2)
    memory.close()

    again = folder_house.open(llm=function(Script(answer)), settings=settings)
    again.consolidate("ada", everything=True)
    again.maintain()
    expected = [(f"Ada counted {text}", (text,)) for text in texts]
    assert sorted((one.content, one.source_ids) for one in drawn(again)) == sorted(expected)
    assert sorted(one.id for one in again.list("ada", memory_types=["episode"])) == sorted(texts)
    assert again.status("ada").short_term == 0
    assert again.consolidate("ada", everything=True) == ConsolidationReport()


def _script_world() -> World:
    """Return an empty world whose model understands what the crash script says."""
    statements = {
        told.MOVED: [fact("Ada lives in Porto", slot="home")],
        told.BAKES: [fact("Ada bakes bread"), fact("likes baking", kind="preference")],
        told.WORKS: [fact("Globex", slot="employer")],
        "bob told a joke": [fact("bob is funny")],
    }
    return in_memory(extractor=ModelExtractor(function(Script(understanding(statements)))))


def _placeless(shown: Shown) -> Shown:
    """Return what is shown without the places of statements in their sources."""

    def bare(memory: Memory) -> Memory:
        return replace(memory, metadata={key: one for key, one in memory.metadata.items() if key != "spans"})

    return replace(shown, memories={text: bare(memory) for text, memory in shown.memories.items()})


def test_a_crash_at_any_call_of_a_store_loses_and_doubles_nothing() -> None:
    """The crash script, told with a model that understands what its extractor finds: the end is the same.

    But for the places in the texts, which only the model's path finds by itself. It is struck where facts are written
    and forgotten; the other steps ask no extractor.
    """
    expected = golden(_script_world())
    plain = golden(in_memory(extractor=told.extractor(plain=True))).after[-1]["ada"]
    assert _placeless(expected.after[-1]["ada"]) == _placeless(plain)
    telling = tell(_script_world(), [])
    about = [n for n, step in enumerate(STEPS) if "consolidate" in step.name or "forget" in step.name]
    tried = 0
    for crash in points(telling):
        if bisect(telling.first, crash.at) - 1 not in about:
            continue
        try:
            crashed_right(_script_world(), [crash], expected)
        except AssertionError as error:
            error.add_note(f"after a crash {described(telling, crash)}")
            raise
        tried += 1
    assert tried > 30


def test_a_slow_model_undoes_nothing_that_was_done_meanwhile(house: House) -> None:
    memory: Engine

    def answer(asked: str) -> dict[str, Any]:
        if "remembered" not in {one.id for one in memory.list("ada")}:
            memory.remember("ada", "said meanwhile", id="remembered")
            memory.forget("ada", "forgotten")
        return facts(*(fact(f"Ada told {text}", handle) for handle, text in shown(asked).items()))

    memory = house.open(llm=function(Script(answer)))
    memory.remember("ada", "a secret", importance=0.9, id="forgotten")
    memory.remember("ada", "a story", importance=0.9, id="kept")
    report = memory.consolidate("ada")
    assert (report.facts, report.model_calls) == (1, 2)  # asked again about what was left
    assert [one.content for one in drawn(memory)] == ["Ada told a story"]
    assert memory.get("ada", "remembered").tier is Tier.SHORT_TERM


def test_the_budget_holds_over_500_memories_and_the_next_run_goes_on(house: House) -> None:
    def answer(asked: str) -> dict[str, Any]:
        return facts(*(fact(f"Ada counted {text}", handle) for handle, text in shown(asked).items()))

    script = Script(answer)
    settings = with_settings(extraction=ExtractionSettings(max_calls=9, max_tokens=30_000))
    memory = house.open(llm=function(script), settings=settings)
    memory.remember_many("ada", [NewMemory(f"pebble {n}", importance=0.9 * (n % 2), role="user") for n in range(500)])
    reports: list[ConsolidationReport] = []
    while not reports or reports[-1].waiting:
        before = len(script.prompts)
        reports.append(memory.consolidate("ada", everything=not reports))
        assert 1 <= reports[-1].model_calls == len(script.prompts) - before <= 9
        assert reports[-1].model_tokens <= 30_000
        assert reports[-1].failed == 0
    assert [one.waiting for one in reports] == [320, 140, 0]
    assert (reports[0].promoted, [one.facts for one in reports]) == (250, [180, 180, 140])
    assert len({one.source_ids for one in drawn(memory)}) == 500
    assert memory.consolidate("ada") == ConsolidationReport()


def test_a_model_that_is_down_costs_three_calls(house: House) -> None:
    script = Script(*[TimeoutError()] * 3)
    settings = with_settings(extraction=ExtractionSettings(batch=10))
    memory = house.open(llm=function(script), settings=settings)
    memory.remember_many("ada", [NewMemory(f"pebble {n}", importance=0.9, role="user") for n in range(250)])
    report = memory.consolidate("ada")
    assert (report.model_calls, report.failed, report.waiting) == (3, 30, 220)
    report = memory.consolidate("ada")
    assert (report.failed, report.waiting) == (0, 0)


def test_what_one_agent_alone_may_see_makes_facts_that_it_alone_may_see(house: House) -> None:
    def answer(asked: str) -> dict[str, Any]:
        return facts(fact("Ada has a secret and a story", *shown(asked)))

    memory = house.open(llm=function(Script(answer)))
    memory.remember("ada", "a secret", importance=0.9, agent_id="cook")
    memory.remember("ada", "a story", importance=0.9)
    memory.consolidate("ada")
    assert {(one.agent_id, len(one.source_ids)) for one in drawn(memory)} == {("cook", 1), (None, 1)}


def test_the_answer_to_an_assistants_question_is_the_persons(house: House) -> None:
    """The question is a source too: who forgets it forgets what rests on it."""
    memory = house.open(llm=function(Script(lambda _: facts(fact("Ada lives in Oslo", "m1", "m2", slot="home")))))
    yes = memory.remember("ada", "Yes, for years!", importance=0.9, role="user", name="Ada", id="b")
    house.clock.advance(seconds=1)
    memory.remember("ada", "So you live in Oslo?", importance=0.9, role="assistant", id="a")
    memory.consolidate("ada")
    (home,) = drawn(memory)
    assert (home.role, home.name, home.observed_at) == ("user", "Ada", yes.observed_at)
    assert set(home.source_ids) == {"a", "b"}


@pytest.mark.parametrize("kind", KINDS)
async def test_both_faces_serve_in_a_running_loop(house: House, kind: str) -> None:
    """The model is called blocking, by the async face in a thread of its own, by `memory.sync` where it is called."""
    script = Script(ADA)
    memory = house.system(llm=KINDS[kind](script))
    await memory.remember("ada", WORKS, importance=0.9, name="Ada")
    assert (await memory.consolidate("ada")).facts == 1
    memory.sync.remember("ada", LIKES, importance=0.9, name="Ada")
    assert memory.sync.consolidate("ada").facts == 1
    assert len(drawn(memory.sync)) == 2


async def test_a_model_that_thinks_holds_up_no_recall(house: House) -> None:
    thinking, done = threading.Event(), threading.Event()
    loop = threading.get_ident()

    def think(_: str) -> str:
        assert threading.get_ident() != loop
        thinking.set()
        assert done.wait(20)
        return '{"facts": []}'

    memory = house.system(llm=think)
    await memory.remember("ada", WORKS, importance=0.9)
    running = asyncio.create_task(memory.consolidate("ada"))
    assert await asyncio.to_thread(thinking.wait, 20)
    async with asyncio.timeout(10):
        assert await memory.recall("ada", "Initech")
    done.set()
    assert (await running).model_calls == 1


@pytest.fixture
def judged(house: House) -> Iterator[Callable[..., Engine]]:
    """Opens a memory whose importance a model judges."""
    yield lambda *answers: house.open(scorer=ModelScorer(function(Script(*answers))))
    house.close()


def test_a_model_may_judge_importance(judged: Callable[..., Engine]) -> None:
    """And when it fails, or says no number from 0 to 1, the rules judge: what is said is placed."""
    memory = judged("0.9", "0.1", "very", TimeoutError())
    assert memory.remember("ada", "ok").tier is Tier.LONG_TERM
    assert memory.remember("ada", "I am allergic to peanuts").tier is Tier.SHORT_TERM
    assert memory.remember("ada", "I am allergic to nuts").tier is Tier.LONG_TERM
    assert memory.remember("ada", "ok thanks").importance <= 0.2


def test_importance_stays_with_the_rules_without_a_scorer(house: House) -> None:
    plain, asked = house.open(), house.open(llm=function(Script()))
    texts = ["I am allergic to peanuts", "ok thanks", WORKS]
    assert [plain.remember("a", one).importance for one in texts] == [
        asked.remember("b", one).importance for one in texts
    ]
