"""Long contents, cut in the middle with a visible mark. Pure; what is given is never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.core.ports import TokenCounter

TOOL_ROLE = "tool"


@dataclass(frozen=True, slots=True)
class Counted:
    """A message and what it costs inside a prompt, as its counter's `message` says."""

    message: Message
    tokens: int


def cut_mark(tokens: int) -> str:
    """Return what stands where so many tokens of a text were cut."""
    return f"\n[…{tokens} tokens cut…]\n"


def cut_text(text: str, max_tokens: int, counter: TokenCounter, *, tokens: int | None = None) -> str:
    """Return the text, cut in the middle so that it costs at most `max_tokens`; as it is when it fits.

    Args:
        text: Any text.
        max_tokens: The most that the result may cost as a bare text.
        counter: Counts.
        tokens: What the text costs, when that is known already.

    Raises:
        InvalidInput: The mark of the cut alone costs more.
    """
    total = counter.text(text) if tokens is None else tokens
    if total <= max_tokens:
        return text
    bare = cut_mark(total)
    room = max_tokens - counter.text(bare)
    if room < 0:
        raise InvalidInput("max_tokens", max_tokens, f"at least {max_tokens - room}, the mark of a cut")
    while room > 0:
        head = counter.head(text, room - room // 2)
        tail = counter.tail(text[len(head) :], room // 2)
        left = counter.text(head) + counter.text(tail)
        cut = f"{head}{cut_mark(max(total - left, 0))}{tail}"
        over = counter.text(cut) - max_tokens
        if over <= 0:
            return cut
        room -= over
    return bare


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A part of a message that may be cut.

    Attributes:
        part: Its place in the content; None when it is the whole content.
        text: The text; None when the piece can only be replaced by the mark.
        full: What it costs.
        least: What it costs when only the mark is left of it, or `full` when that is less.
    """

    part: int | None
    text: str | None
    full: int
    least: int

    @property
    def spare(self) -> int:
        """How many tokens cutting it could save."""
        return self.full - self.least


@dataclass(frozen=True, slots=True)
class Sized:
    """A counted message and how far its contents could be cut."""

    counted: Counted
    pieces: tuple[_Piece, ...]

    @property
    def least(self) -> int:
        """What it costs when nothing but marks is left of its contents."""
        return self.counted.tokens - self.spare

    @property
    def spare(self) -> int:
        """How many tokens cuts could save."""
        return _spare(self.pieces)


def sized(counted: Counted, counter: TokenCounter) -> Sized:
    """Find what of a message may be cut: texts, images and, unless it is an assistant's, its other parts.

    What else an assistant's message holds (reasoning, signatures, tool calls) is void when altered, so it stays.
    """
    message = counted.message
    if message.content is None:
        return Sized(counted, ())
    if isinstance(message.content, str):
        full = counted.tokens - counter.message(message.with_text(""))
        return Sized(counted, (_piece(None, message.content, full, counter),))
    empty = counter.message(Message(message.role, ()))
    pieces = []
    for index, part in enumerate(message.content):
        text = part.get("text") if part.get("type", "text") in Message.TEXT_PARTS else None
        if isinstance(text, str) or part.get("type") in Message.IMAGE_PARTS or message.role != "assistant":
            full = counter.message(Message(message.role, (part,))) - empty
            pieces.append(_piece(index, text if isinstance(text, str) else None, full, counter))
    return Sized(counted, tuple(pieces))


def _piece(part: int | None, text: str | None, full: int, counter: TokenCounter) -> _Piece:
    return _Piece(part, text, full, min(full, counter.text(cut_mark(full))))


def fitted(messages: Sequence[Sized], room: int, counter: TokenCounter) -> tuple[Counted, ...] | None:
    """Cut contents until the messages cost at most `room`: tool results first, and only then the others.

    Of each kind texts are cut, the longest first; what can only be replaced by a mark is, the oldest first, when
    texts cut down to their marks would still be too much.

    Returns:
        The messages in the order given, or None when cuts cannot save enough.
    """
    given = tuple(one.counted for one in messages)
    results = [piece for one in messages if one.counted.message.role == TOOL_ROLE for piece in one.pieces]
    others = [piece for one in messages if one.counted.message.role != TOOL_ROLE for piece in one.pieces]
    excess = _over(given, room)
    while excess > 0:
        saved = min(excess, _spare(results))
        if excess - saved > _spare(others):
            return None
        sizes = {**_sizes(results, saved), **_sizes(others, excess - saved)}
        cut = tuple(_cut(one, sizes, counter) for one in messages)
        over = _over(cut, room)
        if over <= 0:
            return cut
        excess += over  # a counter need not add up over the parts of a message; what it says of the whole counts
    return given


def _over(messages: Sequence[Counted], room: int) -> int:
    return sum(one.tokens for one in messages) - room


def _spare(pieces: Iterable[_Piece]) -> int:
    return sum(piece.spare for piece in pieces)


def _sizes(pieces: Sequence[_Piece], saving: int) -> dict[_Piece, int]:
    """Return what is to be left of the pieces that are cut, so that at least so many tokens are saved."""
    texts = [piece for piece in pieces if piece.text is not None]
    sizes = {}
    missing = saving - _spare(texts)
    for piece in pieces:
        if missing > 0 and piece.text is None and piece.spare:
            sizes[piece] = piece.least
            missing -= piece.spare
    level = _level(texts, saving - _spare(sizes))
    return sizes | {piece: max(piece.least, level) for piece in texts if piece.full > max(piece.least, level)}


def _level(texts: Sequence[_Piece], saving: int) -> int:
    """Return the highest level at which cutting every text down to it saves at least so many tokens."""
    low, high = 0, max((piece.full for piece in texts), default=0)
    if saving <= 0:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        enough = sum(max(0, piece.full - max(piece.least, middle)) for piece in texts) >= saving
        low, high = (middle, high) if enough else (low, middle)
    return low


def _cut(one: Sized, sizes: Mapping[_Piece, int], counter: TokenCounter) -> Counted:
    """Return the message with its pieces cut down to their sizes."""
    cuts = {piece.part: _left_of(piece, sizes[piece], counter) for piece in one.pieces if piece in sizes}
    message = one.counted.message
    if not cuts:
        return one.counted
    if isinstance(message.content, str):
        cut = message.with_text(cuts[None])
    else:
        parts = [_with_text(part, cuts.get(i)) for i, part in enumerate(message.content or ())]
        cut = replace(message, content=tuple(parts))
    return Counted(cut, counter.message(cut))


def _left_of(piece: _Piece, size: int, counter: TokenCounter) -> str:
    return cut_mark(piece.full) if piece.text is None else cut_text(piece.text, size, counter, tokens=piece.full)


def _with_text(part: Mapping[str, Any], text: str | None) -> Mapping[str, Any]:
    if text is None:
        return part
    keeps_its_kind = part.get("type", "text") in Message.TEXT_PARTS
    return {**part, "text": text} if keeps_its_kind else {"type": "text", "text": text}
