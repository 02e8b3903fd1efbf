"""Working memory: the end of a conversation that fits into a token budget. Pure functions and a small class.

What `window` returns costs at most the budget by `prompt_tokens`. In this order:

1. System messages stay and stand first. Beyond their share of the budget they are cut in the middle, the longest
   first; if marks alone are too much, the oldest but the first are left out.
2. Of the conversation, whole turns stay, the newest first. A turn is a user message and what follows it; what
   precedes the first user message is left out.
3. An assistant message with tool calls and the results of all of them are one unit, in which a call has one result.
   A result without its call is left out, and so is a call that lacks a result, unless it is what the conversation
   ends with: its results are still to come.
4. If not even the last turn fits, its oldest units with tool calls are left out, but for the last of them.
5. Then long contents are cut in the middle, the longest first: tool results, and when only marks are left of those,
   everything else, the user message too.
6. Then the oldest units are left out, the user message last.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS
from langchain_tiered_memory.core.cutting import TOOL_ROLE, Counted, Sized, cut_mark, cut_text, fitted, sized
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.inputs import count, share, to_message
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.ports import TokenCounter

__all__ = ["REPLY_TOKENS", "Counted", "WorkingMemory", "cut_text", "prompt_tokens", "window"]

REPLY_TOKENS = 3
"""What a prompt costs beside its messages: the start of the reply."""
_USER_ROLE = "user"


def prompt_tokens(messages: Iterable[Message], counter: TokenCounter) -> int:
    """Return what a prompt of these messages costs: the messages and the start of the reply; 0 for none."""
    costs = [counter.message(message) for message in messages]
    return sum(costs) + REPLY_TOKENS if costs else 0


def window(
    messages_newest_first: Iterable[Counted],
    system: Sequence[Counted],
    *,
    max_tokens: int,
    counter: TokenCounter,
    system_share: float = 0.5,
) -> tuple[Message, ...]:
    """Return the messages to show the model, in their order, by the rules at the top of this module.

    Args:
        messages_newest_first: The conversation; read only as far back as the budget reaches, and at least to the
            last user message. System messages in it are passed over.
        system: The system messages, oldest first.
        max_tokens: The budget, at least 16.
        counter: Must be the one that counted the messages.
        system_share: The most of the budget that system messages may take between them, in [0, 1]; 0 leaves them out.

    Returns:
        System messages, then the window. Messages that were not cut are the very objects given.

    Raises:
        InvalidInput: The budget, or the system messages' share of it, is too small for the mark of a cut.
    """
    least = max(LEAST_WINDOW_TOKENS, REPLY_TOKENS + counter.message(Message(_USER_ROLE, cut_mark(LEAST_WINDOW_TOKENS))))
    if max_tokens < least:
        raise InvalidInput("max_tokens", max_tokens, f"at least {least}, room for a message and the mark of a cut")
    room = max_tokens - REPLY_TOKENS
    limit = min(room, int(max_tokens * system_share))
    first = _system(system, limit, counter)
    if first is None:
        raise InvalidInput("max_tokens", max_tokens, "give more; system messages have no room for the mark of a cut")
    # Where system messages are cut their whole share counts as spent, so that a larger budget never shows less.
    room -= min(limit, sum(one.tokens for one in system))
    last = _conversation(messages_newest_first, room, counter) if room > 0 else ()
    return tuple(one.message for one in (*first, *last))


def _system(messages: Sequence[Counted], limit: int, counter: TokenCounter) -> tuple[Counted, ...] | None:
    """Make the system messages fit; None when not even the first one can be cut enough."""
    asked = sum(one.tokens for one in messages)
    if asked <= limit or not limit:
        return tuple(messages) if asked <= limit else ()
    kept = [sized(one, counter) for one in messages]
    least = sum(one.least for one in kept)
    while kept:
        if least <= limit and (found := fitted(kept, limit, counter)) is not None:
            return found
        least -= kept.pop(min(1, len(kept) - 1)).least
    return None


@dataclass(frozen=True, slots=True)
class _Unit:
    """Messages that stay or go together.

    Attributes:
        entries: The messages with their places, counted back from the newest.
        opens_turn: Whether it is a user message.
        uses_tools: Whether it is an assistant message with tool calls.
    """

    entries: tuple[tuple[int, Counted], ...]
    opens_turn: bool = False
    uses_tools: bool = False

    @property
    def tokens(self) -> int:
        """What its messages cost."""
        return sum(counted.tokens for _, counted in self.entries)


_Results = dict[str | None, list[tuple[int, Counted]]]


def _units(newest_first: Iterable[Counted]) -> Iterator[_Unit]:
    """Group the conversation into units, newest first, reading no further than needed for the next one."""
    waiting: _Results = {}
    at_end = True
    for place, counted in enumerate(newest_first):
        message = counted.message
        if message.role in SYSTEM_ROLES:
            continue
        if message.role == TOOL_ROLE:
            waiting.setdefault(message.tool_call_id, []).append((place, counted))
            continue
        if message.tool_calls and message.role != _USER_ROLE:
            results, complete = _claim(message, waiting)
            if complete or at_end:
                yield _Unit(((place, counted), *results), uses_tools=True)
        else:
            yield _Unit(((place, counted),), opens_turn=message.role == _USER_ROLE)
        at_end = False


def _claim(message: Message, waiting: _Results) -> tuple[list[tuple[int, Counted]], bool]:
    """Take the results of a message's calls out of those read so far; say whether every call has one.

    Ids are used anew in later turns, so a result belongs to the last call before it. Of results told twice the
    first counts.
    """
    claimed, complete = [], True
    for call_id, times in Counter(call.get("id") for call in message.tool_calls).items():
        found = waiting.pop(call_id, [])[::-1][:times]
        claimed += found
        complete = complete and len(found) == times
    return claimed, complete


def _conversation(newest_first: Iterable[Counted], room: int, counter: TokenCounter) -> tuple[Counted, ...]:
    kept: list[_Unit] = []
    turn: list[_Unit] = []
    spent = 0
    for unit in _units(newest_first):
        turn.append(unit)
        spent += unit.tokens
        if kept and spent > room:
            break
        if unit.opens_turn:
            if spent > room:
                return _squeezed(turn[::-1], room, counter)
            kept += turn
            room -= spent
            turn, spent = [], 0
            if room <= 0:
                break
    return _in_order(kept)


def _squeezed(turn: list[_Unit], room: int, counter: TokenCounter) -> tuple[Counted, ...]:
    """Make the last turn fit; its units are given in order, the user message first."""
    units = _without_oldest_calls(turn, room)
    sizes = {place: sized(counted, counter) for unit in units for place, counted in unit.entries}
    least = sum(one.least for one in sizes.values())
    while units:
        if least <= room and (found := fitted(_placed(units, sizes), room, counter)) is not None:
            return found
        gone = units.pop(min(1, len(units) - 1))
        least -= sum(sizes[place].least for place, _ in gone.entries)
    return ()


def _without_oldest_calls(turn: list[_Unit], room: int) -> list[_Unit]:
    excess = sum(unit.tokens for unit in turn) - room
    left_out = set()
    for unit in [unit for unit in turn if unit.uses_tools][:-1]:
        if excess <= 0:
            break
        left_out.add(id(unit))
        excess -= unit.tokens
    return [unit for unit in turn if id(unit) not in left_out]


def _placed(units: Sequence[_Unit], sizes: dict[int, Sized]) -> list[Sized]:
    return [sizes[place] for place in sorted((p for unit in units for p, _ in unit.entries), reverse=True)]


def _in_order(units: Sequence[_Unit]) -> tuple[Counted, ...]:
    entries = sorted((entry for unit in units for entry in unit.entries), key=lambda entry: -entry[0])
    return tuple(counted for _, counted in entries)


class WorkingMemory:
    """The messages of one conversation, kept whole, and their end that fits into a budget. Any thread may call it."""

    def __init__(self, max_tokens: int = 4000, *, counter: TokenCounter, system_share: float = 0.5) -> None:
        """Start empty.

        Args:
            max_tokens: The budget of `get_context`, at least 16.
            counter: Counts each message once, when it is added.
            system_share: The most of the budget that system messages may take between them, in [0, 1].

        Raises:
            InvalidInput: The budget is too small, or the share is none.
        """
        self._max_tokens = count("max_tokens", max_tokens, LEAST_WINDOW_TOKENS)
        self._share = share("system_share", system_share)
        self._counter = counter
        self._system: list[Counted] = []
        self._messages: list[Counted] = []
        self._ids: set[str] = set()
        self._lock = threading.Lock()

    def add(self, *messages: object) -> None:
        """Append messages: `Message` objects or OpenAI-style mappings. One whose id is there already is passed over.

        Raises:
            InvalidInput: One of them is no message; none is added.
        """
        given = [to_message(message) for message in messages]
        counted = [Counted(message, self._counter.message(message)) for message in given]
        with self._lock:
            for one in counted:
                if one.message.id is not None and one.message.id in self._ids:
                    continue
                if one.message.id is not None:
                    self._ids.add(one.message.id)
                (self._system if one.message.role in SYSTEM_ROLES else self._messages).append(one)

    def get_context(self) -> tuple[Message, ...]:
        """Return what to show the model, at most `max_tokens` of it, by the rules of `window`."""
        with self._lock:
            return window(
                reversed(self._messages),
                self._system,
                max_tokens=self._max_tokens,
                counter=self._counter,
                system_share=self._share,
            )

    def tokens(self) -> int:
        """Return what `get_context()` costs, exactly; at most `max_tokens`."""
        return prompt_tokens(self.get_context(), self._counter)
