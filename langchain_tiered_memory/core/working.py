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
from collections.abc import Iterable, Sequence

from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS
from langchain_tiered_memory.core.cutting import Counted, Sized, cut_mark, cut_text, fitted, sized
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.inputs import count, share
from langchain_tiered_memory.core.messages import to_message
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.ports import TokenCounter
from langchain_tiered_memory.core.talk import USER_ROLE, Talk, Unit

__all__ = ["REPLY_TOKENS", "Counted", "WorkingMemory", "cut_text", "prompt_tokens", "window", "window_of_talk"]

REPLY_TOKENS = 3
"""What a prompt costs beside its messages: the start of the reply."""


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
    talk = Talk.reaching(messages_newest_first, max_tokens)
    return window_of_talk(talk, system, max_tokens=max_tokens, counter=counter, system_share=system_share)


def window_of_talk(
    talk: Talk,
    system: Sequence[Counted],
    *,
    max_tokens: int,
    counter: TokenCounter,
    system_share: float = 0.5,
) -> tuple[Message, ...]:
    """Return the window of a talk that reaches far enough back for it; see `window`."""
    least = max(LEAST_WINDOW_TOKENS, REPLY_TOKENS + counter.message(Message(USER_ROLE, cut_mark(LEAST_WINDOW_TOKENS))))
    if max_tokens < least:
        raise InvalidInput("max_tokens", max_tokens, f"at least {least}, room for a message and the mark of a cut")
    room = max_tokens - REPLY_TOKENS
    limit = min(room, int(max_tokens * system_share))
    first = _system(system, limit, counter)
    if first is None:
        raise InvalidInput("max_tokens", max_tokens, "give more; system messages have no room for the mark of a cut")
    # Where system messages are cut their whole share counts as spent, so that a larger budget never shows less.
    room -= min(limit, sum(one.tokens for one in system))
    last = _conversation(talk, room, counter) if room > 0 else ()
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


def _conversation(talk: Talk, room: int, counter: TokenCounter) -> tuple[Counted, ...]:
    kept: list[Unit] = []
    for turn in talk.turns():
        cost = talk.cost(turn)
        if cost > room:
            return _in_order(kept) if kept else _squeezed(talk.units(turn), turn.sizes, room, counter)
        kept += talk.units(turn)
        room -= cost
    return _in_order(kept)


def _squeezed(units: list[Unit], sizes: dict[int, Sized], room: int, counter: TokenCounter) -> tuple[Counted, ...]:
    """Make the last turn fit; its units are given in order, the user message first."""

    def least(unit: Unit) -> int:
        for place, counted in unit.entries:
            if place not in sizes:
                sizes[place] = sized(counted, counter)
        return sum(sizes[place].least for place, _ in unit.entries)

    units = _without_oldest_calls(units, room)
    if sum(unit.tokens for unit in units) <= room:
        return _in_order(units)
    opening, *rest = units
    kept, spent = [opening], least(opening)
    for unit in reversed(rest):
        if spent + least(unit) > room:
            break
        spent += least(unit)
        kept.insert(1, unit)
    while kept:
        places = sorted(place for unit in kept for place, _ in unit.entries)
        if spent <= room and (found := fitted([sizes[place] for place in places], room, counter)) is not None:
            return found
        spent -= least(kept.pop(min(1, len(kept) - 1)))
    return ()


def _without_oldest_calls(units: list[Unit], room: int) -> list[Unit]:
    """Leave out units with tools, the oldest first, until the others fit; the last of them stays."""
    excess = sum(unit.tokens for unit in units) - room
    last = next((unit for unit in reversed(units) if unit.uses_tools), None)
    kept = []
    for unit in units:
        if excess > 0 and unit.uses_tools and unit is not last:
            excess -= unit.tokens
        else:
            kept.append(unit)
    return kept


def _in_order(units: Sequence[Unit]) -> tuple[Counted, ...]:
    entries = sorted((entry for unit in units for entry in unit.entries), key=lambda entry: entry[0])
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
        self._talk = Talk()
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
                if one.message.role in SYSTEM_ROLES:
                    self._system.append(one)
                else:
                    self._talk.add(one)

    def get_context(self) -> tuple[Message, ...]:
        """Return what to show the model, at most `max_tokens` of it, by the rules of `window`."""
        with self._lock:
            return window_of_talk(
                self._talk,
                self._system,
                max_tokens=self._max_tokens,
                counter=self._counter,
                system_share=self._share,
            )

    def tokens(self) -> int:
        """Return what `get_context()` costs, exactly; at most `max_tokens`."""
        return prompt_tokens(self.get_context(), self._counter)
