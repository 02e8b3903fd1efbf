"""The shape of a model's answer, and reading it. Loaded only when a model is asked: pydantic takes its time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

_LONGEST = 200_000
"""Characters of an answer that are looked at."""
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_OBJECT = re.compile(r'\{\s*"facts"\s*:')


class Fact(BaseModel):
    """One lasting statement."""

    content: str = Field(description="The statement, understood by itself.")
    type: Literal["fact", "preference"]
    slot: str | None = Field(description="Name of the single-valued attribute in snake_case, or null.")
    sources: list[str] = Field(description="Handles of the memories that state it.")

    @model_validator(mode="before")
    @classmethod
    def _no_slot(cls, given: Any) -> Any:
        """Take a missing slot for null; in the schema it stands as required, as some providers demand of all."""
        return {"slot": None, **given} if isinstance(given, Mapping) else given


class Facts(BaseModel):
    """The lasting statements found in the memories; none is usual."""

    facts: list[Fact]


def read_facts(answer: object) -> Facts:
    """Return a model's answer in its shape, from an instance, its parts, or a text with JSON in it.

    Raises:
        ValueError: It has not this shape.
    """
    if isinstance(answer, Facts):
        return answer
    if isinstance(answer, BaseModel):
        answer = answer.model_dump()
    return Facts.model_validate(_parsed(answer) if isinstance(answer, str) else answer)


def _parsed(text: str) -> object:
    """Return the JSON in a text that may say something around it."""
    text = text[:_LONGEST].strip()
    for candidate in (text, *(match[1] for match in _FENCED.finditer(text))):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    begins = _OBJECT.search(text)
    if begins is None:
        raise ValueError("no JSON object with facts")
    try:
        return json.JSONDecoder().raw_decode(text, begins.start())[0]
    except RecursionError as error:
        raise ValueError("JSON too deep to be read") from error
