"""What other programs' exports hold, and which memories that makes."""

from __future__ import annotations

import io
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import InvalidInput, importers
from langchain_tiered_memory.importers import chatgpt, making, mem0, whatsapp
from tests.unit.exports import ANDROID, IOS, LANGCHAIN, LLAMAINDEX, MEM0, conversation, node, taken


def said(text: object, format: str = "auto", **options: Any) -> list[tuple[str | None, str]]:
    return [(one.role, one.content) for one in taken(text, format, **options)[0]]


# -- formats -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (ANDROID, "whatsapp"),
        (IOS, "whatsapp"),
        ([conversation()], "chatgpt"),
        (conversation(), "chatgpt"),
        ({"conversations": [conversation()]}, "chatgpt"),
        (LANGCHAIN, "langchain"),
        ("\n".join(map(json.dumps, LANGCHAIN)), "langchain"),
        ({"messages": [{"type": "human", "content": "hi"}]}, "langchain"),
        ({"lc": 1, "id": ["x", "HumanMessage"], "kwargs": {"content": "hi"}}, "langchain"),
        (LLAMAINDEX, "llamaindex"),
        ({"chat_store": LLAMAINDEX, "token_limit": 3}, "llamaindex"),
        ({"chat_store": json.dumps(LLAMAINDEX)}, "llamaindex"),
        ([{"role": "user", "blocks": [{"block_type": "text", "text": "hi"}]}], "llamaindex"),
        (MEM0, "mem0"),
        (MEM0["results"], "mem0"),
    ],
)
def test_a_format_is_seen_in_the_file_and_the_reason_told(text: object, format: str) -> None:
    memories, reading = taken(text)

    assert reading.format == format
    assert reading.because
    assert memories
    assert {one.tier for one in memories} == {"long_term"}
    assert {one.origin for one in memories} == {format}


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[", '[{"role": "user", "content": "hi"}]', '{"content": "x"}', "[1]"]
)
def test_what_is_none_of_them_is_refused_with_their_names(text: str) -> None:
    with pytest.raises(InvalidInput, match="chatgpt, whatsapp, langchain, llamaindex, mem0"):
        taken(text)


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="format='telegram'"):
        taken("x", "telegram")


# -- WhatsApp ----------------------------------------------------------------------------------------------------------


def test_android_lines_are_joined_to_messages_and_what_is_none_is_counted() -> None:
    memories, reading = taken(ANDROID, me="Ada", timezone="Europe/Oslo")

    assert [(one.role, one.name, one.content) for one in memories] == [
        ("user", "Ada", "Hello\nand a second line"),
        ("other", "Bob", "ok"),
        ("other", "Bob", "ok"),
        ("other", "Bob", "Look at this"),
        ("user", "Ada", "I am allergic to peanuts: all of them"),
    ]
    assert memories[0].observed_at == datetime(2023, 12, 31, 17, 5, tzinfo=UTC)
    assert len({one.id for one in memories}) == 5
    assert reading.report.skipped == {whatsapp.NOTICE: 3, whatsapp.MEDIA: 1}
    assert [one.where for one in reading.report.examples] == ["line 1", "line 2", "line 6", "line 9"]
    assert reading.report.notes == ("dates are read day first: 7 dates can be read only day first",)


