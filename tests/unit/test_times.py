"""Whether a question asks for a time, and whether a memory tells one."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.core.times import asks_when, tells_when

MAY = datetime(2023, 5, 8)  # noqa: DTZ001 - only its day matters


ASKING = (
    "When did Caroline move?",
    "and WHEN was that",
    "How long have they been married?",
    "how many days are there between the two deadlines",
    "In which year did he graduate?",
    "What date is the review?",
)
NOT_ASKING = ("Whenever it rains, what does she do?", "How many children does he have?", "What does Ada like?", "")
TELLING = (
    "I moved here last week",
    "See you on Saturdays",
    "It is due in June",
    "It is due on March 15, 2024",
    "We met in 2019",
    "That was in 2023 already",
)
NOT_TELLING = ("I may go", "It costs 2023000", "I like tea", "")


def test_a_question_asks_for_a_time() -> None:
    """Say whether a question asks for a time or a span of time."""
    assert [text for text in ASKING + NOT_ASKING if asks_when(text)] == [*ASKING]


def test_a_memory_tells_a_time() -> None:
    """A day of the week, "last week", a month or a year; the day on which it was said is not what it tells."""
    told = [said for said in TELLING + NOT_TELLING if tells_when(Counter(analyze(f"8 May 2023 Ada: {said}")), MAY)]
    assert told == [*TELLING]


def test_the_month_in_which_it_was_said_counts_when_it_is_told() -> None:
    """A month or year counts where it stands once more, or is another."""
    june = datetime(2023, 6, 8)  # noqa: DTZ001 - only its day matters
    assert not tells_when(Counter(analyze("8 June 2023 Ada: I like tea")), june)
    assert tells_when(Counter(analyze("8 June 2023 Ada: it was in June")), june)
    assert not tells_when({}, june)
