"""What stands here for models, for a history that lasts, and for a conversation."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import GenericFakeChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable

SIZE = 64


def words(text: str) -> list[int]:
    """Return a token for each word."""
    return list(range(len(text.split())))


class WordEmbeddings(Embeddings):
    """Texts with common words have near vectors."""

    def embed_query(self, text: str) -> list[float]:
        counted = Counter(int(hashlib.md5(word.encode()).hexdigest(), 16) % SIZE for word in _words(text))  # noqa: S324
        length = math.sqrt(sum(number * number for number in counted.values())) or 1.0
        return [counted[place] / length for place in range(SIZE)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Scripted(GenericFakeChatModel):
    """LangChain's scripted model, made to take tools and, as those of providers do, to keep to a limit it is told."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message
        if limit := kwargs.get("max_tokens"):
            message.content = " ".join(str(message.content).split()[:limit])
        return result


def scripted(*answers: AIMessage | str, model: type[Scripted] = Scripted) -> Any:
    """Return a model that gives these answers, the last one again and again, and counts a token a word."""

    def speak() -> Iterator[AIMessage | str]:
        yield from answers
        while True:
            yield answers[-1]

    return model(messages=speak(), custom_get_token_ids=words)


class FileHistory(BaseChatMessageHistory):
    """The history in a file that `BaseChatMessageHistory` shows in its documentation."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override] # as documented
        if not self.path.exists():
            return []
        return messages_from_dict(json.loads(self.path.read_text(encoding="utf-8")))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        told = [message_to_dict(message) for message in (*self.messages, *messages)]
        self.path.write_text(json.dumps(told), encoding="utf-8")

    def clear(self) -> None:
        self.path.write_text("[]", encoding="utf-8")


def errand(number: int) -> list[BaseMessage]:
    """Return a turn in which two tools are called at once."""
    ids = [f"{number}-{one}" for one in "ab"]
    calls = [{"name": "look_up", "args": {"what": one}, "id": one} for one in ids]
    return [
        HumanMessage(f"errand number {number}", id=f"h{number}"),
        AIMessage("", tool_calls=calls, id=f"c{number}"),
        *(ToolMessage(f"found {one}", tool_call_id=one, id=f"t{one}") for one in ids),
        AIMessage(f"done with {number}", id=f"a{number}"),
    ]
