"""What the readers of public data return: conversations, and the questions that are asked about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one speaker said at a time.

    Attributes:
        id: Its name in the conversation.
    """

    id: str
    role: str
    content: str
    session_id: str
    name: str | None = None
    observed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that it rests on."""

    text: str
    category: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation, which becomes one user's memory.

    Attributes:
        asked_at: When the questions are asked; None: an hour after the last turn.
    """

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Conversations of one kind.

    Attributes:
        name: The benchmark: "locomo", "longmemeval", "beam".
        source: The name of the file or folder they were read from.
        talks: Those that have questions, in the order of the file.
        left_out: Why questions are not asked, and how many.
    """

    name: str
    source: str
    talks: tuple[Talk, ...]
    left_out: Mapping[str, int]


def gathered(name: str, source: str, talks: Iterable[Talk], left: Counter[str], limit: int | None) -> Corpus:
    """Return a corpus of the first `limit` conversations that have questions; the others are not even read.

    Args:
        name: The benchmark.
        source: The name of the file or folder.
        talks: The conversations, read as they are taken.
        left: What is not asked, counted by the reader while it reads.
        limit: The most conversations.
    """
    taken = tuple(islice((talk for talk in talks if talk.questions), limit))
    return Corpus(name, source, taken, dict(sorted(left.items())))
