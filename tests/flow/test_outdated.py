"""What was superseded steps back: its successor is found in its words, and its source says until when it held."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from langchain_tiered_memory.core.engine import Engine

BEFORE, AFTER = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
ASKED = "which company does Ada work for, at Initech?"


@pytest.fixture
def changed(sync: Engine) -> Engine:
    """Ada told of one employer, and then of another in other words."""
    told: dict[str, Any] = {"name": "Ada", "role": "user", "session_id": "s", "tier": "long_term"}
    sync.remember("ada", "I work at Initech, which is a company.", id="old", observed_at=BEFORE, **told)
    sync.remember("ada", "I work for Globex now.", id="new", observed_at=AFTER, **told)
    for number in range(20):
        sync.remember("ada", f"Ada likes the company of friend {number} at work.", id=f"talk {number}", **told)
    return sync


def places(hits: Any) -> dict[str, int]:
    return {hit.metadata.get("value", hit.id): place for place, hit in enumerate(hits)}


def test_before_consolidation_the_outdated_statement_leads(changed: Engine) -> None:
    hits = changed.recall("ada", ASKED, k=10, touch=False)

    assert hits[0].id == "old"
    assert hits[0].current


def test_after_consolidation_the_current_value_leads_and_the_old_source_says_until_when_it_held(
    changed: Engine,
) -> None:
    changed.consolidate("ada")

    hits = changed.recall("ada", ASKED, k=30, touch=False)
    there = places(hits)

    assert there["globex"] == 0
    assert hits[0].explanation["taken_over"].value > 0
    old = hits[there["old"]]
    assert old.explanation["superseded"].value == 1
    assert (old.superseded_by, old.valid_to) == (hits[0].id, AFTER)
    assert old.score < hits[0].score
    assert sum(part.contribution for part in old.explanation.values()) == pytest.approx(old.score, abs=1e-6)


def test_an_old_source_counts_about_half_of_what_it_counted_before(changed: Engine) -> None:
    before = changed.recall("ada", ASKED, k=30, touch=False)
    changed.consolidate("ada")
    after = changed.recall("ada", ASKED, k=30, touch=False)

    was = before[places(before)["old"]].explanation["relevance"].value
    now = after[places(after)["old"]].explanation["relevance"].value
    assert 0.3 * was < now < 0.7 * was


def test_the_memory_itself_is_as_it_was(changed: Engine) -> None:
    changed.consolidate("ada")
    changed.recall("ada", ASKED, k=30)

    old = changed.get("ada", "old")
    assert (old.superseded_by, old.valid_to) == (None, None)


def test_asked_about_the_time_before_nothing_steps_back(changed: Engine) -> None:
    changed.consolidate("ada")

    hits = changed.recall("ada", ASKED, k=30, as_of=datetime(2025, 5, 1, tzinfo=UTC), touch=False)

    assert hits[places(hits)["old"]].current
    assert "superseded" not in hits[places(hits)["old"]].explanation


def test_a_prompt_says_until_when_an_old_statement_held(changed: Engine) -> None:
    changed.consolidate("ada")

    text = changed.session("ada", "later").context(ASKED, k=30).text

    assert '2025-03-01 to 2025-09-01, user "Ada", episode: "I work at Initech, which is a company."' in text


def test_once_the_newer_value_is_forgotten_the_older_leads_again(changed: Engine) -> None:
    changed.consolidate("ada")
    changed.forget("ada", "new")

    hits = changed.recall("ada", ASKED, k=30, touch=False)

    assert {hit.metadata.get("value", hit.id) for hit in hits[:2]} == {"initech", "old"}
    assert all(hit.current for hit in hits)
