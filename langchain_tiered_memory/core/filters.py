"""The filter language of `recall` and `list`, meaning the same on every backend because it is applied to values.

`{field: value}` or `{field: {operator: value}}` with `$eq $ne $gt $gte $lt $lte $in $nin`, joined by `$and $or $not`;
several fields of one mapping, and several operators of one field, must all hold. Fields are those of `Memory` except
`content`, and `metadata.NAME` (dots reach into nested mappings). A missing key matches only `$ne`, `$nin` and `$not`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.inputs import MAX_DEPTH, instant
from langchain_tiered_memory.core.model import MEMORY_FIELDS, Memory

Predicate = Callable[[Memory], bool]

_MISSING = object()
_FIELDS = frozenset(MEMORY_FIELDS) - {"content", "metadata"}
_TIMES = frozenset({"created_at", "last_accessed", "observed_at", "valid_to"})


def compile_filter(where: Mapping[str, Any] | None) -> Predicate | None:
    """Return a function that says whether a memory matches; None for no filter.

    Raises:
        InvalidInput: An unknown field or operator, or a value that the operator cannot take.
    """
    if where is None:
        return None
    try:
        return _all_of(where, MAX_DEPTH)
    except RecursionError:  # a value without an end
        raise InvalidInput("filter", type(where), "it is nested too deeply") from None


def _all_of(where: object, depth: int) -> Predicate:
    if not depth:
        raise InvalidInput("filter", type(where), f"it is nested too deeply: {MAX_DEPTH} levels are possible")
    if not isinstance(where, Mapping):
        raise InvalidInput("filter", where, "a mapping of fields to values or operators is needed")
    tests = [_clause(str(key), value, depth - 1) for key, value in where.items()]
    return lambda memory: all(test(memory) for test in tests)


def _clause(key: str, value: object, depth: int) -> Predicate:
    if key in {"$and", "$or"}:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise InvalidInput(f"filter.{key}", value, "a list of filters is needed")
        parts = [_all_of(part, depth) for part in value]
        join = all if key == "$and" else any
        return lambda memory: join(part(memory) for part in parts)
    if key == "$not":
        inner = _all_of(value, depth)
        return lambda memory: not inner(memory)
    if key.startswith("$"):
        raise InvalidInput("filter", key, "known are $and, $or and $not")
    return _field(key, value)


def _field(key: str, value: object) -> Predicate:
    read = _reader(key)
    asked = value if isinstance(value, Mapping) else {"$eq": value}
    if not asked:
        raise InvalidInput(f"filter.{key}", value, f"an operator is needed: {', '.join(_OPERATORS)}")
    tests = []
    for operator, operand in asked.items():
        if operator not in _OPERATORS:
            raise InvalidInput(f"filter.{key}", operator, f"known are {', '.join(_OPERATORS)}")
        if operator in {"$in", "$nin"} and (
            isinstance(operand, str) or not isinstance(operand, (Sequence, set, frozenset))
        ):
            raise InvalidInput(f"filter.{key}.{operator}", operand, "a list is needed")
        tests.append((_OPERATORS[operator], _operand(key, operand)))
    return lambda memory: all(test(read(memory), operand) for test, operand in tests)


def _operand(key: str, operand: object) -> object:
    """Let instants be given as aware or naive datetimes, or as ISO 8601 text."""
    if key not in _TIMES:
        return operand
    if isinstance(operand, (list, tuple, set, frozenset)):
        return [_operand(key, one) for one in operand]
    if isinstance(operand, str):
        try:
            operand = datetime.fromisoformat(operand)
        except ValueError:
            raise InvalidInput(f"filter.{key}", operand, "a datetime or its ISO 8601 text is needed") from None
    return instant(f"filter.{key}", operand)


def _reader(key: str) -> Callable[[Memory], object]:
    if key in _FIELDS:
        return lambda memory: getattr(memory, key)
    if not key.startswith("metadata."):
        raise InvalidInput("filter", key, f"known fields are {', '.join(sorted(_FIELDS))} and metadata.NAME")
    name = key.removeprefix("metadata.")
    if not name:
        raise InvalidInput("filter", key, "a name is needed after the dot")
    return lambda memory: _reach(memory.metadata, name)


def _reach(values: Mapping[str, Any], name: str) -> object:
    if name in values:
        return values[name]
    head, _, rest = name.partition(".")
    inner = values.get(head)
    return _reach(inner, rest) if rest and isinstance(inner, Mapping) else _MISSING


def _equal(value: object, operand: object) -> bool:
    """Compare as JSON does: True is not 1, and a tuple is a list."""
    one = list(value) if isinstance(value, tuple) else value
    other = list(operand) if isinstance(operand, tuple) else operand
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def test(value: object, operand: object) -> bool:
        numbers = _number(value) and _number(operand)
        alike = isinstance(value, (str, datetime)) and isinstance(operand, type(value))
        return (numbers or alike) and compare(value, operand)

    return test


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _among(value: object, operand: Any) -> bool:
    return any(_equal(value, one) for one in operand)


_OPERATORS: dict[str, Callable[[object, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda value, operand: not _equal(value, operand),
    "$gt": _ordered(lambda a, b: a > b),
    "$gte": _ordered(lambda a, b: a >= b),
    "$lt": _ordered(lambda a, b: a < b),
    "$lte": _ordered(lambda a, b: a <= b),
    "$in": _among,
    "$nin": lambda value, operand: not _among(value, operand),
}
