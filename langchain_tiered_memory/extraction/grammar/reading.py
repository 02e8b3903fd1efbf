"""Reads the statements of a text with the rules: clause by clause, the first rule that fits decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from typing import Final

from langchain_tiered_memory.extraction.grammar import (
    attributes,
    counted,
    dated,
    frames,
    habits,
    measured,
    oneself,
    others,
    people,
    relations,
    states,
    tastes,
    turns,
    values,
)
from langchain_tiered_memory.extraction.grammar.besides import stands_beside
from langchain_tiered_memory.extraction.grammar.clauses import Clause, clauses
from langchain_tiered_memory.extraction.grammar.fitting import IT, Fit, content, of_person, period, slot_and_value
from langchain_tiered_memory.extraction.grammar.fragments import spelled
from langchain_tiered_memory.extraction.grammar.moments import moments
from langchain_tiered_memory.extraction.grammar.table import Gift, Rule

RULES: Final[tuple[Rule, ...]] = (
    *oneself.NAMES,
    *oneself.HOMES,
    *oneself.CONTACTS,
    *oneself.WORK,
    *oneself.SCHOOL,
    *oneself.STATUS,
    *oneself.HEALTH,
    *oneself.DIET,
    *people.PEOPLE,
    *tastes.INSTRUCTIONS,
    *tastes.SKILLS,
    *relations.PROVIDERS,
    *states.HABITUAL,
    *habits.HABITS,
    *attributes.RECURRING,
    *dated.ROUTINES,
    *habits.TURNS,
    *tastes.TASTES,
    *tastes.THINGS,
    *measured.COUNTS,
    *measured.EARNINGS,
    *measured.NAMED,
    *attributes.PERSONS,
    *dated.DEADLINES,
    *measured.MEASURED,
    *dated.PLANS,
    *dated.COMINGS,
    *states.STATES,
    *habits.DOSES,
    *attributes.TOKENS,
    *attributes.AMOUNTS,
    *attributes.PLACES,
    *turns.TURNED,
    *turns.BELONGINGS,
    *relations.RELATIONS,
    *relations.BEGINNINGS,
    *others.OTHERS,
    *others.MINE,
    *counted.TITLED,
    *counted.COUNTED,
    *frames.HELPERS,
    *frames.FRAMES,
)
"""All rules; of several that fit a clause the first decides."""

_OPENERS: Final = re.compile(
    r"(?:(?:(?:hi|hey|hello)(?: there| everyone| all)?|and|but|well|so|yes|yeah|yep|no|oh|ah|ok|"
    r"okay|also|btw|by the way|actually|now|anyway|plus|"
    r"because|since(?= (?:i|we|my|our|the)\b)|although|though|even though|while|as|then|sorry|"
    r"wait|i mean|fyi|just so you know|for the record|honestly|"
    r"to be honest|now that|given that|considering that|seeing that|knowing that|(?:i|i've) "
    r"(?:noticed|realized|realised|found)(?: that)?|"
    r"i'm (?:glad|happy|proud|excited|pleased|worried|thrilled|kinda worried|aware|sure) that|"
    r"unfortunately|luckily|sadly|thankfully|recently|currently|lately|remember(?: that)?|note(?: "
    r"that)?|"
    r"please (?:remember|note)(?: that)?|especially|haha|lol|wow|thanks|great|cool|update|"
    r"correction|in fact|especially since|ugh|phew|yay|yikes|argh|hmm|right|alright|listen|look|guess what|plot twist|"
    r"(?:good|bad|big|small|quick|great|sad) news|news|confession|full disclosure|reminder|ps|p\.s|side note|"
    r"in other news|for context|for reference|for what it's worth|fwiw|as you know|as of (?:today|now|this \w+)|"
    r"(?:it )?turns out(?: that)?|(?:one|small|quick|tiny|another) (?:change|correction|update)|typo|oops|whoops|"
    r"my (?:bad|mistake)|scratch that|i was wrong|i misspoke|heads up|before i forget|these days|nowadays|right now|"
    r"at the moment|in the end|for now|from now on|again|finally|apologies|no wait|hang on)(?=\W)[,:!.]* )+",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"(?:(?:in|since|from|on|until|till|last|next|by|as of|starting|yesterday|today|tomorrow|two|"
    r"three|\d+|after|with|due to|because of|thanks to|during|over|at)\b[^,]{0,40}?),? (?=(?:i|we|my|our|the|i've|"
    r"i'm|we've)\b)",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r" (?:and|or|&) ", re.IGNORECASE)
_ASIDE: Final = re.compile(
    r"(?:honestly|frankly|really|obviously|actually|sure|lately|recently|especially|mostly|you know|by the way|too|"
    r"though|"
    r"the \w+er\b|the more\b|(?:give|tell|show|let|call|judge|fight|bring|take|make) (?:me|us|it|them)\b|"
    r"i\b|not\b|so\b|even\b)",
    re.IGNORECASE,
)
"""How what is no member of a list begins, though it stands between its commas."""
_MOST_LIKED: Final = re.compile(r"(?<=\w) (?:the )?(?:best|most)$", re.IGNORECASE)
_MOST_WORDS: Final = 4
"""A member of a list that has more words is a story, and no value."""
_NEAR: Final = 40
"""Characters between a statement and "it", which is what the statement tells of."""
_DATED: Final = re.compile(r"\d{4}-\d\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something that the speaker states; see `ExtractedFact`, whose `observed_at` and `valid_to` are `since`, `until`.

    `start` and `end` tell where it stands in the text.
    """

    content: str
    slot: str | None
    value: str | None
    negated: bool = False
    preference: bool = False
    since: datetime | None = None
    until: datetime | None = None
    start: int
    end: int


