"""Times told in a clause: the days, months and years that its words mean, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from langchain_tiered_memory.core.dates import days_told

_FULL: Final = "january february march april may june july august september october november december".split()
_NAME: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NTH: Final = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_DAYS_OF_WEEK: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_COUNTS: Final = {one: n for n, one in enumerate("zero one two three four five six seven eight nine ten".split())} | {
    "a": 1,
    "an": 1,
}
_COUNT: Final = rf"(?:\d{{1,2}}|{'|'.join(_COUNTS)})"
_WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIME: Final = re.compile(
    rf"(?P<day>\b\d{{4}}-\d\d-\d\d\b|\b{_NAME} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,? [12]\d{{3}}\b)?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_NAME}(?:,? [12]\d{{3}}\b)?)"
    rf"|\b(?P<month>{_NAME}),? (?P<of>[12]\d{{3}})\b"
    r"|\b(?P<near>yesterday|today|tonight|tomorrow|last night|the day before yesterday|the day after tomorrow)\b"
    rf"|\b(?P<ago>{_COUNT}) (?P<unit>day|week|month|year)s? ago\b"
    rf"|\bin (?P<hence>{_COUNT}) (?P<measure>day|week|month|year)s?\b(?! of\b)"
    rf"|\b(?P<which>last|this past|next|this coming|this) (?P<what>weekend|week|month|year|{_WEEKDAY}|{_NAME})\b"
    rf"|\b(?:the )?(?P<nth>first|second|third|fourth|last) (?P<part>weekend|week|{_WEEKDAY}) (?:of|in) "
    rf"(?P<within>{_NAME})"
    rf"|\b(?P<weekday>{_WEEKDAY})\b(?!,? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|,? {_NAME} \d)"
    r"|\bthe (?P<ordinal>\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|century|time|grade|place|of|"
    r"edition|anniversary|birthday))"
    r"|\b(?:in|since|until|till|by|from|to|for|during|of|around|through|early|late|mid) "
    rf"(?:(?P<bare>(?-i:(?=[A-Z])){_NAME})(?! \d)|(?P<year>(?:19|20)\d\d)(?![\d,.%-]))",
    re.IGNORECASE,
)
_HOURS: Final = 24
_MINUTES: Final = 60
_YEAR_TOLD: Final = re.compile(r"\d{4}")
_CLOCK: Final = re.compile(
    r"\b(?:(?P<h>\d{1,2})(?::(?P<m>\d\d))? ?(?P<half>[ap])\.?m\b\.?|(?:at |(?<![\w:.,/ -]))"
    r"(?P<h24>\d{1,2}):(?P<m24>\d\d)(?![\d:])|at (?P<noon>noon))",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    rf"\bfor (?:about |over |almost |nearly |the (?:last|past) )?(?P<n>{_COUNT}) (?P<unit>year|"
    rf"month|week)s\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, month or year, told in words.

    Attributes:
        first: Its first day.
        after: The first day after it.
        value: ISO 8601, as exactly as it was told: "2023-05-07", "2023-05", "2023".
        shown: What makes the words absolute: "7 May 2023"; empty where they are.
        start: Where the words begin.
        end: Where they end.
    """

    first: date
    after: date
    value: str
    shown: str
    start: int
    end: int


def moments(text: str, said: date, *, ahead: bool) -> list[Moment]:
    """Return the times that a text tells, in its order.

    Args:
        text: A clause.
        said: The day on which it was said.
        ahead: Whether "Friday" is the coming one; else the last.
    """
    found: list[Moment] = []
    for match in _TIME.finditer(text):
        try:
            found += _moment(match, said, ahead=ahead)
        except (ValueError, OverflowError):  # no such day, or beyond the calendar
            continue
    return found


