"""`TieredChatMessageHistory`: a session as LangChain's message history, by itself and under a runnable."""

from __future__ import annotations

import asyncio
import copy
import pickle
import time
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory import InvalidInput, MemorySystem
from langchain_tiered_memory.langchain import TieredChatMessageHistory
from tests.flow.systems import House

pytestmark = pytest.mark.filterwarnings("ignore:.*RunnableWithMessageHistory.*")

TURN: list[BaseMessage] = [
    SystemMessage("Be brief.", id="m0"),
    HumanMessage(
        ["Rain in Köln?", {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}],
        name="Ada",
        additional_kwargs={"lang": "de"},
    ),
    AIMessage(
        "",
        id="m2",
        tool_calls=[tool_call(name="look", args={"city": "Köln"}, id="c1"), tool_call(name="now", args={}, id="c2")],
        response_metadata={"model_name": "m", "logprobs": float("-inf")},
        usage_metadata={"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
    ),
    ToolMessage("12 mm", tool_call_id="c1", artifact={"raw": (12, b"mm")}),
    ToolMessage("broken", tool_call_id="c2", status="error"),
    AIMessage("Yes, 12 mm. \ud83d \x00 🌧", name="weather", additional_kwargs={"refusal": None}),
]


def _history(memory: MemorySystem, session_id: str = "s", **options: Any) -> TieredChatMessageHistory:
    return TieredChatMessageHistory(memory, "ada", session_id, **options)


def test_messages_come_back_bit_for_bit_after_a_restart(folder_house: House) -> None:
    first = folder_house.system()
    _history(first).add_messages(TURN)
    first.sync.close()

    back = _history(folder_house.system()).messages

    assert back == TURN
    assert [type(one) for one in back] == [type(one) for one in TURN]


async def test_the_asynchronous_calls_do_the_same(memory: MemorySystem) -> None:
    history = _history(memory)

    await history.aadd_messages(TURN)

    assert await history.aget_messages() == TURN == await history.atranscript() == history.messages
    await history.aclear()
    assert await history.aget_messages() == []


def test_the_short_forms_work(memory: MemorySystem) -> None:
    history = _history(memory)

    history.add_user_message("hello")
    history.add_user_message(HumanMessage("hello"))
    history.add_ai_message("hi")
    history.add_message(SystemMessage("rules"))

    assert history.messages == [HumanMessage("hello"), HumanMessage("hello"), AIMessage("hi"), SystemMessage("rules")]
    assert str(history) == "Human: hello\nHuman: hello\nAI: hi\nSystem: rules"


def test_with_a_budget_the_window_is_shown_and_the_transcript_is_whole(memory: MemorySystem) -> None:
    history = _history(memory, max_tokens=100)
    told: list[BaseMessage] = [SystemMessage("Be brief.")]
    for day in range(30):
        told += [HumanMessage(f"What was on day {day}?"), AIMessage(f"On day {day} it rained in the north.")]

    history.add_messages(told)

    shown = history.messages
    assert shown == [told[0], *told[-len(shown) + 1 :]]
    assert isinstance(shown[1], HumanMessage)
    assert 2 < len(shown) < 10
    assert memory.sync.session("ada", "s").tokens() > 100 >= memory.sync.session("ada", "s", max_tokens=100).tokens()
    assert history.transcript() == told
    assert _history(memory).messages == told


@pytest.mark.parametrize("max_tokens", range(60, 400, 20))
def test_no_tool_result_is_shown_without_its_call(memory: MemorySystem, max_tokens: int) -> None:
    names = [f"tool{n}" for n in range(9)]
    calls = [tool_call(name=name, args={"n": name}, id=name) for name in names]
    results = [ToolMessage(f"result of {name} " * 5, tool_call_id=name) for name in names]
    _history(memory).add_messages([HumanMessage("go"), AIMessage("", tool_calls=calls), *results, AIMessage("done")])

    shown = _history(memory, max_tokens=max_tokens).messages

    called = [call["id"] for one in shown if isinstance(one, AIMessage) for call in one.tool_calls]
    answered = [one.tool_call_id for one in shown if isinstance(one, ToolMessage)]
    assert called == answered


def test_thinking_stays_with_its_turn_and_as_it_was(memory: MemorySystem) -> None:
    """A provider refuses a thought whose text or signature was altered."""
    thought = {"type": "thinking", "thinking": "word " * 200, "signature": "sig"}
    told = [
        HumanMessage("one"),
        AIMessage([thought, {"type": "text", "text": "answer"}], tool_calls=[tool_call(name="f", args={}, id="c")]),
        ToolMessage("result " * 300, tool_call_id="c"),
        AIMessage([{**thought, "signature": "sig2"}, {"type": "text", "text": "word " * 300}]),
    ]
    _history(memory).add_messages(told)

    for max_tokens in range(60, 1400, 40):
        for shown in _history(memory, max_tokens=max_tokens).messages:
            if isinstance(shown, AIMessage):
                assert shown.content[0] in [thought, {**thought, "signature": "sig2"}]
    assert _history(memory).messages == told


def test_rules_longer_than_the_budget_are_cut_and_leave_room_for_the_conversation(memory: MemorySystem) -> None:
    history = _history(memory, max_tokens=200)
    history.add_messages([SystemMessage("rule " * 5_000), HumanMessage("What now?")])

    rules, asked = history.messages

    assert "tokens cut" in rules.text
    assert asked == HumanMessage("What now?")


def test_five_thousand_messages_are_read_in_a_moment(memory: MemorySystem) -> None:
    history = _history(memory, max_tokens=1_000)
    history.add_messages([HumanMessage(f"message {n}") for n in range(5_000)])

    started = time.thread_time()
    shown = history.messages
    took = time.thread_time() - started

    assert shown[-1] == HumanMessage("message 4999")
    assert len(history.transcript()) == 5_000
    assert took < 0.05


def test_what_is_added_is_remembered_for_every_session_of_the_user(memory: MemorySystem) -> None:
    _history(memory, "monday").add_messages([HumanMessage("I am allergic to peanuts"), AIMessage("Noted.")])

    hits = memory.sync.recall("ada", "allergic peanuts")

    assert (hits[0].content, hits[0].role, hits[0].session_id) == ("I am allergic to peanuts", "user", "monday")
    assert memory.sync.recall("bob", "allergic peanuts") == []


def test_histories_of_other_sessions_and_users_are_others(memory: MemorySystem) -> None:
    _history(memory, "a").add_user_message("mine")

    assert _history(memory, "b").messages == []
    assert TieredChatMessageHistory(memory, "bob", "a").messages == []


def test_clearing_takes_the_transcript_and_leaves_what_was_remembered(memory: MemorySystem) -> None:
    history = _history(memory)
    history.add_user_message("I am allergic to peanuts")

    history.clear()

    assert history.messages == []
    assert memory.sync.recall("ada", "peanuts")[0].content == "I am allergic to peanuts"
    history.add_user_message("again")
    assert history.messages == [HumanMessage("again")]


def test_a_message_with_an_id_of_the_session_is_the_same_message(memory: MemorySystem) -> None:
    history = _history(memory)

    history.add_messages([HumanMessage("one", id="m1")])
    history.add_messages([HumanMessage("one", id="m1"), HumanMessage("two", id="m2")])

    assert [one.content for one in history.messages] == ["one", "two"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda history: pickle.loads(pickle.dumps(history))])  # noqa: S301 - our own
