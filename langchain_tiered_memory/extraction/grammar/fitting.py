"""What a rule that fits a clause says: the slot, the value, the time, and the words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from langchain_tiered_memory.extraction.grammar import phrases, values, words
from langchain_tiered_memory.extraction.grammar.clauses import Clause
from langchain_tiered_memory.extraction.grammar.moments import Moment, clock, since_for
from langchain_tiered_memory.extraction.grammar.table import Gift, Rule

IT: Final = "{it}"
"""The slot of what was spoken of just before."""

_GAP: Final = re.compile(
    r" *(?:(?:on|at|by|for|in|the|now|around|until|till|from|to|before|end of|late|early|mid|mon|tues|wednes|"
    r"thurs|fri|satur|sun)(?:day)?,? ?)*$",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"\{(\w+)(?:\+(\w+))?([*@~^%]?)\}")
_DEADLINE: Final = re.compile(r"\b(?:deadline|due date)\b", re.IGNORECASE)
_PERFECT: Final = re.compile(r"'ve|\bhave\b|\bhas\b", re.IGNORECASE)
_OF_VERBS: Final = ("plan:", "routine:")
_FORMS: Final = {
    "job": values.folded,
    "number": values.number,
    "kind": values.kind,
    "phone": values.phone,
    "birthday": values.birthday,
    "days": values.days,
}
_ENDS: Final = frozenset({"until", "till", "by"})
_JOINS: Final = _ENDS | {"to", "since", "in", "from"}
_SOON: Final = 3
"""A time of day stands so many characters behind the verb at most."""
_BETWEEN: Final = 4
"""Words between a verb and a day, where the time of day is told first: "at 3 pm on May 10"."""
_A_DAY: Final = len("2023-05-07")


@dataclass(frozen=True, slots=True)
class Fit:
    """A rule that fits a clause.

    Attributes:
        rule: The rule.
        match: Where it fits.
        clause: The clause.
        times: The times told in it.
        begins: Where the statement begins in the clause.
        said: The day on which it was said.
        about: What it is about, where that is told before it.
    """

    rule: Rule
    match: re.Match[str]
    clause: Clause
    times: tuple[Moment, ...]
    begins: int
    said: date
    about: str = ""

    def group(self, name: str) -> str:
        """Return the text of a group; empty where the rule has none or it did not take part."""
        return self.match.groupdict().get(name) or ""


@dataclass(frozen=True, slots=True)
class Period:
    """Since when and until when something is true, as far as the words say.

    Attributes:
        since: The first instant.
        until: The instant after the last.
        to_come: Whether it begins after it was said.
    """

    since: datetime | None = None
    until: datetime | None = None
    to_come: bool = False


def of_person(kin: str, name: str) -> tuple[str, str]:
    """Return the slot and the value that say how one of the speaker's people is called."""
    one = words.KIN[kin.lower()]
    family = words.NAMED_KIN.get(one)
    return (f"{one} name", values.folded(name)) if family is None else (f"{family}:{values.folded(name)}", one)


def slot_and_value(gift: Gift, fit: Fit) -> tuple[str | None, str | None] | None:
    """Return what a gift says; None when the clause does not say it after all."""
    if gift.slot is None:
        return None, None
    if gift.needs and not fit.group(gift.needs):
        return None
    if gift.slot == "{whose^}":
        return of_person(fit.group("whose"), fit.group("v"))
    value, slot = _value(gift, fit), _slot(gift, fit)
    if slot is None or (value is None and gift.value is not None):
        return None
    kin = fit.group("kin").lower()
    return (f"{words.KIN[kin]} {slot}" if kin else slot), value


def _value(gift: Gift, fit: Fit) -> str | None:
    if gift.value is None or not gift.value.startswith("{"):
        return gift.value
    if gift.fold == "when":
        return _when(fit)
    text = fit.group(gift.value.strip("{}"))
    return None if not text or "\0" in text else _FORMS.get(gift.fold, values.folded)(text)


