"""Words that stand for others: irregular forms and everyday synonyms of English, by their terms. Pure.

A stemmer knows that "walked" is "walk"; that "went" is "go", and that children are also called kids, has to be told.
Only questions are read with it: what is stored stays as it was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langchain_tiered_memory.core.text import analyze

_FORMS: Final = """
become became, begin began begun, bend bent, bite bit bitten, bleed bled, blow blew blown, break broke broken,
bring brought, build built, buy bought, catch caught, choose chose chosen, come came, creep crept, deal dealt, dig dug,
draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed,
feel felt, fight fought, find found, fly flew flown, forget forgot forgotten, forgive forgave forgiven,
freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, hang hung, hear heard,
hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, leave left, lend lent, light lit, lose lost,
make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, say said,
see saw seen, seek sought, sell sold, send sent, shake shook shaken, shoot shot, show shown, shrink shrank,
sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood, steal stole stolen,
stick stuck, strike struck, swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken, teach taught,
tear tore torn, tell told, think thought, throw threw thrown, understand understood, wake woke woken, wear wore worn,
win won, write wrote written, child children, man men, woman women, person people, mouse mice, foot feet, tooth teeth,
wife wives, knife knives, half halves, good better best, bad worse worst
"""
_SAME: Final = """
kid child, mom mum mother, dad father, grandma grandmother, grandpa grandfather, movie film, photo picture pic,
family fam relatives, husband wife spouse partner, store shop, job work career profession, buy purchase,
hobby interest pastime, trip travel vacation journey holiday, doctor physician, begin start, finish complete end,
big large, car vehicle, bike bicycle, town city, country nation, book novel, talk speak chat, create make, receive get,
attend join participate, live reside, gift present, favourite favorite, marry marriage wedding, educate education,
research study, plan intend, company business firm, exercise workout, competition contest tournament compete,
recommend suggest, adopt adoption, happy glad, tired exhausted, house home, apartment flat, friend buddy, sick ill,
scared afraid, funny hilarious, phone mobile cellphone, email mail, flight plane, salary wage pay income, boss manager,
colleague coworker, illness disease sickness, allergy allergic, medicine medication, decide decision, choose choice,
advise advice, lose loss, know knowledge, move relocate, quit resign, hire employ, difficult hard, quick fast,
error bug, deadline due, meeting appointment
"""
_KINDS: Final = """
pet dog cat puppy kitten, sibling brother sister, parent mother father mom dad, meal breakfast lunch dinner,
instrument guitar piano violin drums, sport soccer football basketball tennis
"""
"""The first word of each stands for the others, and not they for it."""


def _others() -> Mapping[str, tuple[str, ...]]:
    forms: dict[str, list[str]] = {
        term: group for told in _FORMS.split(",") for group in [analyze(told)] for term in group
    }
    found = {term: dict.fromkeys(group) for term, group in forms.items()}
    for told in _SAME.split(","):
        group = [form for term in analyze(told) for form in forms.get(term, [term])]
        for term in group:
            found[term] = found.get(term, {}) | dict.fromkeys(group)
    for told in _KINDS.split(","):
        first, *kinds = analyze(told)
        found[first] = found.get(first, {}) | dict.fromkeys(kinds)
    return {term: tuple(one for one in group if one != term) for term, group in found.items()}


_OTHERS: Final = _others()


def others(term: str) -> tuple[str, ...]:
    """Return the terms that may stand for this one; none for most."""
    return _OTHERS.get(term, ())
