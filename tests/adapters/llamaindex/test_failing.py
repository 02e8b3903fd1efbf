"""What becomes of a turn of `TieredMemory` when its store fails."""

from __future__ import annotations

import asyncio
import copy
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.workflow import Context
from pydantic import ValidationError

from langchain_tiered_memory import BackendUnavailable, InvalidInput, MemorySystem, ModelMismatch
from llamaindex_adapter import TieredMemory, failing
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said
from tests.adapters.llamaindex.models import ANSWER, Recorder, calls, shelf
from tests.adapters.llamaindex.test_engines import CALLS, ENGINES, SNACK, engine, talk

# LlamaIndex's agents use what pydantic has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")


def another(chat: TieredMemory) -> TieredMemory:
    """Return another object for the same conversation."""
    return TieredMemory(chat.memory, chat.user_id, chat.session_id)


def restored(chat: TieredMemory) -> TieredMemory:
    """Return what is restored from what it was serialised as."""
    return TieredMemory.from_dict(chat.to_dict())


JOURNEYS = [another, restored, copy.deepcopy]
FULL = BackendUnavailable("sqlite", "write", "the disk is full")


def break_down(patch: pytest.MonkeyPatch, memory: MemorySystem, *names: str, error: Exception = FULL) -> None:
    """Let calls of the transcripts' store fail."""

    def fail(*_: object, **__: object) -> None:
        raise error

    for name in names:
        patch.setattr(memory.sync._opening.rooms().parts.transcripts, name, fail)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ENGINES)
