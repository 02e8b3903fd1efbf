"""What the words before a value tell: whether they name one lasting attribute, and under which slot it is filed."""

from __future__ import annotations

import re
from typing import Final

from langchain_tiered_memory.core.languages import ENGLISH
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.extraction.grammar import values

_PASSING: Final = frozenset(
    analyze(
        "now currently still just only already also usually always mostly normally generally instead today really "
        "actually officially finally again about around up to roughly exactly here there though even both new old "
        "current final latest overall total updated revised go goes going get gets take takes first-ever",
        ENGLISH,
    )
)
"""Words that tell nothing of which attribute it is."""
_NOT_NOW: Final = re.compile(
    r"\b(?:if|that|who|which|whose|what|how|why|when|where|because|than|as|not|n't|never|no|was|were|been|had|did|went|"
    r"came|got|met|saw|made|took|gave|found|left|lost|sold|bought|ate|drank|ran|rode|drove|flew|sat|stood|slept|woke|"
    r"wrote|read about|spoke|told|said|heard|felt|thought|knew|began|broke|brought|built|caught|chose|fell|forgot|grew|"
    r"held|hurt|kept|led|lent|lay|paid|put|rang|rose|sent|shot|sang|spent|stuck|taught|threw|understood|wore|won|"
    r"can|could|would|should|may|might|must|want|wants|need to|needs to|try|trying|hope|hoping|think|thinking|wish|"
    r"let|see you|talk|meet you|you|your|yours|someone|everyone|people|it|this|these|those|his|her|their|he|she|they|"
    r"him|them|look|looks|seem|seems|gonna|need|needs|like|one|\w{2,}ed)\b|n't\b|^(?:let'?s|let us)\b|^\w+ing "
    r"(?:an?|the|my|our|to|for)\b",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(r"\b(?:bed|red|shed|wed|seed|speed|feed|med|weed|breed)\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:my|our|i|we)\b|'s\b|\w (?-i:[A-Z])", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"(?!(?:i|we|i'm|we're)\b)\w+ (?:the|my|our|an?|me|us|him|her|them|it|your|this|that|on|at|by|to)\b|(?:i'm|i am|"
    r"we're) off\b",
    re.IGNORECASE,
)
"""What one tells somebody to do, and what is under way."""
_ONE_OF_MANY: Final = re.compile(r"\b(?:an?|some|another|one)\b", re.IGNORECASE)
_MOST: Final = 6


def frame(words: str) -> str | None:
    """Return the slot that the words before a value make up; None where they name nothing that lasts.

    Args:
        words: From the beginning of the clause to the value: "the bins go out on".
    """
    if _TOLD.match(words) or _NOT_NOW.search(_PRESENT.sub("", words)):
        return None
    found = sorted({one for one in analyze(words, ENGLISH) if one not in _PASSING and one.isalnum()})
    found += values.versions(words)
    if not found or len(found) > _MOST or values.vague(words):
        return None
    own = _OWN.search(words) is not None and _ONE_OF_MANY.search(words) is None
    return " ".join(found) if len(found) > 1 or own else None
