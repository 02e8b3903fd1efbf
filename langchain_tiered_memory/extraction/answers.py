"""The shape of a model's answer, and reading it. Loaded only when a model is asked: pydantic takes its time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

_LONGEST = 200_000
"""Characters of an answer that are looked at."""
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_OBJECT = re.compile(r'\{\s*"facts"\s*:')
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?", re.ASCII)
_YEARS = range(1, 2262)
"""What a store can hold, with the year after it."""
_DECEMBER = 12


class Fact(BaseModel):
    """One lasting statement. All but content, type and sources may be null; an unusable one of these is taken for it.

    In the schema all stand as required, as some providers demand.
    """

    content: str = Field(description="The statement, understood by itself.")
    type: Literal["fact", "preference"]
    slot: str | None = Field(description='The attribute: "employer", "pet:rex", or null.')
    value: str | None = Field(description="What the slot is said to be, short, in the words of the text, or null.")
    negated: bool | None = Field(description="True when it says that the slot is not, or no longer, this value.")
    since: str | None = Field(description="Since when it is so: 2018, 2018-03 or 2018-03-01, or null.")
    until: str | None = Field(description="When it stopped being so, likewise, or null.")
    sources: list[str] = Field(description="Handles of the memories that state it.")

    @model_validator(mode="before")
    @classmethod
    def _usable(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        told = {name: _text(given.get(name)) for name in ("value", "since", "until")}
        negated = given.get("negated") in (True, "true", "True", "yes")
        return {"slot": None, **given, **told, "negated": negated}


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


def period(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Return the instants that two dates tell, in UTC: the beginning of the first, and that of the second.

    An end that lies within the time that the beginning names, as in "in 2018", is the end of that time. What is no
    date is None; when the end lies before the beginning, both are.
    """
    began, ended = _date(since), _date(until)
    first = None if began is None else began[0]
    last = None if ended is None else ended[0]
    if began is not None and ended is not None and ended[0] <= began[0]:
        last = ended[1]
        if last <= began[0]:
            return None, None
    return _instant(first), _instant(last)


def _date(text: str | None) -> tuple[date, date] | None:
    """Return the first day that a date names, and the day after the last."""
    match = _DATE.fullmatch(text.strip()) if text else None
    if match is None or int(match[1]) not in _YEARS:
        return None
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        first = date(year, month, day)
    except ValueError:
        return None
    if match[3]:
        return first, date.fromordinal(first.toordinal() + 1)
    if match[2] and month < _DECEMBER:
        return first, date(year, month + 1, 1)
    return first, date(year + 1, 1, 1)


def _instant(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)


def _text(given: object) -> str | None:
    """Return a text or a number as text; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    return str(given).strip() or None


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