@cache
def _patterns() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """Compile the rules, once somebody reads."""
    return tuple((rule, re.compile(spelled(rule.pattern), re.IGNORECASE)) for rule in RULES)


def statements(text: str, said: datetime) -> list[Statement]:
    """Return what the speaker of a text states, in its order.

    Args:
        text: What was said.
        said: When, which tells what "last month" is.
    """
    found: list[Statement] = []
    for clause in clauses(text):
        for fit in _fits(clause, said.date()):
            if given := list(_given(fit, text, said, found)):
                found += given
                break
    return found


def _fits(clause: Clause, said: date) -> Iterator[Fit]:
    """Yield the rules that fit a clause: behind "and", "well", then behind a time, then as it stands."""
    text = clause.text
    opened = match.end() if (match := _OPENERS.match(text)) else 0
    led = match.end() if (match := _LEAD.match(text, opened)) else opened
    for at in dict.fromkeys((opened, led, 0)):
        for rule, pattern in _patterns():
            one = pattern.search(text, at) if rule.anywhere else pattern.match(text, at)
            if one is not None and (clause.first or not rule.first):
                times = tuple(moments(text, said, ahead=rule.future))
                yield Fit(rule, one, clause, times, opened if at else 0, said, clause.about)


def _given(fit: Fit, source: str, said: datetime, before: list[Statement]) -> Iterator[Statement]:
    """Yield what a fit says; nothing when it says nothing after all."""
    gifts = [(gift, named) for gift in fit.rule.gifts if (named := slot_and_value(gift, fit)) is not None]
    when = period(fit, said)
    for gift, (slot, value) in gifts:
        one = Statement(
            content=content(fit, source),
            slot=slot,
            value=value,
            negated=gift.negated,
            preference=fit.rule.preference,
            since=when.since,
            until=when.until,
            start=fit.clause.start,
            end=fit.clause.end,
        )
        beside = slot is not None and stands_beside(slot, fit.clause.text[fit.begins :], negated=gift.negated)
        if beside or when.to_come or (fit.rule.over and when.until is None and not gift.negated):
            yield replace(one, slot=None, value=None, negated=False)  # it is not so now, or not yet
        elif slot == IT:
            yield from _of_it(one, gift, before, source)
        elif gift.fold == "list":
            yield from _each(one, fit, source)
        else:
            yield one
    if gifts and fit.group("called"):
        yield _called(fit)


def _each(one: Statement, fit: Fit, source: str) -> Iterator[Statement]:
    """Yield a statement for each member of the list in the group `v`; one without a slot where they are no names."""
    members = list(_members(fit.group("v")))
    if not members:
        yield replace(one, slot=None, value=None, negated=False)
        return
    for name, start, end in members:
        words = content(fit, source, (start, end)) if len(members) > 1 else one.content
        yield replace(one, content=words, slot=one.slot and one.slot.replace("{v}", values.folded(name)))


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the members of a list up to the first that is no name of anything, and nothing when that is the first.

    What is set off by a comma may be an aside: "I love horror films, the slower the better".
    """
    found = list(values.items(text))
    if len(found) > 1 and not _LISTED.search(text) and not _ASIDE.match(found[1][0]):
        return  # adjectives of one thing: "clear, measurable goals"
    for name, start, end in found:
        words = name.split()
        if len(words) > _MOST_WORDS or "\0" in name or values.unnamed(name) or _ASIDE.match(name):
            return
        most = _MOST_LIKED.search(name)
        yield name[: most.start()] if most else name, start, start + most.start() if most else end


def _of_it(one: Statement, gift: Gift, before: list[Statement], source: str) -> Iterator[Statement]:
    """Yield a statement of "it" as one of what was spoken of just before, if that has a value of the same kind."""
    last = next((other for other in reversed(before) if other.slot and other.value), None)
    if last is None or last.value is None or one.start - last.end > _NEAR:
        return
    if (_DATED.match(last.value) is not None) == (gift.fold == "when"):
        told = f"{source[last.start : last.end]} {one.content}"
        yield replace(one, slot=last.slot, content=told, start=last.start)


def _called(fit: Fit) -> Statement:
    """Return the name of a person who is named in passing: "my wife Anna works at Acme"."""
    kin, name = fit.group("kin"), fit.group("called")
    slot, value = of_person(kin, name)
    start, end = fit.clause.start, fit.clause.end
    return Statement(content=f"my {kin} is {name}", slot=slot, value=value, start=start, end=end)
