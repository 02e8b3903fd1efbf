"""Language models of other makes behind two calls, told apart by their methods; frameworks are imported when needed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_tiered_memory.core.errors import ConfigError, ExtractionError, shown

_TAKEN = "a LangChain chat model, a LlamaIndex LLM, or a function from a prompt to an answer is needed"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        value: The answer, as text or in the shape that was asked for.
        text: The answer as text, for counting.
        tokens: What question and answer cost, when the model says so.
    """

    value: object
    text: str
    tokens: int | None = None


class Model(Protocol):
    """A language model. What it raises is its own."""

    def text(self, instructions: str, data: str) -> Reply:
        """Return an answer in words."""

    def structured(self, instructions: str, data: str, schema: type[Any]) -> Reply:
        """Return an answer in the shape of a pydantic model where this model can, else in words."""


def as_model(llm: Any) -> Model:
    """Put a language model of another make behind `Model`.

    Raises:
        ConfigError: It is none, or one that answers only to `await`.
    """
    if isinstance(llm, type):
        raise ConfigError(f"llm={shown(llm)} is a class; give an instance of it")
    if (predict := _method(llm, "structured_predict")) and _method(llm, "chat"):
        return _blocking(llm, predict, _LlamaIndex(llm))
    if invoke := _method(llm, "invoke"):
        return _blocking(llm, invoke, _LangChain(llm))
    if callable(llm):
        return _blocking(llm, llm if inspect.isroutine(llm) else type(llm).__call__, _Function(llm))
    raise ConfigError(f"llm={shown(llm)} cannot be used: {_TAKEN}")


def _method(llm: object, name: str) -> Callable[..., Any] | None:
    try:
        found = getattr(llm, name, None)
    except Exception:  # noqa: BLE001 - LangChain's wrappers read the annotations of what they wrap, and may fail at it
        return None
    return found if callable(found) else None


def _blocking(llm: object, call: object, model: Model) -> Model:
    if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(_method(llm, "func")):
        raise ConfigError(f"llm={shown(llm)} answers asynchronously; {_TAKEN} that blocks until it has its answer")
    return model


class _Function:
    """A function from a prompt to an answer."""

    def __init__(self, ask: Callable[[str], Any]) -> None:
        self._ask = ask

    def text(self, instructions: str, data: str) -> Reply:
        return _reply(self._ask(f"{instructions}\n{data}"))

    def structured(self, instructions: str, data: str, schema: type[Any]) -> Reply:  # noqa: ARG002 - the prompt says it
        return self.text(instructions, data)


class _LangChain:
    """A LangChain chat model; also any other runnable that takes a prompt."""

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self._chats = _method(llm, "with_structured_output") is not None

    def text(self, instructions: str, data: str) -> Reply:
        return _reply(self._llm.invoke(self._messages(instructions, data)))

    def structured(self, instructions: str, data: str, schema: type[Any]) -> Reply:
        if not self._chats:
            return self.text(instructions, data)
        try:
            runnable = self._llm.with_structured_output(schema, include_raw=True)
        except (NotImplementedError, AttributeError, TypeError, ValueError):  # it cannot hold to a shape by itself
            return self.text(instructions, data)
        return _reply(runnable.invoke(self._messages(instructions, data)))

    def _messages(self, instructions: str, data: str) -> Any:
        return [("system", instructions), ("human", data)] if self._chats else f"{instructions}\n{data}"


class _LlamaIndex:
    """A LlamaIndex LLM."""

    def __init__(self, llm: Any) -> None:
        self._llm = llm

    def text(self, instructions: str, data: str) -> Reply:
        from llama_index.core.base.llms.types import ChatMessage

        return _reply(self._llm.chat([ChatMessage(instructions, role="system"), ChatMessage(data)]).message)

    def structured(self, instructions: str, data: str, schema: type[Any]) -> Reply:
        from llama_index.core.base.llms.types import ChatMessage
        from llama_index.core.prompts import ChatPromptTemplate

        # As variables: in a template's own text the braces of what somebody said would be variables.
        template = [ChatMessage("{instructions}", role="system"), ChatMessage("{data}")]
        prompt = ChatPromptTemplate(message_templates=template)
        return _reply(self._llm.structured_predict(schema, prompt, instructions=instructions, data=data))


def _reply(answer: Any) -> Reply:
    """Read whatever came back: text, a message, an instance of the shape, or LangChain's raw message beside it.

    Raises:
        ExtractionError: It has to be awaited.
    """
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise ExtractionError("the model answers asynchronously; one that blocks is needed")
    if isinstance(answer, Mapping) and "raw" in answer and "parsed" in answer:
        raw, parsed = _reply(answer["raw"]), answer["parsed"]
        if parsed is None:  # some models write the object into their text
            return raw
        return Reply(parsed, _text(parsed), raw.tokens)
    usage = getattr(answer, "usage_metadata", None)
    tokens = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    text = _text(answer)
    is_message = hasattr(answer, "content")
    return Reply(text if is_message else answer, text, tokens if isinstance(tokens, int) and tokens > 0 else None)


def _text(answer: Any) -> str:
    """Return an answer as text: a message's own, JSON of an instance, and a plain text as it is."""
    if isinstance(answer, str):
        return answer
    for name in ("text", "content"):
        if isinstance(found := getattr(answer, name, None), str):
            return str(found)
    dump = getattr(answer, "model_dump_json", None)
    return str(dump()) if callable(dump) else str(answer)
