"""A card as HTML. It inherits the page's colours, so that it is at home on light and on dark, and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from langchain_tiered_memory.views.cards import Card, Entry, Part

_STYLE = """
.ltm{font-size:13px;line-height:1.45;max-width:46rem;color:inherit}
.ltm-t{font-weight:600}
.ltm-n{opacity:.72;font-size:12px}
.ltm-w{border-left:3px solid #D55E00;padding-left:.5em}
.ltm-e{display:grid;grid-template-columns:10.5rem 1fr;column-gap:1rem;padding:.5em 0;
border-top:1px solid rgba(128,128,128,.35)}
.ltm-x{overflow-wrap:anywhere}
.ltm-b{display:inline-flex;height:.75em;width:7rem;background:rgba(128,128,128,.22);vertical-align:-.05em;
overflow:hidden;border-radius:2px}
.ltm-b i,.ltm-k i{display:block;height:100%}
.ltm-k i{display:inline-block;width:.75em;height:.75em;border-radius:2px;margin-right:.3em;vertical-align:-.05em}
.ltm-k span{margin-right:.9em}
.ltm-v{font-variant-numeric:tabular-nums;display:inline-block;min-width:3.3em}
.ltm-g{display:grid;grid-template-columns:max-content max-content 1fr;column-gap:.8em;margin:.2em 0;
align-items:baseline;font-variant-numeric:tabular-nums}
.ltm-m{opacity:.72;padding-left:1.2em}
.ltm summary{cursor:pointer}
"""
_CSS = "".join(_STYLE.split("\n"))
"""On one line: Markdown that passes HTML on would end it at an empty one."""


def html(card: Card) -> str:
    """Return a card as one `div`."""
    parts = [f"<style>{_CSS}</style>", _line("ltm-t", card.title)]
    if legend := _legend(card):
        parts.append(legend)
    if card.notes:
        parts.append(_line("ltm-n", " · ".join(card.notes)))
    parts += [_line("ltm-w", warning) for warning in card.warnings]
    if card.bar:
        parts.append(f"<div>{_bar(card.bar, '16rem')} {escape(_told(card.bar))}</div>")
    parts += [_entry(one) for one in card.entries]
    if card.figures:
        parts.append(_figures(card.figures))
    return f'<div class="ltm">{"".join(parts)}</div>'


def _line(name: str, text: str) -> str:
    return f'<div class="{name}">{escape(text)}</div>'


def _legend(card: Card) -> str:
    """Return which colour is what, where a bar has several parts."""
    bars = [card.bar, *(entry.bar for entry in card.entries)]
    names = dict.fromkeys((part.name, part.colour) for bar in bars if len(bar) > 1 for part in bar)
    keys = "".join(
        f'<i style="background:{colour}"></i><span class="ltm-n">{escape(name)}</span>' for name, colour in names
    )
    return f'<div class="ltm-k">{keys}</div>' if keys else ""


def _bar(parts: Iterable[Part], width: str = "") -> str:
    """Return a bar of coloured parts, which says in words what it shows."""
    told = escape(_told(parts))
    filled = "".join(f'<i style="width:{100 * part.share:.1f}%;background:{part.colour}"></i>' for part in parts)
    wide = f' style="width:{width}"' if width else ""
    return f'<span class="ltm-b"{wide} role="img" aria-label="{told}" title="{told}">{filled}</span>'


def _told(parts: Iterable[Part]) -> str:
    return ", ".join(f"{part.name} {part.told}".strip() for part in parts)


def _entry(entry: Entry) -> str:
    right = f'<div class="ltm-x">{escape(entry.text)}{_line("ltm-n", " · ".join(entry.notes))}{_why(entry)}</div>'
    if not entry.number:
        return f'<div class="ltm-e" style="display:block">{right}</div>'
    number = f'<span class="ltm-v">{escape(entry.number)}</span>'
    return f'<div class="ltm-e"><div>{number}{_bar(entry.bar) if entry.bar else ""}</div>{right}</div>'


def _why(entry: Entry) -> str:
    if not entry.why:
        return _line("ltm-n", entry.reason) if entry.reason else ""
    rows = "".join(
        f'<span class="{"ltm-m" if part.minor else ""}">{escape(part.name)}</span>{_bar((part,))}'
        f"<span>{escape(part.told)}</span>"
        for part in entry.why
    )
    return f'<details class="ltm-n"><summary>{escape(entry.reason)}</summary><div class="ltm-g">{rows}</div></details>'


def _figures(figures: Iterable[tuple[str, str, float | None]]) -> str:
    return f'<div class="ltm-g">{"".join(_figure(*one) for one in figures)}</div>'


def _figure(name: str, value: str, long: float | None) -> str:
    named = f'<span class="ltm-n">{escape(name)}</span>'
    if long is None:
        return f'{named}<span class="ltm-x" style="grid-column:2/4">{escape(value)}</span>'
    drawn = _bar((Part("", long, value),)) if long else "<i></i>"
    return f'{named}<span style="text-align:right">{escape(value)}</span>{drawn}'
