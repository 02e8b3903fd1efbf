"""The operations of a LangGraph store, on values."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from langchain_tiered_memory.core.config import LONGEST
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.values import SyncValues, Value
from langchain_tiered_memory.langchain.exact import freed, held
from langchain_tiered_memory.langchain.matching import where
from langchain_tiered_memory.langchain.namespaces import (
    Namespace,
    in_accepted_form,
    labels,
    matching,
    namespaces,
    user_of,
)

__all__ = ["checked", "performed", "swept"]


def checked(ops: Iterable[Op]) -> list[Op]:
    """Return the operations after making sure that each can be meant, with values as JSON holds them.

    Raises:
        InvalidNamespaceError: A label cannot be used.
        InvalidInput: A value or a time to live cannot be used.
    """
    given = list(ops)
    for place, op in enumerate(given):
        if not isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)):
            raise InvalidInput("op", op, "one of LangGraph's operations is needed")
        validate_op_namespace(in_accepted_form(op))
        if isinstance(op, PutOp):
            _ttl(op)
            given[place] = op._replace(value=_value(op))
        if isinstance(op, SearchOp):
            where(op.filter)
    return given


def performed(values: SyncValues, op: Op, fields: Sequence[str]) -> Result:
    """Do one operation, and return its result.

    Args:
        values: Where.
        op: Which; checked.
        fields: What of a value a search finds it by, unless the operation says.
    """
    if isinstance(op, GetOp):
        return _got(values, op)
    if isinstance(op, PutOp):
        _put(values, op, fields)
        return None
    if isinstance(op, SearchOp):
        return _searched(values, op)
    return _listed(values, op)


def swept(values: SyncValues) -> int:
    """Delete what is past its life in every namespace, and return how many values that were."""
    return sum(values.sweep(user_of(namespace)) for namespace in namespaces(values.users(user_of(()))))


def _got(values: SyncValues, op: GetOp) -> Item | None:
    namespace = labels(op.namespace)
    found = values.get(user_of(namespace), op.key)
    if found is None:
        return None
    if op.refresh_ttl and found.ttl is not None:
        values.touch(user_of(namespace), [found.id])
    return Item(
        value=freed(found.value),
        key=found.key,
        namespace=namespace,
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


def _put(values: SyncValues, op: PutOp, fields: Sequence[str]) -> None:
    user = user_of(labels(op.namespace))
    if op.value is None:
        values.delete(user, op.key)
        return
    paths = () if op.index is False else fields if op.index is None else op.index
    texts = [text for path in paths for text in get_text_at_path(op.value, path)]
    values.put(user, op.key, op.value, text="\n".join(texts) or None, ttl=_ttl(op))


def _value(op: PutOp) -> dict[str, Any] | None:
    value: object = op.value
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidInput("value", value, "a mapping is needed")
    found: dict[str, Any] = held(dict(value))
    return found


def _ttl(op: PutOp) -> timedelta | None:
    minutes: object = op.ttl
    if minutes is None:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not math.isfinite(minutes):
        raise InvalidInput("ttl", minutes, "a number of minutes, or None, is needed")
    try:
        return timedelta(minutes=minutes)
    except OverflowError:
        raise InvalidInput("ttl", minutes, f"at most {LONGEST.days} days are possible") from None


def _searched(values: SyncValues, op: SearchOp) -> list[SearchItem]:
    last = op.offset + op.limit
    if last < 1:
        return []
    test = where(op.filter)
    found: list[tuple[Namespace, Value]] = []
    for namespace in namespaces(values.users(user_of(labels(op.namespace_prefix)))):
        best = values.search(user_of(namespace), op.query, where=test, limit=last)
        found += [(namespace, one) for one in best]
    shown = sorted(found, key=_order)[op.offset : last]
    if op.refresh_ttl:
        _refresh(values, shown)
    return [
        SearchItem(
            namespace=namespace,
            key=one.key,
            value=freed(one.value),
            created_at=one.created_at,
            updated_at=one.updated_at,
            score=one.score,
        )
        for namespace, one in shown
    ]


def _order(found: tuple[Namespace, Value]) -> tuple[Any, ...]:
    """Sort by score, those without last; then the last put first; then by name."""
    namespace, one = found
    return one.score is None, -(one.score or 0.0), -one.updated_at.timestamp(), namespace, one.key


def _refresh(values: SyncValues, shown: Iterable[tuple[Namespace, Value]]) -> None:
    ids = defaultdict[Namespace, list[str]](list)
    for namespace, one in shown:
        if one.ttl is not None:
            ids[namespace].append(one.id)
    for namespace, touched in ids.items():
        values.touch(user_of(namespace), touched)


def _listed(values: SyncValues, op: ListNamespacesOp) -> list[Namespace]:
    found = matching(op.match_conditions or (), namespaces(values.users(user_of(()))))
    if op.max_depth is not None:
        found = list({namespace[: op.max_depth] for namespace in found})
    return sorted(found)[op.offset : op.offset + op.limit]
