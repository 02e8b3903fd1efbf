"""Days told in words."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.dates import days_told

SAID = date(2023, 5, 10)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I saw her yesterday.", ["2023-05-09"]),
        ("The day before  yesterday it rained", ["2023-05-08"]),
        ("the day before yesterday it rained", ["2023-05-08"]),
        ("Tonight we cook, tomorrow we rest", ["2023-05-10", "2023-05-11"]),
        ("We met last night", ["2023-05-09"]),
        ("that was three days ago", ["2023-05-07"]),
        ("a week ago today", ["2023-05-03", "2023-05-10"]),
        ("10 days ago", ["2023-04-30"]),
        ("last Wednesday", ["2023-05-03"]),
        ("last Tuesday", ["2023-05-09"]),
        ("next Wednesday", ["2023-05-17"]),
        ("this coming Friday", ["2023-05-12"]),
        ("last weekend", ["2023-05-06", "2023-05-07"]),
        ("on 7 May", ["2023-05-07"]),
        ("on the 7th of May 2022", ["2022-05-07"]),
        ("on May 7th, 2022", ["2022-05-07"]),
        ("December 24", ["2022-12-24"]),
        ("1 Jan", ["2023-01-01"]),
        ("29 February", []),
        ("29 February 2024", ["2024-02-29"]),
        ("31 June 2023", []),
        ("2023-05-01", ["2023-05-01"]),
        ("2023-05-01 and May 1, 2023", ["2023-05-01"]),
        ("2023-13-01 or id 12023-05-012", []),
        ("may 7 be a lucky number? you may 20 times", ["2023-05-07", "2023-05-20"]),
        ("at May 7:30", []),
        ("last week", []),
        ("Mayor 7, marched 8", []),
        ("999 weeks ago", ["2004-03-17"]),
        ("", []),
    ],
)
def test_days(text: str, days: list[str]) -> None:
    assert sorted(days_told(text, SAID)) == days


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("last week", "2023-05-01", "2023-05-07"),
        ("this week", "2023-05-08", "2023-05-14"),
        ("next week", "2023-05-15", "2023-05-21"),
    ],
)
def test_a_question_asks_for_whole_weeks(text: str, first: str, last: str) -> None:
    days = sorted(days_told(f"What did I do {text}?", SAID, weeks=True))
    assert (len(days), days[0], days[-1]) == (7, first, last)


@pytest.mark.parametrize("said", [date.min, date.max])
def test_there_are_no_days_beyond_the_calendar(said: date) -> None:
    told = days_told(
        "yesterday, tomorrow, two weeks ago, last Monday, next Monday, 5 May, last weekend", said, weeks=True
    )
    assert all("0001" <= day[:4] <= "9999" for day in told)


@given(st.text(max_size=300), st.dates())
def test_any_text_and_day_will_do(text: str, said: date) -> None:
    assert all(date.fromisoformat(day) for day in days_told(text, said, weeks=True))
