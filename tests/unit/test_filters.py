"""The filter language: what each operator means for every kind of value, there or not there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.filters import compile_filter
from langchain_tiered_memory.core.model import Memory, MemoryType, Tier

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MEMORY = Memory(
    "text",
    MemoryType.FACT,
    0.5,
    NOW,
    NOW + timedelta(hours=1),
    3,
    id="a-b_c",
    user_id="ada",
    tier=Tier.LONG_TERM,
    session_id="s",
    source_ids=("x", "y"),
    metadata={
        "n": 5,
        "f": 0.5,
        "t": "text",
        "yes": True,
        "no": None,
        "list": [1, 2],
        "in": {"ner": {"n": 7}},
        "a.b": 1,
    },
    pinned=True,
)


def holds(where: Any) -> bool:
    found = compile_filter(where)
    assert found is not None
    return found(MEMORY)


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"id": "a-b_c"},
        {"memory_type": "fact"},
        {"memory_type": MemoryType.FACT},
        {"tier": "long_term"},
        {"tier": {"$in": ["short_term", "long_term"]}},
        {"pinned": True},
        {"session_id": {"$ne": "t"}},
        {"session_id": {"$in": frozenset({"s"})}},
        {"session_id": {"$nin": ("t",)}},
        {"agent_id": None},
        {"slot": {"$eq": None}},
        {"importance": 0.5},
        {"importance": {"$gte": 0.5, "$lte": 0.5}},
        {"importance": {"$gt": 0, "$lt": 1}},
        {"access_count": {"$gt": 2}},
        {"created_at": NOW},
        {"created_at": NOW.isoformat()},
        {"created_at": NOW.astimezone(timezone(timedelta(hours=5)))},
        {"created_at": {"$lt": NOW + timedelta(seconds=1)}},
        {"created_at": {"$in": [NOW, NOW + timedelta(days=1)]}},
        {"created_at": {"$gte": "2026-01-01T12:00:00Z"}},
        {"last_accessed": {"$gt": NOW}},
        {"valid_to": None},
        {"source_ids": ("x", "y")},
        {"source_ids": ["x", "y"]},
        {"metadata.n": 5},
        {"metadata.n": 5.0},
        {"metadata.n": {"$gt": 4.5}},
        {"metadata.t": {"$gte": "tex"}},
        {"metadata.yes": True},
        {"metadata.no": None},
        {"metadata.list": [1, 2]},
        {"metadata.in.ner.n": 7},
        {"metadata.a.b": 1},
        {"metadata.in": {"$eq": {"ner": {"n": 7}}}},
        {"metadata.missing": {"$ne": 5}},
        {"metadata.missing": {"$nin": [5]}},
        {"$not": {"metadata.missing": 5}},
        {"$and": []},
        {"$and": [{"pinned": True}, {"metadata.n": 5}]},
        {"$or": [{"pinned": False}, {"metadata.n": 5}]},
        {"$not": {"$or": [{"pinned": False}, {"metadata.n": 6}]}},
        {"pinned": True, "$or": [{"metadata.n": 5}], "metadata.n": {"$ne": 6}},
    ],
    ids=str,
)
def test_these_hold(where: Any) -> None:
    """`{field: value | {"$eq","$ne","$gt","$gte","$lt","$lte","$in","$nin"}}`, `$and/$or/$not`, over fields and
    `metadata.*`."""
    assert holds(where)


@pytest.mark.parametrize(
    "where",
    [
        {"id": "a-b"},
        {"id": "A-B_C"},
        {"id": "a%"},
        {"memory_type": "episode"},
        {"pinned": 1},
        {"pinned": "True"},
        {"session_id": {"$in": []}},
        {"importance": {"$gt": 0.5}},
        {"importance": {"$gt": 0.1, "$lt": 0.2}},
        {"importance": {"$gt": "0"}},
        {"importance": {"$gt": None}},
        {"access_count": True},
        {"metadata.n": "5"},
        {"metadata.n": {"$lt": "6"}},
        {"metadata.yes": 1},
        {"metadata.yes": {"$gt": 0}},
        {"metadata.t": {"$lt": 5}},
        {"metadata.no": {"$gte": 0}},
        {"metadata.list": {"$gt": [0]}},
        {"metadata.missing": 5},
        {"metadata.missing": None},
        {"metadata.missing": {"$gt": 0}},
        {"metadata.missing": {"$lte": 0}},
        {"metadata.missing": {"$in": [None]}},
        {"metadata.in.ner.missing": 7},
        {"metadata.n.deeper": 5},
        {"valid_to": {"$gt": NOW}},
        {"valid_to": {"$lte": NOW}},
        {"$or": []},
        {"$not": {}},
        {"$and": [{"pinned": True}, {"metadata.n": 6}]},
        {"pinned": True, "metadata.n": 6},
    ],
    ids=str,
)
def test_these_do_not_hold(where: Any) -> None:
    """A missing key matches only `$ne/$nin/$not`; values of different kinds are neither equal nor ordered."""
    assert not holds(where)


@pytest.mark.parametrize("where", [None])
def test_no_filter_is_none(where: Any) -> None:
    """`filter=None`: no filter."""
    assert compile_filter(where) is None


@pytest.mark.parametrize(
    "where",
    [
        5,
        [],
        "x",
        {"importance": {}},
        {"importance": {"$gtt": 1}},
        {"importance": {"": 1}},
        {"$nor": []},
        {"$and": 5},
        {"$not": [{}]},
        {"content": "text"},
        {"metadata": 5},
        {"metadata.": 5},
        {"": 5},
        {"session_id": {"$in": "s"}},
        {"created_at": 5},
        {"created_at": {"$gt": "soon"}},
        {"metadata.x": {"y": 5}},
    ],
    ids=str,
)
def test_an_error_is_an_error_and_not_an_equality(where: Any) -> None:
    """An unknown operator is an error."""
    with pytest.raises(InvalidInput, match=r"^filter"):
        compile_filter(where)


values = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=2)


@given(value=values, operand=values)
def test_operators_are_each_others_opposites(value: Any, operand: Any) -> None:
    """`$ne` is not `$eq`, `$nin` is not `$in`, and of `$gt`, `$lte` at most one holds, for every pair of values."""
    memory = Memory("x", MemoryType.FACT, 0.5, NOW, NOW, metadata={"v": value})

    def found(operator: str, wanted: Any) -> bool:
        test = compile_filter({"metadata.v": {operator: wanted}})
        assert test is not None
        return test(memory)

    assert found("$ne", operand) is not found("$eq", operand)
    assert found("$in", [operand]) is found("$eq", operand)
    assert found("$nin", [operand]) is not found("$in", [operand])
    assert not (found("$gt", operand) and found("$lte", operand))
    assert found("$gte", operand) is (found("$gt", operand) or (found("$lte", operand) and found("$eq", operand)))
