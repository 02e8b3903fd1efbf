"""A language model as a judge of importance."""

from __future__ import annotations

import re
from typing import Any

from langchain_tiered_memory.core.errors import ExtractionError
from langchain_tiered_memory.core.model import MemoryType
from langchain_tiered_memory.core.prompt import quote_text
from langchain_tiered_memory.extraction.model import prompt
from langchain_tiered_memory.extraction.models import as_model

PROMPT = "importance_v1.md"
_READ_CHARS = 2_000
_NUMBER = re.compile(r"-?\d*[.,]?\d+(?:[eE][-+]?\d+)?%?")


class ModelScorer:
    """An `ImportanceScorer` that asks a language model: `MemorySystem(…, scorer=ModelScorer(llm))`.

    One call for each memory that is given no importance, before `remember` returns: it takes as long as the model
    takes. When the model fails, or answers anything but one number from 0 to 1, the rules judge.
    """

    def __init__(self, llm: Any) -> None:
        """Take a model: LangChain's, LlamaIndex's, or a function from a prompt to an answer.

        Raises:
            ConfigError: `llm` is none of these, or answers only to `await`.
        """
        self._model = as_model(llm)

    def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
        """Return the importance that the model gives.

        Raises:
            ExtractionError: It failed, or did not answer with one number from 0 to 1.
        """
        speaker = f"{quote_text(role)}, " if role else ""
        data = f"<memory>\n{speaker}{memory_type}: {quote_text(content[:_READ_CHARS])}\n</memory>"
        try:
            answer = self._model.text(prompt(PROMPT), data).text
        except Exception as error:  # its own words may hold the text, so only its kind is told
            raise ExtractionError(f"the model failed with {type(error).__name__}") from error
        numbers = _NUMBER.findall(answer)
        if len(numbers) == 1 and re.fullmatch(r"0|1|[01]?\.\d+", numbers[0]) and float(numbers[0]) <= 1:
            return float(numbers[0])
        raise ExtractionError("the model did not answer with one number from 0 to 1")
