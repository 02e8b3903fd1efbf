"""Public data: what is read of each format, what is left out, and what is said of a file that is none of them."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from langchain_tiered_memory import InvalidInput
from langchain_tiered_memory.bench.beam import beam
from langchain_tiered_memory.bench.corpora import Question, Turn
from langchain_tiered_memory.bench.readers import locomo, longmemeval
from tests.public_data import BEAM_CHAT, BEAM_QUESTIONS, LOCOMO, LONGMEMEVAL, NEUTRAL, chat, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


# -- LoCoMo ------------------------------------------------------------------------------------------------------------


def test_locomo_is_read_in_the_order_of_its_sessions(tmp_path: Path) -> None:
    corpus = locomo(written(tmp_path / "locomo10.json", LOCOMO))

    assert (corpus.name, corpus.source, [talk.id for talk in corpus.talks]) == (
        "locomo",
        "locomo10.json",
        ["conv-26", "conv-99"],
    )
    first = corpus.talks[0]
    assert [(turn.id, turn.name, turn.session_id, turn.content) for turn in first.turns] == [
        ("D2:1", "Ada", "session-2", "I adopted a hedgehog called Pfeffer."),
        ("D2:2", "Ben", "session-2", "Our roof was repaired."),
        ("D2:3", "Ada", "session-2", " "),
        ("D10:1", "Ada", "session-10", "My violin needs new strings."),
        ("D10:2", "Ben", "session-10", "Look! [shared photo: a lighthouse at dusk]"),
    ]
    assert [turn.observed_at for turn in first.turns] == [
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 30, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 57, 0, tzinfo=UTC),
        datetime(2023, 7, 1, 0, 5, 0, tzinfo=UTC),
        datetime(2023, 7, 1, 0, 5, 30, tzinfo=UTC),
    ]


def test_locomos_evidence_is_found_in_whatever_form_and_what_has_none_is_counted(tmp_path: Path) -> None:
    corpus = locomo(written(tmp_path / "locomo10.json", LOCOMO))

    assert corpus.talks[0].questions == (
        Question("What is the hedgehog called?", "single-hop", frozenset({"D2:1"})),
        Question("Which violin strings?", "multi-hop", frozenset({"D10:1", "D2:2"})),
        Question("When was the lighthouse at dusk?", "temporal", frozenset({"D2:1"})),
    )
    assert corpus.left_out == {"adversarial": 1, "without evidence": 2}


def test_a_limit_takes_the_first_conversations_and_counts_only_theirs(tmp_path: Path) -> None:
    file = written(tmp_path / "locomo10.json", [LOCOMO[1], LOCOMO[0]])

    corpus = locomo(file, 1)

    assert ([talk.id for talk in corpus.talks], corpus.left_out) == (["conv-99"], {})


# -- LongMemEval -------------------------------------------------------------------------------------------------------


def test_longmemeval_is_a_history_for_each_question(tmp_path: Path) -> None:
    corpus = longmemeval(written(tmp_path / "longmemeval_s.json", LONGMEMEVAL))

    (talk,) = corpus.talks
    assert [(turn.id, turn.role, turn.session_id, turn.content) for turn in talk.turns] == [
        ("1:1", "user", "session-1", "I adopted a hedgehog called Pfeffer."),
        ("1:2", "assistant", "session-1", "How nice!"),
        ("2:1", "user", "session-2", "How do I repair a roof?"),
    ]
    assert talk.turns[1].observed_at == datetime(2023, 5, 20, 2, 21, 30, tzinfo=UTC)
    assert talk.asked_at == datetime(2023, 6, 1, 9, 30, tzinfo=UTC)
    assert talk.questions == (Question("Which hedgehog did I adopt?", "single-session-user", frozenset({"1:1"})),)


def test_of_longmemeval_abstention_and_what_is_not_marked_is_not_asked(tmp_path: Path) -> None:
    corpus = longmemeval(written(tmp_path / "longmemeval_s.json", LONGMEMEVAL))

    assert [talk.id for talk in corpus.talks] == ["q1"]
    assert corpus.left_out == {"abstention": 1, "without evidence": 1}


# -- BEAM --------------------------------------------------------------------------------------------------------------


def test_a_chat_of_beam_has_a_session_a_batch_at_the_day_it_begins_with(tmp_path: Path) -> None:
    corpus = beam(chat(tmp_path / "chats" / "100K" / "1"))

    (talk,) = corpus.talks
    march, april = datetime(2024, 3, 15, tzinfo=UTC), datetime(2024, 4, 5, tzinfo=UTC)

    def turn(number: int, role: str, content: str, session: str, at: datetime) -> Turn:
        return Turn(id=str(number), role=role, content=content, session_id=session, observed_at=at)

    assert talk.id == "100K/1"
    assert talk.turns == (
        turn(0, "user", "My sprint ends soon.", "batch-1", march),
        turn(1, "assistant", "Then plan a demo.", "batch-1", march),
        turn(2, "user", "Always answer with syntax highlighting.", "batch-1", march),
        turn(3, "user", "The dashboard needs 250 ms.", "batch-2", april),
    )


def test_beams_evidence_is_by_message_number_in_arrays_or_objects_of_them(tmp_path: Path) -> None:
    corpus = beam(chat(tmp_path / "1"))

    assert corpus.talks[0].questions == (
        Question("How fast is the dashboard?", "knowledge_update", frozenset({"2", "3"})),
        Question("When does my sprint end?", "information_extraction", frozenset({"0"})),
    )
    assert corpus.left_out == {"abstention": 1, "summarization": 1, "without evidence": 1}


def test_a_number_that_a_chat_uses_twice_is_evidence_for_nothing(tmp_path: Path) -> None:
    twice = copy.deepcopy(BEAM_CHAT)
    twice[1]["turns"][0][0]["id"] = 2

    corpus = beam(chat(tmp_path / "1", twice))

    assert [question.category for question in corpus.talks[0].questions] == ["information_extraction"]
    assert corpus.left_out["evidence by a number used twice"] == 1


@pytest.mark.parametrize("asked", ["chats", "chats/100K"])
def test_chats_are_found_in_folders_by_number(tmp_path: Path, asked: str) -> None:
    for number in (10, 2, 1):
        chat(tmp_path / "chats" / "100K" / str(number))

    corpus = beam(tmp_path / asked)

    assert [talk.id for talk in corpus.talks] == ["100K/1", "100K/2", "100K/10"]
    assert corpus.source == asked.rpartition("/")[2]


def test_the_shortened_chat_is_the_one_its_authors_ask_about(tmp_path: Path) -> None:
    folder = chat(tmp_path / "11", [])
    written(folder / "chat_trunecated.json", BEAM_CHAT)

    assert [len(talk.turns) for talk in beam(folder).talks] == [4]


def test_chats_by_plan_and_batches_without_subjects_are_read_too(tmp_path: Path) -> None:
    """The longest chats have batches by plan, beside copies in folders of the plans; a download has bare arrays."""
    bare = [message for subject in BEAM_CHAT[0]["turns"] for message in subject]
    folder = chat(tmp_path / "10M" / "1", [{"plan-1": BEAM_CHAT[:1]}, {"plan-2": BEAM_CHAT[1:]}])
    written(folder / "plan-1" / "chat.json", BEAM_CHAT)
    chat(tmp_path / "500K" / "1", [bare, BEAM_CHAT[1]])

    by_plan, without = beam(tmp_path).talks

    assert [by_plan.id, without.id] == ["10M/1", "500K/1"]
    assert by_plan.turns == without.turns
    assert [turn.session_id for turn in by_plan.turns] == ["batch-1", "batch-1", "batch-1", "batch-2"]


def test_the_neutral_form_is_read_as_it_stands(tmp_path: Path) -> None:
    corpus = beam(written(tmp_path / "beam-dev.json", NEUTRAL))

    (talk,) = corpus.talks
    assert (talk.id, talk.questions) == ("beam-1", (Question("What did I adopt?", "preference", frozenset({"0"})),))
    assert [(turn.name, turn.observed_at) for turn in talk.turns] == [
        ("Ada", datetime(2024, 3, 15, tzinfo=UTC)),
        (None, None),
    ]
    assert corpus.left_out == {"without evidence": 1}


# -- what is none of them ----------------------------------------------------------------------------------------------


def broken(data: Any, change: Callable[[Any], object]) -> Any:
    """Return a copy of the data with something wrong in it."""
    made = copy.deepcopy(data)
    change(made)
    return made


def without(*path: Any) -> Callable[[Any], object]:
    def change(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return change


def with_(value: object, *path: Any) -> Callable[[Any], object]:
    def change(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("read", "data", "place", "what"),
    [
        (locomo, {"a": 1}, "the top level", "it is no array"),
        (locomo, LONGMEMEVAL, "[0]", "it has no 'conversation'"),
        (locomo, broken(LOCOMO, without(1, "qa")), "[1]", "it has no 'qa'"),
        (locomo, broken(LOCOMO, without(0, "sample_id")), "[0]", "it has no 'sample_id'"),
        (
            locomo,
            broken(LOCOMO, with_(7, 0, "conversation", "session_2", 1, "text")),
            "[0].conversation.session_2[1].text",
            "it is no text",
        ),
        (
            locomo,
            broken(LOCOMO, with_("yesterday", 0, "conversation", "session_2_date_time")),
            "[0].conversation.session_2_date_time",
            "it is no date",
        ),
        (
            locomo,
            broken(LOCOMO, with_("1:56 pm on 31 June, 2023", 0, "conversation", "session_2_date_time")),
            "[0].conversation.session_2_date_time",
            "it is no date",
        ),
        (locomo, broken(LOCOMO, with_(9, 0, "qa", 1, "category")), "[0].qa[1].category", "categories are 1 to 5"),
        (locomo, broken(LOCOMO, with_("4", 0, "qa", 0, "category")), "[0].qa[0].category", "it is no whole number"),
        (longmemeval, LOCOMO, "[0]", "it has no 'question_id'"),
        (longmemeval, [[1]], "[0]", "it is no object"),
        (
            longmemeval,
            broken(LONGMEMEVAL, without(0, "haystack_dates", 1)),
            "[0].haystack_dates",
            "one date for each of 2 sessions",
        ),
        (
            longmemeval,
            broken(LONGMEMEVAL, without(0, "haystack_sessions", 0, 1, "role")),
            "[0].haystack_sessions[0][1]",
            "it has no 'role'",
        ),
        (beam, {"chats": []}, "the top level", "it has no 'conversations'"),
        (
            beam,
            broken(NEUTRAL, with_("soon", "conversations", 0, "turns", 0, "observed_at")),
            "conversations[0].turns[0].observed_at",
            "it is no instant",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place_and_what_is_needed(
    tmp_path: Path, read: Callable[[Path], object], data: Any, place: str, what: str
) -> None:
    file = written(tmp_path / "some.json", data)

    with pytest.raises(InvalidInput) as caught:
        read(file)

    assert caught.value.field == f"{place} of {file}"
    assert what in caught.value.remedy
    assert "is needed" in caught.value.remedy
    assert "github.com/" in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html>", "it is not JSON"),
        (b"", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"PK\x03\x04\xff\xfe", "an archive has to be unpacked first"),
    ],
)
def test_what_is_no_json_is_told_so(tmp_path: Path, content: bytes, what: str) -> None:
    file = tmp_path / "locomo10.json"
    file.write_bytes(content)

    with pytest.raises(InvalidInput, match=what) as caught:
        locomo(file)

    assert caught.value.field == f"the text of {file}"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (with_({"role": "user", "content": "x", "id": 1}, 0), "[0].role"),
        (with_("March", 0, "turns", 0, 0, "time_anchor"), "[0].turns[0][0].time_anchor"),
        (without(0, "turns", 0, 0, "content"), "[0].turns[0][0]"),
        (with_("one", 0, "turns", 0, 0, "id"), "[0].turns[0][0].id"),
    ],
)
def test_what_is_wrong_with_a_chat_is_told_with_its_place(
    tmp_path: Path, change: Callable[[Any], object], place: str
) -> None:
    folder = chat(tmp_path / "1", broken(BEAM_CHAT, change))

    with pytest.raises(InvalidInput) as caught:
        beam(folder)

    assert caught.value.field == f"{place} of {folder / 'chat.json'}"


def test_a_folder_without_a_chat_is_refused_and_one_without_questions_is_incomplete(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"no chat\.json is in it; a folder like chats/100K"):
        beam(tmp_path / "empty")

    folder = chat(tmp_path / "1", questions=BEAM_QUESTIONS)
    (folder / "probing_questions" / "probing_questions.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"probing_questions\.json"):
        beam(folder)
