"""How much a text is worth keeping, judged by rules alone: no model, no store, no clock.

The score is absolute: it depends on the text, its type and its speaker, and on nothing else that is stored. Every
rule of `importance_rules.py` that applies adds its weight to a sum of evidence, which the logistic function brings
into the open interval from 0 to 1. So the score is bounded, rises with every reason to keep the text and falls
with every reason not to, and `explain_importance` names them all:

>>> for reason, weight in explain_importance("I am allergic to peanuts"):
...     print(f"{weight:+.2f} {reason}")
-0.80 as a rule, talk is forgotten
+2.20 speaks of health or diet
+0.45 speaks of themselves
>>> round(score_importance("I am allergic to peanuts"), 2)
0.86

What to expect: allergies, names, deadlines and "remember that …" are above 0.8; ordinary statements of fact lie
between 0.5 and 0.8; greetings, thanks, questions and praise below 0.3. The rules are English; a text that does not
look English is given the benefit of the doubt and scores a little above 0.5.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cache
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.importance_chatter import CHATTER
from langchain_tiered_memory.core.importance_rules import KEEP, Rule
from langchain_tiered_memory.core.model import MemoryType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["RULES", "SCORED_CHARACTERS", "RuleScorer", "explain_importance", "score_importance"]

RULES: Final[tuple[Rule, ...]] = (*KEEP, *CHATTER)
"""Every rule; their reasons are unique."""

SCORED_CHARACTERS: Final = 4096
"""How much of a text is read, so that a pasted file of 10 MB costs no more than a page."""

PRIOR: Final = ("as a rule, talk is forgotten", -0.8)
"""What is known before a word is read: most of what is said need not be kept."""

TYPES: Final[Mapping[MemoryType, tuple[str, float] | None]] = {
    MemoryType.EPISODE: None,
    MemoryType.FACT: ("is given as a fact", 2.2),
    MemoryType.PREFERENCE: ("is given as a preference", 2.2),
}
"""Whoever calls a text a fact or a preference has judged already; any sign in the text then takes it above 0.8."""

ROLES: Final[Mapping[str, tuple[str, float]]] = {
    "assistant": ("is said by the assistant", -2.0),
    "ai": ("is said by the assistant", -2.0),
    "system": ("is an instruction of the system", -2.5),
    "developer": ("is an instruction of the system", -2.5),
    "tool": ("is the result of a tool", -2.5),
    "function": ("is the result of a tool", -2.5),
}
"""What is said by anything but a person is mostly known, or made up for the moment."""

LENGTHS: Final[tuple[tuple[int, float], ...]] = (
    (0, -0.8),
    (3, -0.3),
    (5, 0.0),
    (12, 0.15),
    (20, 0.4),
    (30, 0.6),
    (45, 0.8),
    (120, 0.4),
    (250, 0.0),
)
"""What the number of words says: (from so many words on, weight). A turn of three sentences tells more than a
quip; hundreds of words are a paste and not something somebody tells."""

UNREADABLE: Final = ("is not English, and may matter", 0.9)
"""The benefit of the doubt, in place of what the number of words would say."""

_ENGLISH: Final = frozenset(
    "the and you my is of that this these those for with have has are your it from just would should about what when "
    "where who why not but can she thanks i to am we was how so do does did got like great good there here going been "
    "our me let they them love any some more see still on at by if up out very into than then well don isn".split()
)
"""Frequent words, which with those of the rules tell that a text is English."""

_SHARED: Final = frozenset("a an he in me no on so son to".split())
"""Words of the rules that are frequent in another language too, and so tell nothing."""

_ENGLISH_SHARE: Final = 1 / 8
"""A text of whose different words no more than this share is known is not English."""

_SENTENCE: Final = 5
"""So many words, or letters that English lacks, make a text that can be told from a name or an interjection."""

_TOKEN: Final = re.compile(r"\w+(?:'\w+)*")
_FOREIGN_LETTER: Final = re.compile(r"[^\W\d_\x00-\x7f]")


class _Searched(NamedTuple):
    """A rule with a pattern: where to look, in which writing."""

    search: Callable[[str], object]
    cased: bool
    place: int


class _Table(NamedTuple):
    """The rules, arranged so that a text touches only those whose words it holds.

    Rules are named by their places in `RULES`, those with a pattern by their places in `searched`.
    """

    words: Mapping[str, frozenset[int]]
    pairs: Mapping[tuple[str, str], frozenset[tuple[str, int]]]
    searched: tuple[_Searched, ...]
    gates: Mapping[str, frozenset[int]]
    always: frozenset[int]
    unless: Mapping[int, frozenset[str]]
    english: frozenset[str]


@cache
def _table() -> _Table:
    """Arrange the rules, on first use: about 10 ms that an import does not pay."""
    words: defaultdict[str, set[int]] = defaultdict(set)
    pairs: defaultdict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    gates: defaultdict[str, set[int]] = defaultdict(set)
    searched: list[_Searched] = []
    for place, rule in enumerate(RULES):
        cues = _cues(rule)
        if rule.frame:
            for gate in (max(re.findall(r"\w+", cue), key=len) for cue in cues):
                gates[gate].add(len(searched))
            searched.append(_searched(rule, cues, place))
            continue
        for first, *rest in map(_TOKEN.findall, cues):
            if rest:
                pairs[first, rest[0]].add((_joined([first, *rest]), place))
            else:
                words[first].add(place)
    gated = frozenset[int]().union(*gates.values())
    return _Table(
        words={word: frozenset(places) for word, places in words.items()},
        pairs={pair: frozenset(phrases) for pair, phrases in pairs.items()},
        searched=tuple(searched),
        gates={word: frozenset(places) for word, places in gates.items()},
        always=frozenset(range(len(searched))) - gated,
        unless={place: frozenset(rule.unless.split()) for place, rule in enumerate(RULES) if rule.unless},
        english=_ENGLISH.union(gates, words, (first for first, _ in pairs)) - _SHARED,
    )


def _cues(rule: Rule) -> list[str]:
    """Return the rule's cues, longest first, so that an alternation prefers the longer phrase."""
    return sorted(filter(None, map(str.strip, rule.cues.split(","))), key=len, reverse=True)


