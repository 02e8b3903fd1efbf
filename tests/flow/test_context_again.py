"""A context that is asked for again in the same turn recalls nothing and counts nothing, and shows what stands."""

from __future__ import annotations

import pytest

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.core.chat import SyncSession
from tests.flow.systems import FailingEmbedder, House

PEANUTS = "I am allergic to peanuts"
WALNUTS = "I do not like walnuts"


@pytest.fixture
def embedder() -> FailingEmbedder:
    return FailingEmbedder()


@pytest.fixture
def memory(house: House, embedder: FailingEmbedder) -> MemorySystem:
    return house.system(embedder=embedder)


@pytest.fixture
def chat(memory: MemorySystem) -> SyncSession:
    for content in (PEANUTS, WALNUTS):
        memory.sync.remember("ada", content, "fact", id=content)
    session = memory.sync.session("ada", "chat")
    session.add({"role": "user", "content": "Which nuts can I buy?"})
    return session


def test_it_shows_the_same_again(chat: SyncSession) -> None:
    first = chat.context()

    assert {one.content for one in first.memories} == {PEANUTS, WALNUTS}
    assert chat.context(recalled=first.memories) == first


def test_no_access_is_counted_and_no_model_asked(
    chat: SyncSession, memory: MemorySystem, embedder: FailingEmbedder
) -> None:
    first = chat.context()
    asked = embedder.asked

    for _ in range(3):
        chat.context("something else", recalled=first.memories)

    assert embedder.asked == asked
    assert memory.sync.get("ada", PEANUTS).access_count == 1


def test_what_was_forgotten_meanwhile_is_not_shown(chat: SyncSession, memory: MemorySystem) -> None:
    first = chat.context()

    memory.sync.forget("ada", PEANUTS)

    again = chat.context(recalled=first.memories)
    assert [one.content for one in again.memories] == [WALNUTS]
    assert "peanuts" not in again.text


def test_nothing_recalled_is_nothing_shown(chat: SyncSession) -> None:
    context = chat.context("Which nuts can I buy?", recalled=())

    assert context.memories == ()
    assert [message.role for message in context.messages] == ["user"]


async def test_the_asynchronous_face_does_the_same(chat: SyncSession, memory: MemorySystem) -> None:
    session = memory.session("ada", "chat")
    first = await session.context()

    assert await session.context(recalled=first.memories) == first
