"""The filters of LangGraph's stores, over the values in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput

__all__ = ["where"]

Test = Callable[[Any], bool]


def where(filter: Mapping[str, Any] | None) -> Callable[[Mapping[str, Any]], bool] | None:
    """Return a function that says whether a value matches; None for no filter.

    `{key: value}` compares as JSON, where a mapping must hold what is asked and may hold more;
    `{key: {"$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte": value}}` compares numbers with numbers and text with text.
    Dots in a key reach into mappings, unless there is such a key. What is missing is None.

    Raises:
        InvalidInput: An unknown operator; a ValueError, as LangGraph's own stores raise.
    """
    if not filter:
        return None
    tests = [(key, _test(key, wanted)) for key, wanted in filter.items()]
    return lambda value: all(test(_reach(value, key)) for key, test in tests)


def _test(key: str, wanted: Any) -> Test:
    if isinstance(wanted, Mapping) and any(str(one).startswith("$") for one in wanted):
        for operator in wanted:
            if operator not in _OPERATORS:
                raise InvalidInput(
                    f"filter.{key}", operator, f"Unsupported operator, known are {', '.join(_OPERATORS)}"
                )
        return lambda value: all(_OPERATORS[operator](value, operand) for operator, operand in wanted.items())
    if isinstance(wanted, Mapping):
        inner = where(wanted)
        return lambda value: isinstance(value, Mapping) and (inner is None or inner(value))
    if isinstance(wanted, Sequence) and not isinstance(wanted, (str, bytes)):
        tests = [_test(key, one) for one in wanted]
        return lambda value: (
            isinstance(value, list)
            and len(value) == len(tests)
            and all(test(one) for test, one in zip(tests, value, strict=True))
        )
    return lambda value: _equal(value, wanted)


def _reach(value: Mapping[str, Any], key: str) -> Any:
    if key in value:
        return value[key]
    head, dot, rest = key.partition(".")
    inner = value.get(head)
    return _reach(inner, rest) if dot and isinstance(inner, Mapping) else None


def _equal(value: Any, wanted: Any) -> bool:
    """Compare as JSON does: True is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, operand: Any) -> bool:
        numbers = isinstance(value, (int, float)) and isinstance(operand, (int, float))
        texts = isinstance(value, str) and isinstance(operand, str)
        return (numbers or texts) and compare(value, operand)

    return test


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda value, operand: not _equal(value, operand),
    "$gt": _ordered(lambda a, b: a > b),
    "$gte": _ordered(lambda a, b: a >= b),
    "$lt": _ordered(lambda a, b: a < b),
    "$lte": _ordered(lambda a, b: a <= b),
}
