"""What the forgetting policy lets go, and in which order: pure functions over heads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory import ConfigError, ForgettingRule, ForgettingSettings, Memory, Settings
from langchain_tiered_memory.core.bonds import bond_of, may_go
from langchain_tiered_memory.core.policy import MOST, choose, told, worth

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
OLD = ForgettingRule(name="old", older_than=90 * DAY)


def memory(id: str, *, days: float = 100, **fields: Any) -> Memory:
    at = NOW - days * DAY
    told = {"memory_type": "episode", "importance": 0.5, "created_at": at, "last_accessed": at, "id": id, **fields}
    return Memory(f"content of {id}", **told)


def chosen(*memories: Memory, **settings: Any) -> dict[str, str]:
    return {one.memory.id: one.rule for one in choose(memories, ForgettingSettings(**settings), NOW)}


# -- rules -------------------------------------------------------------------------------------------------------------


def test_without_rules_and_most_nothing_goes() -> None:
    assert not Settings().forgetting.active
    assert chosen(memory("a", days=10_000, importance=0.0)) == {}


def test_a_rule_wants_all_of_its_conditions() -> None:
    rule = ForgettingRule(name="stale", older_than=90 * DAY, unused_for=30 * DAY, importance_below=0.4)
    memories = [
        memory("goes", importance=0.39),
        memory("young", importance=0.39, days=90),
        memory("used", importance=0.39, last_accessed=NOW - 29 * DAY),
        memory("important", importance=0.4),
    ]
    assert chosen(*memories, rules=(rule,)) == {"goes": "stale"}


def test_any_rule_is_enough_and_the_first_is_told() -> None:
    dull = ForgettingRule(importance_below=0.2)
    both, one = memory("both", importance=0.1), memory("one", importance=0.1, days=1)
    assert chosen(both, one, rules=(OLD, dull)) == {"both": "old", "one": "importance below 0.2"}


def test_a_rule_may_be_of_some_types_or_of_the_outdated_only() -> None:
    episodes = ForgettingRule(name="talk", older_than=DAY, memory_types=("episode",))
    past = ForgettingRule(name="past", outdated=True)
    memories = [
        memory("talk"),
        memory("fact", memory_type="fact"),
        memory("ended", memory_type="fact", valid_to=NOW - DAY),
        memory("ends", memory_type="fact", valid_to=NOW + DAY),
    ]
    assert chosen(*memories, rules=(episodes, past)) == {"talk": "talk", "ended": "past"}


def test_what_was_told_late_was_neither_old_nor_unused_before() -> None:
    """A back-filled history begins its life when it is stored."""
    back = replace(memory("back", days=1), observed_at=NOW - 900 * DAY, last_accessed=NOW - 900 * DAY)
    assert chosen(back, rules=(OLD, ForgettingRule(unused_for=30 * DAY))) == {}


@pytest.mark.parametrize(
    ("spared", "by"),
    [
        ({"pinned": True}, {}),
        ({"memory_type": "fact", "slot": "home"}, {}),
        ({"memory_type": "preference"}, {}),
        ({"memory_type": "fact"}, {"spare_types": ("fact",)}),
    ],
)
def test_what_is_spared_stays(spared: dict[str, Any], by: dict[str, Any]) -> None:
    assert chosen(memory("a", **spared), rules=(OLD,), most_per_user=0, **by) == {}


def test_sparing_slots_and_preferences_can_be_left_out() -> None:
    memories = memory("slot", memory_type="fact", slot="home"), memory("likes", memory_type="preference")
    assert chosen(*memories, rules=(OLD,), spare_slots=False) == {"slot": "old"}
    assert chosen(*memories, rules=(OLD,), spare_preferences=False) == {"likes": "old"}


def test_outdated_values_and_what_an_assistant_prefers_are_not_spared() -> None:
    past = memory("past", memory_type="fact", slot="home", superseded_by="now", valid_to=NOW - DAY)
    now = memory("now", memory_type="fact", slot="home", days=1)
    assistant = memory("assistant", memory_type="preference", role="assistant")
    assert chosen(past, now, assistant, rules=(OLD,)) == {"past": "old", "assistant": "old"}


def test_a_value_under_a_key_lives_its_own_life() -> None:
    about = {"key": "k", "value": {}, "searchable": True, "updated_at": NOW.isoformat()}
    value = memory("v", memory_type="fact", origin="values", metadata=about, slot="k", valid_to=NOW - DAY)
    rules = (ForgettingRule(older_than=DAY), ForgettingRule(outdated=True))
    assert chosen(value, memory("a"), rules=rules, spare_slots=False, most_per_user=1) == {
        "a": "stored more than 1 day ago"
    }
    assert chosen(value, rules=rules, spare_slots=False, most_per_user=0) == {}


# -- what depends on what ----------------------------------------------------------------------------------------------


def drawn(id: str, *sources: str, **fields: Any) -> Memory:
    return memory(id, memory_type="fact", origin="consolidation", source_ids=sources, **fields)


def test_what_a_spared_fact_rests_on_alone_stays_with_it() -> None:
    memories = [memory("source"), drawn("fact", "source", slot="home"), memory("other")]
    assert chosen(*memories, rules=(OLD,)) == {"other": "old"}


def test_a_fact_goes_before_what_it_rests_on() -> None:
    memories = [memory("source", importance=0.0), drawn("fact", "source", importance=1.0)]
    assert list(chosen(*memories, rules=(OLD,))) == ["fact", "source"]


def test_a_source_goes_alone_where_the_fact_has_another() -> None:
    memories = [memory("old"), memory("new", days=1), drawn("fact", "old", "new", days=1)]
    assert chosen(*memories, rules=(OLD,)) == {"old": "old"}


def test_a_source_that_only_confirmed_a_value_is_not_needed() -> None:
    at = (NOW - DAY).isoformat()
    confirmed = {"confirmed": {at: {"second": "I still live there"}}}
    fact = drawn("fact", "first", "second", slot="home", metadata=confirmed)
    assert chosen(memory("first"), memory("second"), fact, rules=(OLD,)) == {"second": "old"}


def test_a_value_never_goes_without_those_it_replaced() -> None:
    """Else they would hold again, or longer than they did."""
    first = memory("first", slot="home", superseded_by="second", valid_to=NOW - 50 * DAY, pinned=True)
    second = memory("second", slot="home", superseded_by="third", valid_to=NOW - 20 * DAY)
    third = memory("third", slot="home")
    assert chosen(first, second, third, rules=(OLD,), spare_slots=False) == {}
    freed = replace(first, pinned=False)
    assert list(chosen(freed, second, third, rules=(OLD,), spare_slots=False)) == ["first", "second", "third"]


def test_a_long_chain_is_no_trouble() -> None:
    many = 5_000
    chain = [
        memory(f"{n:05}", slot="s", superseded_by=f"{n + 1:05}" if n < many - 1 else None, importance=1 - n / many)
        for n in range(many)
    ]
    assert list(chosen(*reversed(chain), rules=(OLD,), spare_slots=False)) == [one.id for one in chain]
    pinned = [replace(chain[0], pinned=True), *chain[1:]]
    assert chosen(*pinned, rules=(OLD,), spare_slots=False) == {}


_IDS = "abcdef"


@st.composite
def users(draw: st.DrawFn) -> list[Memory]:
    made = []
    for place, one in enumerate(_IDS):
        earlier = _IDS[:place]
        sources = tuple(draw(st.sets(st.sampled_from(earlier), max_size=2))) if earlier else ()
        successor = draw(st.one_of(st.none(), st.sampled_from(earlier))) if earlier else None
        fields: dict[str, Any] = {
            "importance": draw(st.floats(0, 1)),
            "access_count": draw(st.integers(0, 12)),
            "pinned": draw(st.booleans()),
            "slot": draw(st.sampled_from([None, "home"])),
            "superseded_by": successor,
            "days": draw(st.integers(0, 200)),
            "source_ids": sources,
            "origin": "consolidation" if sources else None,
        }
        made.append(memory(one, **fields))
    return made


@given(given_=users(), most=st.integers(0, 6), spare=st.booleans())
def test_any_beginning_goes_without_a_consequence_for_others(given_: list[Memory], most: int, *, spare: bool) -> None:
    there = {one.id: one for one in given_}
    bonds = {one.id: bond_of(one) for one in given_}
    settings = ForgettingSettings(rules=(OLD,), most_per_user=most, spare_slots=spare)
    order = [one.memory.id for one in choose(given_, settings, NOW)]
    assert len(set(order)) == len(order)
    assert not any(there[one].pinned for one in order)
    for end in range(len(order) + 1):
        assert may_go(order[:end], bonds) == frozenset(order[:end])


# -- worth and the cap -------------------------------------------------------------------------------------------------


def test_worth_rises_with_importance_use_and_recency() -> None:
    plain = memory("plain", days=30)
    assert worth(plain, NOW) == pytest.approx(0.25 + 0.125)
    for better in ({"importance": 0.6}, {"access_count": 1}, {"days": 10}):
        assert worth(memory("better", **{"days": 30, **better}), NOW) > worth(plain, NOW)
    assert worth(replace(plain, valid_to=NOW - DAY), NOW) == pytest.approx(worth(plain, NOW) / 2)


@given(st.floats(0, 1), st.integers(0, 10**9), st.integers(-(10**4), 10**5))
def test_worth_lies_between_0_and_1(importance: float, reads: int, days: int) -> None:
    assert 0 <= worth(memory("a", importance=importance, access_count=reads, days=days), NOW) <= 1


def test_over_the_most_the_least_worth_go_first() -> None:
    memories = [memory(str(n), importance=n / 10) for n in range(8)]
    assert list(chosen(*memories, most_per_user=5)) == ["0", "1", "2"]
    assert chosen(*memories, most_per_user=8) == {}
    assert set(chosen(*memories, most_per_user=5).values()) == {MOST}


def test_the_most_counts_what_rules_leave() -> None:
    memories = [memory(str(n), importance=n / 10, days=100 if n > 5 else 1) for n in range(8)]
    assert chosen(*memories, rules=(OLD,), most_per_user=5) == {"6": "old", "7": "old", "0": MOST}


def test_the_most_counts_what_is_spared() -> None:
    memories = [memory("pinned", pinned=True), memory("a"), memory("b", importance=0.9)]
    assert chosen(*memories, most_per_user=2) == {"a": MOST}


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "rule="),
        ({"name": "x", "memory_types": ("fact",)}, "rule="),
        ({"older_than": timedelta(0)}, "rule.older_than"),
        ({"older_than": 3}, "rule.older_than"),
        ({"unused_for": -DAY}, "rule.unused_for"),
        ({"importance_below": 1.1}, "rule.importance_below"),
        ({"importance_below": float("nan")}, "rule.importance_below"),
        ({"importance_below": "x"}, "rule.importance_below"),
        ({"outdated": 1}, "rule.outdated"),
        ({"outdated": True, "memory_types": ("facts",)}, "rule.memory_types"),
        ({"outdated": True, "memory_types": ["fact"]}, "rule.memory_types"),
    ],
)
def test_a_rule_that_cannot_work_is_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        ForgettingRule(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"rules": (1,)},
        {"rules": OLD},
        {"most_per_user": -1},
        {"most_per_user": 1.5},
        {"most_per_user": True},
        {"spare_types": ("x",)},
        {"spare_slots": None},
        {"batch": 0},
        {"most_per_run": 0},
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"forgetting.{next(iter(given))}"):
        ForgettingSettings(**given)


def test_a_rule_tells_its_conditions() -> None:
    rule = ForgettingRule(
        older_than=90 * DAY, unused_for=DAY, importance_below=0.4, outdated=True, memory_types=("fact",)
    )
    assert told(rule) == (
        "stored more than 90 days ago, unused for 1 day, importance below 0.4, outdated, of type fact"
    )
