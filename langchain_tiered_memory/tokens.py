"""Exact token counts by tiktoken, offline: its vocabularies come with llama-index-core and are read by path.

tiktoken's own downloader and cache are never used. Special tokens in text are text.

**What a message costs** (`T(x)` is the number of tokens of the text `x`), by OpenAI's chat format:

```
message  = 3 + T(role) + content + name + calls + T(tool_call_id)
content  = T(text)                                    for a plain text; 0 for None
         = the sum over its parts:
           T(text)                                    a text part
           765                                        an image part, whatever its size: 1024 x 1024 in high detail
           T(its JSON)                                any other part
name     = T(name) + 1                                when there is one
calls    = the sum over the calls: T(id) + T(type) + T(function name) + T(arguments)
```

A value of a call that is not text counts by its JSON; a key that is not named here counts by its value; `None` costs
nothing. JSON is compact and keeps its characters. `extra` is not sent and costs nothing. A prompt costs its messages
and 3 more for the start of the reply, which `core.working.prompt_tokens` adds.

**What is counted as what.** A lone surrogate counts as U+FFFD, which is what a model is given for it. A text of more
than 65,536 characters is counted in pieces, because tiktoken fails on very long runs of white space. The pieces end
where tiktoken's pattern always ends one too (after a word or a line), so the count stays exact. Only inside a single
run of more than 65,536 characters without such a place does a cut fall anywhere; each may change the count by a token
or two, nearly always upwards.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory.core.errors import ConfigError, shown
from langchain_tiered_memory.core.model import Message

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["IMAGE_TOKENS", "TiktokenCounter"]

IMAGE_TOKENS: Final = 765
"""What an image part counts."""

_MESSAGE_TOKENS: Final = 3
_NAME_TOKENS: Final = 1
_FORMULA: Final = "chat-1"
"""Changes whenever the formula does, so that stored counts of another one are not taken for the same."""

_PIECE: Final = 1 << 16
"""Characters handed to tiktoken at once."""
_NEAR_END: Final = 1 << 10
"""Where in a piece a place to end it is looked for first."""
_ENDS: Final = re.compile(r"(?<=\S)(?= )|(?<=\n)(?=[^\s/])")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")

_TAIL_TOKENS: Final = 32
"""Tokens before a cut that are encoded anew for each place where it could fall."""
_REACH: Final = 32
"""Characters beyond the last whole token that may still be had for the same price."""

_INSTALL: Final = "pip install --force-reinstall 'llama-index-core>=0.14,<0.15'"


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """Where a vocabulary is found, how its file is known, and the pattern that splits text before it is encoded."""

    file: str
    sha256: str
    pattern: str


_VOCABULARIES: Final = {
    "o200k_base": _Vocabulary(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "cl100k_base": _Vocabulary(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s",
    ),
}


class TiktokenCounter:
    """A `TokenCounter` with the vocabulary of OpenAI's models. The formula stands at the top of this module."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        """Choose the vocabulary; it is read at the first count, in about 0.3 s, once per process.

        Args:
            encoding: "o200k_base" (GPT-4o and later) or "cl100k_base" (GPT-4 and GPT-3.5).

        Raises:
            ConfigError: No such vocabulary; at the first count also when its file is missing or altered.
        """
        if encoding not in _VOCABULARIES:
            raise ConfigError(f"encoding={shown(encoding)} cannot be used: one of {', '.join(_VOCABULARIES)}")
        self._encoding = encoding

    def __repr__(self) -> str:
        return f"TiktokenCounter({self._encoding!r})"

    @property
    def name(self) -> str:
        """Identity of vocabulary and formula."""
        return f"{self._encoding}/{_FORMULA}"

    def text(self, text: str) -> int:
        """Return the number of tokens of a bare text, in time nearly linear in its length."""
        encode = _load(self._encoding).encode_ordinary
        return sum(len(encode(piece)) for piece in _pieces(_encodable(text)))

    def message(self, message: Message) -> int:
        """Return what the message costs inside a prompt, by the formula."""
        cost = _MESSAGE_TOKENS + self.text(message.role) + self._content(message.content)
        if message.name:
            cost += self.text(message.name) + _NAME_TOKENS
        for call in message.tool_calls:
            cost += self._call(call)
        return cost + self._value(message.tool_call_id)

    def head(self, text: str, tokens: int) -> str:
        """Return the longest beginning of the text that costs at most so many tokens.

        Of a text of more than `tokens + 32` tokens it may, rarely, be a few characters short of the longest.
        """
        return text[: self._kept(_encodable(text), tokens, from_start=True)]

    def tail(self, text: str, tokens: int) -> str:
        """Return the longest end of the text that costs at most so many tokens; as near to it as `head`."""
        return text[len(text) - self._kept(_encodable(text), tokens, from_start=False) :]

    def _content(self, content: str | Sequence[Mapping[str, Any]] | None) -> int:
        if content is None or isinstance(content, str):
            return self._value(content)
        return sum(map(self._part, content))

    def _part(self, part: Mapping[str, Any]) -> int:
        kind = part.get("type", "text")
        if kind in Message.TEXT_PARTS and isinstance(part.get("text"), str):
            return self.text(part["text"])
        return IMAGE_TOKENS if kind in Message.IMAGE_PARTS else self._value(part)

    def _call(self, call: Mapping[str, Any]) -> int:
        function = call.get("function")
        if not isinstance(function, Mapping):
            return sum(map(self._value, call.values()))
        rest = (value for key, value in call.items() if key != "function")
        return sum(map(self._value, rest)) + sum(map(self._value, function.values()))

    def _value(self, value: object) -> int:
        if value is None:
            return 0
        return self.text(value if isinstance(value, str) else _json(value))

    def _kept(self, text: str, limit: int, *, from_start: bool) -> int:
        """Return how many characters, from one end, cost at most `limit` tokens."""

        def part(near: int, far: int) -> str:
            return text[near:far] if from_start else text[len(text) - far : len(text) - near]

        if limit <= 0:
            return 0
        ids, whole = self._encode_enough(part, len(text), limit)
        if whole and len(ids) <= limit:
            return len(text)
        sure = self._characters(ids, max(0, limit - _TAIL_TOKENS), from_start=from_start)
        spent = self.text(part(0, sure))
        reach = min(len(text), self._characters(ids, limit, from_start=from_start) + _REACH)
        for kept in range(reach, sure, -1):
            # The sum foretells the count; a merge over the seam may prove it wrong.
            if spent + self.text(part(sure, kept)) <= limit and self.text(part(0, kept)) <= limit:
                return kept
        # Encoded alone, an end may fall into other tokens than it did in the whole text.
        return sure if spent <= limit else self._kept(part(0, sure), limit, from_start=from_start)

    def _encode_enough(self, part: Any, length: int, limit: int) -> tuple[list[int], bool]:
        """Encode as much from one end as surely holds more than `limit` tokens; say whether that is everything."""
        encode = _load(self._encoding).encode_ordinary
        size = min(length, 5 * limit + _REACH)
        while True:
            ids = [token for piece in _pieces(part(0, size)) for token in encode(piece)]
            if size == length or len(ids) > limit + _TAIL_TOKENS:
                return ids, size == length
            size = min(length, 2 * size)

    def _characters(self, ids: list[int], count: int, *, from_start: bool) -> int:
        """Return how many whole characters the first or last `count` tokens make."""
        taken = ids[:count] if from_start else ids[len(ids) - count :]
        return len(_load(self._encoding).decode_bytes(taken).decode("utf-8", "ignore"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _encodable(text: str) -> str:
    """Replace what has no UTF-8, character by character, so that places in the text stay the same."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _pieces(text: str) -> Iterator[str]:
    """Split a text where the count stays the same; only in a run without such a place, anywhere."""
    start = 0
    while len(text) - start > _PIECE:
        stop = _last_end(text, start, start + _PIECE)
        yield text[start:stop]
        start = stop
    yield text[start:] if start else text


