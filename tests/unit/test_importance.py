"""Importance by rules: named examples with their bounds, and what holds for every text."""

from __future__ import annotations

import math
import time
import timeit
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.importance import (
    RULES,
    SCORED_CHARACTERS,
    RuleScorer,
    _table,
    explain_importance,
    score_importance,
)
from langchain_tiered_memory.core.model import MemoryType
from tests.unit.importance_examples import EXAMPLES, NOTHING, SMALL_TALK, SPOKEN, STRAIGHT_TO_LONG_TERM, TYPED

if TYPE_CHECKING:
    from langchain_tiered_memory.core.importance_rules import Rule
    from langchain_tiered_memory.core.ports import ImportanceScorer

HOSTILE = (
    ("one long word", "a" * SCORED_CHARACTERS),
    ("blanks", " " * SCORED_CHARACTERS),
    ("my my my", "my " * SCORED_CHARACTERS),
    ("i really really", "i really " * SCORED_CHARACTERS),
    ("long words after my", "my " + "-".join("x" * 19 for _ in range(SCORED_CHARACTERS))),
    ("she she she", "allergic. " + "she is " * SCORED_CHARACTERS),
    ("open quotes", '"' * SCORED_CHARACTERS),
    ("questions", "what? " * SCORED_CHARACTERS),
    ("one endless question", "what is it " * SCORED_CHARACTERS + "?"),
    ("mail addresses", "a@" * SCORED_CHARACTERS),
    ("braces", "{ }  ; " * SCORED_CHARACTERS),
    ("equals", "a = = " * SCORED_CHARACTERS),
    ("every cue at once", " ".join(rule.cues.replace(",", " ") for rule in RULES)),
    ("remember", "please remember " * SCORED_CHARACTERS),
    ("remember, and never an end", "remember the x" + "y " * SCORED_CHARACTERS),
    (
        "subjects without end, with what every rule asks for",
        "allergic likes always remember code dog wife love password play " + "she i my have " * SCORED_CHARACTERS,
    ),
    ("NUL", "\0" * SCORED_CHARACTERS),
    ("lone surrogates", "\ud800" * SCORED_CHARACTERS),
    ("line breaks", "\n" * SCORED_CHARACTERS),
)

anything = st.text(st.characters(exclude_categories=()), max_size=200)
"""Any characters, lone surrogates and NUL included."""
phrases = st.sampled_from(
    sorted({cue.strip() for rule in RULES for cue in rule.cues.split(",") if cue.strip()} | {e[1] for e in EXAMPLES})
)
talk = st.lists(phrases, max_size=8).map(". ".join)
"""Texts made of what the rules look for."""


@pytest.mark.parametrize(("content", "bounds"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES])
def test_named_examples_lie_within_their_bounds(content: str, bounds: tuple[float, float]) -> None:
    score = score_importance(content)

    assert _within(score, bounds), explain_importance(content)


@pytest.mark.parametrize(("content", "role", "bounds"), [e[1:] for e in SPOKEN], ids=[e[0] for e in SPOKEN])
def test_the_speaker_counts(content: str, role: str, bounds: tuple[float, float]) -> None:
    assert _within(score_importance(content, role=role), bounds), explain_importance(content, role=role)


@pytest.mark.parametrize(("content", "memory_type", "bounds"), TYPED)
def test_a_given_fact_or_preference_is_worth_more(content: str, memory_type: str, bounds: tuple[float, float]) -> None:
    score = score_importance(content, memory_type)

    assert score > score_importance(content)
    assert _within(score, bounds), explain_importance(content, memory_type)


def test_a_fact_amid_small_talk_is_worth_more_than_the_small_talk() -> None:
    chatter = [
        content for _, content, bounds in EXAMPLES if bounds in (NOTHING, SMALL_TALK) and "record" not in content
    ]

    assert len(chatter) > 20
    for content in chatter:
        assert score_importance(f"{content} I am allergic to peanuts.") > score_importance(content)


