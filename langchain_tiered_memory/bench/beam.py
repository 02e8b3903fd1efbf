"""Reader of BEAM (Tavakoli et al., "Beyond a Million Tokens"): chats of a person with an assistant, in folders."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from langchain_tiered_memory.bench.corpora import Corpus, Question, Talk, Turn, gathered
from langchain_tiered_memory.bench.documents import Value, read
from langchain_tiered_memory.bench.instants import instant
from langchain_tiered_memory.core.errors import InvalidInput

BEAM = "a folder like chats/100K of github.com/mohammadtavakoli78/BEAM is needed"
CHATS = ("chat_trunecated.json", "chat.json")
"""Names of a chat, the one that its authors ask about first; the misspelling is theirs."""
QUESTIONS = Path("probing_questions", "probing_questions.json")
NOT_ASKED = ("abstention", "summarization")
"""Abilities without evidence of their own: what was never said, and all that was."""

_MARK = re.compile(r"\s*->->\s*[\w,/]+\)?\s*$")
"""The place in its author's plan, left at the end of a message: " ->-> 1,2"."""
_DIGITS = re.compile(r"(\d+)")


def beam(path: Path, limit: int | None = None) -> Corpus:
    """Read BEAM: a folder of one chat, of chats by number, or of such folders by size; or one file in neutral form.

    A batch of a chat is a session, at the day that its first message names. Evidence is by message number; where a
    chat uses a number twice, questions that rest on it are left out.

    The neutral form is `{"conversations": [{"id", "turns": [{"id", "role", "content", "session_id", "name"?,
    "observed_at"?}], "questions": [{"text", "category", "gold": [turn ids]}]}]}`.

    Raises:
        InvalidInput: It is not such a folder; the error names file and place.
        OSError: A file of it cannot be read.
    """
    left: Counter[str] = Counter()
    if path.is_file():
        talks = (_neutral(one, left) for one in read(path, BEAM).at("conversations").each())
        return gathered("beam", path.name, talks, left, limit)
    folders = _folders(path)
    if not folders:
        raise InvalidInput(f"the folder {path}", "", f"no {CHATS[-1]} is in it; {BEAM}")
    return gathered("beam", path.resolve().name, (_talk(one, left) for one in folders), left, limit)


def _folders(path: Path) -> list[Path]:
    """Return the folders that hold a chat, by size and number; parts of a chat in folders of their own are no chats."""
    found = {file.parent for name in CHATS for file in path.rglob(name)}
    return sorted((one for one in found if found.isdisjoint(one.parents)), key=_by_number)


def _by_number(folder: Path) -> list[tuple[int, str]]:
    parts = _DIGITS.split(str(folder))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _talk(folder: Path, left: Counter[str]) -> Talk:
    chat = read(next(folder / name for name in CHATS if (folder / name).is_file()), BEAM)
    turns: list[Turn] = []
    numbered: defaultdict[int, list[str]] = defaultdict(list)
    for number, session in enumerate(_sessions(chat), 1):
        at: datetime | None = None
        for message in _messages(session):
            anchor = message.find("time_anchor")
            at = at if anchor is None else instant(anchor)
            made = Turn(
                id=str(len(turns)),
                role=message.at("role").text(),
                content=_MARK.sub("", message.at("content").text()),
                session_id=f"batch-{number}",
                observed_at=at,
            )
            turns.append(made)
            numbered[message.at("id").whole()].append(made.id)
    where = folder.resolve()
    questions = tuple(_questions(read(folder / QUESTIONS, BEAM), numbered, left))
    return Talk(id=f"{where.parent.name}/{where.name}", turns=tuple(turns), questions=questions)


def _sessions(chat: Value) -> Iterator[Value]:
    """Yield the batches of a chat; the longest chats have them by plan."""
    for one in chat.each():
        if isinstance(one.held, dict) and "turns" not in one.held:
            for _, plan in one.fields():
                yield from plan.each()
        else:
            yield one


def _messages(batch: Value) -> Iterator[Value]:
    """Yield the messages of a batch, which are in arrays by subject."""
    if isinstance(batch.held, dict) and "turns" not in batch.held:
        yield batch
        return
    for one in batch.at("turns").each() if isinstance(batch.held, dict) else batch.each():
        yield from _messages(one)


def _questions(asked: Value, numbered: defaultdict[int, list[str]], left: Counter[str]) -> Iterator[Question]:
    for ability, questions in asked.fields():
        for one in questions.each():
            if ability in NOT_ASKED:
                left[ability] += 1
                continue
            sources = one.find("source_chat_ids")
            named = [numbered[at] for at in set(_numbers(sources.held if sources else ())) if at in numbered]
            if any(len(turns) > 1 for turns in named):
                left["evidence by a number used twice"] += 1
            elif named:
                yield Question(one.at("question").text(), ability, frozenset(turn for turns in named for turn in turns))
            else:
                left["without evidence"] += 1


def _numbers(sources: object) -> Iterator[int]:
    """Yield the numbers in what may be a number, an array, or an object of arrays."""
    if isinstance(sources, int) and not isinstance(sources, bool):
        yield sources
    elif isinstance(sources, (list, dict)):
        for one in sources.values() if isinstance(sources, dict) else sources:
            yield from _numbers(one)


def _neutral(one: Value, left: Counter[str]) -> Talk:
    turns = tuple(_neutral_turn(turn) for turn in one.at("turns").each())
    known = {turn.id for turn in turns}
    questions = []
    for asked in one.at("questions").each():
        gold = frozenset(turn.text() for turn in asked.at("gold").each()) & known
        if gold:
            questions.append(Question(asked.at("text").text(), asked.at("category").text(), gold))
        else:
            left["without evidence"] += 1
    return Talk(id=one.at("id").text(), turns=turns, questions=tuple(questions))


def _neutral_turn(turn: Value) -> Turn:
    name, at = turn.find("name"), turn.find("observed_at")
    try:
        observed_at = None if at is None else datetime.fromisoformat(at.text())
    except ValueError:
        raise turn.at("observed_at").wrong("it is no instant as ISO 8601 writes them") from None
    return Turn(
        id=turn.at("id").text(),
        role=turn.at("role").text(),
        content=turn.at("content").text(),
        session_id=turn.at("session_id").text(),
        name=None if name is None else name.text(),
        observed_at=observed_at,
    )
