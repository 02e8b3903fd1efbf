"""The analyser, the fold for duplicates, the escape and the passages."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.text import analyze, clean, escape, normalize, passages, unescape

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text("ab \0\x1a\ud800\udfff0d8", max_size=12)

TEN_MEGABYTES = {
    "prose": "The quick brown fox jumped over ERR-4711; I'm running 1,000 miles on 2023-05-08. " * 120_000,
    "one word": "x" * 10**7,
    "one run of accents": "a" + "\u0301\u0323" * 2_500_000,
    "no spaces": "東京タワーへ行った" * 370_000,
    "vowel signs": "\u0e38\u0e48" * 1_600_000,
    "NUL": "\0" * 10**7,
    "blanks": " " * 10**7,
    "points": "a" + ". " * 5_000_000 + "b",
    "joints": "a-" * 5_000_000,
    "quotes": "a" + "'" * 10**7 + "é",
    "emoji": "😀" * 2_500_000,
}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dogs were RUNNING", ["dog", "run"]),
        ("ERR-4711", ["err", "4711", "err-4711"]),
        ("ada@example.org", ["ada", "exampl", "org", "ada@example.org"]),
        ("1,000.50", ["1000", "50", "1000.50"]),
        ("2023-05-08", ["2023", "05", "08", "2023-05-08"]),
        ("8 May 2023", ["8", "may", "2023"]),
        ("an e-mail", ["e", "mail", "email"]),
        ("U.S. law", ["u", "s", "us", "law"]),
        ("cats,dogs", ["cat", "dog"]),
        ("max_tokens", ["max", "token", "max_tokens"]),
        ("C++, C# and C", ["c++", "c#", "c"]),
        ("Caroline's, didn't, I’m", ["carolin"]),
        ("José's Café", ["jose", "cafe"]),
        ("ﬁne Ｗｉｄｅ", ["fine", "wide"]),
        ("東京都 ABC漢字", ["東京", "京都", "abc", "漢字"]),
        ("猫", ["猫"]),
        ("한국어", ["한국", "국어"]),
        ("नमस्ते दुनिया", ["नमस्त", "दुनिय"]),
        ("Привет, ёлка", ["привет", "елк"]),
        ("🎂!", ["🎂"]),
        ("a\0cake\ud800 soft\u00adware", ["cake", "softwar"]),
        ("!?", []),
        ("", []),
    ],
)
def test_terms_of(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_a_text_of_nothing_but_stop_words_is_still_found() -> None:
    assert analyze("The Who") == ["the", "who"]
    assert analyze("Who is it?") == ["who", "is", "it"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("STRASSE", "straße"), ("Cafe\u0301", "cafés"), ("ＥＲＲ-4711", "err-4711"), ("e-mails", "email")],
)
def test_a_word_is_found_however_it_is_written(one: str, other: str) -> None:
    assert set(analyze(one)) & set(analyze(other))


@given(ANY_TEXT)
def test_terms_can_be_stored_anywhere(text: str) -> None:
    for term in analyze(text):
        assert term
        assert not any(char.isspace() or char == "\0" for char in term)
        term.encode()


@given(ANY_TEXT, ANY_TEXT)
def test_a_text_and_its_neighbour_give_the_terms_of_both(one: str, other: str) -> None:
    """What is indexed under a word does not depend on the sentence around it, stop words aside."""
    anchor = " ERR-4711 "
    assert analyze(one + anchor + other, "english") == [
        *analyze(one + anchor, "english")[:-3],
        *analyze(anchor),
        *analyze(anchor + other, "english")[3:],
    ]


def test_threads_share_the_analyser() -> None:
    words = [f"running{i} jumped{i} connections{i}" for i in range(2_000)]
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: [analyze(word) for word in words], range(4)))
    assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize("kind", TEN_MEGABYTES)
@pytest.mark.parametrize("function", [analyze, normalize, escape, clean, passages])
def test_ten_megabytes_of_anything_take_seconds(function: Callable[[str], object], kind: str) -> None:
    """Guards against time that grows with the square: the bound is far above the seconds that it takes."""
    start = time.perf_counter()
    function(TEN_MEGABYTES[kind])
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I love tea.", "i  LOVE\ttea"),
        ('"I love tea"', "I love tea!"),
        ("- I love tea", "I love tea"),
        ("Ｉ ｌｏｖｅ tea…", "I love tea"),
        ("caf\u00e9", "CAFE\u0301"),
        ("Straße", "STRASSE"),
    ],
)
def test_the_same_statement_written_differently(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I love tea", "I hate tea"),
        ("She lives here?", "She lives here."),
        ("-5", "5"),
        ("I know C#", "I know C"),
        ("50%", "50"),
        ("resume", "résumé"),
        ("!!!", "..."),
        ("a b", "ab"),
    ],
)
def test_different_statements_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


@given(ANY_TEXT)
def test_the_escape_is_reversible_and_stores_take_it(text: str) -> None:
    written = escape(text)
    assert unescape(written) == text
    assert "\0" not in written
    assert written.encode().decode() == written


@given(ANY_TEXT, ANY_TEXT)
def test_escaped_texts_are_equal_only_if_the_texts_are(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)


def test_what_needs_no_escape_is_left_alone() -> None:
    text = "Grüße, 東京 🎂 \\x00 <|endoftext|>\n"
    assert escape(text) == text
    assert unescape("a foreign \x1aq stays") == "a foreign \x1aq stays"


def test_escaping_twice_is_undone_by_unescaping_twice() -> None:
    text = "\0\x1a\ud800"
    assert unescape(unescape(escape(escape(text)))) == text


@given(ANY_TEXT)
def test_clean_text_is_valid_utf8_of_the_same_length(text: str) -> None:
    shown = clean(text)
    assert len(shown) == len(text)
    assert "\0" not in shown
    shown.encode()


def test_clean_marks_what_it_replaced() -> None:
    assert clean("a\0b\udc80c") == "a\ufffdb\ufffdc"


@given(ANY_TEXT | st.text("ab .\n東", max_size=300), st.integers(4, 40), st.integers(1, 6))
def test_passages_cover_the_text_and_keep_to_their_number(text: str, size: int, limit: int) -> None:
    cut = passages(text, size, limit)
    assert "".join(cut) == text
    assert 1 <= len(cut) <= limit
    assert all(cut) or not text


@given(st.text("ab .\n東é", max_size=300), st.integers(4, 40))
def test_a_passage_is_no_longer_than_its_size(text: str, size: int) -> None:
    assert all(len(passage.encode()) <= size for passage in passages(text, size, limit=10_000))


def test_a_short_text_is_one_passage() -> None:
    assert passages("I love tea.") == ["I love tea."]
    assert passages("") == [""]


def test_passages_end_with_a_paragraph_a_sentence_or_a_word() -> None:
    assert passages("One two.\n\nThree. Four five six", 16) == ["One two.\n\n", "Three. Four ", "five six"]
    assert passages("One two six. Three four", 16) == ["One two six. ", "Three four"]
    assert passages("one two three four", 12) == ["one two ", "three four"]
    assert passages("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_a_passage_of_wide_characters_has_fewer_of_them() -> None:
    assert [len(passage) for passage in passages("東" * 512)] == [256, 256]
