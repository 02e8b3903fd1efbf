"""How memories, hits and reports look: in a notebook as HTML, in a terminal through rich.

`describe` says once what there is to be seen, as values; `notebook` and `terminal` draw that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def as_html(value: object) -> str:
    """Return a value as HTML that holds its own style, loads nothing, and runs nothing, whatever is written in it."""
    from langchain_tiered_memory.views.describe import card
    from langchain_tiered_memory.views.notebook import html

    return html(card(value))


def as_rich(value: object) -> RenderableType:
    """Return a value as rich shows it, safe for a terminal whatever is written in it."""
    from langchain_tiered_memory.views.describe import card
    from langchain_tiered_memory.views.terminal import rich

    return rich(card(value))
