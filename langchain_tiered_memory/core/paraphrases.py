"""Whether two statements say the same in other words. Pure; in doubt they do not, and both stay.

Two statements are the same when the same things are said of the same: their words agree once they are folded to their
stems, words of one meaning to one, and words that say nothing are left out. Denial, tense, number and name are words
like any other, so "I love X" and "I hate X", "I own X" and "I owned X" differ. Where the order of words decides who
does what, it has to agree too. English; statements in other languages are the same only when nothing but such words,
case and order differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from langchain_tiered_memory.core.text import analyze, normalize

__all__ = ["same_statement"]

_LONGEST = 300
"""Characters of a statement that may be one in other words; longer texts are compared no further."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][^\W_]+(?:\s*(?:,|and|or)\s+[A-Z][^\W_]+)*")

_SAID_IN_MANY = (
    (re.compile(r"\b(?:can not|cannot|can't) (?:stand|bear)\b"), "dislike"),
    (re.compile(r"\bevery day\b|\ba day\b|\bper day\b|\beach day\b"), "daily"),
    (re.compile(r"\bevery week\b|\ba week\b|\bper week\b|\beach week\b"), "weekly"),
    (re.compile(r"\bat all\b|\ba lot\b|\bso much\b|\bvery much\b"), ""),
    (re.compile(r"\bis called\b|\bis named\b|'s name is\b|'s called\b"), " name"),
    (re.compile(r"\bany ?more\b|\bany longer\b"), "no longer"),
)
"""What several words say together, and one that says it."""

_MEANING = {
    word: first
    for first, *others in (
        line.split()
        for line in """
        like love adore enjoy
        dislike hate detest loathe
        allergic allergy allergies
        name named called
        wedding married marry
        mother mom mum mommy
        father dad daddy
        child kid
        children kids
        not don't doesn't isn't aren't haven't hasn't won't can't cannot couldn't wouldn't
        not-past didn't wasn't weren't hadn't
        past was were had did
        """.strip().splitlines()
    )
    for word in (first, *others)
}
"""Words of one meaning, the first of which stands for all."""

_SILENT = frozenset(
    """
    a an the this i i'm i've i'd me my mine myself we we're we've us our ours it it's that that's there there's them
    they're am is are be been being do does have has having got get gets getting go goes going can
    really absolutely truly totally definitely just so very quite too also well actually please something
    any all both at of for as in on to with and by how when where which who whom what
    """.split()
)
"""Words that change nothing of what a statement says, whoever leaves them out."""

_IN_ORDER = frozenset(
    "than rather before after instead over from gave give gives told tell sent send lent lend introduced owe owes beat "
    "beats taught helped married".split()
)
"""Words around which the order of the others decides who does what to whom."""

_PAST = frozenset(
    "bought sold left went came took made met saw became began quit lost won knew grew spoke wrote ate".split()
)
"""Forms of the past that no ending tells."""


def same_statement(one: str, other: str) -> bool:
    """Say whether two statements say the same in other words; symmetric."""
    if max(len(one), len(other)) > _LONGEST:
        return normalize(one) == normalize(other)
    mine, theirs = _concepts(one), _concepts(other)
    if not mine or Counter(mine) != Counter(theirs):
        return False
    ordered = not _IN_ORDER.isdisjoint(_words(one)) or _several_names(one) or _several_names(other)
    return mine == theirs if ordered else True


def _words(text: str) -> list[str]:
    folded = text.replace("\u2019", "'").lower()
    for said, meant in _SAID_IN_MANY:
        folded = said.sub(meant, folded)
    return _WORD.findall(folded)


@lru_cache(maxsize=4096)
def _concepts(text: str) -> tuple[str, ...]:
    """Return what a statement says, a word for each thing, in its order."""
    return tuple(concept for word in _words(text) for concept in _meant(word))


def _meant(word: str) -> Iterator[str]:
    if word in _MEANING:
        yield _MEANING[word]
    elif word not in _SILENT:
        bare = word.removesuffix("'s")
        (stem, *_) = (*analyze(bare), bare)
        yield f"{stem}-past" if bare in _PAST or (bare.endswith("ed") and not bare.endswith("eed")) else stem


def _several_names(text: str) -> bool:
    """Say whether names stand in places of their own, not all in one row."""
    return len(_NAME.findall(text)) > 1
