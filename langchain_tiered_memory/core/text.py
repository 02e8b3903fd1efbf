"""One analyser of text: the terms of the keyword index, duplicates, escapes, passages.

Every backend and every query goes through these functions, so that all of them agree on what a
word is. They are pure, accept any `str` (NUL and lone surrogates included), and take time linear
in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory.core.languages import ENGLISH, says_nothing, stem, told_by

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["analyze", "clean", "escape", "normalize", "passages", "unescape"]

PASSAGE_SIZE: Final = 768
"""UTF-8 bytes of a passage: three bytes for each of the 256 tokens that a small model reads."""

PASSAGE_LIMIT: Final = 256
"""The most passages of one text."""

# --- terms ---------------------------------------------------------------------------------------

_STOP_WORDS: Final = frozenset(
    "a about am an and are as at be been but by can can't could did do does for from had has have "
    "he her him his how i if in into is it its me my of on or our she should so than that the "
    "their them then there these they this those to us was we were what when where which who whom "
    "whose why will with won't would you your".split()
)
"""Words that say nothing of what a text is about; "may" is a month, and "not" a difference."""

_MARKS: Final = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u200c\u200d"
)
"""What stands inside words but is no letter to `re`: accents, vowel signs, joiners."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, and Hangul, where a space ends more than a word."""

_PICTURES: Final = "\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff"
_JOINTS: Final = "-'’.,:/@+&_"

_WORD_LENGTH: Final = 64
"""Letters of a word; a longer run is cut, because it is data."""

_FOLD_LENGTH: Final = 256
"""Characters folded at once: Unicode puts runs of accents in order, in time that grows with the square."""

_ASCII_WORDS: Final = re.compile(
    rf"[A-Za-z](?:\+\+|\#)|[^\W_]{{1,{_WORD_LENGTH}}}(?:[{_JOINTS}][^\W_]{{1,{_WORD_LENGTH}}}){{0,15}}", re.ASCII
)
_LETTER: Final = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}]){{1,{_WORD_LENGTH}}}"
_WORDS: Final = re.compile(
    rf"[A-Za-z](?:\+\+|\#)|{_LETTER}(?:[{_JOINTS}]{_LETTER}){{0,15}}|[{_UNSPACED}]+|[{_PICTURES}]"
)
_UNSPACED_LETTER: Final = re.compile(f"[{_UNSPACED}]")
_ACCENTS: Final = re.compile("[\u00ad\u0300-\u0305\u0307-\u036f\u200c\u200d]|(?<![\u0418\u0438])\u0306")
"""Not the breve that makes another letter of a Cyrillic one: Russian endings are told apart by it."""
_CONTRACTION: Final = re.compile(r"(?:'(?:s|m|re|ve|ll|d)|n't)$")
_GROUPED_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_JOINT: Final = re.compile(rf"[{_JOINTS}\s]+")
_CODE: Final = re.compile(r"[\d@_]|\w\w\.|\.\w\w")
_LIST: Final = re.compile(r"[,:/+]")
_TELLING_WORDS: Final = 100
"""A text goes on in the language in which it begins."""
_SMALL: Final = 12
"""Characters of a word that may tell it."""


def analyze(text: str, language: str | None = None) -> list[str]:
    """Split a text into the terms under which it is indexed and asked for.

    Terms are folded (case, NFKC, accents) and stemmed: by script, and in Latin letters as English.
    A text in Latin letters that is told by its small words to be in another language gives the
    stems of that language beside the English ones, so that a question too short to tell its
    language still meets it. Stop words are left out unless there is nothing else. A word with joints
    (`ERR-4711`, `ada@example.org`, `well-known`) gives its parts, and the whole beside them.
    Scripts without spaces give pairs of neighbouring characters. An emoji is a term.

    Args:
        text: Any text.
        language: The language of words in Latin letters, as `languages.named` returns it; None: the
            text tells.

    Returns:
        The terms in the order of the text, with repetitions. None is empty or holds white space,
        NUL or a surrogate.
    """
    words = (_ASCII_WORDS if text.isascii() else _WORDS).findall(text)
    language = language or _told_by(words)
    if text.isascii():
        terms = [term for word in words for term in _terms(word, language)]
    else:
        terms = [term for word in words for term in _terms_of_any_script(word, language)]
    return terms or [part for word in words for part in _parts(_fold(word))]


def _told_by(words: Sequence[str]) -> str:
    return told_by(_fold(word) for word in words[:_TELLING_WORDS] if len(word) <= _SMALL)


def _terms_of_any_script(word: str, language: str) -> Sequence[str]:
    """Choose the analyser by the script of the first letter: a word is all of one kind."""
    return _pairs(word) if _UNSPACED_LETTER.match(word) else _terms(word, language)


