"""Tokens are counted exactly, offline, and in bounded time; what a message costs follows the written formula."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory import tokens
from langchain_tiered_memory.core.errors import ConfigError
from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.core.ports import TokenCounter
from langchain_tiered_memory.core.working import REPLY_TOKENS, prompt_tokens
from langchain_tiered_memory.tokens import IMAGE_TOKENS, TiktokenCounter

ENCODINGS = ("o200k_base", "cl100k_base")
COUNTER = TiktokenCounter()
T = COUNTER.text
HOSTILE = [
    "\ud83d",
    "\udc00\ud800",
    "\x00",
    "a\x00b",
    "👩‍👩‍👧",
    "שלום \u202e עולם",
    "<|endoftext|>",
    "e\u0301",
    "漢字仮名",
    "\r\n\t \n",
    "",
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(codec=None), max_size=40),
    st.text("ab'sS 1\n/!漢👧é", max_size=60),
    st.lists(st.sampled_from(["hello", " world", "don't", " 12345", "\n\n", "  ", "internationalization", "ﬃ"])).map(
        "".join
    ),
)


def raw(text: str, encoding: str = "o200k_base") -> int:
    """Count as tiktoken itself does, over the whole text at once."""
    return len(tokens._load(encoding).encode_ordinary(text))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_vocabularies_are_those_of_tiktoken(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pattern, ranks and file are what tiktoken itself would use for the name."""
    public = importlib.import_module("tiktoken_ext.openai_public")
    asked: dict[str, str] = {}

    def load(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.update(url=url, sha256=expected_hash)
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", load)
    theirs = getattr(public, encoding)()
    ours = tokens._VOCABULARIES[encoding]

    assert (ours.pattern, ours.sha256) == (theirs["pat_str"], asked["sha256"])
    assert asked["url"].endswith(f"{encoding}.tiktoken")


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("o200k_base", "hello world", [24912, 2375]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("o200k_base", "", []),
        ("cl100k_base", "", []),
    ],
)
def test_known_encodings_come_out(encoding: str, text: str, expected: list[int]) -> None:
    assert tokens._load(encoding).encode_ordinary(text) == expected
    assert TiktokenCounter(encoding).text(text) == len(expected)


def test_counting_needs_no_network_no_cache_and_no_llama_index(tmp_path: Path) -> None:
    """A first count imports nothing of llama-index, ignores tiktoken's variables, and writes nothing."""
    program = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError(args)\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from langchain_tiered_memory.tokens import TiktokenCounter\n"
        "assert 'tiktoken' not in sys.modules\n"
        "print(TiktokenCounter().text('hello world'), TiktokenCounter('cl100k_base').text('hello world'))\n"
        "print([name for name in sys.modules if name.startswith(('llama_index', 'requests', 'tiktoken_ext.'))])\n"
    )
    env = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}

    done = subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True)

    assert done.stdout.splitlines() == ["2 2", "[]"]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_encoding_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"encoding='gpt2' cannot be used: one of o200k_base, cl100k_base"):
        TiktokenCounter("gpt2")


@pytest.mark.parametrize("spec", [None, ModuleSpec("llama_index", None, is_package=True)], ids=["absent", "elsewhere"])
def test_a_missing_vocabulary_says_how_to_get_it(spec: ModuleSpec | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    tokens._load.cache_clear()

    with pytest.raises(ConfigError, match=r"pip install .*llama-index-core"):
        TiktokenCounter().text("hello")


def test_an_altered_vocabulary_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "core" / "_static" / "tiktoken_cache" / tokens._VOCABULARIES["o200k_base"].file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"IQ== 0\n")
    spec = ModuleSpec("llama_index", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "elsewhere"), str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    tokens._load.cache_clear()

    with pytest.raises(ConfigError, match="altered: pip install"):
        TiktokenCounter().text("hello")