def _slot(gift: Gift, fit: Fit) -> str | None:
    slot = gift.slot or ""
    if gift.fold == "list" or slot == IT:
        return slot
    for reference in _REFERENCE.finditer(slot):
        name, more, how = reference.groups()
        text = " ".join(one for one in (fit.group(name), fit.group(more or "")) if one)
        told = None if "\0" in text else _told(text, name, how, slot, fit)
        if not told:
            return None
        slot = slot.replace(reference[0], told)
    family, colon, rest = slot.partition(":")
    return f"{family}:{' '.join(sorted(set(rest.split())))}" if colon and "*" in (gift.slot or "") else slot


def _told(text: str, name: str, how: str, slot: str, fit: Fit) -> str | None:
    """Return what a reference in a slot stands for."""
    if how in ("@", "~"):
        before = fit.match.string[: fit.match.start(name)].split()
        determiner = fit.match[0].split()[0] if fit.rule.anywhere else before[-1] if before else ""
        find = values.attribute if how == "@" else values.named
        return find(f"{text} for {fit.about}" if fit.about else text, determiner.lower())
    if how == "%":
        return phrases.frame(f"{text} {fit.about}" if fit.about else text)
    if how == "*":
        bare = _DEADLINE.sub("", text) if slot.startswith("deadline:") else text
        return None if values.unnamed(bare) and not slot.startswith(_OF_VERBS) else values.stems(bare)
    return values.kind(text)


def _when(fit: Fit) -> str | None:
    """Return the time that stands where the rule has `when`: a day, a month or a year, and the time of day."""
    start, text = fit.match.start("when"), fit.match.string
    day = next((one for one in fit.times if one.start >= start), None)
    hour, at = clock(text[start:]) or ("", 0)
    soon = bool(hour) and at <= _SOON
    if day is None:
        return hour if soon and text[start : start + at].strip() in {"", "at"} else None
    if fit.rule.anywhere and day.after <= fit.said:
        return None  # told in passing, of what is over
    if not _GAP.match(text, start, day.start) and not (soon and len(text[start : day.start].split()) <= _BETWEEN):
        return None
    return f"{day.value} {hour}" if hour and len(day.value) == _A_DAY else day.value


def period(fit: Fit, said: datetime) -> Period:
    """Return the period of which a statement tells."""
    if fit.rule.future or fit.rule.recurring:
        return Period()
    text, since, until = fit.clause.text, None, None
    for one in fit.times:
        first = text[one.start :].split()[0].lower()
        lead = first if first in _JOINS else text[: one.start].rstrip().rpartition(" ")[2].lower()
        if lead in _ENDS or (lead == "to" and since is not None):
            until = one.first
        elif since is None:
            since = one.first
            if fit.rule.over and lead != "since":
                until = one.after
    if since is None and until is None and _PERFECT.search(text):
        since = since_for(text, fit.said)
    if since is not None and since > fit.said:
        return Period(to_come=True)
    return Period(_instant(since, said), _instant(until, said))


def _instant(day: date | None, said: datetime) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=said.tzinfo or UTC)


def content(fit: Fit, source: str, item: tuple[int, int] | None = None) -> str:
    """Return the statement in the speaker's own words, its times made absolute.

    Args:
        fit: The fit.
        source: The text.
        item: Of a list in the group `v`, where the member stands that alone is told.
    """
    clause = fit.clause
    offset = clause.start - clause.head
    cuts = [
        (offset + one.end, offset + one.end, f" ({one.shown})")
        for one in fit.times
        if one.shown and not fit.rule.recurring and one.start >= fit.begins
    ]
    if item is not None:
        start, end = fit.match.span("v")
        cuts += [(offset + start, offset + start + item[0], ""), (offset + start + item[1], offset + end, "")]
    written, at = [], max(clause.start, offset + max(fit.begins, clause.head))
    for start, end, put in sorted(cuts):
        if start >= at:
            written += [source[at:start], put]
            at = end
    return (clause.text[fit.begins : clause.head] + "".join(written) + source[at : clause.end]).strip()
