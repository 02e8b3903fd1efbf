"""Files that mean no good, or were cut off: a plain refusal with the place, or a skip; never anything else."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_tiered_memory import InvalidInput, importers
from langchain_tiered_memory.importers import Limits, making
from langchain_tiered_memory.importers.scanning import values
from tests.unit.exports import ANDROID, LANGCHAIN, LLAMAINDEX, MEM0, conversation, node, taken

FORMATS = ("chatgpt", "langchain", "llamaindex", "mem0")
SAMPLES: dict[str, Any] = {"chatgpt": [conversation()], "langchain": LANGCHAIN, "llamaindex": LLAMAINDEX, "mem0": MEM0}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", ["[" * 10_000 + "]" * 10_000, '{"a":' * 10_000, '[{"messages": ' + "[" * 10_000])
def test_ten_thousand_levels_are_refused_before_they_are_parsed(format: str, text: str) -> None:
    with pytest.raises(InvalidInput, match="at most 100 levels"):
        taken(text, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "text", ["[", '{"', '[{"a": "b\\', "nonsense", "[1,]]", "{]", '{"a" 1}', "[" + "9" * 5_000 + "]"]
)
def test_what_is_no_json_is_refused_with_its_place(format: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"(item|document) \d"):
        taken(text, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_was_cut_off_gives_what_stands_before(format: str) -> None:
    whole = json.dumps(SAMPLES[format])
    for end in range(1, len(whole) - 1, 37):
        with pytest.raises(InvalidInput):
            taken(whole[:end], format)


def test_conversations_before_the_cut_are_taken() -> None:
    whole = json.dumps([conversation(), {**conversation(), "conversation_id": "c-2"}])
    each = iter(importers.read(io.StringIO(whole[:-40]), "chatgpt"))

    assert [next(each).session_id for _ in range(4)] == ["c-1"] * 4
    with pytest.raises(InvalidInput, match="item 2"):
        next(each)


class Generated(io.RawIOBase):
    """A file that is written while it is read."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return next(self._blocks, b"")


def test_one_conversation_of_50_mb_is_refused_and_50_mb_of_conversations_are_not() -> None:
    def one() -> Iterator[bytes]:
        yield b'[{"mapping": {"a": "'
        yield from (b"x" * 1_000_000 for _ in range(50))
        yield b'"}}]'

    def many() -> Iterator[bytes]:
        text = json.dumps({"conversation_id": "c", "mapping": {"a": node("a", None, text="x" * 999_000)}}).encode()
        yield b"["
        yield from (text + (b"," if number < 50 else b"]") for number in range(1, 51))

    with pytest.raises(InvalidInput, match=r"item 1.*at most 40000000 characters"):
        list(importers.read(Generated(one()), "chatgpt"))
    assert sum(1 for _ in importers.read(Generated(many()), "chatgpt")) == 50


@pytest.mark.parametrize(
    ("text", "format", "limits"),
    [
        (ANDROID + "x" * 2_000, "whatsapp", Limits(characters=1_000)),
        (ANDROID, "whatsapp", Limits(bytes=100)),
        (ANDROID, "whatsapp", Limits(things=3)),
        (json.dumps(LANGCHAIN), "langchain", Limits(things=3)),
        (json.dumps(LLAMAINDEX), "llamaindex", Limits(characters=50)),
        (json.dumps(LLAMAINDEX), "llamaindex", Limits(depth=2)),
    ],
)
def test_limits_can_be_set_and_are_named(text: str, format: str, limits: Limits) -> None:
    with pytest.raises(InvalidInput, match="at most"):
        taken(text, format, limits=limits)


def test_a_message_beyond_what_a_memory_can_hold_is_skipped() -> None:
    long = "x" * 17_000_000
    for text, format in ((json.dumps([{"type": "ai", "content": long}, LANGCHAIN[1]]), "langchain"),):
        memories, reading = taken(text, format)
        assert len(memories) == 1
        assert reading.report.skipped == {making.UNSTORABLE: 1}
    lines = "\n".join(["1.2.23, 9:00 - A: x", *["y" * 1_000_000] * 17, "1.2.23, 9:01 - A: z"])
    assert [one.content for one in taken(lines, "whatsapp")[0]] == ["z"]


