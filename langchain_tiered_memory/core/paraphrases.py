"""Whether two statements say the same in other words. Pure; in doubt they do not, and both stay.

Two statements are the same when the same things are said of the same in the same order, once their words are folded to
their stems, words of one meaning to one, and words that say nothing are left out. Denial, tense, number and name are
words like any other, so "I love X" and "I hate X", "I own X" and "I owned X" differ. Numbers and prepositions belong to
what follows them, so "two sons and a daughter" is not "two daughters and a son", nor is who works for Anna with her.

Of the order only this is free: what stands in front of "I" may follow, the two sides of an "and" may change places,
and so may the few words of a short statement of the speaker that denies, compares and counts nothing. English;
statements in other languages are the same only when nothing but such words and case differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from langchain_tiered_memory.core.text import analyze, normalize

__all__ = ["same_statement"]

_LONGEST = 300
"""Characters of a statement that may be one in other words; longer texts are compared no further."""
_MOST_FREE = 4
"""A statement of at most so many things may tell them in another order."""
_WORD = re.compile(
    r"[$€£¥₹%]|(?<![^\W_])[-+]?\d+(?:[.,:/-]\d+)*|[^\W_]+(?:['\u2019][^\W_]+)*(?:\+\+|#|[+-](?=[\s.,;:!?)]|$))?"
)
"""Words, amounts with all that belongs to them ("-5", "4.5", "05/06"), currencies; "C++" and "A-" are words."""
_SIGNS = "+#-"
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][^\W_]+(?:\s*(?:,|and|or)\s+[A-Z][^\W_]+)*")
_SPEAKER = r"(?:i|we)(?:'m|'ve|'d|'re|'ll)?\b"
_TURNED = re.compile(rf"(?P<front>[^.!?]*?)[:,]?\s(?P<rest>{_SPEAKER}.*)", re.DOTALL)
_CLEFT = re.compile(r"(?P<front>.+?) (?:is|are) (?:what|where|how|when|something)\s(?P<rest>.+)", re.DOTALL)
_OF_SPEAKER = re.compile(rf"(?:{_SPEAKER}|(?:my|our) [^\W_]+ (?:is|are)\b)")
_OTHERS = re.compile(r"\b(?:my|our|his|her|their|me|us|him|them)\b|[^\W_]'s\b")

_SAID_IN_MANY = (
    (re.compile(r"\b(?:can not|cannot|can't) (?:stand|bear)\b"), "dislike"),
    (re.compile(r"\bevery day\b|\ba day\b|\bper day\b|\beach day\b"), "daily"),
    (re.compile(r"\bevery week\b|\ba week\b|\bper week\b|\beach week\b"), "weekly"),
    (re.compile(r"\bat all\b|\ba lot\b|\bso much\b|\bvery much\b"), ""),
    (re.compile(r"\bis called\b|\bis named\b|'s name is\b|'s called\b"), " name"),
    (re.compile(r"\b(have an?) ([^\W_]+) (?:called|named)\b"), r"\1 \2 name"),
    (re.compile(r"\bany ?more\b|\bany longer\b"), "no longer"),
    (re.compile(r"\b(?:have|has) got\b|'ve got\b"), " have"),
    (re.compile(r"\bgetting married\b"), "wedding"),
    (re.compile(r"\ballergic to\b"), "allergic"),
    (re.compile(r"\b(answer|reply|respond) with\b"), r"\1 in"),
    (re.compile(r"\b(like|love|enjoy|hate|prefer|start|begin) to\b"), r"\1"),
    (re.compile(r"\bcan speak\b"), "speak"),
    (re.compile(r"\bwhen there (?:is|are)\b"), ""),
    (re.compile(r"\b(?:i am|i'm) an?\b"), "isa"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b(do|does|is|are|did|was|were|had|could|would|should)n't\b"), r"\1 not"),
)
"""What several words say together, and what says it as well."""

_MEANING = {
    word: first
    for first, *others in (
        line.split()
        for line in """
        like love adore enjoy
        dislike hate detest loathe
        allergic allergy allergies
        mother mom mum mommy
        father dad daddy
        child kid
        children kids
        past was were
        we we're we've our ours us
        they they're they've
        """.strip().splitlines()
    )
    for word in (first, *others)
}
"""Words of one meaning, the first of which stands for all."""

_SILENT = frozenset(
    """
    a an the this i i'm i've me my mine myself it it's that's there there's them am is are be being do does have having
    get gets go goes really absolutely truly totally definitely so very quite also actually please any both at of in on
    """.split()
)
"""Words that change nothing of what a statement says, whoever leaves them out."""

_BINDING = frozenset(
    """
    as for with from by into about against to
    one two three four five six seven eight nine ten eleven twelve hundred thousand half
    first second third fourth fifth last no every each some other another all
    """.split()
)
"""Words that belong to the one that follows them, as numbers do."""

_ANY_TIME = frozenset(stem for word in ("always", "daily", "weekly", "usually") for stem in analyze(word))
"""Stems of words that may stand anywhere."""

_AND = "and"
_IN_ORDER = frozenset(
    "than rather before after instead over from into to prefer gave give gives told tell sent send lent lend "
    "introduced owe owes beat beats taught helped married not no never without nor or but except because if "
    "while until since and".split()
)
"""Words around which the order of the others decides what is said of what, and who does what to whom."""

_PAST = frozenset(
    "bought sold left went came took made met saw became began quit lost won knew grew spoke wrote ate".split()
)
"""Forms of the past that no ending tells."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What a statement says.

    Attributes:
        things: A word for each thing, in its order.
        free: Whether they may be told in another order.
        together: The words that stand side by side; none where the sentence is turned anyway.
    """

    things: tuple[str, ...]
    free: bool
    together: frozenset[tuple[str, str]]


def same_statement(one: str, other: str) -> bool:
    """Say whether two statements say the same in other words; symmetric."""
    if max(len(one), len(other)) > _LONGEST:
        return normalize(one) == normalize(other)
    mine, theirs = _said(one), _said(other)
    if not mine.things or mine.things == theirs.things:
        return bool(mine.things)
    if not (mine.free and theirs.free) or Counter(mine.things) != Counter(theirs.things):
        return False
    return mine.together.isdisjoint((last, first) for first, last in theirs.together)


@lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    folded = _folded(text)
    cleft = _CLEFT.fullmatch(folded)
    told = f"{cleft['rest']} {cleft['front']}" if cleft else folded
    turned = _TURNED.fullmatch(told)
    told = f"{turned['rest']} {turned['front']}" if turned else told
    for said, meant in _SAID_IN_MANY:
        told = said.sub(meant, told)
    words = _WORD.findall(told)
    things = tuple(_ordered(list(_bound(words))))
    beside = pairwise(next(iter(_meant(word)), "") for word in _WORD.findall(folded))
    together = frozenset(pair for pair in beside if all(pair)) if cleft is None else frozenset[tuple[str, str]]()
    return _Said(
        things, len(things) <= _MOST_FREE and _is_free(text, folded if cleft is None else told, words), together
    )


def _folded(text: str) -> str:
    """Return a text in small letters; "US", "IT" and the like, which would be other words, are marked."""
    plain = text.replace("\u2019", "'").strip().rstrip(".!")
    if not plain.isupper():
        plain = _WORD.sub(lambda found: f"{found[0]}#" if _is_sign(found) else found[0], plain)
    return plain.lower()


def _is_sign(found: re.Match[str]) -> bool:
    word = found[0]
    return word.isupper() and word != "I" and found.start() > 0 and word.lower() in _SILENT | _BINDING | _MEANING.keys()


def _bound(words: Iterable[str]) -> Iterator[str]:
    """Yield what words mean, numbers and prepositions together with what follows them."""
    held = ""
    for word in words:
        if word in _BINDING or (word[-1].isdigit() and not word[0].isalpha()):
            held += f"{word} "
            continue
        for meant in _meant(word):
            yield meant if meant == _AND else held + meant
            held = held if meant == _AND else ""
    if held:
        yield held


def _meant(word: str) -> Iterator[str]:
    if word in _MEANING:
        yield _MEANING[word]
    elif word not in _SILENT:
        bare = word.removesuffix("'s")
        (stem, *_) = (bare,) if bare[-1] in _SIGNS else (*analyze(bare), bare)
        yield f"{stem}-past" if bare in _PAST or (bare.endswith("ed") and not bare.endswith("eed")) else stem


def _ordered(things: list[str]) -> Iterator[str]:
    """Yield things with both sides of an "and" in the order of the alphabet, and at the end what may stand anywhere."""
    for at in range(1, len(things) - 1):
        if things[at] == _AND:
            things[at - 1], things[at + 1] = sorted((things[at - 1], things[at + 1]))
    yield from (one for one in things if one not in _ANY_TIME)
    yield from sorted(one for one in things if one in _ANY_TIME)


def _is_free(text: str, told: str, words: Iterable[str]) -> bool:
    """Say whether a statement is one of the speaker about one thing, so that no order of its words says another."""
    turned = _TURNED.fullmatch(told)
    begins = _OF_SPEAKER.match(turned["rest"] if turned else told) is not None
    counted = sum(word[-1].isdigit() for word in words)
    others = len(_OTHERS.findall(told))
    alone = counted <= 1 and others <= 1 and len(_NAME.findall(text)) <= 1
    return begins and alone and _IN_ORDER.isdisjoint(words)
