"""How the words of a text become slots and values: two that mean the same are written the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from langchain_tiered_memory.core.languages import ENGLISH
from langchain_tiered_memory.core.text import analyze, normalize
from langchain_tiered_memory.extraction.grammar import words
from langchain_tiered_memory.extraction.grammar.numerals import numeral

_BEFORE: Final = re.compile(
    r"(?:(?:a little|a bit of|an?|the|my|our|his|her|their|some|any|all|to|fluent|basic|good|"
    r"decent|both|own|really|very|(?-i:new)|"
    r"currently|now) )+",
    re.IGNORECASE,
)
_AND: Final = re.compile(r",? (?:and|or|&) |, ?")
_AMOUNT: Final = re.compile(
    r"(?P<sign>[$€£¥₹]|(?:usd|eur|gbp) )? ?(?P<number>\d[\d,]*(?:\.\d+)?) ?(?P<unit>[a-z%]*)(?: "
    r"(?P<coin>[a-z]+))?"
)
_SIGNS: Final = {"usd": "$", "dollars": "$", "bucks": "$", "eur": "€", "euros": "€", "gbp": "£", "pounds": "£"}
_THOUSANDS: Final = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "bn": 10**9, "billion": 10**9}
_UNITS: Final = {
    "percent": "%", "millisecond": "ms", "milliseconds": "ms", "second": "s", "seconds": "s", "hour": "h", "hours": "h",
    "minute": "min", "minutes": "min", "kilos": "kg", "lbs": "lb", "week": "weeks", "day": "days", "month": "months",
    "feet": "ft",
}  # fmt: skip
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY_OF_MONTH: Final = re.compile(r"([a-z]{3})[a-z]*\.? (\d{1,2})|(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3})")
_FILLER: Final = frozenset(
    analyze(
        "new current final latest overall total own actual updated revised entire whole exact upcoming planned "
        "rescheduled average"
    )
)
_FAMILIES: Final = {"deadlin": "deadline", "budget": "budget", "price": "price", "cost": "price"}
_MEASURES: Final = frozenset(stem for one in words.MEASURES.split("|") for stem in analyze(one, ENGLISH))
_NO_ATTRIBUTE: Final = frozenset(
    analyze(
        "thing question problem issue point part answer way guess idea reason one ones best worst it that this he "
        "she they mother mom dad father wife husband partner son daughter sister brother friend boss dog cat "
        "kid child baby",
        ENGLISH,
    )
) | {"it", "that", "this", "he", "she", "they", "i", "we", "you"}
_RESULTS: Final = frozenset(analyze("quiz test score scores accuracy grade mark result percentage", ENGLISH))
_NO_NOUN: Final = re.compile(
    r"\b(?:i|we|you|he|she|they|it|is|are|was|were|that|which|who|and|but|to(?! (?-i:[A-Z]))|if|when|because|so|"
    r"not|then|how|what|after|before|while|during|by|from|been|being)\b",
    re.IGNORECASE,
)
_DATED_PART: Final = re.compile(
    r" (?:on|at|in|this|next|of|from) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)?\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b).*",
    re.IGNORECASE,
)
_DETERMINED: Final = re.compile(
    r"^(?:the|an?|my|our|his|her|their|your|no|some|any|every|each|all|these|those)\b", re.IGNORECASE
)
_VAGUE: Final = frozenset(
    analyze(
        "code function method variable file line error output result value example formula equation angle side "
        "triangle sum probability number total rest time day week month year moment bit lot kind sort type step way "
        "side end start beginning middle everyone everything nothing something plan goal idea sentence "
        "word paragraph user people person man woman weather life world news story",
        ENGLISH,
    )
)
"""Heads of phrases that name now this, now that."""
_TITLED: Final = re.compile(
    r"(?!(?:Let's|That's|It's|There's|Lunch|Dinner|Breakfast|Christmas|Easter|Thanksgiving|\w+day)$)[A-Z][a-z'-]{2,20}"
)
"""A noun without an article at the beginning of a sentence is told of as if it had a name: "Rehearsal is on 3 May"."""
_ASKED: Final = frozenset(
    analyze(
        "code function method variable outcome outcomes error output result example formula equation angle "
        "triangle sum probability idea week month year question problem exercise sentence paragraph loop list "
        "array query matrix circle rectangle dice coin story",
        ENGLISH,
    )
)
_VERSION: Final = re.compile(r"\bv?\d+(?:\.\d+)+\b")
_DAYS: Final = re.compile(
    r"\b(first|second|third|fourth|last|other|weekdays?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
)
_OF: Final = re.compile(r" (?:of|for|in|on|at|with|about) ")
_MOST_STEMS: Final = 6
_KINDS: Final = {
    "color": "colour",
    "smoke": "smoking",
    "vape": "vaping",
    "gamble": "gambling",
    **words.ADJECTIVES_OF_CONDITIONS,
    **words.STATUS,
}


def folded(text: str) -> str:
    """Fold a phrase: `normalize`, and without articles and possessives in front."""
    text = text.strip()
    return normalize(text[match.end() :] if (match := _BEFORE.match(text)) and match.end() < len(text) else text)


def kind(text: str) -> str:
    """Fold a phrase of which there are several spellings or forms."""
    plain = folded(text)
    return _KINDS.get(plain, " ".join(_KINDS["color"] if one == "color" else one for one in plain.split()))


def items(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the members of a list, "a, b and c", each with where it stands."""
    start = 0
    for match in _AND.finditer(text):
        if text[start : match.start()].strip():
            yield text[start : match.start()], start, match.start()
        start = match.end()
    if text[start:].strip():
        yield text[start:], start, len(text)