async def test_a_turn_of_an_engine_is_answered_and_stored_with_the_next(
    kind: str, call: str, chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Recorder()
    made = engine(kind, chat, model.llm)
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")

        assert await talk(made, call, SNACK) == ANSWER

        assert contents(model.prompts[-1]).count(SNACK) == 1

    await talk(made, call, "And which drink?")

    assert contents(chat.get_all()) == [SNACK, ANSWER, "And which drink?", ANSWER]
    assert SNACK in contents(model.prompts[-1])


async def test_a_turn_of_an_agent_is_answered_and_stored_with_the_next(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Recorder(calls("look_up", snack="oat bar"))
    agent = FunctionAgent(llm=model.llm, tools=[shelf()])
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")

        result: Any = await agent.run(user_msg=SNACK, memory=chat)

        assert str(result) == ANSWER
        assert [contents(prompt)[0] for prompt in model.prompts] == [SNACK, SNACK]

    await agent.run(user_msg="And which drink?", memory=chat)

    roles = [message.role.value for message in chat.get_all()]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]


async def test_where_writes_alone_fail_the_model_is_still_asked_what_the_user_said(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk everything can still be read, and the last message is not among it."""
    chat.put_messages([said("hello"), said("hi", "assistant")])
    break_down(monkeypatch, memory, "append")

    for number in range(3):
        chat.put(said(f"question {number}"))
        assert contents(chat.get())[-1] == contents(await chat.aget())[-1] == f"question {number}"
        await chat.aput(said(f"answer {number}", "assistant"))

    assert contents(chat.get()) == [f"{one} {number}" for number in range(3) for one in ("question", "answer")]


def test_while_the_store_fails_the_end_of_the_talk_fits_its_budget(
    memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = TieredMemory(memory, ADA, "chat", max_tokens=100)
    break_down(monkeypatch, memory, "append", "tail")
    for number in range(50):
        chat.put(said(f"The train number {number} leaves at noon."))
        chat.put(said("Noted.", "assistant"))

    shown = contents(chat.get())

    assert 4 <= len(shown) < 40
    assert shown[-2:] == ["The train number 49 leaves at noon.", "Noted."]
    assert shown[0].startswith("The train")


def test_where_reads_alone_fail_the_turn_is_shown(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    chat.put_messages([said("hello"), said("hi", "assistant")])
    chat.put(said(SNACK))
    with monkeypatch.context() as patch:
        break_down(patch, memory, "tail")
        assert contents(chat.get()) == [SNACK]

    assert "the memory could not be read" in caplog.text
    assert SNACK not in caplog.text
    assert PEANUTS in "".join(contents(chat.get()))
    assert contents(chat.get_all()) == ["hello", "hi", SNACK]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_message_that_was_stored_in_spite_of_an_error_is_stored_once(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch, *, asynchronous: bool
) -> None:
    """The transcript took it, and then something failed."""
    with monkeypatch.context() as patch:
        break_down(patch, memory, "mark_placed")
        _put(chat, "one", asynchronous=asynchronous)

    _put(chat, "two", asynchronous=asynchronous)

    assert contents(chat.get_all()) == ["one", "two"]


def _put(chat: TieredMemory, text: str, *, asynchronous: bool) -> None:
    if asynchronous:
        asyncio.run(chat.aput(said(text)))
    else:
        chat.put(said(text))


async def test_a_history_that_could_not_be_set_is_set_with_the_next_message(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.put(said("another talk"))
    history = [said("My cat is called Mia."), said("Nice.", "assistant")]
    model = Recorder()
    made = engine("simple", chat, model.llm)
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")

        await made.achat("What is it called?", chat_history=history)

        assert contents(model.prompts[0]) == ["My cat is called Mia.", "Nice.", "What is it called?"]

    made.chat("Really?")

    talked = ["My cat is called Mia.", "Nice.", "What is it called?", ANSWER, "Really?", ANSWER]
    assert contents(chat.get_all()) == talked


@pytest.mark.parametrize("call", [TieredMemory.set, TieredMemory.aset])
async def test_a_history_set_at_the_second_try_remembers_nothing_twice(
    call: Callable[..., Any], memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store took away the old one, and not the new one."""
    chat = TieredMemory(memory, "bob", "chat")
    history = [said("My cat is called Mia."), said("Nice.", "assistant"), said("My dog is called Rex.")]
    chat.put_messages(history)
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append")
        await _awaited(call(chat, history[::2]))
        await _awaited(call(chat, history[::2]) if call is TieredMemory.set else chat.aget())

    await chat.aget()

    assert contents(chat.get_all()) == ["My cat is called Mia.", "My dog is called Rex."]
    assert sorted(one.content for one in memory.sync.list("bob")) == sorted(contents(history))


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda one: one.__name__.strip("_"))
def test_what_waits_does_not_depend_on_one_object(
    journey: Callable[[TieredMemory], TieredMemory],
    memory: MemorySystem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers make one for each request, and LlamaIndex serialises a context between two runs."""
    chat = TieredMemory(memory, ADA, "chat")
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")
        chat.put(said("one"))
        chat = journey(chat)
        gc.collect()
        assert contents(chat.get()) == ["one"]
        assert TieredMemory(memory, ADA, "other").get() == TieredMemory(memory, "bob", "chat").get() == []
        assert TieredMemory(memory, ADA, "chat", agent_id="cook").get() == []

    journey(chat).put(said("two"))

    assert contents(chat.get_all()) == ["one", "two"]
    assert not failing._rooms[memory][1]


async def test_a_context_that_is_kept_between_runs_loses_no_turn(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = FunctionAgent(llm=Recorder().llm, tools=[])
    context = Context(agent)
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")
        await agent.run(user_msg="one", memory=chat, ctx=context)
    del chat
    gc.collect()

    await agent.run(user_msg="two", ctx=context)

    talked = memory.sync.session(ADA, "chat").transcript()
    assert [message.text for message in talked] == ["one", ANSWER, "two", ANSWER]


async def test_a_call_that_is_given_up_loses_nothing_that_waits(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append")
        await chat.aput(said("one"))
    hold, append = threading.Event(), memory.sync._opening.rooms().parts.transcripts.append

    def slow(*arguments: Any) -> Any:
        hold.wait(5)
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr(memory.sync._opening.rooms().parts.transcripts, "append", slow)
        given_up = asyncio.create_task(chat.aput(said("two")))
        await asyncio.sleep(0.05)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        hold.set()

    assert memory.sync._opening.rooms().parts.transcripts.append == append
    chat.put(said("three"))

    assert contents(chat.get_all()) == ["one", "three"]


def test_a_reset_forgets_what_waits(chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append")
        chat.put(said("one"))

    chat.reset()
    chat.put(said("two"))

    assert contents(chat.get_all()) == ["two"]


async def test_errors_are_raised_when_asked_for(memory: MemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = TieredMemory(memory, ADA, "chat", on_error="raise")
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail", "clear")
        for call in (chat.put, chat.aput):
            with pytest.raises(BackendUnavailable):
                await _awaited(call(said("one")))
        for read in (chat.get, chat.aget, chat.get_all, chat.aget_all, chat.reset, chat.areset):
            with pytest.raises(BackendUnavailable):
                await _awaited(read())
        for set_ in (chat.set, chat.aset):
            with pytest.raises(BackendUnavailable):
                await _awaited(set_([said("one")]))

    assert chat.get_all() == []


async def test_who_asks_for_all_or_for_a_reset_is_told_that_it_failed(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer depends on these, and an empty list would be wrong."""
    break_down(monkeypatch, memory, "tail", "clear")

    for call in (chat.get_all, chat.aget_all, chat.reset, chat.areset):
        with pytest.raises(BackendUnavailable):
            await _awaited(call())


async def _awaited(value: Any) -> Any:
    return await value if asyncio.iscoroutine(value) else value


async def test_what_will_not_pass_by_itself_is_always_raised(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_down(monkeypatch, memory, "append", "tail", error=ModelMismatch("one", "two"))

    with pytest.raises(ModelMismatch):
        chat.put(said("hello"))
    with pytest.raises(ModelMismatch):
        await chat.aget()
    with pytest.raises(InvalidInput, match="nope"):
        TieredMemory(memory, ADA, "chat", filter={"nope": 1}).get(SNACK)


def test_a_message_that_cannot_be_kept_is_refused_and_keeps_no_other_back(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append")
        chat.put(said("one"))

    with pytest.raises(InvalidInput):
        chat.put(said("bad", more=deep))

    assert contents(chat.get_all()) == ["one"]


def test_the_policy_is_one_of_two_and_serialised(memory: MemorySystem, chat: TieredMemory) -> None:
    strict = TieredMemory(memory, ADA, "chat", on_error="raise")

    assert (chat.on_error, TieredMemory.from_dict(strict.to_dict()).on_error) == ("warn", "raise")
    wrong: Any = "ignore"
    with pytest.raises((ValidationError, InvalidInput), match="on_error"):
        TieredMemory(memory, ADA, on_error=wrong)


def test_messages_are_as_they_were_put(
    chat: TieredMemory, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [said("look it up"), calls("look_up", snack="oat bar"), ChatMessage(role="tool", content="oats")]
    with monkeypatch.context() as patch:
        break_down(patch, memory, "append", "tail")
        chat.put_messages(messages)

        assert chat.get() == messages

    chat.get()

    assert chat.get_all() == messages
