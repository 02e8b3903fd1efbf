"""The demo: five weeks of a conversation remembered, recalled, consolidated and recalled again, step by step.

`run_demo` does it and returns what happened as values; showing them is another room's business. It runs on a store of
its own, with a clock of its own that it moves along, and gives the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_tiered_memory.cli.demo_story import (
    Answer,
    Consolidated,
    Day,
    Fate,
    Left,
    Outcome,
    Recalled,
    Remembered,
    Step,
    Story,
    Talk,
    said_at,
)
from langchain_tiered_memory.cli.demo_talk import TALKS
from langchain_tiered_memory.core.config import MaintenanceSettings, Settings
from langchain_tiered_memory.core.errors import ConfigError, NotFound
from langchain_tiered_memory.core.model import Memory, MemoryType, Message, Tier

if TYPE_CHECKING:
    from langchain_tiered_memory.core.engine import Engine

USER = "nora"
TWO_DAYS = timedelta(days=2)
_ROLES = {"Nora": "user", "Assistant": "assistant"}
_QUESTIONS = ("Is peanut butter safe for me?", "Which race am I training for?", "Where do I work?")
_THRICE = "Where is the spare key?"
_FACTS = (MemoryType.FACT, MemoryType.PREFERENCE)
_AGAIN = ("Where do I work?", "Where do I live?")
_EARLIER = datetime(2026, 3, 10, 12, tzinfo=UTC)
_EVENING = timedelta(hours=1)


class Clock:
    """A clock that the demo moves along."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the demo's present."""
        return self.now


def demo_talks() -> tuple[Talk, ...]:
    """Return the demo's conversation, one talk a day, oldest first."""
    return tuple(_talk(began, text) for began, text in TALKS)


def demo_messages() -> tuple[Message, ...]:
    """Return every message of the demo's conversation, oldest first."""
    return tuple(message for talk in demo_talks() for message in talk.messages)


def run_demo(
    path: str | Path | None = None,
    *,
    tell: Callable[[Step], object] | None = None,
    tick: Callable[[int, int], object] | None = None,
) -> Story:
    """Run the demo and return what happened.

    Args:
        path: A new folder to keep the store in; None uses a temporary one, ":memory:" none at all.
        tell: Called with each step as soon as it is done.
        tick: Called after each message with how many were said, and how many there are.

    Raises:
        ConfigError: The folder holds something already.
    """
    if path is not None and Path(path).exists() and (not Path(path).is_dir() or any(Path(path).iterdir())):
        raise ConfigError(f"{path} holds something already: the demo needs a folder of its own")
    from langchain_tiered_memory.system import MemorySystem

    talks = demo_talks()
    clock = Clock(talks[0].began)
    # A memory in use does its maintenance in the background; here each step is done, and counted, in turn.
    settings = Settings(maintenance=MaintenanceSettings(automatic=False))
    with MemorySystem.open(path, clock=clock, settings=settings).sync as memory:
        run = _Run(memory, clock, talks, tell or _untold, tick or _untold)
        return run.story()


class _Run:
    """One run over one memory."""

    def __init__(
        self,
        memory: Engine,
        clock: Clock,
        talks: Sequence[Talk],
        tell: Callable[[Step], object],
        tick: Callable[[int, int], object],
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._talks = talks
        self._tell = tell
        self._tick = tick

    def story(self) -> Story:
        """Take all steps, and tell of each."""
        remembered = self._remember()
        self._tell(remembered)
        recalled = self._recall()
        self._tell(recalled)
        consolidated = self._consolidate()
        self._tell(consolidated)
        again = self._recall_again()
        self._tell(again)
        left = self._two_days_later(remembered.placed, consolidated.promoted)
        self._tell(left)
        return Story(remembered, recalled, consolidated, again, left)

    def _remember(self) -> Remembered:
        placed: list[Memory] = []
        days: list[Day] = []
        total = sum(len(talk.messages) for talk in self._talks)
        for talk in self._talks:
            self._clock.now = talk.began
            if days:  # the day before is over by now
                report = self._memory.maintain(USER)
                days[-1] = replace(days[-1], promoted=report.promoted, let_go=report.expired)
            session = self._memory.session(USER, talk.session_id)
            for message in talk.messages:
                self._clock.now = said_at(message)
                session.add(message)
                placed.append(self._memory.get(USER, message.id or ""))
                self._tick(len(placed), total)
            here = placed[-len(talk.messages) :]
            durable = sum(one.tier is Tier.LONG_TERM for one in here)
            days.append(Day(talk.began, len(here), durable, len(here) - durable))
        self._memory.maintain(USER)  # embeds what was said last
        return Remembered(tuple(days), tuple(placed))

    def _recall(self) -> Recalled:
        answers = [self._asked(question, 2) for question in _QUESTIONS]
        for _ in range(3):
            self._clock.now += _EVENING
            answers.append(self._asked(_THRICE, 1))
        return Recalled(tuple(answers))

    def _consolidate(self) -> Consolidated:
        waiting = self._memory.list(USER, tier=Tier.SHORT_TERM)
        report = self._memory.consolidate(USER)
        promoted = [one for one in map(self._found, waiting) if one is not None and one.tier is Tier.LONG_TERM]
        facts = self._memory.list(
            USER, filter={"origin": "consolidation"}, include_superseded=True, limit=len(demo_messages())
        )
        ordered = sorted(facts, key=lambda one: (one.observed_at, one.content))
        return Consolidated(report, tuple(ordered), tuple(promoted))

    def _recall_again(self) -> Recalled:
        answers = [self._asked(question, 1, as_of, _FACTS) for question in _AGAIN for as_of in (None, _EARLIER)]
        return Recalled(tuple(answers), again=True)

    def _two_days_later(self, placed: Sequence[Memory], promoted: Sequence[Memory]) -> Left:
        talk = self._talks[-1]
        before = {one.id: one for one in self._memory.list(USER, limit=len(placed) + len(promoted) + 100)}
        self._clock.now = said_at(talk.messages[-1]) + TWO_DAYS
        self._memory.maintain(USER)
        by_reads = {one.id for one in promoted}
        last = [one for one in placed if one.session_id == talk.session_id]
        outcomes = [Outcome(one, before[one.id].access_count, self._fate(one, by_reads)) for one in last]
        return Left(self._clock.now, tuple(outcomes))

    def _fate(self, one: Memory, by_reads: set[str]) -> Fate:
        if self._found(one) is None:
            return Fate.LET_GO
        if one.tier is Tier.LONG_TERM:
            return Fate.AT_ONCE
        return Fate.READ if one.id in by_reads else Fate.PROMOTED

    def _asked(
        self, question: str, k: int, as_of: datetime | None = None, types: Sequence[str] | None = None
    ) -> Answer:
        hits = self._memory.recall(USER, question, k, as_of=as_of, memory_types=types)
        return Answer(question, self._clock.now, tuple(hits), as_of)

    def _found(self, one: Memory) -> Memory | None:
        try:
            return self._memory.get(USER, one.id)
        except NotFound:
            return None


def _talk(began: str, text: str) -> Talk:
    start = datetime.fromisoformat(began).replace(tzinfo=UTC)
    session_id = f"{start:%Y-%m-%d}"
    messages = []
    for minute, line in enumerate(text.strip().splitlines()):
        speaker, _, words = line.strip().partition(": ")
        at = start + timedelta(minutes=minute)
        messages.append(Message(_ROLES[speaker], words, id=f"{session_id}-{minute + 1:02}", created_at=at))
    return Talk(session_id, tuple(messages))


def _untold(*_: object) -> None:
    """Tell nobody."""
