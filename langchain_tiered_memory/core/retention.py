"""Settings of what is forgotten of long-term memory by itself; `core/policy.py` follows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from langchain_tiered_memory.core.checking import KIND, check_types, demand, is_share
from langchain_tiered_memory.core.model import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRule:
    """What a long-term memory is like that may be forgotten: everything given here holds of it, and it is not spared.

    At least one of `older_than`, `unused_for`, `importance_below` and `outdated` has to be given.
    """

    name: str = ""
    """What reports call it; without one, its conditions in words."""
    older_than: timedelta | None = None
    """Stored longer ago than this."""
    unused_for: timedelta | None = None
    """Neither stored nor recalled for longer than this."""
    importance_below: float | None = field(default=None, metadata={KIND: float})
    """Of an importance below this, in [0, 1]."""
    outdated: bool = False
    """Superseded, or no longer true."""
    memory_types: tuple[str, ...] = ()
    """Of one of these types; none: of any."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "rule")
        given = self.older_than, self.unused_for, self.importance_below, self.outdated or None
        demand(given != (None,) * len(given), "rule", self.name, "without a condition it would forget everything")
        for name in ("older_than", "unused_for"):
            value = getattr(self, name)
            demand(value is None or value > timedelta(0), f"rule.{name}", value, "a positive time, or None")
        below = self.importance_below
        demand(below is None or is_share(below), "rule.importance_below", below, "in [0, 1], or None")
        _check_memory_types("rule.memory_types", self.memory_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingSettings:
    """What `maintain` forgets of long-term memory by itself: nothing, unless rules or a most are given.

    Pinned memories and values under keys are always spared. So is what a spared memory rests on alone, and a value
    that replaced a spared one: forgetting it would take that along, or let it hold again.
    """

    rules: tuple[ForgettingRule, ...] = ()
    """A memory may go by any of them."""
    most_per_user: int | None = field(default=None, metadata={KIND: int})
    """Most long-term memories of one user, spared ones included; above it those of least worth go. None: any number."""
    spare_types: tuple[str, ...] = ()
    """Memory types of which nothing goes."""
    spare_slots: bool = True
    """Whether the present values of slots are spared."""
    spare_preferences: bool = True
    """Whether the user's present preferences are spared."""
    batch: int = 100
    """Most memories forgotten in one transaction."""
    most_per_run: int = 1_000
    """Most memories of one user forgotten in one `maintain`; the next goes on."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        check_types(self, "forgetting")
        for rule in self.rules:
            demand(isinstance(rule, ForgettingRule), "forgetting.rules", rule, "a ForgettingRule is needed")
        most = self.most_per_user
        demand(most is None or most >= 0, "forgetting.most_per_user", most, "at least 0, or None")
        demand(self.batch >= 1, "forgetting.batch", self.batch, "at least 1")
        demand(self.most_per_run >= 1, "forgetting.most_per_run", self.most_per_run, "at least 1")
        _check_memory_types("forgetting.spare_types", self.spare_types)

    @property
    def active(self) -> bool:
        """Whether anything may be forgotten."""
        return bool(self.rules) or self.most_per_user is not None


def _check_memory_types(name: str, given: tuple[object, ...]) -> None:
    for one in given:
        demand(isinstance(one, str) and one in set(MemoryType), name, one, f"types are {', '.join(MemoryType)}")