def _pairs(run: str) -> list[str]:
    """Give every two neighbours of a run of characters, or the one that it has."""
    run = "".join(_fold_in_pieces(run).split())
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=1 << 15)
def _terms(word: str, language: str) -> tuple[str, ...]:
    """Give the terms of one word of a script with spaces; see `analyze`."""
    word = _fold(word)
    if word[-1:] in ("+", "#"):
        return (word,)  # C++ and C# are words
    if word in _STOP_WORDS or (bare := _CONTRACTION.sub("", word)) in _STOP_WORDS or says_nothing(word, language):
        return ()
    if _GROUPED_NUMBER.fullmatch(bare):
        bare = bare.replace(",", "")
    parts = _parts(bare)
    terms = [stem(part) for part in parts if part not in _STOP_WORDS or len(parts) == 1]
    if language != ENGLISH:
        terms += [own for part in parts if (own := stem(part, language)) not in terms]
    if len(parts) > 1 and _CODE.search(bare):
        terms.append(bare)  # a code is itself: "1.5" is not "15"
    elif len(parts) > 1 and not _LIST.search(bare):
        terms.append(stem("".join(parts)))  # "e-mail" is "email", "U.S.A" is "USA"
    return tuple(terms)


def _fold(word: str) -> str:
    """Fold case, compatibility forms and the accents of alphabets of one word."""
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFKD", word).casefold().replace("’", "'")
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", word))


def _parts(word: str) -> list[str]:
    return [part for part in _JOINT.split(word) if part]


# --- duplicates ----------------------------------------------------------------------------------

_BEFORE: Final = re.compile(r"(?:[-*•·>] |[ \"'“”‘’«»(\[{`])+")
_AFTER: Final = " \"'“”‘’«»)]}`.,;:!。、"
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u2060\ufeff]")


def normalize(text: str) -> str:
    """Fold what does not make two statements different: case, width, white space, punctuation at the ends.

    "I love tea." and "i  love tea" are the same, "I love tea" and "I hate tea" are not, nor is a
    question the same as its statement, nor "-5" as "5". Equal results mean a duplicate; the
    result is no text to show.
    """
    folded = " ".join(_INVISIBLE.sub("", _fold_in_pieces(text)).split())
    start = match.end() if (match := _BEFORE.match(folded)) else 0
    return folded[start:].rstrip(_AFTER) or folded


def _fold_in_pieces(text: str) -> str:
    if text.isascii():
        return text.lower()
    starts = range(0, len(text), _FOLD_LENGTH)
    return "".join(_fold_whole(text[i : i + _FOLD_LENGTH]) for i in starts)


def _fold_whole(piece: str) -> str:
    folded = unicodedata.normalize("NFKC", piece).casefold()
    return unicodedata.normalize("NFKC", folded)


# --- what stores and models refuse ---------------------------------------------------------------

_REFUSED: Final = re.compile("[\0\x1a\ud800-\udfff]")
_ESCAPED: Final = re.compile("\x1a(0|\x1a|d[89a-f][0-9a-f]{2})")
_UNSHOWN: Final = re.compile("[\0\ud800-\udfff]")


def escape(text: str) -> str:
    """Write a text so that every store takes it: NUL and lone surrogates become escape sequences.

    The result is valid UTF-8 without NUL; `unescape` gives the text back exactly; different texts
    stay different. U+001A begins a sequence and is itself escaped. Most texts come back unchanged.
    """
    return _REFUSED.sub(_escape_one, text)


def _escape_one(match: re.Match[str]) -> str:
    char = match[0]
    if char == "\0":
        return "\x1a0"
    return "\x1a\x1a" if char == "\x1a" else f"\x1a{ord(char):x}"


def unescape(text: str) -> str:
    """Undo `escape`. A U+001A that `escape` did not write is left as it is."""
    return _ESCAPED.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1]
    if code == "0":
        return "\0"
    return code if code == "\x1a" else chr(int(code, 16))


def clean(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD, for models and for JSON; not reversible."""
    return _UNSHOWN.sub("\ufffd", text)


# --- passages ------------------------------------------------------------------------------------

_ENDS: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"[.!?。！？][\"'”’)\]]*\s+|[。！？]|\n"),
    re.compile(r"\s+"),
)
"""Where a passage may end, best first: paragraph, sentence or line, word."""


def passages(text: str, size: int = PASSAGE_SIZE, limit: int = PASSAGE_LIMIT) -> list[str]:
    """Cut a text into passages that an embedder can read whole.

    Args:
        text: Any text.
        size: Length of a passage in UTF-8 bytes, at least 4; bytes, because a model reads more
            tokens in a character that takes more of them.
        limit: The most passages, at least 1; beyond `size * limit` the passages grow.

    Returns:
        One passage or more, in order; joined they are the text. A passage ends with a paragraph,
        sentence or word where one ends in its second half.
    """
    while len(cut := _cut(text, size)) > limit:
        size = ceil(size * len(cut) / limit)
    return cut


def _cut(text: str, size: int) -> list[str]:
    cut, start = [], 0
    while start < len(text):
        window = text[start : start + size]
        # One byte stands for a surrogate here; a character cut in two is left to the next passage.
        fitting = window.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
        window = window[: max(1, len(fitting))]
        end = len(window) if start + len(window) == len(text) else _last_end(window)
        cut.append(window[:end])
        start += end
    return cut or [text]


def _last_end(window: str) -> int:
    """Find the best end in the second half of a window, else its length."""
    half = len(window) // 2
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(window, half)]
        if ends:
            return ends[-1]
    return len(window)
