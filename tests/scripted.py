"""Language models of each make that answer from a script, with what they were asked written down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM

_LINE = re.compile(r'^(m\d+): .*?: ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
Answer = str | dict[str, Any] | Exception


def fact(content: str, *sources: str, kind: str = "fact", slot: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a statement as a model writes it; what it says beside content, type, slot and sources may be left out."""
    return {"content": content, "type": kind, "slot": slot, "sources": list(sources), **more}


def facts(*found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer."""
    return {"facts": list(found)}


def shown(prompt: str) -> dict[str, str]:
    """Return handle to text of the memories that a prompt shows, read as a careful reader would."""
    return {handle: json.loads(text) for handle, text in _LINE.findall(prompt)}


class Script:
    """What a model answers, call by call; an exception is raised. When it ends, nothing lasting is found.

    Attributes:
        prompts: What was asked, in order.
    """

    def __init__(self, *answers: Answer | Callable[[str], Answer]) -> None:
        self.prompts: list[str] = []
        self._answers = list(answers)

    def next(self, prompt: str) -> str | dict[str, Any]:
        """Return the next answer."""
        self.prompts.append(prompt)
        answer: Any = self._answers.pop(0) if self._answers else facts()
        if callable(answer):
            self._answers.insert(0, answer)  # a function answers from here on
            answer = answer(prompt)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]


def function(script: Script) -> Any:
    """Return a function from a prompt to text."""

    def ask(prompt: str) -> str:
        return _words(script.next(prompt))

    return ask


class Worded(BaseChatModel):
    """A LangChain chat model that only talks, as `GenericFakeChatModel` does."""

    script: Any
    usage: int | None = None

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answer = self._message(self.script.next("\n".join(message.text for message in messages)))
        if self.usage:
            told = {"input_tokens": self.usage - 1, "output_tokens": 1, "total_tokens": self.usage}
            answer = answer.model_copy(update={"usage_metadata": told})
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _message(self, answer: str | dict[str, Any]) -> AIMessage:
        return AIMessage(_words(answer))

    @property
    def _llm_type(self) -> str:
        return "scripted"


class Structured(Worded):
    """A LangChain chat model that calls tools, and so holds to a shape."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _message(self, answer: str | dict[str, Any]) -> AIMessage:
        if isinstance(answer, str):
            return AIMessage(answer)
        return AIMessage("", tool_calls=[{"name": "Facts", "args": answer, "id": "c1"}])


def generic(script: Script) -> GenericFakeChatModel:
    """Return LangChain's own fake, its messages drawn from the script; it does not know what it is asked."""
    return GenericFakeChatModel(messages=iter(lambda: _words(script.next("")), None))


def calling(script: Script) -> MockFunctionCallingLLM:
    """Return a LlamaIndex model that calls functions."""

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        given = script.next("\n".join(message.content or "" for message in messages))
        if isinstance(given, str):
            return ChatMessage(role="assistant", content=given)
        block = ToolCallBlock(tool_call_id="c1", tool_name="Facts", tool_kwargs=given)
        return ChatMessage(role="assistant", blocks=[block])

    return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)


class _Completing(MockLLM):
    """A LlamaIndex model that completes text."""

    _script: Any = None

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:  # noqa: FBT001, FBT002 - LlamaIndex's own
        from llama_index.core.base.llms.types import CompletionResponse

        return CompletionResponse(text=_words(self._script.next(prompt)))


def completing(script: Script) -> MockLLM:
    """Return a LlamaIndex model that completes text."""
    made = _Completing(max_tokens=None)
    made._script = script
    return made


def _words(answer: str | dict[str, Any]) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


KINDS: dict[str, Callable[[Script], Any]] = {
    "function": function,
    "langchain, in words": lambda script: Worded(script=script),
    "langchain, structured": lambda script: Structured(script=script),
    "llama_index, calling": calling,
    "llama_index, completing": completing,
}
