"""One name for each attribute: what a model calls a slot, and says of it, as the rules of the grammar write it. Pure.

So a memory that was consolidated by rules and later by a model, or by two models, has one chain for an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from langchain_tiered_memory.extraction.grammar import values, words
from langchain_tiered_memory.extraction.grammar.fitting import of_person

MOST_CHARS: Final = 64
"""Longest name of a slot, and longest member of a family."""

_NAME: Final = re.compile(r"[a-z0-9 ]+")
_BETWEEN: Final = re.compile(r"[\s_-]+|(?<=[a-z])['\u2019]s(?=[\s_:-])")
_OWN: Final = frozenset("user users my own the their current new".split())
_SINGLE: Final[Mapping[str, str]] = {
    alias: name
    for name, aliases in {
        "name": "full name, first name, real name",
        "home": (
            "city, home city, residence, place of residence, current residence, location, lives in, home location, "
            "current city, city of residence, living place, where lives"
        ),
        "employer": "company, workplace, work place, place of work, works at, works for, employer name",
        "job title": "job, title, occupation, profession, role, position, job role, job position, works as, work role",
        "relationship status": "marital status, civil status, relationship",
        "phone number": "telephone, telephone number, mobile, mobile number, cell, cell number, cell phone number",
        "email": "e mail, email address, e mail address",
        "address": "home address, postal address, mailing address, street address",
        "birthday": "date of birth, birth date, birthdate, dob",
        "birthplace": "place of birth, birth place, born in",
        "origin": "hometown, home town, home country, country of origin, comes from",
        "field of study": "major, study subject, subject of study, studies, degree",
        "school": "university, college",
        "native language": "mother tongue, first language",
        "form of address": "preferred name, form of address, called",
        "diet": "diet type, eating style",
        **dict.fromkeys("age pronouns weight height salary car".split(), ""),
        **dict.fromkeys("phone laptop computer camera tablet bike guitar watch".split(), ""),
    }.items()
    for alias in (name, *filter(None, aliases.split(", ")))
}
_FAMILY: Final[Mapping[str, str]] = {
    alias: name
    for name, aliases in {
        "pet": "pets",
        "child": "children kid kids",
        "sibling": "siblings",
        "friend": "friends",
        "relative": "relatives",
        "roommate": "roommates",
        "taste": "tastes like likes dislike dislikes preference preferences interest interests hobby hobbies",
        "favourite": "favorite favourites favorites",
        "language": "languages speaks",
        "skill": "skills plays instrument instruments",
        "allergy": "allergies",
        "condition": "conditions illness diagnosis",
        "medication": "medications medicine medicines",
        "habit": "habits",
        "owns": "own possession possessions",
        "uses": "use tool tools",
        "drinks": "drink",
        "eats": "eat",
        "routine": "routines",
        "plan": "plans",
        "deadline": "deadlines",
        "budget": "",
        "price": "cost",
        "count": "number",
        "version": "",
        "start": "",
        "end": "",
    }.items()
    for alias in (name, *aliases.split())
}
_BY_STEMS: Final = frozenset("routine plan deadline budget price count start end".split())
_BY_KIND: Final = frozenset("favourite condition habit".split())
_ALONE: Final = frozenset("deadline budget price".split())
"""Families that are attributes by themselves as well."""
_IN_WORDS: Final = frozenset("favourite routine plan count version start end".split())
"""Families whose bare name does not tell the member by its value."""
_YES: Final = frozenset("allergy condition drinks eats habit owns skill uses".split())
"""Families whose members are so or are not."""
_FELT: Final = {
    **dict.fromkeys("likes like loves love enjoys prefers yes favourite".split(), "likes"),
    **dict.fromkeys("dislikes dislike hates hate".split(), "dislikes"),
}
_COUNT: Final = re.compile(r"\d{1,3}")
_FORMS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "age": lambda text: match[0] if (match := _COUNT.search(text)) else None,
    "birthday": values.birthday,
    "phone number": values.phone,
    "relationship status": values.kind,
    **dict.fromkeys("name home employer school address car origin".split(), values.folded),
}
_DIGITS: Final = re.compile(r"\+?[\d ()./-]{5,24}")


@dataclass(frozen=True, slots=True)
class Named:
    """A slot and what it is said to be, both as the rules write them; a slot of None tells nothing."""

    slot: str | None = None
    value: str | None = None


def named(slot: str, value: str | None, known: Mapping[str, str] | None = None, speaker: str = "") -> Named:
    """Return a model's name of a slot, and its value, as the rules write them.

    Args:
        slot: Any text: "employer", "job_title", "sister's home", "pet:Rex".
        value: What the slot is said to be, or None.
        known: `canonical` name to name of the slots that are known; such a name wins.
        speaker: Whose slot it is; "ada_employer" is "employer" where Ada speaks.
    """
    found = _named(slot, value, speaker)
    return Named((known or {}).get(found.slot or "", found.slot), found.value)


def canonical(slot: str) -> str:
    """Return the one name under which a slot is compared with others, whatever its spelling."""
    return _named(slot, None).slot or slot


def _named(slot: str, value: str | None, speaker: str = "") -> Named:
    family, colon, member = slot.strip().partition(":")
    if len(family) > MOST_CHARS or len(member) > MOST_CHARS:
        return Named()
    name = " ".join(_BETWEEN.sub(" ", family.lower()).split())
    parts, own = name.split(), _OWN | set(speaker.lower().split())
    while len(parts) > 1 and parts[0] in own:
        parts = parts[1:]
    if not parts or not _NAME.fullmatch(name):
        return Named()
    kin, rest = (None, parts) if " ".join(parts) in _SINGLE else _kin(parts)
    if colon:
        found = _member(" ".join(rest), member.replace("_", " "), value)
    elif kin is not None and rest in ([], ["name"]):
        return Named(*of_person(kin, value)) if value and values.folded(value) else Named()
    else:
        found = _attribute(" ".join(rest), value)
    return found if kin is None or found.slot is None else Named(f"{words.KIN[kin]} {found.slot}", found.value)


def _kin(parts: list[str]) -> tuple[str | None, list[str]]:
    """Return whose of the speaker's people it is, and the name that is left."""
    for many in (2, 1):
        first = " ".join(parts[:many])
        if len(parts) >= many and first in words.KIN:
            return first, parts[many:]
    return None, parts