def test_a_copy_stands_for_the_same_session(folder_house: House, copied: Any) -> None:
    history = _history(folder_house.system(), max_tokens=100)
    history.add_user_message("one")

    copied(history).add_ai_message("two")

    assert [one.text for one in history.messages] == ["one", "two"]


def test_an_agents_history_is_its_own(memory: MemorySystem) -> None:
    _history(memory, agent_id="cook").add_user_message("I am allergic to peanuts")

    assert [hit.agent_id for hit in memory.sync.recall("ada", "peanuts", agent_id="cook")] == ["cook"]
    assert memory.sync.recall("ada", "peanuts", agent_id="guide") == []


@pytest.mark.parametrize(
    ("user_id", "session_id", "max_tokens"), [("", "s", None), ("ada", "", None), (None, "s", None), ("ada", "s", 3)]
)
def test_bad_arguments_are_refused_at_once(
    memory: MemorySystem, user_id: Any, session_id: Any, max_tokens: int | None
) -> None:
    with pytest.raises(InvalidInput):
        TieredChatMessageHistory(memory, user_id, session_id, max_tokens=max_tokens)


def test_only_a_memory_of_ours_will_do() -> None:
    with pytest.raises(InvalidInput, match=r"memory.*MemorySystem\.open") as caught:
        TieredChatMessageHistory("redis://:secret@host", "ada", "s")  # type: ignore[arg-type] # that is the point

    assert "secret" not in str(caught.value)


# -- under RunnableWithMessageHistory ----------------------------------------------------------------------------------


def _told(messages: Sequence[BaseMessage]) -> str:
    """Answer with everything one was told, as a model that shows its prompt."""
    return " | ".join(str(one.content) for one in messages)


def _with_history(memory: MemorySystem, runnable: Runnable[Any, Any], **keys: Any) -> RunnableWithMessageHistory:
    return RunnableWithMessageHistory(runnable, lambda session_id: _history(memory, session_id), **keys)


def _config(session_id: str = "s") -> RunnableConfig:
    return {"configurable": {"session_id": session_id}}