def _searched(rule: Rule, cues: list[str], place: int) -> _Searched:
    """Compile the rule; what begins at the start of the text is not tried anywhere else."""
    pattern = re.compile(rule.frame.replace("{}", f"(?:{'|'.join(map(re.escape, cues))})"))
    return _Searched(pattern.match if rule.frame.startswith("^") else pattern.search, rule.cased, place)


def _joined(tokens: Iterable[str]) -> str:
    """Return the words between single blanks, so that a phrase is found at word borders only."""
    return f" {' '.join(tokens)} "


def _matching(text: str, lowered: str, tokens: list[str], words: set[str]) -> list[int]:
    """Return the places in `RULES` of the rules that apply, in order."""
    table = _table()
    found: set[int] = set()
    due = set(table.always)
    for word in words:
        if word in table.words:
            found |= table.words[word]
        if word in table.gates:
            due |= table.gates[word]
    joined = ""
    for pair in pairwise(tokens):
        if pair in table.pairs:
            joined = joined or _joined(tokens)
            found.update(place for phrase, place in table.pairs[pair] if phrase in joined)
    for number in due:
        search, cased, place = table.searched[number]
        if search(text if cased else lowered):
            found.add(place)
    silenced = [place for place in found & table.unless.keys() if not words.isdisjoint(table.unless[place])]
    return sorted(found.difference(silenced))


def _extent(lowered: str, tokens: list[str], words: set[str]) -> tuple[str, float]:
    """Return what the number of words says, or that the words are not ours to judge."""
    if _ENGLISH_SHARE * len(words) >= len(words & _table().english) and (
        len(tokens) >= _SENTENCE or len(_FOREIGN_LETTER.findall(lowered)) >= _SENTENCE
    ):
        return UNREADABLE
    place = bisect_right(LENGTHS, len(tokens), key=lambda step: step[0]) - 1
    return "tells much" if LENGTHS[place][1] > 0 else "says little", LENGTHS[place][1]


def explain_importance(
    content: str, memory_type: str = "episode", role: str | None = None
) -> tuple[tuple[str, float], ...]:
    """Return the reasons behind `score_importance`, each with its weight.

    Args:
        content: Any text; NUL and lone surrogates are ordinary. Only the first `SCORED_CHARACTERS` are read.
        memory_type: `fact`, `episode` or `preference`.
        role: Who said it; None and unknown roles count as a person.

    Returns:
        Pairs of reason and weight in log-odds, negative for what speaks against keeping the text: first the prior,
        then type and role, then the extent, then the rules in the order of the table. With the sum `s` of the
        weights the score is `1 / (1 + exp(-s))`.

    Raises:
        InvalidInput: The memory type is unknown.
    """
    if memory_type not in TYPES:
        raise InvalidInput("memory_type", memory_type, f"use one of {', '.join(TYPES)}")
    text = content[:SCORED_CHARACTERS].replace("\u2019", "'")
    lowered = text.lower()
    tokens = _TOKEN.findall(lowered)
    words = set(tokens)
    words.update([token.partition("'")[0] for token in tokens if "'" in token])
    reasons = (
        PRIOR,
        TYPES[MemoryType(memory_type)],
        ROLES.get(role) if role else None,
        _extent(lowered, tokens, words),
        *((RULES[rule].reason, RULES[rule].weight) for rule in _matching(text, lowered, tokens, words)),
    )
    return tuple(reason for reason in reasons if reason is not None and reason[1] != 0)


def score_importance(content: str, memory_type: str = "episode", role: str | None = None) -> float:
    """Return how much the text is worth keeping, from 0 to 1.

    The arguments are those of `explain_importance`. Time is linear up to `SCORED_CHARACTERS` and constant beyond.

    Raises:
        InvalidInput: The memory type is unknown.
    """
    return 1 / (1 + exp(-sum(weight for _, weight in explain_importance(content, memory_type, role))))


class RuleScorer:
    """The scorer that is used when none is given: `score_importance` as an `ImportanceScorer`."""

    def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
        """Return the importance by the rules."""
        return score_importance(content, memory_type, role)
