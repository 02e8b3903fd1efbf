"""A conversation in turns and units, grouped as it grows, so that a window need not look at all of it again.

A turn is a user message and what follows it. An assistant message with tool calls and the results of all of them are
one unit, in which a call has one result; every other message is a unit of its own. Ids of calls are used anew in later
turns, so a result belongs to the last call before it, and of results told twice the first counts. A result without its
call belongs nowhere.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from langchain_tiered_memory.core.cutting import TOOL_ROLE, Counted, Sized
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message

USER_ROLE = "user"


@dataclass(slots=True, eq=False)
class Unit:
    """Messages that stay or go together.

    Attributes:
        turn: Whose part it is.
        uses_tools: Whether it is an assistant message with tool calls.
        entries: The messages with their places in the conversation.
        tokens: What its messages cost.
        awaited: Ids of calls to how many results are still to come; 0 once they have come.
        open: How many results are still to come.
    """

    turn: Turn
    uses_tools: bool = False
    entries: list[tuple[int, Counted]] = field(default_factory=list)
    tokens: int = 0
    awaited: dict[str | None, int] = field(default_factory=dict)
    open: int = 0

    def take(self, place: int, counted: Counted) -> None:
        """Add a message; of a turn whose beginning is not known only the cost is kept."""
        self.tokens += counted.tokens
        if self.turn.units:
            self.entries.append((place, counted))
            self.turn.weight += weight(counted.message)


@dataclass(slots=True, eq=False)
class Turn:
    """A user message and what follows it; without units it is the end of a turn whose beginning is not known.

    Attributes:
        units: The units, in order.
        tokens: What those cost that wait for no result.
        sizes: Place to how far that message could be cut, as far as somebody wanted to know.
        weight: Characters of its messages.
    """

    units: list[Unit] = field(default_factory=list)
    tokens: int = 0
    sizes: dict[int, Sized] = field(default_factory=dict)
    weight: int = 0


class Talk:
    """The end of a conversation, oldest first. System messages in it are passed over. Not for several threads."""

    def __init__(self, messages: Iterable[Counted] = (), *, whole: bool = True) -> None:
        """Take messages, oldest first.

        Args:
            messages: Some messages.
            whole: Whether nothing was said before them.
        """
        self._whole = whole
        self._turns = deque([Turn()])
        self._asked: dict[str | None, Unit] = {}
        self._last: Unit | None = None
        self._places = 0
        for one in messages:
            self.add(one)

    @classmethod
    def reaching(cls, newest_first: Iterable[Counted], room: int) -> Talk:
        """Take as many messages as a window of so many tokens needs, and at least those since the last user message."""
        read: list[Counted] = []
        spent, enough, asked = 0, room, False
        for one in newest_first:
            read.append(one)
            if one.message.role in SYSTEM_ROLES:
                continue
            spent += one.tokens
            asked = asked or one.message.role == USER_ROLE
            if asked and spent > enough:
                talk = cls(reversed(read), whole=False)
                if not talk.wants_more(room):
                    return talk
                enough = 2 * spent  # much of it belongs nowhere
        return cls(reversed(read))

    def add(self, counted: Counted) -> None:
        """Take what was said next."""
        place, message = self._places, counted.message
        self._places += 1
        if message.role in SYSTEM_ROLES:
            return
        if message.role == TOOL_ROLE:
            self._answer(place, counted)
            return
        if message.role == USER_ROLE:
            self._turns.append(Turn())
        turn = self._turns[-1]
        unit = Unit(turn, uses_tools=bool(message.tool_calls) and message.role != USER_ROLE)
        if turn.units or message.role == USER_ROLE:
            turn.units.append(unit)
        unit.take(place, counted)
        if unit.uses_tools:
            unit.awaited = dict(Counter(call.get("id") for call in message.tool_calls))
            unit.open = len(message.tool_calls)
            self._asked |= dict.fromkeys(unit.awaited, unit)
        else:
            turn.tokens += unit.tokens
        self._last = unit

    def _answer(self, place: int, counted: Counted) -> None:
        asked = counted.message.tool_call_id
        unit = self._asked.get(asked)
        if unit is None or not unit.awaited[asked]:
            return
        unit.take(place, counted)
        unit.awaited[asked] -= 1
        unit.open -= 1
        if not unit.open:
            unit.turn.tokens += unit.tokens

    def turns(self) -> Iterable[Turn]:
        """Return the turns whose beginning is known, newest first."""
        return (turn for turn in reversed(self._turns) if turn.units)

    def cost(self, turn: Turn) -> int:
        """Return what a turn costs."""
        waits = self._last is not None and self._last.open and self._last.turn is turn
        return turn.tokens + (self._last.tokens if waits and self._last is not None else 0)

    def units(self, turn: Turn) -> list[Unit]:
        """Return the units of a turn: those whose calls have their results, and the one that may still get its own."""
        return [unit for unit in turn.units if not unit.open or unit is self._last]

    def wants_more(self, room: int) -> bool:
        """Say whether a window of so many tokens could show more than is known here."""
        if self._whole:
            return False
        begun = False
        for turn in reversed(self._turns):
            begun = begun or bool(turn.units)
            room -= self.cost(turn)
            if begun and room < 0:
                return False
        return True

    def trim(self, room: int) -> None:
        """Let go of the turns that no window of so many tokens reaches."""
        kept = 0
        for turn in self.turns():
            kept += 1
            room -= self.cost(turn)
            if room < 0:
                break
        if room < 0 and kept < len(self._turns):
            self._turns = deque(list(self._turns)[-kept:])
            held = {id(turn) for turn in self._turns}
            self._asked = {one: unit for one, unit in self._asked.items() if id(unit.turn) in held}
            self._whole = False

    @property
    def weight(self) -> int:
        """Characters of the messages held."""
        return sum(turn.weight for turn in self._turns)


def weight(message: Message) -> int:
    """Return how many characters a message has, whatever they are for."""
    return _characters((message.content, message.tool_calls, message.extra))


def _characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_characters, value)) + sum(map(_characters, value.values()))
    return sum(map(_characters, value)) if isinstance(value, (list, tuple)) else 1
