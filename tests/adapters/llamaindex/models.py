"""LlamaIndex's own mock models, with what they were asked written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

ANSWER = "None with nuts."


class Recorder:
    """A model that says what it is told to, and keeps every prompt.

    Attributes:
        prompts: The messages of every call, in order.
        llm: The model.
    """

    def __init__(self, *answers: ChatMessage | str) -> None:
        self.prompts: list[list[ChatMessage]] = []
        self._answers = list(answers)
        self.llm = MockFunctionCallingLLM(response_generator=self._answer, is_chat_model=True)

    def _answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.prompts.append([message.model_copy(deep=True) for message in messages])
        answer = self._answers.pop(0) if self._answers else ANSWER
        return ChatMessage(role="assistant", content=answer) if isinstance(answer, str) else answer

    def last(self) -> str:
        """Return the last prompt as text."""
        return "\n".join(message.content or "" for message in self.prompts[-1])


def calls(name: str, *, id: str = "c1", **arguments: Any) -> ChatMessage:
    """Return a message that calls a tool."""
    return ChatMessage(
        role="assistant",
        blocks=[ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=arguments)],
    )


def shelf() -> Callable[[str], str]:
    """Return a tool that looks something up."""

    def look_up(snack: str) -> str:
        """Look up what a snack is made of."""
        return f"{snack}: oats and honey"

    return look_up