def test_a_name_stands_for_vocabulary_and_formula() -> None:
    counter: TokenCounter = TiktokenCounter("cl100k_base")

    assert counter.name == "cl100k_base/chat-1"
    assert COUNTER.name == "o200k_base/chat-1"
    assert repr(COUNTER) == "TiktokenCounter('o200k_base')"


# The worked examples of the formula. The tokens of each text were looked up one by one.


def test_special_tokens_in_text_are_text() -> None:
    """`<|endoftext|>` is seven tokens of text and not one that ends it."""
    assert T("<|endoftext|>") == 7
    assert COUNTER.message(Message("user", "<|endoftext|>")) == 3 + 1 + 7


def test_a_plain_message() -> None:
    """3 + "user" 1 + "Hello, world!" 4."""
    assert COUNTER.message(Message("user", "Hello, world!")) == 3 + 1 + 4


def test_a_named_message() -> None:
    """3 + "user" 1 + "Hi" 1 + "Lovelace" 3 and 1 for having a name."""
    assert COUNTER.message(Message("user", "Hi", name="Lovelace")) == 3 + 1 + 1 + (3 + 1)


def test_a_message_without_content() -> None:
    """3 + "assistant" 1."""
    assert COUNTER.message(Message("assistant", None)) == 3 + 1
    assert COUNTER.message(Message("assistant", "")) == 3 + 1
    assert COUNTER.message(Message("assistant", ())) == 3 + 1


def test_tool_calls_and_their_results() -> None:
    """Per call its id "call_1" 3, its type "function" 1, its name "search" 1 and its arguments 5."""
    arguments = '{"q":"snow"}'
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": arguments}}

    assert (T("call_1"), T("function"), T("search"), T(arguments)) == (3, 1, 1, 5)
    assert COUNTER.message(Message("assistant", None, tool_calls=(call,))) == 3 + 1 + (3 + 1 + 1 + 5)
    assert COUNTER.message(Message("assistant", None, tool_calls=(call, call))) == 3 + 1 + 2 * (3 + 1 + 1 + 5)
    assert COUNTER.message(Message("tool", "-3 °C", tool_call_id="call_1")) == 3 + 1 + 4 + 3


def test_calls_of_other_shapes_count_by_their_values() -> None:
    """Arguments that are no text count by their JSON, and so does a call without a function."""
    parsed = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": {"q": "snow"}}}
    flat = {"id": "call_1", "name": "search", "args": {"q": "snow"}, "type": "tool_call", "note": None}

    assert COUNTER.message(Message("assistant", None, tool_calls=(parsed,))) == 3 + 1 + (3 + 1 + 1 + 5)
    assert COUNTER.message(Message("assistant", None, tool_calls=(flat,))) == 3 + 1 + (3 + 1 + 5 + T("tool_call"))


