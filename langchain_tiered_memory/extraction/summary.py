"""A language model that sums up a conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_tiered_memory.core.errors import ExtractionError
from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.core.prompt import quote_message, quote_text
from langchain_tiered_memory.extraction.model import prompt
from langchain_tiered_memory.extraction.models import as_model

PROMPT = "summary_v1.md"
"""The prompt in use; a changed one is a file with a new number."""
_WORDS_PER_TOKEN = 0.6
_TAG = re.compile(r"</?summary>")


class ModelSummarizer:
    """A `Summarizer` that asks a language model, one question for each call; what `MemorySystem(llm=…)` uses."""

    def __init__(self, llm: Any) -> None:
        """Take a model: LangChain's, LlamaIndex's, or a function from a prompt to an answer.

        Raises:
            ConfigError: `llm` is none of these, or answers only to `await`.
        """
        self._model = as_model(llm)

    def summarize(self, earlier: str, messages: Sequence[Message], max_tokens: int) -> str:
        """Return the summary that the model writes.

        Raises:
            ExtractionError: It failed, or wrote nothing.
        """
        words = max(int(max_tokens * _WORDS_PER_TOKEN), 1)
        lines = [
            f"<limit>at most {words} words</limit>",
            *(["<earlier>", quote_text(earlier), "</earlier>"] if earlier else []),
            *("<messages>", *map(quote_message, messages), "</messages>"),
        ]
        try:
            answer = self._model.text(prompt(PROMPT), "\n".join(lines)).text
        except ExtractionError:
            raise
        except Exception as error:  # its own words may hold the text, so only its kind is told
            raise ExtractionError(f"the model failed with {type(error).__name__}") from error
        text = _TAG.sub("", answer).strip()
        if not text:
            raise ExtractionError("the model wrote no summary")
        return text
