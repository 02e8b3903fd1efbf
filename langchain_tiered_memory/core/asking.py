"""From the arguments of `recall` and `list` to questions: everything is checked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.filters import compile_filter
from langchain_tiered_memory.core.model import ScoredMemory, Tier
from langchain_tiered_memory.core.question import Question


def question(
    user_id: str,
    query: str,
    k: int,
    *,
    weights: RankingWeights,
    session_id: str | None = None,
    agent_id: str | None = None,
    memory_types: Iterable[str] | None = None,
    filter: Mapping[str, Any] | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    include_superseded: bool = False,
    neighbors: int = 0,
    min_score: float | str = 0.0,
    max_tokens: int | None = None,
    touch: bool = True,
) -> Question:
    """Return the question that these arguments ask.

    Raises:
        InvalidInput: An argument cannot be used.
    """
    if not isinstance(weights, RankingWeights):
        raise InvalidInput("weights", weights, "a RankingWeights is needed, such as RankingWeights.CLASSIC")
    return Question(
        user_id=user_id,
        text=inputs.query(query),
        k=inputs.count("k", k),
        weights=weights,
        session_id=inputs.optional_label("session_id", session_id),
        agent_id=inputs.optional_label("agent_id", agent_id),
        memory_types=inputs.memory_types(memory_types),
        predicate=compile_filter(filter),
        as_of=inputs.instant("as_of", as_of),
        known_at=inputs.instant("known_at", known_at),
        include_superseded=inputs.flag("include_superseded", include_superseded),
        neighbors=inputs.count("neighbors", neighbors, 0),
        min_score=None if isinstance(min_score, str) and min_score == "auto" else inputs.share("min_score", min_score),
        max_tokens=None if max_tokens is None else inputs.count("max_tokens", max_tokens),
        touch=inputs.flag("touch", touch) and bool(query.strip()),
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of memories to list; the question says which may be on it."""

    question: Question
    tier: Tier | None
    after: str | None


def listing(
    user_id: str,
    *,
    tier: str | None,
    memory_types: Iterable[str] | None,
    filter: Mapping[str, Any] | None,
    include_superseded: bool,
    limit: int,
    after: str | None,
) -> Listing:
    """Return the page that these arguments ask for.

    Raises:
        InvalidInput: An argument cannot be used.
    """
    asked = question(
        user_id,
        "",
        inputs.count("limit", limit),
        weights=RankingWeights.DEFAULT,
        memory_types=memory_types,
        filter=filter,
        include_superseded=include_superseded,
    )
    return Listing(asked, inputs.tier(tier), inputs.optional_label("after", after))


def hits(field: str, value: object, user_id: str) -> tuple[ScoredMemory, ...]:
    """Return hits of an earlier recall: those of this user.

    Raises:
        InvalidInput: They are something else.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(field, type(value), "the memories of an earlier context, or None, are needed")
    for one in value:
        if not isinstance(one, ScoredMemory):
            raise InvalidInput(field, type(one), "each has to be a memory that a recall returned")
    return tuple(one for one in value if one.user_id == user_id)


def names(field: str, value: object) -> Mapping[str, str]:
    """Return a mapping of text to text; {} for None.

    Raises:
        InvalidInput: It is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise InvalidInput(field, value, "a mapping of str to str is needed")
    return dict(value)