def stems(text: str) -> str:
    """Return the stems of a phrase in alphabetical order, each once, without what says nothing."""
    return " ".join(sorted({one for one in analyze(text, ENGLISH) if one not in _FILLER and one.isalnum()}))


def attribute(noun: str, determiner: str) -> str | None:
    """Return the slot of an attribute that a noun phrase names; None for what is no lasting attribute.

    Args:
        noun: The phrase without its determiner: "deadline for the API".
        determiner: The word before it; after "the" only what is known to be measured or dated counts.
    """
    found, head = stems(noun).split(), stems(_OF.split(noun, maxsplit=1)[0]).split()
    if not found or len(found) > _MOST_STEMS or not head or unnamed(noun) or not _NO_ATTRIBUTE.isdisjoint(head):
        return None
    own, measured = determiner in {"my", "our"}, not _MEASURES.isdisjoint(found)
    if _RESULTS.issuperset(found):  # of which there is one each time
        return None
    if not (own or measured) or (determiner in {"a", "an"} and len(found) == 1):  # "a deadline" is one of many
        return None
    return _filed(found)


def named(noun: str, determiner: str) -> str | None:
    """Return the slot of one thing that a noun phrase names; None for what may be any of several.

    Args:
        noun: The phrase without its determiner: "guest wifi", "Lotte's birthday party", "invoice for Marlow".
        determiner: The word before it; not after "my" and "our" more than one word has to tell which it is.
    """
    noun = _DATED_PART.sub("", noun)
    found, head = stems(noun).split(), analyze(_OF.split(noun, maxsplit=1)[0], ENGLISH)
    if not found or len(found) > _MOST_STEMS or not head or unnamed(noun) or _DETERMINED.search(noun):
        return None
    if head[-1] in _NO_ATTRIBUTE or head[-1] in _VAGUE or determiner in {"a", "an", "this", "that", "some", "any"}:
        return None
    told = versions(noun)
    own, measured = determiner in {"my", "our"} or _TITLED.fullmatch(noun), not _MEASURES.isdisjoint(found)
    return _filed([*found, *told]) if own or measured or len(found) + len(told) > 1 else None


def versions(text: str) -> list[str]:
    """Return the versions in a text: two of a thing are two things."""
    return _VERSION.findall(text)


def vague(text: str) -> bool:
    """Say whether a phrase is about what is calculated or asked, and so about nothing of the speaker's."""
    return not _ASKED.isdisjoint(analyze(text, ENGLISH))


def _filed(found: list[str]) -> str:
    """Return the slot of the stems of an attribute's name."""
    for stem, family in _FAMILIES.items():
        if stem in found:
            rest = " ".join(one for one in found if one not in {stem, "date"})
            return f"{family}:{rest}" if rest else family
    if {"due", "date"} <= set(found):
        rest = " ".join(one for one in found if one not in {"due", "date"})
        return f"deadline:{rest}" if rest else "deadline"
    return " ".join(found)


def days(text: str) -> str | None:
    """Fold days that come again: "Mondays and on Friday" is "monday friday", "the first Sunday of" "first sunday"."""
    return " ".join(match[1] for match in _DAYS.finditer(text.lower())) or None


def number(text: str) -> str:
    """Fold an amount, a number with its unit, or a version.

    "$5,000" and "5k dollars" are "$5000", "78 percent" is "78%", "v2.1" is "2.1", "nine" is "9".
    """
    plain = normalize(text)
    if plain[:1] == "v" and plain[1:2].isdigit():
        return plain[1:]
    match = _AMOUNT.fullmatch(plain)
    if match is None:
        return numeral(plain) or plain
    before, unit, coin = (match["sign"] or "").strip(), match["unit"], match["coin"] or ""
    sign = _SIGNS.get(before, before) or _SIGNS.get(coin, "") or ("" if unit == "pounds" else _SIGNS.get(unit, ""))
    unit = "" if sign and unit in _SIGNS else unit
    digits = match["number"].replace(",", "")
    if unit in _THOUSANDS:
        size = round(float(digits) * _THOUSANDS[unit], 2)
        digits, unit = str(int(size)) if size == int(size) else str(size), ""
    return f"{sign}{digits}{_UNITS.get(unit, unit)}"


def birthday(text: str) -> str | None:
    """Fold a day of the year to month and day: "3 May" is "05-03"."""
    plain = normalize(text)
    if plain[:4].isdigit():
        return plain[5:10]
    match = _DAY_OF_MONTH.match(plain)
    if match is None:
        return None
    return f"{_MONTHS.index(match[1] or match[4]) + 1:02}-{int(match[2] or match[3]):02}"


def phone(text: str) -> str:
    """Fold a phone number to its digits."""
    return ("+" if text.strip().startswith("+") else "") + re.sub(r"\D", "", text)


def unnamed(text: str) -> bool:
    """Say whether a phrase holds a pronoun or a verb, and so names nothing by itself."""
    return _NO_NOUN.search(text) is not None
