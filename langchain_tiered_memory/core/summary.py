"""A rolling summary as a value: what it holds, how it is kept, and the one that is made without a model. Pure.

It is kept beside the session's transcript, as the messages of a session of its own, which nobody else sees: the latest
message is the summary. So it needs no table, lives and dies with the transcript, and is no memory: nothing recalls,
consolidates, merges or exports it, and it can always be made again from the transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS, WorkingSettings
from langchain_tiered_memory.core.importance import RuleScorer
from langchain_tiered_memory.core.model import MemoryType, Message, new_id
from langchain_tiered_memory.core.ports import StoredMessage, TokenCounter
from langchain_tiered_memory.core.prompt import fit_summary, format_summary
from langchain_tiered_memory.core.text import clean, normalize

APART = "\x00summary of\x00"
"""How the name of a session begins that keeps the summaries of another one."""
_ROLE = "summary"
_KIND = "tiered_memory_summary"
TOLD_BY = frozenset({"user", "assistant"})
"""Whose messages are summed up."""
_SENTENCE = re.compile(r"[^.!?\n\u3002\uff01\uff1f]+[.!?\u3002\uff01\uff1f]*")
_READ_CHARS = 8_000
"""A message is read up to here: a pasted document is not what a conversation is about."""
_LONGEST = 300
_LEAST_IMPORTANCE = 0.3
"""Below it is small talk."""
_MOST_IN_A_ROW = 3
"""After so many failures a model is asked no more in a run: it is down."""
_MOST_MISSES = 20
"""After so many statements in a row for which there is no room no shorter one is looked for."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What was said in a session before what its window shows, in short.

    Attributes:
        text: The summary; of one made without a model each line is a statement with its day and speaker.
        until: When the last message that it covers was said.
        by: "model", or "rules" when it was made without one.
    """

    text: str
    until: datetime | None
    by: str


@dataclass(slots=True)
class Spending:
    """What one run may ask a model, and what it did.

    Attributes:
        calls_left: Questions it may still ask.
        calls: Questions asked.
        made: Summaries that reach further now.
        failed: Sessions whose summary the model failed at.
        in_a_row: Failures without an answer between them.
    """

    calls_left: int
    calls: int = 0
    made: int = 0
    failed: int = 0
    in_a_row: int = 0

    @property
    def over(self) -> bool:
        """Whether no more is asked."""
        return self.calls_left <= 0 or self.in_a_row >= _MOST_IN_A_ROW


def sure_tokens(settings: WorkingSettings, max_tokens: int) -> int:
    """Return what of a budget the window has in any case, whatever a context quotes beside it."""
    rest = max_tokens - allowance(settings, max_tokens)
    return max(rest - int(rest * settings.memory_share), LEAST_WINDOW_TOKENS)


def allowance(settings: WorkingSettings, max_tokens: int) -> int:
    """Return the most that a summary may cost in a budget."""
    return min(settings.summary_tokens, max_tokens // 4)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that is worth keeping.

    Attributes:
        position: The place of its message in the transcript.
        importance: In [0, 1].
        line: Day, speaker and sentence.
    """

    position: int
    importance: float
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A summary and how far it reaches.

    Attributes:
        id: Of the message that keeps it; empty until it is kept.
        text: The summary; empty when nothing was worth keeping.
        by: "model" or "rules".
        position: The place of the last message that it covers.
        first: The id of the first message that it covers.
        until: When the last one was said.
        statements: What it was made of, when it was made without a model.
        made_from: The id of the summary that it carries on, while it is not yet kept.
    """

    id: str = ""
    text: str
    by: str
    position: int
    first: str | None = None
    until: datetime | None = None
    statements: tuple[Statement, ...] = ()
    made_from: str | None = None

    @property
    def shown(self) -> Summary | None:
        """The summary for others; None when there is nothing in it."""
        return Summary(self.text, self.until, self.by) if self.text else None


def place_of(session_id: str) -> str:
    """Return the session in which the summaries of a session are kept."""
    return APART + session_id


def summed_up(session_id: str) -> str | None:
    """Return the session whose summaries this one keeps; None for one in which people talk."""
    return session_id.removeprefix(APART) if session_id.startswith(APART) else None


def is_talk(session_id: str) -> bool:
    """Say whether people talk in a session, and it does not keep another one's summaries."""
    return not session_id.startswith(APART)


