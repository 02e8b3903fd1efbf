"""Dates as the authors of public data write them. Months are read in English, whatever the machine's language."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from langchain_tiered_memory.bench.documents import Value

_MONTHS = "january february march april may june july august september october november december".split()
_FORMS = (
    re.compile(
        r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>[ap]m) on (?P<day>\d{1,2}) (?P<month>\w+), (?P<year>\d{4})"
    ),
    re.compile(r"(?P<year>\d{4})/(?P<month>\d\d)/(?P<day>\d\d)( \(\w+\))? (?P<hour>\d\d):(?P<minute>\d\d)"),
    re.compile(r"(?P<month>\w+)-(?P<day>\d{1,2})-(?P<year>\d{4})"),
)
"""LoCoMo: "1:56 pm on 8 May, 2023"; LongMemEval: "2023/05/20 (Sat) 02:21"; BEAM: "March-15-2024"."""
_HALF_DAY = 12


def instant(value: Value) -> datetime:
    """Return a date of the data, as UTC.

    Raises:
        InvalidInput: It is in none of the forms known here.
    """
    text = value.text().strip()
    for form in _FORMS:
        if found := form.fullmatch(text):
            try:
                return _read(found.groupdict())
            except ValueError:
                break
    raise value.wrong("it is no date as the authors of the data write them")


def _read(parts: dict[str, str | None]) -> datetime:
    month, hour = parts["month"] or "", int(parts.get("hour") or 0)
    if parts.get("half"):
        hour = hour % _HALF_DAY + (_HALF_DAY if parts["half"] == "pm" else 0)
    number = int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1
    return datetime(
        int(parts["year"] or 0), number, int(parts["day"] or 0), hour, int(parts.get("minute") or 0), tzinfo=UTC
    )
