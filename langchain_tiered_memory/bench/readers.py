"""Readers of LoCoMo, LongMemEval and BEAM, in the files that their authors publish.

Only questions whose evidence is known turn by turn are asked; the others are counted, by reason. Times are those of
the data, taken as UTC.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from langchain_tiered_memory.bench.beam import beam
from langchain_tiered_memory.bench.corpora import Corpus, Question, Talk, Turn, gathered
from langchain_tiered_memory.bench.documents import Value, read
from langchain_tiered_memory.bench.instants import instant

LOCOMO = "a file like locomo10.json of github.com/snap-research/locomo is needed"
LONGMEMEVAL = "a file like longmemeval_s.json of github.com/xiaowu0162/LongMemEval is needed"
BETWEEN_TURNS = timedelta(seconds=30)
"""A session has one instant; its turns follow each other."""

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
"""Some evidence is malformed: "D8:6; D9:17", "D:11:26", "D30:05"."""


def locomo(path: Path, limit: int | None = None) -> Corpus:
    """Read LoCoMo (Maharana et al., ACL 2024): two people talk; a photo is told by its caption.

    The fifth category is left out: its evidence supports a wrong premise.

    Raises:
        InvalidInput: It is not such a file; the error names the place.
        OSError: It cannot be read.
    """
    left: Counter[str] = Counter()
    talks = (_locomo_talk(sample, left) for sample in read(path, LOCOMO).each())
    return gathered("locomo", path.name, talks, left, limit)


def _locomo_talk(sample: Value, left: Counter[str]) -> Talk:
    talk = sample.at("conversation")
    numbers = sorted(int(found[1]) for name, _ in talk.fields() if (found := _SESSION.fullmatch(name)))
    turns = tuple(turn for number in numbers for turn in _locomo_session(talk, number))
    known = {turn.id for turn in turns}
    questions = tuple(_locomo_questions(sample.at("qa"), known, left))
    return Talk(id=sample.at("sample_id").text(), turns=turns, questions=questions)


def _locomo_session(talk: Value, number: int) -> Iterator[Turn]:
    began = instant(talk.at(f"session_{number}_date_time"))
    for place, turn in enumerate(talk.at(f"session_{number}").each()):
        caption = turn.find("blip_caption")
        shared = "" if caption is None or not caption.text() else f" [shared photo: {caption.text()}]"
        yield Turn(
            id=turn.at("dia_id").text(),
            role="user",
            name=turn.at("speaker").text(),
            content=turn.at("text").text() + shared,
            session_id=f"session-{number}",
            observed_at=began + place * BETWEEN_TURNS,
        )


def _locomo_questions(asked: Value, known: set[str], left: Counter[str]) -> Iterator[Question]:
    for one in asked.each():
        category = one.at("category")
        if category.whole() == _ADVERSARIAL:
            left["adversarial"] += 1
            continue
        if category.held not in _CATEGORIES:
            raise category.wrong("categories are 1 to 5")
        named = one.find("evidence")
        found = [place for text in (named.each() if named else ()) for place in _EVIDENCE.findall(str(text.held))]
        gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in found) & known
        if gold:
            yield Question(one.at("question").text(), _CATEGORIES[category.held], gold)
        else:
            left["without evidence"] += 1


def longmemeval(path: Path, limit: int | None = None) -> Corpus:
    """Read LongMemEval (Wu et al., ICLR 2025): for each question a history of sessions with an assistant.

    Abstention questions are left out, as by its authors, and those of which no turn is marked with `has_answer`.

    Raises:
        InvalidInput: It is not such a file; the error names the place.
        OSError: It cannot be read.
    """
    left: Counter[str] = Counter()
    talks = (_longmemeval_talk(one, left) for one in read(path, LONGMEMEVAL).each())
    return gathered("longmemeval", path.name, talks, left, limit)


def _longmemeval_talk(one: Value, left: Counter[str]) -> Talk:
    name, dates, sessions = one.at("question_id").text(), one.at("haystack_dates"), one.at("haystack_sessions").each()
    if len(dates.each()) != len(sessions):
        raise dates.wrong(f"one date for each of {len(sessions)} sessions")
    turns: list[Turn] = []
    gold: set[str] = set()
    for number, (date, session) in enumerate(zip(dates.each(), sessions, strict=True), 1):
        began = instant(date)
        for place, turn in enumerate(session.each()):
            made = Turn(
                id=f"{number}:{place + 1}",  # the sessions' own ids are not always unique
                role=turn.at("role").text(),
                content=turn.at("content").text(),
                session_id=f"session-{number}",
                observed_at=began + place * BETWEEN_TURNS,
            )
            turns.append(made)
            marked = turn.find("has_answer")
            gold |= {made.id} if marked is not None and marked.held is True else set()
    question = Question(one.at("question").text(), one.at("question_type").text(), frozenset(gold))
    reason = "abstention" if name.endswith("_abs") else "" if gold else "without evidence"
    if reason:
        left[reason] += 1
    asked_on = one.find("question_date")
    asked_at = None if asked_on is None else instant(asked_on)
    return Talk(id=name, turns=tuple(turns), questions=() if reason else (question,), asked_at=asked_at)


READERS: Mapping[str, Callable[[Path, int | None], Corpus]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "beam": beam,
}
"""The benchmarks by name."""
