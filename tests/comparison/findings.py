"""The ten situations, and what was found of a library in them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["holds", "partly", "fails", "not offered"]

SITUATIONS: Mapping[str, str] = {
    "process restart": "What was said in one process is there in the next.",
    "two users on one object": "One object serves users of similar names, and none sees what another one said.",
    "tool calls at the cut": "Whatever the budget, no tool result is shown without its call, and no call without it.",
    "a summary over budget": "What a model sees keeps to its budget, also after a summary that is too long.",
    "contradiction": "A newer value alone answers, and the former one can still be asked for.",
    "crash between tiers": "What was acknowledged is there once, whatever fails while it moves from place to place.",
    "deletion": "What was deleted is gone, from every answer and from every file.",
    "async under a running loop": "The asynchronous calls do what the others do, and never block the loop.",
    "offline": "It works without a key, a network and a model of one's own.",
    "explanation of a hit": "A hit tells the parts of its score.",
}
"""The name of each situation, and what is asked in it."""


class ScriptOutdatedError(Exception):
    """A script does not fit its library any more, and has to be written anew."""


@dataclass(frozen=True)
class Check:
    """One thing that was tried: whether it held, the words for either case, and what was seen."""

    held: bool
    yes: str
    no: str
    seen: str


@dataclass(frozen=True)
class Finding:
    """What came out of one situation: the outcome, a few words for the table, and the evidence of the run."""

    outcome: Outcome
    words: str
    evidence: str


Situation = Callable[[Path], Finding]
"""Sets a situation up in an empty folder, with the real code of a library, and tells what came out."""


def judged(question: Check, *others: Check) -> Finding:
    """Judge by what was tried: it fails with the question itself, and holds partly if anything else did not hold."""
    checks = (question, *others)
    outcome: Outcome = "fails" if not question.held else "holds" if all(one.held for one in others) else "partly"
    words = "; ".join(one.yes if one.held else one.no for one in checks)
    return Finding(outcome, words, "; ".join(one.seen for one in checks))


def not_offered(words: str, owner: type, names: Iterable[str], seen: str) -> Finding:
    """Find that a class has nothing of that kind: no public method, parameter or field is named so.

    Raises:
        ScriptOutdatedError: It has something named so.
    """
    names = tuple(names)
    found = [one for one in _named(owner) if any(name in one.lower() for name in names)]
    if found:
        message = f"{owner.__name__} has {found}: set the situation up with it"
        raise ScriptOutdatedError(message)
    return Finding("not offered", words, f"nothing in {owner.__name__} is named {' or '.join(names)}; {seen}")


def _named(owner: type) -> list[str]:
    names = set(getattr(owner, "model_fields", ()))
    for name, method in inspect.getmembers(owner, callable):
        if not name.startswith("_"):
            names |= {name, *_parameters(method)}
    return sorted(names)


def _parameters(method: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(method).parameters
    except ValueError:  # a method written in C tells nothing of its parameters
        return ()


@dataclass(frozen=True)
class Column:
    """What was found of one library, and in which versions."""

    versions: Mapping[str, str]
    findings: Mapping[str, Finding]

    def as_json(self) -> dict[str, Any]:
        """Return it as a value of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Column:
        """Return what `as_json` was made of."""
        return cls(value["versions"], {name: Finding(**one) for name, one in value["findings"].items()})
