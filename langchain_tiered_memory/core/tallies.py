"""What is stored of every user, in numbers: whoever works for all goes then to those alone who need it.

A store may count by itself, as those in SQL do: `tallies(model_id)` of a store of memories and `tallies(apart)` of
transcripts, as the functions here say. Of any other every user is read, one after the other, and let go of again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from langchain_tiered_memory.core.lives import is_value, life_of
from langchain_tiered_memory.core.ports import Entry, MemoryStore, TranscriptStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """One user's rows in one store of memories.

    Attributes:
        user_id: Whose.
        rows: How many there are, at least 1.
        superseded: Those that are no longer current.
        pending: Passages that lack a vector of the model asked for.
        vectors: Vectors there are, of whatever model.
        ends: When the first life ends; None when none does.
        mortal: Values under keys that may have a life of their own.
        begun: Rows that stand, or were forgotten, in long-term memory too, so that a move of them was begun; None: the
            store cannot know.
        moved: Those of them that stand there; 0 when the store cannot know.
    """

    user_id: str
    rows: int
    superseded: int = 0
    pending: int = 0
    vectors: int = 0
    ends: datetime | None = None
    mortal: int = 0
    begun: int | None = None
    moved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkTally:
    """One user's transcripts.

    Attributes:
        user_id: Whose.
        messages: Messages in sessions that are not apart.
        apart: Messages in those that are.
        unplaced: Whether a message waits for its episode to be confirmed.
    """

    user_id: str
    messages: int
    apart: int = 0
    unplaced: bool = False


def tallies(store: MemoryStore, model_id: str) -> Iterator[Tally]:
    """Count the rows of every user that has one, in no particular order; in the end nobody's are held.

    Args:
        store: Which store.
        model_id: The model whose vectors rows are to have.

    Raises:
        BackendUnavailable: The store did not answer; what was yielded before is right.
    """
    own = getattr(store, "tallies", None)
    if own is not None:
        yield from cast("Iterable[Tally]", own(model_id))
        return
    for user_id in store.users():
        entries = store.changes(user_id, 0, indexed_vectors=False).entries
        if entries:
            yield _counted(user_id, entries, model_id)


def talk_tallies(store: TranscriptStore, apart: str) -> Iterator[TalkTally]:
    """Count the messages of every user that has one, in no particular order.

    Args:
        store: Which store.
        apart: How the names of sessions begin whose messages are counted apart.

    Raises:
        BackendUnavailable: As `tallies`.
    """
    own = getattr(store, "tallies", None)
    if own is not None:
        yield from cast("Iterable[TalkTally]", own(apart))
        return
    for user_id in store.users():
        sessions = store.sessions(user_id)
        aside = sum(count for session_id, count in sessions.items() if session_id.startswith(apart))
        waiting = bool(store.unplaced(user_id, None, 1))
        yield TalkTally(user_id=user_id, messages=sum(sessions.values()) - aside, apart=aside, unplaced=waiting)


def _counted(user_id: str, entries: Iterable[Entry], model_id: str) -> Tally:
    heads = list(entries)
    return Tally(
        user_id=user_id,
        rows=len(heads),
        superseded=sum(not head.memory.current for head in heads),
        pending=sum(_pending(head, model_id) for head in heads),
        vectors=sum(len(head.vectors) + len(head.left_out) for head in heads),
        ends=min((head.expires_at for head in heads if head.expires_at is not None), default=None),
        mortal=sum(is_value(head.memory) and life_of(head.memory) is not None for head in heads),
    )


def _pending(entry: Entry, model_id: str) -> int:
    have = {one.passage for one in entry.vectors if one.model_id == model_id}
    have |= {passage for passage, made_by in entry.left_out if made_by == model_id}
    return max(entry.passages - len(have), 0)
