"""Exports that come as a ZIP: what is meant in them is read, and those that mean no good are refused in our words."""

from __future__ import annotations

import bz2
import io
import json
import re
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_tiered_memory import InvalidInput, importers
from langchain_tiered_memory.importers import Limits
from tests.unit.exports import ANDROID, IOS, LANGCHAIN, conversation
from tests.unit.test_importers_hostile import Generated

CHATS = json.dumps([conversation()])
Members = dict[str, str | bytes]


def zipped(members: Members, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP of these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return made.getvalue()


def ids(file: object, format: str = "auto", **options: Any) -> list[tuple[str | None, str | None]]:
    """Return id and session of what a file holds."""
    return [(one.id, one.session_id) for one in importers.read(file, format, **options)]


# -- which member ------------------------------------------------------------------------------------------------------

CHATGPT: Members = {
    "chat.html": "<html>",
    "user.json": '{"id": "u"}',
    "message_feedback.json": "[]",
    "notes.txt": ANDROID,
    "file-1.png": b"\x89PNG",
    "conversations.json": CHATS,
}


@pytest.mark.parametrize(
    ("members", "chosen"),
    [
        (CHATGPT, "conversations.json"),
        ({f"export/{name}": content for name, content in CHATGPT.items()}, "export/conversations.json"),
        ({"__MACOSX/._conversations.json": "x", ".hidden/conversations.json": "x", **CHATGPT}, "conversations.json"),
        ({"../../etc/conversations.json": CHATS}, "../../etc/conversations.json"),
        ({"C:\\export\\conversations.json": CHATS, "user.json": "{}"}, "conversations.json"),
        ({"_chat.txt": IOS, "00000001-PHOTO.jpg": b"x", "notes.txt": "of Bob's"}, "_chat.txt"),
        ({"_chat (2).txt": IOS, "list.json": "[]"}, "_chat (2).txt"),
        ({"WhatsApp Chat with Bob.txt": ANDROID, "attached.txt": "x"}, "WhatsApp Chat with Bob.txt"),
        ({"any name.txt": ANDROID, "IMG-1.jpg": b"x"}, "any name.txt"),
        ({"history.json": json.dumps(LANGCHAIN)}, "history.json"),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{len(one)}",
)
def test_of_a_zip_what_is_meant_is_read_as_if_it_had_been_unpacked(
    tmp_path: Path, members: Members, chosen: str
) -> None:
    archive = tmp_path / "WhatsApp Chat with Bob (1).zip"
    archive.write_bytes(zipped(members))
    plain = tmp_path / "unpacked" / Path(chosen).name
    plain.parent.mkdir()
    content = members.get(chosen, CHATS)
    plain.write_bytes(content.encode() if isinstance(content, str) else content)

    reading = importers.read(archive)
    found = [(one.id, one.session_id) for one in reading]

    assert found
    assert found == ids(plain)
    (note,) = (one for one in reading.report.notes if "ZIP" in one)
    assert re.fullmatch(rf"read from the ZIP: '.*{re.escape(chosen)}', of {len(members)} files? in it", note)
    assert reading.share == 1.0
    assert sorted(one.name for one in tmp_path.iterdir()) == [archive.name, "unpacked"]  # nothing was unpacked


def test_conversations_in_parts_are_read_one_after_the_other() -> None:
    talks = [{**conversation(), "conversation_id": f"c-{number}"} for number in range(12)]
    parts: Members = {f"conversations-{number:03}.json": "\ufeff" + json.dumps([talks[number]]) for number in range(12)}
    shuffled = dict(sorted(parts.items(), key=lambda one: one[0][::-1]))

    reading = importers.read(io.BytesIO(zipped({**shuffled, "user.json": "{}"})))
    found = [(one.id, one.session_id) for one in reading]

    assert found == ids(io.StringIO(json.dumps(talks)))
    assert list(dict.fromkeys(session for _, session in found)) == [f"c-{number}" for number in range(12)]
    assert reading.report.notes[0] == "read from the ZIP: 'conversations-000.json' and 11 more, of 13 files in it"


@pytest.mark.parametrize("format", ["auto", "chatgpt"])
def test_a_stream_may_be_a_zip_too(format: str) -> None:
    written = zipped(CHATGPT)
    without_places = Generated(written[at : at + 3] for at in range(0, len(written), 3))

    for file in (io.BytesIO(written), without_places):
        assert ids(file, format) == ids(io.StringIO(CHATS))


def test_a_reading_of_a_zip_can_be_read_again_and_by_two_at_once(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(CHATGPT))
    reading = importers.read(tmp_path / "export.zip")
    other = importers.read(tmp_path / "export.zip")

    assert [(one.id, two.id) for one, two in zip(reading, other, strict=True)] == [(one.id, one.id) for one in reading]


# -- refused -----------------------------------------------------------------------------------------------------------


def refused(written: bytes, limits: Limits | None = None, called: str = "export") -> str:
    """Return what is said of a ZIP, however it is given."""
    said = set()
    for format in ("auto", "chatgpt", "whatsapp"):
        with pytest.raises(InvalidInput, match=r"^file=") as error:
            list(importers.read(io.BytesIO(written), format, limits=limits))
        said.add(str(error.value))
    (one,) = said
    return one


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "there is no text in it"),
        ({"a.png": b"x", "b.html": "x"}, "there is no text in it"),
        ({"inner.zip": zipped(CHATGPT)}, "a ZIP in it is not looked into"),
        ({"a.txt": ANDROID, "b.json": "[]"}, "'a.txt', 'b.json' in it may be meant: unpack it, and give the one"),
        ({f"{n}.txt": "x" for n in range(9)}, "'0.txt', '1.txt', '2.txt', … in it may be meant"),
        ({"a/conversations.json": CHATS, "b/conversations.json": CHATS}, "may be meant"),
        ({"a/conversations-1.json": CHATS, "b/conversations-1.json": CHATS}, "may be meant"),
        ({"a\x1b[31m.txt": "x", "b.txt": "x"}, r"'a\x1b[31m.txt'"),
    ],
    ids=range(8),
)
def test_what_is_not_clear_is_refused_with_what_to_do(members: Members, words: str) -> None:
    assert words in refused(zipped(members))


