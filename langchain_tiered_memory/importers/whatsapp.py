"""WhatsApp's export of a chat as text, from Android and iOS.

Times bear no zone, dates say day and month in the order of the telephone's country, and a message may have many
lines. What WhatsApp says itself, and media that were left out, is no message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers.found import Found, Options, Skipped, Tell
from langchain_tiered_memory.importers.making import MOST_BYTES, UNSTORABLE, Maker
from langchain_tiered_memory.importers.source import Source
from langchain_tiered_memory.importers.whatsapp_lines import Line, Order, line_of, order_of

ME, OTHERS = "user", "other"
"""Roles: what others said is never drawn from as what the user said of themselves."""
NOTICE = "WhatsApp says it, nobody in the chat does"
MEDIA = "it is a picture, a sound or a file, which a text does not hold"
HOMELESS = "it stands before the first message"
_LEAST = 2
_PEOPLE = 8
_NAMED = re.compile(r"^_?chat(?:\s?\(\d+\))?$", re.IGNORECASE)
_COPY = re.compile(r"\s\(\d+\)$")
_BRACKETS = r"<(?:attached: [^<>\n]+|[^\W\d]+(?:\s[^\W\d]+){1,4})>"
_LEFT_OUT = re.compile(rf"(?:^\u200e?|\s*\u200e){_BRACKETS}\s*\Z")
"""In any language: `<Media omitted>`, `<attached: 0001-PHOTO.jpg>`, `<This message was edited>`."""
_ATTACHED = re.compile(
    r"\u200e?(?:[^\n]{0,80}-\d{8}-WA\d+\.\w{2,5} \([^()\n]+\)|[^\n]{1,200}\.\w{2,5} \((?:file attached|Datei angehängt|"
    r"archivo adjunto|arquivo anexado|fichier joint|file allegato|bestand bijgevoegd)\))\s*(?:\n|$)"
)
_MARKED = re.compile(r"\u200e(?:image|video|audio|sticker|GIF|document|Contact card) omitted\s*$")
_WHOLE = re.compile(
    r"(?:image|video|audio|sticker|GIF|document|Contact card) omitted|null|This message was deleted\.?|"
    r"You deleted this message\.?|Waiting for this message.*|Missed (?:group )?(?:voice|video) call.*|"
    r"Messages and calls are end-to-end encrypted\b.*",
)


def begins(lines: list[str]) -> bool:
    """Say whether the first lines of a file are those of a chat."""
    found = sum(line_of(line) is not None for line in lines)
    told = sum(bool(line.strip()) for line in lines[:1])
    return bool(found >= _LEAST or (found and told and len(lines) <= _LEAST and line_of(lines[0]) is not None))


def read(source: Source, options: Options, maker: Maker, tell: Tell) -> Found:
    """Yield what the lines of a chat say.

    Raises:
        InvalidInput: The user's name is not among those of the chat.
    """
    people: dict[str, int] = {}
    order = order_of(_counted(source, people))
    if options.day_first is not None:
        order = Order(options.day_first, "it was said so")
    tell(f"dates are read {'day' if order.day_first else 'month'} first: {order.because}")
    named = ", ".join(sorted(people, key=lambda name: -people[name])[:_PEOPLE])
    if options.me is not None and options.me not in people:
        raise InvalidInput("me", options.me, f"a name of the chat is needed: {named or 'it has none'}")
    if options.me is None and people:
        tell(f"nobody is taken for the user: say who is, of {named}, to have facts drawn from what they said")
    chat = _Chat(_session(source, options, people), order.day_first, options, maker)
    yield from chat.found(source)


def _counted(source: Source, people: dict[str, int]) -> Iterator[Line]:
    for text in source.lines():
        line = line_of(text)
        if line is not None:
            if line.author is not None and not line.text.startswith("\u200e"):
                people[line.author] = people.get(line.author, 0) + 1
            yield line


def _session(source: Source, options: Options, people: dict[str, int]) -> str:
    """Return a name that a later export of the chat has too; iOS calls every file `_chat`."""
    if options.session is not None:
        return options.session
    named = _COPY.sub("", source.name)
    if not source.named or _NAMED.match(named):
        others = sorted(name for name in people if name != options.me)[:_PEOPLE]
        return f"WhatsApp {' & '.join(others)}" if others else "WhatsApp"
    return named


@dataclass(slots=True)
class _Open:
    """A message whose lines are still being read."""

    number: int
    line: Line
    texts: list[str] = field(default_factory=list)
    size: int = 0


class _Chat:
    """Joins lines to messages."""

    def __init__(self, session: str, day_first: bool, options: Options, maker: Maker) -> None:  # noqa: FBT001
        self._session = session
        self._day_first = day_first
        self._me = options.me
        self._maker = maker

    def found(self, source: Source) -> Iterator[NewMemory | Skipped]:
        last: _Open | None = None
        for number, text in enumerate(source.lines(), 1):
            line = line_of(text)
            if line is not None and line.at(day_first=self._day_first) is not None:
                if last is not None:
                    yield self._message(last)
                last = _Open(number, line, [line.text], len(line.text))
            elif last is not None:
                last.size += len(text)
                if last.size <= MOST_BYTES:  # what is beyond is not kept; the message is then too long anyway
                    last.texts.append(text)
            elif text.strip():
                yield Skipped(f"line {number}", HOMELESS)
        if last is not None:
            yield self._message(last)

    def _message(self, one: _Open) -> NewMemory | Skipped:
        where, line = f"line {one.number}", one.line
        if one.size > MOST_BYTES:
            return Skipped(where, UNSTORABLE, f"content: at most {MOST_BYTES} bytes are possible")
        if line.author is None:
            return Skipped(where, NOTICE)
        written = "\n".join(one.texts).strip()
        text = _MARKED.sub("", _LEFT_OUT.sub("", _ATTACHED.sub("", written, count=1))).strip()
        if not text and written:
            return Skipped(where, MEDIA)
        if text.startswith("\u200e") or _WHOLE.fullmatch(text):
            return Skipped(where, NOTICE if "omitted" not in text else MEDIA)
        stamp = line.at(day_first=self._day_first)
        return self._maker.message(
            where,
            ME if line.author == self._me else OTHERS,
            text,
            session=self._session,
            at=None if stamp is None else self._maker.utc(stamp),
            stamp=stamp,
            name=line.author,
        )