@given(anything | talk, st.sampled_from([None, "user", "assistant", "tool"]), st.sampled_from(MemoryType))
def test_the_score_is_the_logistic_of_the_reasons(content: str, role: str | None, memory_type: MemoryType) -> None:
    """The reasons explain the whole score: bounded, and rising with each weight."""
    weights = [weight for _, weight in explain_importance(content, memory_type, role)]

    score = score_importance(content, memory_type, role)

    assert 0 <= score <= 1
    assert score == pytest.approx(1 / (1 + math.exp(-math.fsum(weights))))
    assert 0 not in weights


@given(anything | talk)
def test_the_arrangement_of_the_rules_changes_nothing(content: str) -> None:
    """Searching with every pattern finds what searching with those whose words are in the text finds."""
    text = content[:SCORED_CHARACTERS].replace("\u2019", "'")
    patterns = _table().searched

    by_reason = {reason for reason, _ in explain_importance(content)}

    for search, cased, place in patterns:
        assert (RULES[place].reason in by_reason) == bool(search(text if cased else text.lower()))


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.frame], ids=lambda rule: rule.reason)
def test_every_phrase_is_found_wherever_it_stands(rule: Rule) -> None:
    for cue in (cue.strip() for cue in rule.cues.split(",")):
        for content in (cue, f"Well, {cue.upper()}!", f"({cue}) x"):
            assert (rule.reason, rule.weight) in explain_importance(content), content


def test_the_rules_are_a_sound_table() -> None:
    """Reasons are unique, weights finite and not nothing, and a rule has something to look for."""
    assert len({rule.reason for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert math.isfinite(rule.weight)
        assert rule.weight != 0
        assert rule.cues or rule.frame
        assert "{}" not in rule.frame or rule.cues


def test_the_score_is_the_same_every_time_and_whatever_was_scored_before() -> None:
    first = [score_importance(content) for _, content, _ in EXAMPLES]

    assert [score_importance(content) for _, content, _ in reversed(EXAMPLES)] == first[::-1]


def test_only_the_first_characters_are_read() -> None:
    start = "The garden gate squeaks. ".ljust(SCORED_CHARACTERS)

    assert score_importance(start + "Remember that I am allergic to peanuts.") == score_importance(start)


@pytest.mark.parametrize("content", [e[1] for e in HOSTILE], ids=[e[0] for e in HOSTILE])
def test_no_text_takes_long(content: str) -> None:
    """The worst is a few milliseconds; the bound leaves room for a busy machine."""
    score_importance("warm up")

    start = time.process_time()
    score = score_importance(content)

    assert time.process_time() - start < 0.1
    assert 0 <= score <= 1


def test_ten_megabytes_cost_no_more_than_a_page() -> None:
    content = "I went to the market with my sister and bought two melons. " * 175_000

    start = time.process_time()
    score = score_importance(content)

    assert len(content) > 10_000_000
    assert time.process_time() - start < 0.1
    assert 0 <= score <= 1


def test_a_typical_message_takes_microseconds() -> None:
    """50 µs on an idle machine; the best of many runs, with room for a slower one."""
    content = "Hey! Last week I took my kids to the beach, and we found a starfish. How have you been since then?"
    score_importance(content)

    best = min(timeit.repeat(lambda: score_importance(content), number=20, repeat=20)) / 20

    assert best < 200e-6


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match="use one of episode, fact, preference"):
        score_importance("I live in Rome", "rumour")


def test_the_scorer_fills_the_port() -> None:
    scorer: ImportanceScorer = RuleScorer()

    score = scorer.score("I am allergic to peanuts", memory_type=MemoryType.PREFERENCE, role="user")

    assert score == score_importance("I am allergic to peanuts", "preference", "user")
    assert score > 0.8


def _within(score: float, bounds: tuple[float, float]) -> bool:
    """Whether the score lies in the bounds; `STRAIGHT_TO_LONG_TERM` excludes 0.8 itself, as the placement does."""
    low, high = bounds
    return low <= score <= high and (bounds != STRAIGHT_TO_LONG_TERM or score > low)
