"""Tokens as LlamaIndex counts them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from llama_index.core.utils import get_tokenizer

from langchain_tiered_memory import Message

__all__ = ["LlamaIndexCounter"]

_PIECE = 1 << 16
"""Characters counted at once: some tokenizers fail on very long runs of white space."""


class LlamaIndexCounter:
    """A `TokenCounter` with LlamaIndex's global tokenizer: that of its own budgets."""

    @property
    def name(self) -> str:
        """Identity of the count; no two of these are known to be the same."""
        return f"llamaindex/{id(get_tokenizer())}"

    def text(self, text: str) -> int:
        """Return the number of tokens of a text."""
        encode = get_tokenizer()
        return sum(len(encode(text[at : at + _PIECE])) for at in range(0, len(text), _PIECE))

    def message(self, message: Message) -> int:
        """Return the number of tokens of a message's text; LlamaIndex counts no more of a format."""
        return self.text(message.text)

    def head(self, text: str, tokens: int) -> str:
        """Return the longest beginning of the text that costs at most so many tokens."""
        return text[: self._size(tokens, len(text), lambda size: text[:size])]

    def tail(self, text: str, tokens: int) -> str:
        """Return the longest end of the text that costs at most so many tokens."""
        return text[len(text) - self._size(tokens, len(text), lambda size: text[-size:]) :]

    def _size(self, tokens: int, most: int, part: Callable[[int], str]) -> int:
        """Return how many characters a part of a text may have; only a tokenizer that decodes could say at once."""
        reach = 1
        while reach < most and self.text(part(reach)) <= tokens:
            reach = min(2 * reach, most)
        return bisect_right(range(1, reach + 1), tokens, key=lambda size: self.text(part(size)))