def test_a_zip_that_calls_itself_a_text_is_not_followed() -> None:
    written = zipped({"conversations.json": zipped({"conversations.json": zipped(CHATGPT)})})
    assert "one in another is not looked into" in refused(written)


def test_an_encrypted_file_is_refused_before_it_is_read() -> None:
    for flag in (0x1, 0x41, 0x2001):
        written = bytearray(zipped({"conversations.json": CHATS}))
        for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            struct.pack_into("<H", written, written.index(signature) + at, flag)
        assert "is encrypted: unpack it with its password" in refused(bytes(written))


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 9, 99])
def test_a_packing_that_cannot_be_read_a_little_at_a_time_is_refused(how: int) -> None:
    known = how in {zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
    written = bytearray(zipped({"conversations.json": CHATS}, how if known else zipfile.ZIP_STORED))
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", written, written.index(signature) + at, how)
    assert "packed in a way that is not read here" in refused(bytes(written))


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    written = zipped({"conversations.json": b"[" + b" " * 50_000_000 + b"]"})
    assert len(written) < 60_000
    assert "would unpack to more than 200 times its size" in refused(written)
    assert "at most 1000 bytes, unpacked" in refused(zipped(CHATGPT), Limits(unpacked=1_000))
    assert "more than 2 times its size" in refused(zipped({"_chat.txt": "x" * 1_000_001}), Limits(ratio=2))


def test_a_small_file_may_be_packed_tightly() -> None:
    assert ids(io.BytesIO(zipped({"_chat.txt": f"1.2.23, 9:00 - A: {'ok ' * 100_000}"})), "whatsapp")


@pytest.mark.parametrize("size", [0, 10, len(CHATS) - 1, len(CHATS) + 1, 10 * len(CHATS), 0xFFFF_FFFE])
def test_a_file_of_another_size_than_was_said_is_refused(size: int) -> None:
    written = bytearray(zipped({"conversations.json": CHATS}))
    struct.pack_into("<I", written, written.index(b"PK\x01\x02") + 24, size)
    for format in ("auto", "chatgpt"):
        with pytest.raises(InvalidInput, match=r"damaged|too early|times its size|format"):
            list(importers.read(io.BytesIO(bytes(written)), format))


def test_more_files_than_are_possible_are_refused() -> None:
    members: Members = {f"{number}.png": b"" for number in range(20)}
    assert "at most 20 files in a ZIP are possible" in refused(zipped({**members, **CHATGPT}), Limits(members=20))
    assert ids(io.BytesIO(zipped({**members, **CHATGPT})))


def test_a_list_of_files_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """It would be two gigabytes of objects; the file is mostly a hole."""
    archive, size = tmp_path / "export.zip", 200_000_000
    with archive.open("wb") as file:
        file.write(zipped({"conversations.json": CHATS})[:500])
        file.seek(500 + size)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 4_000, 4_000, size, 500, 0))

    with pytest.raises(InvalidInput, match="its list of files is too long"):
        importers.read(archive)


def test_a_stream_beyond_the_limit_is_refused_as_a_zip_too() -> None:
    assert "at most 100 bytes of a stream" in refused(zipped(CHATGPT), Limits(bytes=100))


def test_a_zip_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    written = zipped({"a.png": bz2.compress(b"x" * 9), "conversations.json": CHATS})
    archive = tmp_path / "export.zip"
    for end in range(4, len(written), 61):
        archive.write_bytes(written[:end])
        for file in (archive, io.BytesIO(written[:end])):
            with pytest.raises(InvalidInput, match="damaged"):
                list(importers.read(file))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2_000), st.binary(min_size=1, max_size=4)), min_size=1, max_size=3))
def test_a_damaged_zip_gives_what_it_holds_or_a_refusal(damages: list[tuple[int, bytes]]) -> None:
    written = bytearray(zipped({"a.png": b"x" * 50, "conversations.json": CHATS, "user.json": "{}"}))
    for place, what in damages:
        at = place % len(written)
        written[at : at + len(what)] = what
    found = None
    with suppress(InvalidInput):
        found = ids(io.BytesIO(bytes(written)))

    assert found in (None, ids(io.StringIO(CHATS)))