def _attribute(name: str, value: str | None) -> Named:
    """Return an attribute that is named without a member: a single one, or a family whose value is the member."""
    if name == "phone" and value and _DIGITS.fullmatch(value.strip()):
        name = "phone number"
    if name in _SINGLE:
        return Named(_SINGLE[name], _value(_SINGLE[name], value))
    family = _FAMILY.get(name)
    if family is not None and family not in _ALONE:
        return Named() if value is None or family in _IN_WORDS else _member(name, value, None)
    first, _, rest = name.partition(" ")
    if _FAMILY.get(first) == "favourite":
        return _member("favourite", rest, value)
    slot = values.attribute(name, "my") or name
    return Named(slot, _value(slot, value))


def _member(name: str, member: str, value: str | None) -> Named:
    family = _FAMILY.get(name, name)
    if family in _BY_STEMS:
        folded = values.stems(member)
    else:
        folded = values.kind(member) if family in _BY_KIND else values.folded(member)
    if not folded or not family or len(folded) > MOST_CHARS:
        return Named()
    return Named(f"{family}:{folded}", _value_in(name, family, folded, value))


def _value_in(name: str, family: str, member: str, value: str | None) -> str | None:
    """Return the value of a member of a family; where none is told, that it is so."""
    told = values.folded(value) if value and value.strip() else ""
    if told in {member, family}:
        told = ""
    if family in _YES:
        return "yes"
    if family == "taste":
        return _FELT.get(told or name, told) or "likes"
    if family == "language":
        return "learning" if told in {"learning", "learns", "studying"} else "speaks"
    return values.number(told) if told else "yes" if family == "medication" else None


def _value(slot: str, value: str | None) -> str | None:
    if value is None or not value.strip():
        return None
    form = _FORMS.get(slot)
    return (form(value) if form is not None else None) or values.number(values.folded(value)) or None