def test_nul_and_lone_surrogates_are_text_like_any_other() -> None:
    odd = "nul \x00 half \ud83d \x1b[31m"

    assert [one.content for one in taken([{"type": "human", "content": odd}])[0]] == [odd]
    (one,) = taken(f"1.2.23, 9:00 - A: {odd}", "whatsapp")[0]
    assert one.content.startswith("nul \x00 half ")


def test_bytes_that_are_no_utf_8_are_kept() -> None:
    (one,) = importers.read(io.BytesIO(b"1.2.23, 9:00 - A: caf\xe9"), "whatsapp")
    assert one.content == "caf\udce9"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (ANDROID.encode("utf-16"), "UTF-8"),
        (b"PK\x03\x04rest", "damaged"),
        (b"PK\x05\x06", "damaged"),
        (b"\x1f\x8b\x08rest", "unpack it first"),
        (b"7z\xbc\xaf\x27\x1crest", "unpack it first"),
        (b"Rar!\x1a\x07rest", "unpack it first"),
    ],
)
@pytest.mark.parametrize("format", ["auto", "whatsapp", "chatgpt"])
def test_what_is_no_text_is_refused_with_what_to_do(written: bytes, words: str, format: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        list(importers.read(io.BytesIO(written), format))


@pytest.mark.parametrize(
    "stamp", [float("nan"), float("inf"), -1, 0, 1e300, True, "soon", [], {}, "9999-12-31T23:59-12:00"]
)
def test_a_date_that_is_none_counts_as_missing(stamp: object) -> None:
    text = {"mapping": {"a": node("a", None, text="x", create_time=stamp)}, "current_node": "a"}
    (one,), reading = taken([text], "chatgpt")

    assert one.observed_at is None
    assert "bear no date" in reading.report.notes[0]


@pytest.mark.parametrize("file", [None, 7, b"x", ["x"], {"a": 1}])
def test_what_is_no_file_is_refused(file: object) -> None:
    with pytest.raises(InvalidInput, match="file"):
        importers.read(file)


@pytest.mark.parametrize(
    "options",
    [{"me": ""}, {"day_first": "yes"}, {"timezone": "Mars/Base"}, {"timezone": ""}, {"timezone": 7}, {"session": ""}],
)
def test_an_option_that_is_none_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        taken(ANDROID, "whatsapp", **options)


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        importers.read(tmp_path / "none.json")


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, Any]:
    """Return a sample in which one value, anywhere, is another."""
    format = draw(st.sampled_from(FORMATS))
    sample = json.loads(json.dumps(SAMPLES[format]))
    at, inside = sample, list(range(len(sample))) if isinstance(sample, list) else list(sample)
    while inside:
        key = draw(st.sampled_from(inside))
        below = at[key]
        inside = list(range(len(below))) if isinstance(below, list) else list(below) if isinstance(below, dict) else []
        if not inside or draw(st.booleans()):
            at[key] = draw(json_values)
            break
        at = below
    return format, sample


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_a_wrong_type_at_any_level_is_skipped_or_refused(sample: tuple[str, Any]) -> None:
    format, value = sample
    for asked in (format, "auto"):
        try:
            memories, _ = taken(value, asked)
        except InvalidInput:
            continue
        assert all(one.content.strip() for one in memories)


@settings(max_examples=200, deadline=None)
@given(st.lists(json_values, max_size=4), st.integers(1, 7))
def test_values_come_out_as_they_went_in_however_they_are_cut(written: list[Any], size: int) -> None:
    for text in (json.dumps(written), "\n".join(json.dumps({"v": one}) for one in written)):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        found = [value for _, value in values(chunks, Limits())]
        expected = written if text.startswith("[") else [{"v": one} for one in written]
        assert repr(found) == repr(json.loads(json.dumps(expected)))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(ANDROID.splitlines()) | st.text(max_size=30), max_size=8))
def test_any_lines_are_a_chat_or_skipped(lines: list[str]) -> None:
    memories, reading = taken("\n".join(lines), "whatsapp")

    assert reading.report.read == len(memories) + sum(reading.report.skipped.values())