def test_a_runnable_finds_its_history(memory: MemorySystem) -> None:
    chain = _with_history(memory, RunnableLambda(_told))

    assert chain.invoke([HumanMessage("a")], _config()) == "a"
    assert chain.invoke([HumanMessage("b")], _config()) == "a | a | b"
    assert chain.invoke([HumanMessage("b")], _config("other")) == "b"
    assert _history(memory).messages == [
        HumanMessage("a"),
        AIMessage("a"),
        HumanMessage("b"),
        AIMessage("a | a | b"),
    ]


async def test_an_asynchronous_runnable_finds_its_history(memory: MemorySystem) -> None:
    chain = _with_history(memory, RunnableLambda(_told))

    assert await chain.ainvoke([HumanMessage("a")], _config()) == "a"
    assert await chain.ainvoke([HumanMessage("b")], _config()) == "a | a | b"
    assert len(_history(memory).messages) == 4


def test_a_budget_holds_for_what_a_runnable_is_told(memory: MemorySystem) -> None:
    def history(session_id: str) -> TieredChatMessageHistory:
        return _history(memory, session_id, max_tokens=60)

    lengths: list[int] = []

    def model(messages: Sequence[BaseMessage]) -> str:
        lengths.append(len(messages))
        return "It rained in the north all day."

    chain = RunnableWithMessageHistory(RunnableLambda(model), history)
    for day in range(12):
        chain.invoke([HumanMessage(f"And on day {day}?")], _config())

    assert max(lengths) < 8
    asked = [one.content for one in history("s").transcript() if isinstance(one, HumanMessage)]
    assert asked == [f"And on day {day}?" for day in range(12)]


def test_a_chain_with_a_prompt_and_a_model_keeps_its_history(memory: MemorySystem) -> None:
    prompt = ChatPromptTemplate([("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{question}")])
    model = FakeListChatModel(responses=["one", "two"])
    chain = _with_history(memory, prompt | model, input_messages_key="question", history_messages_key="history")

    first = chain.invoke({"question": "1?"}, _config())
    chain.invoke({"question": "2?"}, _config())

    kept = _history(memory).messages
    assert [one.content for one in kept] == ["1?", "one", "2?", "two"]
    assert kept[1] == first


def test_batches_go_to_their_own_sessions(memory: MemorySystem) -> None:
    chain = _with_history(memory, RunnableLambda(_told))
    names = [f"s{n}" for n in range(8)]

    for word in ("x", "y"):
        chain.batch([[HumanMessage(f"{word}{name}")] for name in names], [_config(name) for name in names])

    for name in names:
        asked = [one.content for one in _history(memory, name).messages if isinstance(one, HumanMessage)]
        assert asked == [f"x{name}", f"y{name}"]


def test_a_streamed_answer_is_kept_once_and_whole(memory: MemorySystem) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("It rained all day"), AIMessage("Again")]))
    chain = _with_history(memory, model)

    chunks = [chunk.content for chunk in chain.stream([HumanMessage("Weather?")], _config())]

    assert len(chunks) > 1
    asked, answer = _history(memory).messages
    assert (asked, answer.content, answer.type.lower()[:2]) == (HumanMessage("Weather?"), "It rained all day", "ai")
    assert chain.invoke([HumanMessage("And now?")], _config()).content == "Again"
    assert len(_history(memory).messages) == 4


async def test_an_answer_streamed_asynchronously_is_kept_once(memory: MemorySystem) -> None:
    chain = _with_history(memory, GenericFakeChatModel(messages=iter([AIMessage("It rained all day")])))

    chunks = [str(chunk.content) async for chunk in chain.astream([HumanMessage("Weather?")], _config())]

    assert "".join(chunks) == "It rained all day"
    assert [one.content for one in _history(memory).messages] == ["Weather?", "It rained all day"]


def test_user_and_session_may_both_come_from_the_configuration(memory: MemorySystem) -> None:
    def history(user_id: str, conversation_id: str) -> TieredChatMessageHistory:
        return TieredChatMessageHistory(memory, user_id, conversation_id)

    fields = [
        ConfigurableFieldSpec(id=name, annotation=str, name=name, description="", default="", is_shared=True)
        for name in ("user_id", "conversation_id")
    ]
    chain = RunnableWithMessageHistory(RunnableLambda(_told), history, history_factory_config=fields)

    for user in ("ada", "bob"):
        chain.invoke([HumanMessage(f"I am {user}")], {"configurable": {"user_id": user, "conversation_id": "1"}})

    assert [one.content for one in history("ada", "1").messages] == ["I am ada", "I am ada"]
    assert [one.content for one in history("bob", "1").messages] == ["I am bob", "I am bob"]


def test_two_event_loops_one_after_the_other_use_one_history(memory: MemorySystem) -> None:
    history = _history(memory)

    asyncio.run(history.aadd_messages([HumanMessage("one")]))
    asyncio.run(history.aadd_messages([HumanMessage("two")]))

    assert [one.content for one in asyncio.run(history.aget_messages())] == ["one", "two"]
