"""Days told in words, resolved against the day on which they were said. English and numbers; pure.

"Yesterday", said on 8 May 2023, is told as `2023-05-07`. A memory is indexed under the days that its text tells, and a
question asks for those that it names, so that "What did I do on 7 May?" meets "I saw the doctor yesterday".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAYS: Final = "mon tue wed thu fri sat sun".split()
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<year>[12][0-9]{3}))?"
_WEEKDAY: Final = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)"
_COUNTS: Final = dict(
    zip("a one two three four five six seven eight nine ten".split(), (1, *range(1, 11)), strict=True)
)
_COUNT: Final = rf"(?P<count>[0-9]{{1,3}}|{'|'.join(_COUNTS)})"

_ISO_DAY: Final = re.compile(r"(?<![0-9-])(?P<year>[12][0-9]{3})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])")
_NAMED_DAYS: Final = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?![a-z]){_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!:){_YEAR}", re.IGNORECASE),
)
_NEAR: Final = re.compile(
    r"\b(?:the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)|yesterday|today|tonight|tomorrow|last\s+night)\b",
    re.IGNORECASE,
)
_NEAR_DAYS: Final = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_AGO: Final = re.compile(rf"\b{_COUNT}\s+(?P<unit>day|week)s?\s+ago\b", re.IGNORECASE)
_WEEKDAYS_TOLD: Final = re.compile(rf"\b(?P<which>last|this past|next|this coming)\s+{_WEEKDAY}\b", re.IGNORECASE)
_WEEKENDS: Final = re.compile(r"\b(?P<which>last|this past|next|this coming)\s+weekend\b", re.IGNORECASE)
_WEEKS: Final = re.compile(r"\b(?P<which>last|this|next)\s+week\b", re.IGNORECASE)
_SATURDAY: Final = 5
_HALF_A_YEAR: Final = timedelta(days=183)
_READ: Final = 8_000
"""Characters read: a longer text is a document, and its dates are not those of a talk."""


def days_told(text: str, said: date, *, weeks: bool = False) -> tuple[str, ...]:
    """Return the days that a text tells, as ISO dates, each once, in no particular order of time.

    Args:
        text: Any text.
        said: The day on which it was said, or asked.
        weeks: Whether a whole week ("last week") is told as its seven days, which a question needs and a memory does
            not: that would be found under too many.
    """
    read = text[:_READ]
    found = [*_written(read, said), *_relative(read, said), *(_of_weeks(read, said) if weeks else ())]
    return tuple(dict.fromkeys(one.isoformat() for one in found))


def without_relative(text: str) -> str:
    """Return a question without words such as "yesterday", which were another day in every memory."""
    for pattern in (_NEAR, _AGO, _WEEKDAYS_TOLD, _WEEKENDS, _WEEKS):
        text = pattern.sub(" ", text)
    return text


def _written(text: str, said: date) -> Iterator[date]:
    for match in _ISO_DAY.finditer(text):
        yield from _day(int(match["year"]), int(match["month"]), int(match["day"]))
    for pattern in _NAMED_DAYS:
        for match in pattern.finditer(text):
            month = _MONTHS.index(match["month"][:3].lower()) + 1
            if match["year"]:
                yield from _day(int(match["year"]), month, int(match["day"]))
            else:  # of the years, the one that is nearest
                near = [
                    one
                    for year in (said.year - 1, said.year, said.year + 1)
                    for one in _day(year, month, int(match["day"]))
                ]
                yield from (one for one in near if abs(one - said) < _HALF_A_YEAR)


def _day(year: int, month: int, day: int) -> Iterator[date]:
    try:
        yield date(year, month, day)
    except ValueError:  # 31 June is no day
        return


def _relative(text: str, said: date) -> Iterator[date]:
    for match in _NEAR.finditer(text):
        yield from _shifted(said, _NEAR_DAYS[" ".join(match[0].lower().split())])
    for match in _AGO.finditer(text):
        count = _COUNTS.get(match["count"].lower()) or int(match["count"])
        yield from _shifted(said, -count * (7 if match["unit"].lower() == "week" else 1))
    for match in _WEEKDAYS_TOLD.finditer(text):
        yield from _nearest(said, _WEEKDAYS.index(match["weekday"][:3].lower()), match["which"])
    for match in _WEEKENDS.finditer(text):
        for saturday in _nearest(said, _SATURDAY, match["which"]):
            yield saturday
            yield from _shifted(saturday, 1)


def _of_weeks(text: str, said: date) -> Iterator[date]:
    for match in _WEEKS.finditer(text):
        weeks = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
        for day in range(7):
            yield from _shifted(said, 7 * weeks - said.weekday() + day)


def _nearest(said: date, weekday: int, which: str) -> Iterator[date]:
    """Yield the day of that name before the day on which it was said, or after it."""
    if which.lower() in {"last", "this past"}:
        yield from _shifted(said, -((said.weekday() - weekday - 1) % 7 + 1))
    else:
        yield from _shifted(said, (weekday - said.weekday() - 1) % 7 + 1)


def _shifted(said: date, days: int) -> Iterator[date]:
    try:
        yield said + timedelta(days=days)
    except OverflowError:  # before the year 1, or after 9999
        return
