"""LangGraph's namespaces as users, one to one, and labels that are e-mail addresses.

Each namespace is a user of its own, so the walls between namespaces are those between users. A namespace's name begins
with that of every namespace it lies in, label by label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.store.base import GetOp, InvalidNamespaceError, MatchCondition, Op, PutOp, SearchOp

__all__ = ["Namespace", "accepted", "in_accepted_form", "labels", "matching", "namespaces", "user_of"]

_WILDCARD = "*"
_ROOT = "langgraph:"
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")

Namespace = tuple[str, ...]


def user_of(namespace: Sequence[str]) -> str:
    """Return the user that a namespace is; for () what the names of all of them begin with."""
    return _ROOT + "".join(label.replace("%", "%25").replace("/", "%2F") + "/" for label in namespace)


def namespaces(user_ids: Iterable[str]) -> list[Namespace]:
    """Return the namespaces that users are, without those who are none."""
    found = (one[len(_ROOT) : -1].split("/") for one in user_ids if one.startswith(_ROOT) and one.endswith("/"))
    return [tuple(part.replace("%2F", "/").replace("%25", "%") for part in parts) for parts in found]


class _Accepted(str):
    """A label in a form that LangGraph accepts; it remembers what it stands for."""

    __slots__ = ("label",)

    label: str


def accepted(namespace: Sequence[Any]) -> tuple[Any, ...]:
    """Return a namespace in a form that LangGraph accepts: it refuses dots, but users are often named by an address.

    Raises:
        InvalidNamespaceError: It is a text, whose letters would be taken for labels.
    """
    if isinstance(namespace, str):
        raise InvalidNamespaceError(f"namespace={namespace!r} cannot be used: a tuple of labels is needed")
    return tuple(map(_accepted, namespace))


def _accepted(label: Any) -> Any:
    if not isinstance(label, str) or isinstance(label, _Accepted) or not _ADDRESS.fullmatch(label):
        return label
    form = _Accepted(label.replace("%", "%25").replace(".", "%2E"))
    form.label = label
    return form


def labels(namespace: Sequence[Any]) -> Namespace:
    """Return a namespace as it was given, whatever form it was accepted in."""
    return tuple(label.label if isinstance(label, _Accepted) else label for label in namespace)


def in_accepted_form(op: Op) -> Op:
    """Return an operation with its namespaces in a form that LangGraph accepts."""
    if isinstance(op, (GetOp, PutOp)):
        return op._replace(namespace=accepted(op.namespace))
    if isinstance(op, SearchOp):
        return op._replace(namespace_prefix=accepted(op.namespace_prefix))
    given = op.match_conditions or ()
    return op._replace(match_conditions=tuple(one._replace(path=accepted(one.path)) for one in given))


def matching(conditions: Iterable[MatchCondition], found: Iterable[Namespace]) -> list[Namespace]:
    """Return the namespaces that meet every condition."""
    wanted = [(one.match_type, labels(one.path)) for one in conditions]
    return [one for one in found if all(_meets(one, kind, path) for kind, path in wanted)]


def _meets(namespace: Namespace, kind: str, path: Namespace) -> bool:
    if kind not in {"prefix", "suffix"}:
        raise ValueError(f"Unsupported match type: {kind}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if kind == "prefix" else namespace[len(namespace) - len(path) :]
    return all(asked in {_WILDCARD, label} for asked, label in zip(path, part, strict=True))