def test_ios_lines_have_half_days_marks_and_narrow_spaces() -> None:
    memories, reading = taken(IOS, timezone="UTC")

    assert [(one.name, one.content, one.observed_at) for one in memories] == [
        ("Ada", "Hi", datetime(2023, 2, 2, 0, 51, 1, tzinfo=UTC)),
        ("Carl", "see you", datetime(2023, 2, 3, 12, tzinfo=UTC)),
    ]
    assert reading.report.skipped == {whatsapp.NOTICE: 1, whatsapp.MEDIA: 1}
    assert "month first: 1 dates" in reading.report.notes[0]
    assert "nobody is taken for the user" in reading.report.notes[1]


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("03.08.21, 12:30 - A: x", "2021-08-03T12:30"),
        ("28/3/2025, 9:29 p.\xa0m. - A: x", "2025-03-28T21:29"),
        ("28/3/2025, 12:09 a. m. - A: x", "2025-03-28T00:09"),
        ("[2026/7/9 02:28:09] A:x", "2026-07-09T02:28:09"),
        ("2023-11-30, 18.05 - A: x", "2023-11-30T18:05"),
        ("30.11.2023 klo 18.05 - A: x", "2023-11-30T18:05"),
        ("30/11/2023 à 18:05 - A: x", "2023-11-30T18:05"),
        ("2023/11/30 下午6:05 - A: x", "2023-11-30T18:05"),
        ("24/3/14, 13:59:59: A: x", "2014-03-24T13:59:59"),
        ("[30-11-2023, 18:05:00] A: x", "2023-11-30T18:05"),
    ],
)
def test_dates_are_read_in_the_manner_of_many_countries(line: str, at: str) -> None:
    (one,) = taken(line, "whatsapp", timezone="UTC")[0]

    assert (one.content, one.observed_at) == ("x", datetime.fromisoformat(at).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("lines", "day_first", "because"),
    [
        ("1/2/23, 9:00 - A: x\n13/2/23, 9:00 - A: y", True, "only day first"),
        ("1/2/23, 9:00 - A: x\n2/13/23, 9:00 - A: y", False, "only month first"),
        ("1/2/23, 9:00 - A: x\n5/2/23, 9:00 - A: y\n1/3/23, 9:00 - A: z", True, "runs forward"),
        ("2/1/23, 9:00 - A: x\n2/5/23, 9:00 - A: y\n3/1/23, 9:00 - A: z", False, "runs forward"),
        ("1.2.23, 9:00 - A: x", True, "points"),
        ("1/2/23, 9:00 - A: x", True, "nothing in the file decides"),
        ("1/2/23, 9:00 PM - A: x", False, "nothing in the file decides"),
    ],
)
def test_the_whole_file_decides_whether_the_day_stands_first(lines: str, day_first: object, because: str) -> None:
    memories, reading = taken(lines, "whatsapp", timezone="UTC")

    first = memories[0].observed_at
    assert first is not None
    assert (reading.report.notes[0].startswith(f"dates are read {'day' if day_first else 'month'} first")) is True
    assert because in reading.report.notes[0]


def test_an_option_decides_it_whatever_the_file_says() -> None:
    (one,) = taken("1/2/23, 9:00 - A: x", "whatsapp", timezone="UTC", day_first=False)[0]

    assert one.observed_at == datetime(2023, 1, 2, 9, tzinfo=UTC)


def test_who_is_not_in_the_chat_is_not_the_user() -> None:
    with pytest.raises(InvalidInput, match=r"Ada, Bob|Bob, Ada"):
        taken(ANDROID, me="Eve")


@pytest.mark.parametrize(
    "text", ["I wrote <b>this</b>", "<3 you all>", "look <here you go> and there", "an image omitted by them", "10:30?"]
)
def test_what_only_resembles_a_notice_is_kept(text: str) -> None:
    assert said(f"1.2.23, 9:00 - A: {text}", "whatsapp") == [("other", text)]


def test_a_chat_is_named_after_its_file_or_after_its_people(tmp_path: Path) -> None:
    for name, session in (("WhatsApp Chat with Bob (1).txt", "WhatsApp Chat with Bob"), ("_chat.txt", "WhatsApp Bob")):
        (tmp_path / name).write_text(ANDROID, encoding="utf-8")
        assert {one.session_id for one in importers.read(tmp_path / name, me="Ada")} == {session}


# -- ChatGPT -----------------------------------------------------------------------------------------------------------


def test_the_current_branch_is_taken_and_the_rest_is_counted() -> None:
    memories, reading = taken([conversation()])

    assert [(one.role, one.content) for one in memories] == [
        ("user", "Where is Bergen?"),
        ("assistant", "In Norway"),
        ("user", "What is this?"),
        ("assistant", "A fjord"),
    ]
    assert memories[0].observed_at == datetime.fromtimestamp(1700000003.5, UTC)
    assert memories[-1].observed_at == datetime.fromtimestamp(1700000008.0, UTC)  # of the one before: it has none
    assert {one.session_id for one in memories} == {"c-1"}
    assert memories[1].metadata == {"title": "Norway", "model": "m-1"}
    assert reading.report.skipped == {
        chatgpt.HIDDEN: 1,
        chatgpt.NO_TEXT: 2,
        chatgpt.CALL: 1,
        making.TOOL: 1,
        making.EMPTY: 1,
        chatgpt.ELSEWHERE: 2,
    }