def _last_end(text: str, start: int, stop: int) -> int:
    for first in (max(start + 1, stop - _NEAR_END), start + 1):
        ends = [match.start() for match in _ENDS.finditer(text, first, stop)]
        if ends:
            return ends[-1]
    return stop


@cache
def _load(name: str) -> Encoding:
    """Build a vocabulary from the file that llama-index-core ships, without importing llama-index."""
    vocabulary = _VOCABULARIES[name]
    data = _find(name, vocabulary.file).read_bytes()
    if hashlib.sha256(data).hexdigest() != vocabulary.sha256:
        raise ConfigError(f"the vocabulary {name} that came with llama-index-core is altered: {_INSTALL}")
    from tiktoken import Encoding

    ranks = (line.split() for line in data.splitlines() if line)
    return Encoding(
        name,
        pat_str=vocabulary.pattern,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in ranks},
        special_tokens={},
    )


def _find(name: str, file: str) -> Path:
    spec = importlib.util.find_spec("llama_index")  # a namespace: looking it up runs no code
    for location in (spec and spec.submodule_search_locations) or ():
        path = Path(location, "core", "_static", "tiktoken_cache", file)
        if path.is_file():
            return path
    raise ConfigError(f"the vocabulary {name} that llama-index-core ships is not installed: {_INSTALL}")
