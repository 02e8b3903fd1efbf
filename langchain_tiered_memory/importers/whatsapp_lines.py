"""How WhatsApp writes a line: date and time in the manner of the telephone's country, the author, the text.

Android writes `31/12/2023, 18:05 - Ada: Hello`, iOS `[31.12.23, 18:05:10] Ada: Hello`; between the time and "PM" there
may be a narrow space, and before what WhatsApp itself says a left-to-right mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

_DATE = r"(?P<a>\d{1,4})(?P<by>[./-])\s?(?P<b>\d{1,2})[./-]\s?(?P<c>\d{1,4})\.?"
_HALF = r"[ap]\.?\s?m\.?|上午|下午|午前|午後|오전|오후"
_TIME = rf"(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?(?:\s?(?P<after>{_HALF}))?"
_WHEN = rf"{_DATE},?\s(?:[^\W\d]{{1,4}}\s)?(?:(?P<before>{_HALF})\s?)?{_TIME}"
_HEAD = re.compile(rf"[\u200e\u200f]*(?P<bracket>\[)?{_WHEN}(?(bracket)\]\s?|(?:\s-\s|:\s))", re.IGNORECASE)
_AUTHOR = re.compile(r"[\u200e\u202a~\s]*(?P<name>[^:\n\u200e\"“”„«»]{1,100}?)\u202c?:(?:\s|$)")
_CLOSE = re.compile(_AUTHOR.pattern.removesuffix(r"(?:\s|$)"))
"""In brackets some write no space before the text; without brackets that might be a time in a notice."""
_PM = ("p", "下", "午後", "오후")
_LONGEST_HEAD = 250
_CENTURY, _DAYS, _MONTHS = 2000, 31, 12


@dataclass(frozen=True, slots=True)
class Line:
    """The beginning of a message.

    Attributes:
        numbers: The three numbers of its date, as they stand.
        by: What stands between them.
        clock: Hour, minute and second, of 24 hours.
        halves: Whether it was written as a.m. or p.m.
        author: Who said it; None where WhatsApp speaks.
        text: What was said, to the end of the line.
    """

    numbers: tuple[str, str, str]
    by: str
    clock: tuple[int, int, int]
    halves: bool
    author: str | None
    text: str

    def at(self, *, day_first: bool) -> datetime | None:
        """Return date and time without a zone; None when there is no such day."""
        first, second, third = (int(number) for number in self.numbers)
        year, one, two = (first, second, third) if len(self.numbers[0]) > 2 else (third, first, second)  # noqa: PLR2004
        if len(self.numbers[0]) > 2:  # noqa: PLR2004 - a year that stands first is followed by the month
            month, day = one, two
        else:
            day, month = (one, two) if day_first else (two, one)
        try:
            return datetime(year if year >= 100 else year + _CENTURY, month, day, *self.clock)  # noqa: DTZ001, PLR2004
        except ValueError:
            return None


def line_of(text: str) -> Line | None:
    """Return the beginning of a message; None for a line that goes on with the one before."""
    found = _HEAD.match(text[:_LONGEST_HEAD])
    if found is None:
        return None
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    half = (found["after"] or found["before"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half.startswith(_PM) else 0)
    if hour > 23 or minute > 59 or second > 59:  # noqa: PLR2004 - of a clock
        return None
    author = (_CLOSE if found["bracket"] else _AUTHOR).match(text, found.end())
    return Line(
        (found["a"], found["b"], found["c"]),
        found["by"],
        (hour, minute, second),
        bool(half),
        author["name"].strip("\u202a\u202c\u2068\u2069 ") if author else None,
        text[author.end() if author else found.end() :].lstrip(" "),
    )


@dataclass(frozen=True, slots=True)
class Order:
    """Which of day and month stands first, and why it is thought so."""

    day_first: bool
    because: str


def order_of(lines: Iterable[Line]) -> Order:
    """Return how the dates of a file are to be read: as most of its lines can be, else as its time runs forward."""
    seen = _Seen()
    for line in lines:
        seen.take(line)
    return seen.order()


class _Seen:
    """What the dates of a file tell of their order."""

    def __init__(self) -> None:
        self._first = self._second = self._years_first = self._lines = self._halves = self._dots = 0
        self._backwards = [0, 0]  # read with the month first, and with the day first
        self._last: list[datetime | None] = [None, None]

    def take(self, line: Line) -> None:
        self._lines += 1
        self._halves += line.halves
        self._dots += line.by == "."
        if len(line.numbers[0]) > 2:  # noqa: PLR2004
            self._years_first += 1
            return
        self._first += _MONTHS < int(line.numbers[0]) <= _DAYS
        self._second += _MONTHS < int(line.numbers[1]) <= _DAYS
        for day_first in (False, True):
            at, last = line.at(day_first=day_first), self._last[day_first]
            if at is not None:
                self._backwards[day_first] += last is not None and at < last
                self._last[day_first] = at

    def order(self) -> Order:
        if self._years_first == self._lines:
            return Order(day_first=True, because="the year stands first")
        if self._first != self._second:
            day = self._first > self._second
            number = max(self._first, self._second)
            return Order(day, f"{number} dates can be read only {'day' if day else 'month'} first")
        month, day_back = self._backwards
        if month != day_back:
            first = "day" if day_back < month else "month"
            return Order(day_back < month, f"read {first} first, its time runs forward")
        if self._dots == self._lines:
            return Order(day_first=True, because="points stand between its numbers")
        day = not self._halves
        clock = "of 24 hours" if day else "of a.m. and p.m."
        return Order(day, f"nothing in the file decides, so its clock {clock} does: say so if it is wrong")
