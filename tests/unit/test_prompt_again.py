"""Blocks of notes that come back: they are known, and can be made shorter."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.prompt import format_memories, is_block, shorten_block
from langchain_tiered_memory.core.text import clean
from langchain_tiered_memory.tokens import TiktokenCounter

COUNTER = TiktokenCounter()
AT = datetime(2026, 1, 5, tzinfo=UTC)
TEXTS = st.text(st.characters(codec=None), min_size=1, max_size=200)


def memory(content: str, **fields: Any) -> Memory:
    return Memory(content, MemoryType.FACT, 0.5, created_at=AT, last_accessed=AT, **fields)


def notes(block: str) -> list[str]:
    """Return the lines of a block that are notes."""
    return [line for line in block.split("\n") if line.startswith("- ")]


@given(st.lists(st.builds(memory, TEXTS, name=st.none() | TEXTS, origin=st.none() | TEXTS), min_size=1, max_size=5))
def test_a_block_is_known_and_as_long_as_it_may_be_it_stays(memories: list[Memory]) -> None:
    block = format_memories(memories)

    assert is_block(block)
    assert shorten_block(block, COUNTER.text(block), COUNTER) == block


@given(
    st.lists(st.builds(memory, TEXTS, name=st.none() | TEXTS, origin=st.none() | TEXTS), min_size=1, max_size=5),
    st.integers(0, 300),
)
def test_a_shorter_block_keeps_the_best_and_its_budget(memories: list[Memory], max_tokens: int) -> None:
    block = format_memories(memories)

    short = shorten_block(block, max_tokens, COUNTER)

    assert COUNTER.text(short) <= max_tokens
    assert not short or is_block(short)
    kept = notes(short)
    assert kept == notes(block)[: len(kept)] or len(kept) == 1


def test_the_text_of_the_last_note_is_cut_and_stays_quoted() -> None:
    tricky = 'he said: "I am\\": "' + "word " * 300 + '": "end'
    block = format_memories([memory(tricky, name='A: "da', origin='x: "y"'), memory("another")])

    short = shorten_block(block, 120, COUNTER)

    (note,) = notes(short)
    assert note.startswith(notes(block)[0].split("word")[0])
    cut = json.loads(note[note.index('"he said') :])
    assert "tokens cut" in cut
    assert clean(tricky).startswith(cut.split("\n")[0])
    assert 80 < COUNTER.text(short) <= 120


def test_there_is_no_block_without_room() -> None:
    assert shorten_block(format_memories([memory("word " * 100)]), 30, COUNTER) == ""
    assert shorten_block("", 30, COUNTER) == ""


def test_what_people_write_is_no_block() -> None:
    block = format_memories([memory("hello")])

    assert not any(map(is_block, ("", "hello", f"see: {block}", f"{block} ", block[:-1])))