def clock(text: str) -> tuple[str, int] | None:
    """Return the first time of day in a text, as "15:00", and where it begins."""
    match = _CLOCK.search(text)
    if match is None:
        return None
    if match["noon"]:
        return "12:00", match.start()
    hour, minute = int(match["h"] or match["h24"]), int(match["m"] or match["m24"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return (f"{hour:02}:{minute:02}", match.start()) if hour < _HOURS and minute < _MINUTES else None


def since_for(text: str, said: date) -> date | None:
    """Return when something began that lasts "for three years" now; None where no such span is told."""
    match = _FOR.search(text)
    if match is None:
        return None
    count = _COUNTS.get(match["n"].lower()) or int(match["n"])
    if match["unit"].lower() == "week":
        return said - timedelta(weeks=count)
    first = _months_on(said, -count * (12 if match["unit"].lower() == "year" else 1))
    return first.replace(day=min(said.day, 28))


def _moment(match: re.Match[str], said: date, *, ahead: bool) -> Iterator[Moment]:
    words, span = match[0].lower(), match.span()
    if match["day"]:
        absolute = _YEAR_TOLD.search(words) is not None
        yield from _day(days_told(words.replace(" the ", " "), said), span, absolute=absolute)
    elif match["near"]:
        yield from _day(days_told(words, said), span)
    elif match["ago"] or match["hence"]:
        if match["ago"] or ahead:  # else "in two weeks" is how long it took
            yield from _away(match, said)
    elif match["which"]:
        yield from _which(match["which"].lower(), match["what"].lower(), said, span)
    elif match["nth"]:
        yield from _nth(match, said, ahead=ahead)
    elif match["weekday"]:
        yield from _day(days_told(f"{'next' if ahead else 'last'} {match['weekday']}", said), span)
    elif match["ordinal"]:
        yield from _ordinal(int(match["ordinal"]), said, span, ahead=ahead)
    else:
        yield _month_or_year(match, said, ahead=ahead)


def _month_or_year(match: re.Match[str], said: date, *, ahead: bool) -> Moment:
    if match["month"]:
        return _month(date(int(match["of"]), _number(match["month"]), 1), match.span(), absolute=True)
    if match["bare"]:
        return _month(_nearest(_number(match["bare"]), said, ahead=ahead), match.span("bare"))
    return _year(int(match["year"]), match.span("year"), absolute=True)


def _nearest(month: int, said: date, *, ahead: bool) -> date:
    """Return the first day of that month: of the coming one, this month included, or of the last."""
    first = date(said.year, month, 1)
    if ahead:
        return _months_on(first, 12) if first < said.replace(day=1) else first
    return _months_on(first, -12) if first > said else first


def _day(days: tuple[str, ...], span: tuple[int, int], *, absolute: bool = False) -> Iterator[Moment]:
    if days:
        day = date.fromisoformat(days[0])
        shown = "" if absolute else f"{day.day} {_FULL[day.month - 1].capitalize()} {day.year}"
        yield Moment(day, day + timedelta(days=1), day.isoformat(), shown, *span)


def _month(first: date, span: tuple[int, int], *, absolute: bool = False) -> Moment:
    shown = "" if absolute else f"{_FULL[first.month - 1].capitalize()} {first.year}"
    return Moment(first, _months_on(first, 1), first.isoformat()[:7], shown, *span)


def _year(year: int, span: tuple[int, int], *, absolute: bool = False) -> Moment:
    return Moment(date(year, 1, 1), date(year + 1, 1, 1), str(year), "" if absolute else str(year), *span)


def _away(match: re.Match[str], said: date) -> Iterator[Moment]:
    """Yield the time so many days, weeks, months or years ago, or hence."""
    told, unit, span = (
        (match["ago"] or match["hence"]).lower(),
        (match["unit"] or match["measure"]).lower(),
        match.span(),
    )
    count = (-1 if match["ago"] else 1) * (_COUNTS.get(told) or int(told))
    if unit == "year":
        yield _year(said.year + count, span)
    elif unit == "month":
        yield _month(_months_on(said.replace(day=1), count), span)
    else:
        yield from _day(((said + timedelta(days=count * (7 if unit == "week" else 1))).isoformat(),), span)


def _which(which: str, what: str, said: date, span: tuple[int, int]) -> Iterator[Moment]:
    step = {"last": -1, "this past": -1, "next": 1, "this coming": 1, "this": 0}[which]
    if what == "year":
        yield _year(said.year + step, span)
    elif what == "month":
        yield _month(_months_on(said.replace(day=1), step), span)
    elif what == "week":
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
        shown = f"week of {monday.day} {_FULL[monday.month - 1].capitalize()} {monday.year}"
        yield Moment(monday, monday + timedelta(days=7), monday.isoformat(), shown, *span)
    elif what == "weekend" or what.endswith("day"):
        yield from _day(days_told(f"{'last' if step < 0 else 'next'} {what}", said), span)
    else:
        first = date(said.year, _number(what), 1)
        late, early = step < 0 and first >= said.replace(day=1), step > 0 and first <= said
        yield _month(_months_on(first, -12 if late else 12 if early else 0), span)


def _nth(match: re.Match[str], said: date, *, ahead: bool) -> Iterator[Moment]:
    """Yield the first, second, ... or last weekend, week or weekday of a month; a weekend is its Saturday."""
    first, part = _nearest(_number(match["within"]), said, ahead=ahead), match["part"].lower()
    weekday = _DAYS_OF_WEEK.index({"weekend": "saturday", "week": "monday"}.get(part, part))
    days = [first + timedelta(days=n) for n in range((_months_on(first, 1) - first).days)]
    fitting = [day for day in days if day.weekday() == weekday]
    yield from _day((fitting[_NTH[match["nth"].lower()]].isoformat(),), match.span())


def _ordinal(day: int, said: date, span: tuple[int, int], *, ahead: bool) -> Iterator[Moment]:
    first = said.replace(day=1)
    for months in (0, 1, 2) if ahead else (0, -1, -2):
        try:
            one = _months_on(first, months).replace(day=day)
        except ValueError:
            continue
        if (one >= said) if ahead else (one <= said):
            yield from _day((one.isoformat(),), span)
            return


def _number(name: str) -> int:
    return next(number for number, full in enumerate(_FULL, 1) if full.startswith(name[:3].lower()))


def _months_on(first: date, months: int) -> date:
    count = first.year * 12 + first.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)
