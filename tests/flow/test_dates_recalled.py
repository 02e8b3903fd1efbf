"""A question that names a day finds what was told of that day, in whatever words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock

SAID = {
    datetime(2023, 5, 8, 9, tzinfo=UTC): "I saw the doctor yesterday",
    datetime(2023, 5, 20, 9, tzinfo=UTC): "I saw the doctor last Friday",
    datetime(2023, 6, 1, 9, tzinfo=UTC): "I saw the doctor two weeks ago",
    datetime(2023, 6, 11, 9, tzinfo=UTC): "I saw the doctor today",
}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What did I do on 7 May 2023?", "I saw the doctor yesterday"),
        ("Whom did I see on May 19th?", "I saw the doctor last Friday"),
        ("Where was I on 2023-05-18?", "I saw the doctor two weeks ago"),
        ("What did I do yesterday?", "I saw the doctor today"),
        ("What did I do last weekend?", "I saw the doctor today"),
        ("What did I do last week?", "I saw the doctor today"),
    ],
)
def test_a_day_that_is_asked_for(sync: Engine, clock: FakeClock, asked: str, answer: str) -> None:
    clock.now = datetime(2023, 6, 12, 9, tzinfo=UTC)
    for at, text in SAID.items():
        sync.remember("ada", text, importance=0.9, observed_at=at)
    assert sync.recall("ada", asked, k=1)[0].content == answer
