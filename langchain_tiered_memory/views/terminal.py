"""A card through rich: lines of text, so that they are as good in a narrow terminal as in a wide one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from langchain_tiered_memory.views.cards import Card, Entry, Part

STYLES: Mapping[str, str] = {
    "step": "bold cyan",
    "said": "default",
    "note": "dim",
    "score": "bold green",
    "long_term": "green",
    "short_term": "yellow",
    "gone": "red",
    "wrong": "bold red",
    "command": "bold",
}
"""What the words of a console's theme stand for."""
_WIDTH = 24
_INDENT = 6
_FULL, _EMPTY = "█", "░"


def rich(card: Card) -> RenderableType:
    """Return a card as lines."""
    return Group(*_lines(card))


def _lines(card: Card) -> Iterator[RenderableType]:
    yield Text(card.title, "bold")
    if card.notes:
        yield Text(" · ".join(card.notes), STYLES["note"])
    for warning in card.warnings:
        yield Text(warning, STYLES["wrong"])
    if card.bar:
        yield Text("  ").join((bar(card.bar), _told(card.bar)))
    if names := dict.fromkeys((part.name, part.colour) for entry in card.entries for part in entry.bar):
        yield Text("  ").join(Text.assemble((_FULL, colour), f" {name}") for name, colour in names)
    for entry in card.entries:
        yield Text()
        yield from _entry(entry)
    if card.figures:
        yield from _figures(card.figures)


def bar(parts: Iterable[Part], width: int = _WIDTH) -> Text:
    """Return parts as a bar of blocks, each in its colour; what they do not fill is shaded."""
    made, filled = Text(), 0.0
    for part in parts:
        begun, filled = round(filled * width), filled + part.share
        made.append(_FULL * (min(round(filled * width), width) - begun), part.colour)
    made.append(_EMPTY * (width - len(made)), STYLES["note"])
    return made


def _told(parts: Iterable[Part]) -> Text:
    """Return the parts in words, each after a block in its colour."""
    words = [Text.assemble((_FULL, part.colour), f" {part.name} {part.told}") for part in parts]
    return Text("  ").join(words)


def _entry(entry: Entry) -> Iterator[RenderableType]:
    if entry.number:
        yield Text.assemble((entry.number, STYLES["score"]), " ", bar(entry.bar))
    yield _below(Text(entry.text))
    if entry.notes:
        yield _below(Text(" · ".join(entry.notes), STYLES["note"]))
    if entry.reason:
        yield _below(Text(entry.reason, STYLES["note"]))


def _below(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, _INDENT))


def _figures(figures: tuple[tuple[str, str, float | None], ...]) -> Iterator[Text]:
    longest = max(len(name) for name, _, _ in figures)
    widest = max((len(value) for _, value, long in figures if long is not None), default=0)
    for name, value, long in figures:
        told = value if long is None else f"{value:>{widest}} "
        drawn = bar((Part("", long, value),), _WIDTH // 2) if long else Text()
        yield Text.assemble((f"{name:{longest}}  ", STYLES["note"]), told, drawn)