def test_all_branches_are_taken_on_request() -> None:
    assert ("user", "Where is Bergne?") in said([conversation()], all_branches=True)


def test_an_export_without_children_and_without_a_current_node_has_its_latest_branch() -> None:
    lost = conversation()
    del lost["current_node"]
    for one in lost["mapping"].values():
        del one["children"]
    lost["mapping"]["f"]["message"]["create_time"] = 1700000009.0
    memories, reading = taken([lost])

    assert [one.content for one in memories] == [one.content for one in taken([conversation()])[0]]
    assert "do not say which branch" in reading.report.notes[0]


def test_a_circle_of_nodes_ends() -> None:
    round_ = {"mapping": {"a": node("a", "b", text="x"), "b": node("b", "a", text="y")}, "current_node": "a"}

    assert sorted(said([round_])) == [("user", "x"), ("user", "y")]


def test_a_conversation_that_is_none_is_skipped_and_the_next_is_read() -> None:
    memories, reading = taken([{"title": "x"}, 7, conversation()], "chatgpt")

    assert len(memories) == 4
    assert reading.report.skipped[making.ODD] == 2


# -- LangChain, LlamaIndex, mem0 ---------------------------------------------------------------------------------------


def test_langchain_messages_keep_role_and_name_and_are_not_confused_when_equal() -> None:
    memories, reading = taken(LANGCHAIN, said_at=datetime(2024, 5, 1, tzinfo=UTC), session="chat")

    assert [(one.role, one.name, one.content, one.session_id) for one in memories] == [
        ("user", "Ada", "I live in Bergen", "chat"),
        ("assistant", None, "Lovely", "chat"),
        ("user", "Ada", "I live in Bergen", "chat"),
    ]
    assert len({one.id for one in memories}) == 3
    assert {one.observed_at for one in memories} == {datetime(2024, 5, 1, tzinfo=UTC)}
    assert reading.report.skipped == {making.INSTRUCTION: 1, making.TOOL: 1}
    assert reading.report.notes == ("3 bear no date: they count as said on 2024-05-01",)


def test_langchain_itself_writes_what_is_read() -> None:
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessageChunk, BaseMessage, ChatMessage, HumanMessage, messages_to_dict

    messages: list[BaseMessage] = [
        HumanMessage("one"),
        ChatMessage(content="two", role="Bob"),
        AIMessageChunk(content="three"),
    ]
    expected = [("user", "one"), ("bob", "two"), ("assistant", "three")]

    assert said(messages_to_dict(messages)) == expected
    assert said(dumps(messages)) == expected
    assert said([one.model_dump() for one in messages]) == expected


def test_a_mapping_from_names_to_histories_has_a_session_for_each() -> None:
    found = taken({"monday": LANGCHAIN[:2], "friday": LANGCHAIN[2:3]})[0]

    assert [one.session_id for one in found] == ["monday", "friday"]


def test_each_key_of_a_chat_store_is_a_session() -> None:
    memories, reading = taken(LLAMAINDEX)

    assert [(one.session_id, one.role, one.content) for one in memories] == [
        ("monday", "user", "I live in Bergen"),
        ("monday", "assistant", "Lovely"),
    ]
    assert reading.report.skipped == {making.TOOL: 1, making.EMPTY: 1}


def test_rows_of_the_sql_chat_store_have_their_dates() -> None:
    row = {"key": "k", "timestamp": 1_700_000_000_000_000_000, "data": {"role": "user", "content": "hi"}}
    (one,) = taken({"table_name": "t", "db_data": [row]})[0]

    assert (one.session_id, one.observed_at) == ("k", datetime.fromtimestamp(1_700_000_000, UTC))


def test_memories_of_mem0_are_facts_with_their_day() -> None:
    memories, reading = taken(MEM0)

    first, second = memories
    assert (first.content, first.memory_type, first.session_id, first.agent_id) == (
        "Lives in Bergen",
        "fact",
        "r-1",
        "cook",
    )
    assert first.observed_at == datetime(2024, 7, 20, 8, 30, 36, 275141, UTC)
    assert first.metadata == {"topic": "home"}
    assert second.memory_type == "preference"
    assert reading.report.sessions == 1
    assert reading.report.skipped == {making.EMPTY: 1}


