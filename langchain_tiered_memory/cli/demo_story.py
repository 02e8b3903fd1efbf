"""The demo as values: its talks, its steps, and the story they make."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from langchain_tiered_memory.core.model import Memory, Message, ScoredMemory
from langchain_tiered_memory.core.reports import ConsolidationReport


@dataclass(frozen=True, slots=True)
class Talk:
    """One day's conversation: its messages carry ids and times."""

    session_id: str
    messages: tuple[Message, ...]

    @property
    def began(self) -> datetime:
        """When its first message was said."""
        return said_at(self.messages[0])


@dataclass(frozen=True, slots=True)
class Day:
    """What became of one day's messages until the next talk.

    Attributes:
        began: When the talk began.
        messages: How many were said.
        long_term: How many went to long-term memory at once.
        short_term: How many went to short-term memory.
        promoted: How many of these moved to long-term memory when their time was up.
        let_go: How many were let go then.
    """

    began: datetime
    messages: int
    long_term: int
    short_term: int
    promoted: int = 0
    let_go: int = 0


@dataclass(frozen=True, slots=True)
class Remembered:
    """Step 1: the whole conversation, day by day, and every message as it was placed."""

    days: tuple[Day, ...]
    placed: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what was recalled for it, best first; `as_of` when it asks for an earlier time."""

    question: str
    at: datetime
    hits: tuple[ScoredMemory, ...]
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """Steps 2 and 4: questions and answers; `again` after the consolidation, and then of facts and preferences only."""

    answers: tuple[Answer, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Step 3: the report, every fact that is now held, superseded ones included, and what was promoted by its reads."""

    report: ConsolidationReport
    facts: tuple[Memory, ...]
    promoted: tuple[Memory, ...]


class Fate(StrEnum):
    """What became of a message of the last day within two days, and why."""

    AT_ONCE = "long_term_at_once"
    READ = "promoted_by_reads"
    PROMOTED = "promoted_when_due"
    LET_GO = "let_go"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A message as it was placed, how often it was read while it was new, and what became of it."""

    memory: Memory
    reads: int
    fate: Fate


@dataclass(frozen=True, slots=True)
class Left:
    """Step 5: the last day's messages two days later, in the order in which they were said.

    Attributes:
        at: The instant two days later.
        outcomes: What became of each message.
    """

    at: datetime
    outcomes: tuple[Outcome, ...]


Step = Remembered | Recalled | Consolidated | Left


@dataclass(frozen=True, slots=True)
class Story:
    """All steps of the demo."""

    remembered: Remembered
    recalled: Recalled
    consolidated: Consolidated
    recalled_again: Recalled
    left: Left


def said_at(message: Message) -> datetime:
    """Return when a message of the demo was said."""
    assert message.created_at is not None  # noqa: S101 - `demo_talks` gives every message its time
    return message.created_at