def to_message(state: State) -> Message:
    """Return the message that keeps a summary; without a time, so that it never ends before its transcript does."""
    about = {
        "by": state.by,
        "position": state.position,
        "first": state.first,
        "until": None if state.until is None else state.until.isoformat(),
        "statements": [[one.position, one.importance, one.line] for one in state.statements],
    }
    return Message(_ROLE, state.text, id=state.id or new_id(), extra={_KIND: about})


def from_message(message: Message) -> State | None:
    """Return the summary that a message keeps; None when it keeps none that can be read."""
    about = message.extra.get(_KIND)
    if not isinstance(about, Mapping):
        return None
    try:
        return State(
            id=message.id or "",
            text=message.text,
            by=str(about["by"]),
            position=int(about["position"]),
            first=about["first"],
            until=None if about["until"] is None else datetime.fromisoformat(about["until"]),
            statements=tuple(Statement(int(at), float(worth), str(line)) for at, worth, line in about["statements"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def extended(before: State | None, rows: Sequence[StoredMessage], text: str, by: str) -> State:
    """Return the state that covers these messages too.

    Args:
        before: The state so far, or None.
        rows: What was said since, oldest first, at least one.
        text: The summary of all of it.
        by: Who made it.
    """
    first = rows[0].message.id if before is None else before.first
    last = rows[-1]
    return State(
        text=text,
        by=by,
        position=last.position,
        first=first,
        until=last.message.created_at,
        made_from=None if before is None else before.id,
    )


def by_rules(before: State | None, rows: Sequence[StoredMessage], max_tokens: int, counter: TokenCounter) -> State:
    """Return the summary made without a model: the most important statements, in order, with their days.

    Importance is judged by the rules, whatever scorer a system has: no model is asked.

    Args:
        before: The summary so far, made so too, or None.
        rows: What was said since, oldest first, at least one.
        max_tokens: The most that a prompt's message with the summary may cost.
        counter: Counts.
    """
    known = {} if before is None else {normalize(one.line): one for one in before.statements}
    known |= {normalize(one.line): one for row in rows for one in _statements(row) if normalize(one.line) not in known}
    text, kept = _best(known.values(), max_tokens, counter)
    return replace(extended(before, rows, text, "rules"), statements=kept)


def block_of(state: State, max_tokens: int, counter: TokenCounter) -> str:
    """Return a summary as a block of quoted data that costs at most so much as a system message; "" without room.

    Of one made without a model the least important statements are left out, of another the end.
    """
    text = _best(state.statements, max_tokens, counter)[0] if state.statements else state.text
    return fit_summary(text, max_tokens, counter)[1]


def _best(statements: Iterable[Statement], max_tokens: int, counter: TokenCounter) -> tuple[str, tuple[Statement, ...]]:
    """Return as many of the most important statements as fit, as a text and in their order; of one alone, the start."""
    best = sorted(statements, key=lambda one: (-one.importance, -one.position))
    kept, text, misses = list[Statement](), "", 0
    for one in best:
        tried = _joined([*kept, one])
        if counter.message(Message("system", format_summary(tried))) <= max_tokens:
            kept.append(one)
            text, misses = tried, 0
        else:
            misses += 1
        if misses == _MOST_MISSES:
            break
    if not kept and best:
        text = fit_summary(best[0].line, max_tokens, counter)[0]
        kept = best[:1] if text else []
    return text, tuple(sorted(kept, key=lambda one: one.position))


def _joined(statements: Iterable[Statement]) -> str:
    return "\n".join(one.line for one in sorted(statements, key=lambda one: one.position))


_SCORER = RuleScorer()


def _statements(row: StoredMessage) -> Iterator[Statement]:
    message = row.message
    for found in _SENTENCE.finditer(message.text[:_READ_CHARS]):
        sentence = " ".join(clean(found[0]).split())
        importance = _SCORER.score(sentence, memory_type=MemoryType.EPISODE, role=message.role) if sentence else 0.0
        if importance >= _LEAST_IMPORTANCE:
            said = sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 1]}…"
            yield Statement(row.position, importance, f"{_day(message)}{_speaker(message)}: {said}")


def _day(message: Message) -> str:
    return "" if message.created_at is None else f"{message.created_at.astimezone(UTC).date().isoformat()} "


def _speaker(message: Message) -> str:
    return " ".join(clean(message.name).split()) if message.name else message.role


def covers(state: State, shown: Iterable[Any]) -> bool:
    """Say whether these messages begin where the summary does, so that it tells nothing more."""
    return state.first is not None and any(message.id == state.first for message in shown)