def test_memories_of_several_users_are_not_made_one_users() -> None:
    several = {"results": [*MEM0["results"], {"id": "m-4", "memory": "Lives in Oslo", "user_id": "bob"}]}

    with pytest.raises(InvalidInput, match="ada, bob"):
        taken(several)
    memories, reading = taken(several, source_user="bob")
    assert [one.content for one in memories] == ["Lives in Oslo"]
    assert reading.report.skipped == {mem0.ANOTHERS: 3}


def history(path: Path, columns: str, rows: list[tuple[object, ...]]) -> Path:
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE history ({columns})")
        database.executemany(f"INSERT INTO history VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608
    database.close()
    return path


def test_a_history_of_mem0_gives_what_each_memory_said_last(tmp_path: Path) -> None:
    columns = (
        "id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, "
        "updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT"
    )
    day, later = "2024-07-20T10:00:00+00:00", "2024-08-01T10:00:00+00:00"
    rows: list[tuple[object, ...]] = [
        ("1", "a", None, "Lives in Oslo", "ADD", day, None, 0, None, "user"),
        ("2", "b", None, "Has a dog", "ADD", day, None, 0, None, None),
        ("3", "a", "Lives in Oslo", "Lives in Bergen", "UPDATE", day, later, 0, None, "user"),
        ("4", "b", "Has a dog", None, "DELETE", day, later, 1, None, None),
    ]
    path = history(tmp_path / "history.db", columns, rows)
    before = path.read_bytes()
    reading = importers.read(path)
    (one,) = reading

    assert (one.content, one.observed_at, one.role) == ("Lives in Bergen", datetime.fromisoformat(later), "user")
    assert reading.report.skipped == {mem0.DELETED: 1}
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (before, ["history.db"])


def test_a_history_of_an_older_mem0_is_read_too(tmp_path: Path) -> None:
    columns = "id, memory_id, prev_value, new_value, event, timestamp, is_deleted"
    rows: list[tuple[object, ...]] = [("1", "a", None, "Lives in Oslo", "ADD", "2024-01-01T00:00:00+00:00", 0)]
    (one,) = importers.read(history(tmp_path / "history.db", columns, rows))

    assert (one.content, one.observed_at) == ("Lives in Oslo", datetime(2024, 1, 1, tzinfo=UTC))


def test_another_database_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    other, damaged = history(tmp_path / "other.db", "id", [("1",)]), tmp_path / "damaged.db"
    damaged.write_bytes(other.read_bytes()[:100] + b"\xff" * 5_000)

    for path in (other, damaged):
        with pytest.raises(InvalidInput, match="mem0's"):
            list(importers.read(path))
    with pytest.raises(InvalidInput, match="give the path"):
        list(importers.read(io.BytesIO(other.read_bytes())))


# -- the same again ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [ANDROID, IOS, [conversation()], LANGCHAIN, LLAMAINDEX, MEM0])
def test_a_file_that_is_read_again_has_the_same_ids(text: object) -> None:
    memories, reading = taken(text)

    assert [one.id for one in reading] == [one.id for one in memories] == [one.id for one in taken(text)[0]]
    assert len({one.id for one in memories}) == len(memories)


def test_an_export_that_begins_later_has_the_ids_of_what_it_repeats() -> None:
    whole = {one.id for one in taken(ANDROID, me="Ada", session="s")[0]}
    later = ANDROID.splitlines(keepends=True)[6:]
    more = taken("".join(later) + "2/1/2024, 0:01 - Bob: new\n", me="Ada", session="s")[0]

    assert len({one.id for one in more} - whole) == 1


def test_neither_who_the_user_is_nor_a_zone_changes_ids() -> None:
    one, other = (
        taken(ANDROID, me="Ada", timezone="UTC", session="s"),
        taken(ANDROID, timezone="Asia/Tokyo", session="s"),
    )

    assert [memory.id for memory in one[0]] == [memory.id for memory in other[0]]


def test_a_text_file_that_is_open_is_read_as_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(LLAMAINDEX), encoding="utf-8")
    with (tmp_path / "chat.json").open(encoding="utf-8") as file:
        assert [one.id for one in importers.read(file)] == [one.id for one in importers.read(tmp_path / "chat.json")]


def test_batches_hold_all_in_their_order() -> None:
    memories, reading = taken(ANDROID)

    assert [len(one) for one in reading.batches(2)] == [2, 2, 1]
    assert [one for batch in reading.batches(2) for one in batch] == memories
