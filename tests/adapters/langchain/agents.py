"""Scripted models, what they were told, and who runs an agent, for the tests of chains and agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.tool import tool_call
from pydantic import Field


@dataclass
class Who:
    """The context of a run."""

    user_id: str | None = None


class Scripted(FakeMessagesListChatModel):
    """A model that says what it is told to, takes tools, and notes its prompts."""

    prompts: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.prompts.append(list(messages))
        result = super()._generate(messages, *args, **kwargs)
        for one in result.generations:  # each answer a message, and an id, of its own
            one.message = one.message.model_copy()
        return result

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take them; the script knows which it calls."""
        return self


class Prompts(BaseCallbackHandler):
    """Notes what a model is told."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_llm_start(self, serialized: Any, prompts: list[str], **kwargs: Any) -> None:
        """Note a prompt of text."""
        self.seen += prompts

    def on_chat_model_start(self, serialized: Any, messages: list[list[Any]], **kwargs: Any) -> None:
        """Note a prompt of messages."""
        self.seen += ["\n".join(f"{one.type}: {one.text}" for one in prompt) for prompt in messages]


def scripted(*says: str | tuple[str, dict[str, Any]]) -> Scripted:
    """Return a model that says these texts and makes these calls, one after the other."""
    return Scripted(
        responses=[
            AIMessage(one)
            if isinstance(one, str)
            else AIMessage("", tool_calls=[tool_call(name=one[0], args=one[1], id=f"c{place}")])
            for place, one in enumerate(says)
        ]
    )


def said(text: str) -> dict[str, Any]:
    """Return an agent's input that says this."""
    return {"messages": [HumanMessage(text)]}
