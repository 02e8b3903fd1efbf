"""What a rule is: how a clause reads, and which slots and values it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Fold = Literal["words", "list", "job", "number", "when", "birthday", "phone", "kind", "days"]
"""How the text of a value becomes a value; see `values.py`."""


@dataclass(frozen=True, slots=True)
class Gift:
    """What a matching clause says.

    Attributes:
        slot: The slot; `{group}` stands for the folded text of a group of the pattern, `{group*}` for its stems in
            alphabetical order, `{group@}` for the slot of an attribute that is named by a noun phrase, `{group~}` for
            that of any one thing of the speaker's, `{group%}` for that of all words before a value.
            None: a statement without a slot.
        value: The value; `{group}` as above; None: only the content tells.
        fold: How the group in `value`, or else in `slot`, is folded.
        negated: Whether it says that this is not, or no longer, so.
        needs: A group without which the gift is not given.
    """

    slot: str | None = None
    value: str | None = None
    fold: Fold = "words"
    negated: bool = False
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """How a statement reads.

    Attributes:
        pattern: Regular expression with fragments, matched from the beginning of a clause; case is ignored.
        gifts: What it says, at least one.
        preference: Whether it is a preference.
        future: Whether its times lie ahead, so that "Friday" is the coming one, and are no beginning.
        over: Whether it speaks of a time that is over, so that "in 2018" is a whole period.
        recurring: Whether its dates come again every year, or are none, and are left as they are.
        anywhere: Whether it may begin inside the clause.
        first: Whether the clause must begin its sentence, or follow "and", "but", "so" or "please".
    """

    pattern: str
    gifts: Sequence[Gift]
    preference: bool = False
    future: bool = False
    over: bool = False
    recurring: bool = False
    anywhere: bool = False
    first: bool = False


def states(pattern: str, slot: str | None, value: str | None = "{v}", fold: Fold = "words") -> Rule:
    """Return a rule that gives one value of one slot."""
    return Rule(pattern, (Gift(slot, value, fold),))


def denies(pattern: str, slot: str, value: str | None = "{v}", *, over: bool = False, fold: Fold = "words") -> Rule:
    """Return a rule that takes one value of one slot away."""
    return Rule(pattern, (Gift(slot, value, fold, negated=True),), over=over)