def test_parts_of_content() -> None:
    """Text parts count their text, an image 765 whatever its data, any other part its JSON."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10_000}}
    thought = {"type": "thinking", "thinking": "snöw"}
    parts = ({"type": "text", "text": "Hello, world!"}, {"type": "input_text", "text": "Hi"}, image, thought)

    assert IMAGE_TOKENS == 765
    assert T('{"type":"thinking","thinking":"snöw"}') == 11
    assert COUNTER.message(Message("user", parts)) == 3 + 1 + 4 + 1 + 765 + 11


def test_a_part_that_json_cannot_hold_counts_by_its_words() -> None:
    part = {"type": "file", "path": Path("x"), "more": ModuleSpec("m", None).__class__}

    assert COUNTER.message(Message("user", (part,))) > 3 + 1 + T('{"type":"file"}')


def test_a_prompt_costs_three_more_for_the_start_of_the_reply() -> None:
    """A system message of 3 + 1 + 2 and a user message of 3 + 1 + 4 make a prompt of 17."""
    messages = (Message("system", "Be brief"), Message("user", "Hello, world!"))

    assert REPLY_TOKENS == 3
    assert prompt_tokens(messages, COUNTER) == (3 + 1 + 2) + (3 + 1 + 4) + 3 == 17
    assert prompt_tokens((), COUNTER) == 0


def test_what_is_not_sent_costs_nothing() -> None:
    assert COUNTER.message(Message("user", "Hi", id="m1", extra={"x": "y" * 100})) == 3 + 1 + 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_counted(text: str) -> None:
    """Lone surrogates count as what a model is given for them, everything else as it stands."""
    shown = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)

    assert T(text) == raw(shown)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, size=st.integers(1, 9))
def test_pieces_end_where_the_count_stays_the_same(encoding: str, text: str, size: int) -> None:
    """Every place where a long text may be split is one where tiktoken splits it too."""
    shown = tokens._encodable(text)
    ends = [match.start() for match in tokens._ENDS.finditer(shown)][::size]
    pieces = [shown[start:stop] for start, stop in zip([0, *ends], [*ends, len(shown)], strict=True)]

    assert "".join(pieces) == shown
    assert sum(raw(piece, encoding) for piece in pieces) == raw(shown, encoding)


@given(text=TEXTS, size=st.integers(1, 9))
def test_pieces_are_short_and_make_up_the_text(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PIECE", size)
        pieces = list(tokens._pieces(text))

    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= size


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("unit", ["the quick brown fox, ", "row,1\n", "It's 'so' — 漢字!\n\n  x"])
def test_a_long_text_with_spaces_or_lines_counts_exactly(encoding: str, unit: str) -> None:
    text = unit * (3 * tokens._PIECE // len(unit))

    assert TiktokenCounter(encoding).text(text) == raw(text, encoding)


@pytest.mark.parametrize(("run", "least"), [("a", 10_000_000 // 8), (" ", 10_000_000 // 128)])
def test_ten_million_characters_without_a_word_count_in_bounded_time(run: str, least: int) -> None:
    """No piece is longer than the limit, also where tiktoken alone would fail; a cut costs a token at most here."""
    text = run * 10_000_000

    assert max(map(len, tokens._pieces(text))) == tokens._PIECE
    assert least <= T(text) <= least + len(text) // tokens._PIECE + 1


def longest(text: str, limit: int, part: Callable[[str, int], str]) -> str:
    """Try every length, longest first."""
    return next(part(text, size) for size in range(len(text), -1, -1) if T(part(text, size)) <= limit)


def beginning(text: str, size: int) -> str:
    return text[:size]


def ending(text: str, size: int) -> str:
    return text[len(text) - size :]


@given(text=TEXTS, limit=st.integers(-1, 30))
def test_head_and_tail_are_the_longest_that_fit(text: str, limit: int) -> None:
    """No longer beginning or end costs as little; no character is split, since both are slices of the text."""
    assert COUNTER.head(text, limit) == longest(text, max(limit, 0), beginning)
    assert COUNTER.tail(text, limit) == longest(text, max(limit, 0), ending)


@given(
    text=st.text("ab C'1٣.\n漢👧é\ud83d", min_size=1, max_size=12).map(lambda unit: unit * 80),
    limit=st.integers(30, 400),
)
def test_head_and_tail_of_long_texts_fit_and_waste_little(text: str, limit: int) -> None:
    for found, part in ((COUNTER.head(text, limit), beginning), (COUNTER.tail(text, limit), ending)):
        assert found == part(text, len(found))
        assert T(found) <= limit
        assert len(found) == len(text) or T(found) >= limit - 3


def test_head_and_tail_read_no_more_of_a_long_text_than_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of ten million characters costs no more than the end of a page."""
    read = 0

    def counting(pieces: Any, text: str) -> Any:
        nonlocal read
        for piece in pieces(text):
            read += len(piece)
            yield piece

    monkeypatch.setattr(tokens, "_pieces", partial(counting, tokens._pieces))
    text = "some words, " * 1_000_000

    assert T(COUNTER.head(text, 1_000)) == T(COUNTER.tail(text, 1_000)) == 1_000
    assert read < 100_000
