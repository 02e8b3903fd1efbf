"""What a user prefers is in every context, whatever is asked, within its share of the budget."""

from __future__ import annotations

import pytest

from langchain_tiered_memory import ConfigError, MemorySystem, WorkingSettings
from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.tokens import TiktokenCounter
from tests.conftest import FakeClock
from tests.flow.systems import House, with_settings

METRIC = "Always answer in metric units"
SHORT = "Never write more than three sentences"
UNRELATED = "Who won the chess game yesterday?"


@pytest.fixture
def chat(sync: Engine) -> SyncSession:
    session = sync.session("ada", "chat")
    session.add({"role": "user", "content": UNRELATED})
    return session


def standing(chat: SyncSession, **options: object) -> list[str]:
    return [one.content for one in chat.context(**options).standing]  # type: ignore[arg-type] # options of a context


def test_a_preference_is_there_though_nothing_resembles_it(sync: Engine, chat: SyncSession) -> None:
    for number in range(30):
        sync.remember("ada", f"The chess game number {number} was won by Bo yesterday", "fact")
    sync.remember("ada", METRIC, "preference")

    context = chat.context(k=3)

    assert METRIC not in [hit.content for hit in context.memories]
    assert [one.content for one in context.standing] == [METRIC]
    (block,) = (message.text for message in context.messages if message.role == "system")
    assert block.index(METRIC) < block.index("chess")
    assert "take the user's preferences into account" in block


def test_one_that_is_recalled_too_is_shown_once(sync: Engine, chat: SyncSession) -> None:
    sync.remember("ada", "I prefer chess to any other game", "preference")

    context = chat.context()

    assert context.text.count("I prefer chess") == 1
    assert [one.id for one in context.memories] == [one.id for one in context.standing]
    assert [one.access_count for one in context.memories] == [1]


def test_standing_is_no_read(sync: Engine, chat: SyncSession) -> None:
    """Else what is always shown would be what is used most."""
    stored = sync.remember("ada", METRIC, "preference")
    for _ in range(3):
        chat.context(recalled=())
    assert sync.get("ada", stored.id).access_count == 0


def test_pinned_ones_come_first_then_the_important_then_the_newer(
    sync: Engine, chat: SyncSession, clock: FakeClock
) -> None:
    sync.remember("ada", "p1", "preference", importance=0.9)
    sync.remember("ada", "p2", "preference", importance=0.85)
    clock.advance(hours=1)
    sync.remember("ada", "p3", "preference", importance=0.85)
    sync.remember("ada", "p4", "preference", importance=0.1, pinned=True)
    assert standing(chat) == ["p4", "p1", "p3", "p2"]


def test_they_keep_to_their_share(house: House) -> None:
    counter = TiktokenCounter("o200k_base")
    memory = house.open(settings=with_settings(working=WorkingSettings(standing_share=0.2)))
    for number in range(100):
        memory.remember("ada", f"Preference number {number}: no more than {number} of anything at all", "preference")
    chat = memory.session("ada", "chat", max_tokens=1000)
    context = chat.context(recalled=())
    (block,) = context.messages
    assert 4 < len(context.standing) < 12
    assert counter.text(block.text) <= 200
    assert context.tokens <= 1000


def test_a_share_of_nothing_is_none(house: House) -> None:
    memory = house.open(settings=with_settings(working=WorkingSettings(standing_share=0.0)))
    memory.remember("ada", METRIC, "preference")
    assert memory.session("ada", "chat").context(recalled=()).messages == ()


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "x"])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match=r"working\.standing_share"):
        WorkingSettings(standing_share=share)


def test_superseded_forgotten_and_ended_ones_stand_no_more(sync: Engine, chat: SyncSession, clock: FakeClock) -> None:
    sync.remember("ada", "Call me Ada", "preference", slot="form of address")
    clock.advance(hours=1)
    sync.remember("ada", "Call me Doctor", "preference", slot="form of address")
    gone = sync.remember("ada", SHORT, "preference")
    sync.forget("ada", gone.id)
    sync.remember("ada", "Speak softly today", "preference", importance=0.2)
    assert standing(chat) == ["Call me Doctor", "Speak softly today"]
    clock.advance(hours=25)
    assert standing(chat) == ["Call me Doctor"]


def test_they_are_of_the_user_and_the_agent(sync: Engine) -> None:
    sync.remember("bob", "bob's", "preference")
    sync.remember("ada", "shared", "preference", importance=0.9)
    sync.remember("ada", "of x", "preference", agent_id="x", importance=0.8)
    sync.remember("ada", "of y", "preference", agent_id="y", importance=0.7)
    chat = sync.session("ada", "chat", agent_id="x")
    assert standing(chat) == ["shared", "of x"]


def test_what_an_assistant_said_stands_for_nobody(sync: Engine, chat: SyncSession) -> None:
    sync.remember("ada", "I prefer long answers", "preference", role="assistant")
    assert standing(chat) == []


def test_one_whose_message_is_in_the_window_is_not_said_twice(memory: MemorySystem) -> None:
    sync = memory.sync
    chat = sync.session("ada", "chat")
    chat.add({"role": "user", "content": "Please always answer in metric units."})
    sync.consolidate("ada", everything=True)
    (drawn,) = sync.list("ada", memory_types=["preference"])
    assert drawn.source_ids
    assert standing(chat) == []
    assert standing(sync.session("ada", "next")) == [drawn.content]


@pytest.mark.parametrize(
    "said",
    [
        "Always answer in metric units.",
        "Please never suggest meat to me.",
        "From now on, reply in French.",
        "Don't use emojis in your answers.",
        "Call me Nora.",
        "I'd rather you kept it short.",
        "I prefer short answers.",
    ],
)
def test_instructions_are_found_in_talk_without_a_model(sync: Engine, said: str) -> None:
    sync.session("ada", "chat").add({"role": "user", "content": said})
    sync.consolidate("ada", everything=True)
    assert [one.content for one in sync.list("ada", memory_types=["preference"])] == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Always a pleasure!",
        "Never mind.",
        "Don't worry about it.",
        "Call me tomorrow.",
        "I never use the car.",
        "From now on I work on Mondays.",
        "My boss told me: always answer the phone.",
    ],
)
def test_what_is_no_instruction_stays_talk(sync: Engine, said: str) -> None:
    sync.session("ada", "chat").add({"role": "user", "content": said})
    sync.consolidate("ada", everything=True)
    assert sync.list("ada", memory_types=["preference"]) == ()
