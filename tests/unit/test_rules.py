"""What the extractor by rules finds in hundreds of sentences, and what it leaves alone."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.extraction import RuleExtractor
from langchain_tiered_memory.extraction.grammar.values import stems

PLAIN = {"deadline", "budget", "price"}
SAID = datetime(2023, 5, 8, 12, tzinfo=UTC)
FACT = re.compile(
    r"(?P<no>!?)(?P<slot>[^=]+?)(?:=(?P<value>.*?))?(?:@(?P<since>\d{4}-[\d-]+))?(?:>(?P<until>\d{4}-[\d-]+))?"
)

Found = tuple[str | None, str | None, bool, str | None, str | None]
"""Slot, value, whether negated, since when, until when."""


@dataclass(frozen=True)
class Sentence:
    text: str
    facts: frozenset[Found]
    statement: bool


@dataclass(frozen=True)
class Measured:
    """Shares: facts found that are right, facts written down that were found, sentences without any that gave none."""

    precision: float
    recall: float
    quiet: float


def load(name: str) -> list[Sentence]:
    lines = Path(__file__).with_name(f"rule_sentences_{name}.txt").read_text(encoding="utf-8").splitlines()
    return [_sentence(line) for line in lines if line and not line.startswith("#")]


def _sentence(line: str) -> Sentence:
    text, _, told = line.partition(" =>")
    facts = [one.strip() for one in told.split("|") if one.strip()]
    return Sentence(text, frozenset(map(_fact, (one for one in facts if one != "-"))), "-" in facts)


def _fact(told: str) -> Found:
    match = FACT.fullmatch(told)
    assert match is not None, told
    slot, value = match["slot"], match["value"]
    if slot.startswith("*"):
        family, colon, rest = slot[1:].rpartition(":")
        slot = family + colon + (rest if rest in PLAIN else stems(rest))
    return slot, value, bool(match["no"]), match["since"], match["until"]


def extract(text: str, said: datetime = SAID, **fields: str) -> tuple[ExtractedFact, ...]:
    memory = Memory(
        text, MemoryType.EPISODE, 0.5, said, said, id="m", observed_at=said, role=fields.get("role", "user")
    )
    return RuleExtractor().extract([memory])


def seen(fact: ExtractedFact) -> Found:
    return fact.slot, fact.value, fact.negated, day(fact.observed_at), day(fact.valid_to)


def day(at: datetime | None) -> str | None:
    return None if at is None else at.date().isoformat()


def measure(sentences: list[Sentence]) -> Measured:
    right = found = wanted = quiet = silent = 0
    for one in sentences:
        facts = extract(one.text)
        named = {seen(fact) for fact in facts if fact.slot is not None}
        bare = any(fact.slot is None for fact in facts)
        nothing = not one.facts and not one.statement
        right += len(named & one.facts) + (one.statement and bare)
        wanted += len(one.facts) + one.statement
        found += len(named) + (bare and (one.statement or nothing))
        silent += nothing
        quiet += nothing and not facts
    return Measured(right / max(found, 1), right / max(wanted, 1), quiet / max(silent, 1))


DEVELOPED = load("developed")
APART = load("apart")


@pytest.mark.parametrize("one", DEVELOPED, ids=[one.text for one in DEVELOPED])
def test_a_sentence_gives_exactly_its_facts(one: Sentence) -> None:
    facts = extract(one.text)

    assert {seen(fact) for fact in facts if fact.slot is not None} == one.facts
    assert any(fact.slot is None for fact in facts) == one.statement


def test_sentences_that_no_rule_was_written_for_are_read_with_high_precision() -> None:
    measured = measure(APART)

    assert len(APART) >= 150
    assert sum(not one.facts and not one.statement for one in APART) >= 60
    assert measured.precision >= 0.96
    assert measured.recall >= 0.94
    assert measured.quiet >= 0.97


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("I moved to Boston last month.", ["I moved to Boston last month (April 2023)."]),
        ("I started at Initech yesterday!", ["I started at Initech yesterday (7 May 2023)!"]),
        ("I lived in Paris until 2019", ["I lived in Paris until 2019"]),
        ("I live in Boston and work at Acme.", ["I live in Boston", "I work at Acme."]),
        ("Well, my sister lives in Oslo and works at Acme.", ["my sister lives in Oslo", "my sister works at Acme."]),
        ("I love hiking and sushi.", ["I love hiking.", "I love sushi."]),
        ("I'm allergic to nuts, eggs and milk.", [f"I'm allergic to {one}." for one in ("nuts", "eggs", "milk")]),
        (
            "I tuned the fetch call latency, which has recently dropped to 90 ms, can you check it?",
            ["the fetch call latency has recently dropped to 90 ms"],
        ),
        ("The demo is on Friday.", ["The demo is on Friday (12 May 2023)."]),
        ("The budget is $400. It's now $500.", ["The budget is $400.", "The budget is $400. It's now $500."]),
    ],
)
def test_a_statement_is_told_in_the_speakers_words_and_understood_by_itself(text: str, contents: list[str]) -> None:
    assert [fact.content for fact in extract(text)] == contents


def test_a_span_shows_the_clause_in_its_source() -> None:
    text = "Hello! The weather is nice.\nWell, I live in Boston and work at Acme. Bye."

    shown = [text[start:end] for fact in extract(text) for start, end in fact.spans.values()]

    assert shown == ["I live in Boston", "work at Acme."]


def test_times_are_those_of_the_day_on_which_it_was_said() -> None:
    (fact,) = extract("I moved to Boston last month.", datetime(2024, 1, 15, 9, tzinfo=UTC))

    assert fact.observed_at == datetime(2023, 12, 1, tzinfo=UTC)
    assert fact.content == "I moved to Boston last month (December 2023)."


def test_an_attribute_is_the_same_however_its_name_is_turned() -> None:
    said = ("The deadline for the API is March 10, 2024.", "Our API deadline is now March 12, 2024.")

    facts = [fact for text in said for fact in extract(text)]

    assert [fact.slot for fact in facts] == ["deadline:api", "deadline:api"]
    assert [fact.value for fact in facts] == ["2024-03-10", "2024-03-12"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in New York.", "I now live in New York!"),
        ("My budget is $5,000.", "My budget is 5k dollars."),
        ("My birthday is May 3.", "I was born on 3 May 1990."),
        ("My phone number is +1 (555) 010-9999.", "My number is +1 555 010 9999."),
        ("Our test coverage is 78 %.", "Our test coverage has increased to 78 percent."),
        ("My favorite color is blue.", "My favourite colour is now blue."),
        ("I have two brothers.", "I have 2 brothers."),
        ("My exam is on Friday.", "My exam has been moved to May 12."),
    ],
)
def test_equal_values_are_written_alike(one: str, other: str) -> None:
    (first,), (second,) = extract(one), extract(other)

    assert (first.slot, first.value) == (second.slot, second.value)


def test_likes_and_standing_instructions_are_preferences_and_the_rest_are_facts() -> None:
    kinds = [
        fact.memory_type
        for text in ("I love sushi.", "Always answer in French.", "I live in Rome.")
        for fact in extract(text)
    ]

    assert kinds == [MemoryType.PREFERENCE, MemoryType.PREFERENCE, MemoryType.FACT]


@pytest.mark.parametrize("role", ["assistant", "ai", "system", "tool"])
def test_only_people_state_facts(role: str) -> None:
    assert extract("I live in Boston and my name is Claude.", role=role) == ()


HOSTILE = (
    *(
        word * 8_000
        for word in ("I ", "my ", "a", '"', "“ ", "` ", "``` ", ". ", "and I ", ", ", "1,", "$1", "the ", "> ", "- ")
    ),
    *(
        word * 2_000
        for word in (
            "my wife Anna ",
            "in 2018 ",
            "every day ",
            "May 1 ",
            "which has ",
            "he said ",
            "hey, ",
            "I've now ",
        )
    ),
    "I live in " + "Aa " * 3_000,
    "I love " + "a, b and " * 1_000,
    "my email is " + "a." * 4_000 + "@",
    "The deadline of " * 500,
    "I set the a b c d to " * 400,
    "Write a a a a " * 600,
    "I live in Boston, can " * 400 + "?",
    "\0" * 8_000,
    "\ud800 I live in \ud800 and work at \udfff." * 200,
    "I was born on 99 May 9999. My exam is on February 31. I moved to Rome 99 years ago. " * 80,
)


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:12].encode("ascii", "replace").decode() for text in HOSTILE])
def test_hostile_text_gives_statements_that_stand_in_it(text: str) -> None:
    """A pattern that backtracks without bound would not come to an end here."""
    for fact in extract(text):
        ((start, end),) = fact.spans.values()
        assert 0 <= start < end <= len(text)
        assert fact.content


def test_a_text_is_read_up_to_a_limit() -> None:
    assert extract("I live in Boston. " + "So it goes. " * 100_000)[0].value == "boston"
    assert extract("So it goes. " * 100_000 + "I live in Boston.") == ()


def test_the_grammar_is_loaded_when_a_text_is_read() -> None:
    told = "import sys, langchain_tiered_memory.extraction; print([one for one in sys.modules if 'grammar' in one])"

    output = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout

    assert output.strip() == "[]"
