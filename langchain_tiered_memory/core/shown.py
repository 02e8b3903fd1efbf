"""What can be looked at: in a notebook as HTML, in a terminal through rich."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_VIEWS = "langchain_tiered_memory.views"
"""Found by name when something is first looked at: the core itself knows neither HTML nor rich."""


class Shown:
    """Adds both views to a value. They are of what the value holds: nothing is read or opened for them."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the value as HTML, for a notebook."""
        text: str = import_module(_VIEWS).as_html(self)
        return text

    def __rich__(self) -> Any:
        """Return the value as rich shows it."""
        return import_module(_VIEWS).as_rich(self)
