"""What every test of LlamaIndex's adapters finds: a memory, in RAM unless the test is about a restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from langchain_tiered_memory import MemorySystem
from llamaindex_adapter import TieredMemory
from tests.conftest import FakeClock
from tests.flow.systems import FailingEmbedder, House, folder_house

__all__ = ["ADA", "PEANUTS", "chat", "contents", "folder_house", "memory", "said"]

ADA = "ada"
PEANUTS = "I am allergic to peanuts"


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[MemorySystem]:
    """A memory in RAM that knows one thing of Ada."""
    house = House(clock, ":memory:")
    system = house.system(embedder=FailingEmbedder())
    system.sync.remember(ADA, PEANUTS, "preference", id="peanuts")
    yield system
    house.close()


@pytest.fixture
def chat(memory: MemorySystem) -> TieredMemory:
    """A conversation of Ada's, still empty."""
    return TieredMemory(memory, ADA, "chat")


def said(text: str, role: str = "user", **kwargs: Any) -> ChatMessage:
    """Return a message."""
    return ChatMessage(role=role, content=text, additional_kwargs=kwargs)


def contents(messages: list[ChatMessage]) -> list[str]:
    """Return what the messages say."""
    return [message.content or "" for message in messages]
