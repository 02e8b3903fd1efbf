"""How settings refuse what cannot work: each with its name, its value and what would do."""

from __future__ import annotations

import math
from dataclasses import Field, fields
from datetime import timedelta
from typing import Any

from langchain_tiered_memory.core.errors import ConfigError, shown

LONGEST = timedelta(days=365_000)
"""No duration is longer, so that no instant leaves the calendar."""
KIND = "kind"
"""In a field's metadata the type of a value that may also be None, where that is no time."""


def demand(holds: object, name: str, value: object, allowed: str) -> None:
    """Raise ConfigError unless something holds."""
    if not holds:
        raise ConfigError(f"{name}={shown(value)} cannot be used: {allowed}")


def check_types(settings: object, room: str) -> None:
    """Refuse a field whose value is of another type than its default's."""
    for one in fields(settings):  # type: ignore[arg-type] # a dataclass
        value, default = getattr(settings, one.name), one.default
        if default is None and value is None:
            continue
        wanted = _wanted(one)
        whole = wanted is float and isinstance(value, int) and not isinstance(value, bool)
        exact = isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)
        named = wanted.__name__ + (", or None" if default is None else "")
        demand(exact or whole, f"{room}.{one.name}", value, f"a {named} is needed")
        short = not isinstance(value, timedelta) or value <= LONGEST
        demand(short, f"{room}.{one.name}", value, f"at most {LONGEST.days} days are possible")


def _wanted(one: Field[Any]) -> type:
    kind: type = one.metadata.get(KIND, timedelta if one.default is None else type(one.default))
    return kind


def is_share(value: float) -> bool:
    """Say whether a number is one from 0 to 1."""
    return math.isfinite(value) and 0 <= value <= 1
