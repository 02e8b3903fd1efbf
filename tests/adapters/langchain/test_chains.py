"""`TieredMemory` in the chains it is for, end to end with LangChain's scripted models."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor, create_react_agent, create_tool_calling_agent
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain, LLMChain
from langchain_core.language_models import (
    FakeListChatModel,
    FakeListLLM,
    GenericFakeChatModel,
)
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from langchain_tiered_memory import BackendUnavailable, MemorySystem
from langchain_tiered_memory.langchain import TieredMemory, TieredMemoryRetriever
from tests.adapters.langchain.agents import Prompts, scripted
from tests.flow.systems import House

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")

PEANUTS = "I am allergic to peanuts"


def _made(memory: MemorySystem, **options: Any) -> TieredMemory:
    return TieredMemory(**{"memory": memory, "user_id": "ada", "session_id": "s", **options})


def _kept(memory: MemorySystem, session_id: str = "s") -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in memory.sync.session("ada", session_id).transcript()]


# -- ConversationChain -------------------------------------------------------------------------------------------------


def _conversation(memory: TieredMemory, *answers: str) -> ConversationChain:
    return ConversationChain(llm=FakeListChatModel(responses=list(answers)), memory=memory)


def test_a_conversation_goes_on(memory: MemorySystem) -> None:
    prompts = Prompts()
    chain = _conversation(_made(memory), "Noted.", "No.")

    first = chain.invoke({"input": PEANUTS}, {"callbacks": [prompts]})
    second = chain.invoke("Thai food?", {"callbacks": [prompts]})

    assert first == {"input": PEANUTS, "history": "", "response": "Noted."}
    assert second["response"] == "No."
    assert f"Human: {PEANUTS}\nAI: Noted.\nHuman: Thai food?\nAI:" in prompts.seen[1]
    assert _kept(memory) == [
        ("user", PEANUTS),
        ("assistant", "Noted."),
        ("user", "Thai food?"),
        ("assistant", "No."),
    ]


def test_a_new_conversation_after_a_restart_knows_what_the_old_one_was_told(folder_house: House) -> None:
    first = folder_house.system()
    _conversation(_made(first, session_id="monday"), "Noted.").invoke(PEANUTS)
    first.sync.close()
    prompts = Prompts()

    again = _made(folder_house.system(), session_id="tuesday")
    _conversation(again, "No.").invoke({"input": "May I eat peanuts?"}, {"callbacks": [prompts]})

    assert f'user, episode: "{PEANUTS}"' in prompts.seen[0]


async def test_a_conversation_goes_on_asynchronously(memory: MemorySystem) -> None:
    chain = _conversation(_made(memory), "Noted.", "No.")

    await chain.ainvoke({"input": PEANUTS})
    second = await chain.ainvoke({"input": "Thai food?"})

    assert second["history"] == f"Human: {PEANUTS}\nAI: Noted."
    assert len(_kept(memory)) == 4


def test_predict_and_run_with_text_work(memory: MemorySystem) -> None:
    chain = _conversation(_made(memory), "Noted.", "No.")

    assert chain.predict(input=PEANUTS) == "Noted."
    assert chain.run("Thai food?") == "No."
    assert len(_kept(memory)) == 4


async def test_batches_lose_and_mix_no_turn(memory: MemorySystem) -> None:
    """A chain's batch loads and saves in threads, all at once, on one memory."""
    chain = ConversationChain(llm=FakeListChatModel(responses=["ok"]), memory=_made(memory, max_tokens=500))
    asked = [{"input": f"question {n}"} for n in range(16)]

    chain.batch(asked)
    await chain.abatch(asked)

    kept = _kept(memory)
    assert sorted(text for role, text in kept if role == "user") == sorted([f"question {n}" for n in range(16)] * 2)
    assert [role for role, _ in kept] == ["user", "assistant"] * 32


async def test_streams_keep_the_whole_answer_once(memory: MemorySystem) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("It rained all day"), AIMessage("Again all day")]))
    chain = ConversationChain(llm=model, memory=_made(memory))

    first = list(chain.stream({"input": "Weather?"}))
    second = [part async for part in chain.astream({"input": "And now?"})]

    assert (first[-1]["response"], second[-1]["response"]) == ("It rained all day", "Again all day")
    assert [text for _, text in _kept(memory)] == ["Weather?", "It rained all day", "And now?", "Again all day"]


def test_a_prompt_of_messages_gets_messages(memory: MemorySystem) -> None:
    memory.sync.remember("ada", PEANUTS, session_id="old")
    prompts = Prompts()
    prompt = ChatPromptTemplate([("system", "Be kind."), MessagesPlaceholder("history"), ("human", "{input}")])
    chain = ConversationChain(
        llm=FakeListChatModel(responses=["Hi.", "No."]), memory=_made(memory, return_messages=True), prompt=prompt
    )

    chain.invoke({"input": "hello"})
    chain.invoke({"input": "peanuts for me?"}, {"callbacks": [prompts]})

    (said,) = prompts.seen
    assert said.startswith("system: Be kind.\nsystem: These are notes quoted from memory")
    assert said.endswith("human: hello\nai: Hi.\nhuman: peanuts for me?")
    assert PEANUTS in said


def test_a_chain_checks_the_prompts_variable(memory: MemorySystem) -> None:
    prompt = PromptTemplate.from_template("{chat}\n{input}")

    with pytest.raises(ValueError, match="prompt expects"):
        ConversationChain(llm=FakeListChatModel(responses=["x"]), memory=_made(memory), prompt=prompt)

    ConversationChain(llm=FakeListChatModel(responses=["x"]), memory=_made(memory, memory_key="chat"), prompt=prompt)


def test_what_was_recalled_never_comes_back_as_something_said(memory: MemorySystem) -> None:
    memory.sync.remember("ada", PEANUTS, session_id="old")
    chain = _conversation(_made(memory), "No.")

    for _ in range(4):
        assert PEANUTS in chain.invoke({"input": "peanuts?"})["history"]

    assert [one.content for one in memory.sync.list("ada") if "allergic" in one.content] == [PEANUTS]


def test_a_failing_store_costs_no_answer_and_no_turn(memory: MemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BackendUnavailable("sqlite", "write", "the disk is full")

    chain = _conversation(_made(memory), "one", "two", "three")
    transcripts = memory.sync._opening.rooms().parts.transcripts
    with monkeypatch.context() as patch:
        patch.setattr(transcripts, "append", broken)
        patch.setattr(transcripts, "tail", broken)
        assert chain.invoke("1?")["response"] == "one"
        assert chain.invoke("2?")["response"] == "two"

    assert chain.invoke("3?")["history"] == "Human: 1?\nAI: one\nHuman: 2?\nAI: two"
    assert [text for _, text in _kept(memory)] == ["1?", "one", "2?", "two", "3?", "three"]


def test_a_chain_that_fails_leaves_no_half_turn(memory: MemorySystem) -> None:
    def fail(_: object, **__: object) -> str:
        raise RuntimeError("no model")

    prompt = PromptTemplate.from_template("{history}{input}")
    chain = LLMChain(llm=RunnableLambda(fail), prompt=prompt, memory=_made(memory))

    with pytest.raises(RuntimeError):
        chain.invoke({"input": "hello"})

    assert _kept(memory) == []


# -- LLMChain ----------------------------------------------------------------------------------------------------------


async def test_an_llm_chain_with_a_memory_of_its_own_key(memory: MemorySystem) -> None:
    prompts = Prompts()
    prompt = PromptTemplate.from_template("Style: {style}\n{past}\nQ: {question}\nA:")
    made = _made(memory, memory_key="past", input_key="question")
    chain = LLMChain(llm=FakeListLLM(responses=["Noted.", "No.", "Yes."]), prompt=prompt, memory=made)

    chain.invoke({"question": PEANUTS, "style": "short"})
    answer = await chain.ainvoke({"question": "Thai food?", "style": "long"}, {"callbacks": [prompts]})

    assert answer["text"] == "No."
    assert prompts.seen == [f"Style: long\nHuman: {PEANUTS}\nAI: Noted.\nQ: Thai food?\nA:"]
    assert [text for _, text in _kept(memory)] == [PEANUTS, "Noted.", "Thai food?", "No."]


def test_an_unclear_input_of_a_chain_is_an_error(memory: MemorySystem) -> None:
    prompt = PromptTemplate.from_template("{style}{history}{question}")
    chain = LLMChain(llm=FakeListLLM(responses=["Noted."]), prompt=prompt, memory=_made(memory))

    with pytest.raises(ValueError, match="One input key expected"):
        chain.invoke({"question": "hi", "style": "short"})


# -- ConversationalRetrievalChain --------------------------------------------------------------------------------------


@pytest.mark.parametrize("return_messages", [False, True])
async def test_a_conversational_retrieval_chain(memory: MemorySystem, *, return_messages: bool) -> None:
    """Both the conversation and the documents are the memory's; there are two outputs."""
    memory.sync.remember("ada", "The pool opens at nine.", "fact")
    prompts = Prompts()
    chain = ConversationalRetrievalChain.from_llm(
        llm=FakeListChatModel(responses=["At nine.", "When does the pool open on Sunday?", "At nine too."]),
        retriever=TieredMemoryRetriever(memory=memory, user_id="ada", k=1, filter={"memory_type": "fact"}),
        memory=_made(
            memory,
            memory_key="chat_history",
            output_key="answer",
            filter={"memory_type": "episode"},
            return_messages=return_messages,
        ),
        return_source_documents=True,
        get_chat_history=None if return_messages else str,  # without one this chain takes messages only
    )

    first = chain.invoke({"question": "When does the pool open?"})
    second = await chain.ainvoke({"question": "And on Sunday?"}, {"callbacks": [prompts]})

    assert (first["answer"], second["answer"]) == ("At nine.", "At nine too.")
    assert [one.page_content for one in second["source_documents"]] == ["The pool opens at nine."]
    assert "Human: When does the pool open?" in prompts.seen[0]
    assert "The pool opens at nine." in prompts.seen[1]
    assert [text for _, text in _kept(memory)] == [
        "When does the pool open?",
        "At nine.",
        "And on Sunday?",
        "At nine too.",
    ]


# -- AgentExecutor -----------------------------------------------------------------------------------------------------


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}"


REACT = PromptTemplate.from_template(
    "{tools}\n{tool_names}\nSo far:\n{chat_history}\nQuestion: {input}\nThought:{agent_scratchpad}"
)
STEPS = [
    "look\nAction: weather\nAction Input: Köln",
    "done\nFinal Answer: It rains.",
    "done\nFinal Answer: Take a coat.",
]


async def test_an_agent_executor_remembers_question_and_answer(memory: MemorySystem) -> None:
    prompts = Prompts()
    llm = FakeListLLM(responses=STEPS)
    executor = AgentExecutor(
        agent=create_react_agent(llm, [weather], REACT),
        tools=[weather],
        memory=_made(memory, memory_key="chat_history"),
        return_intermediate_steps=True,
    )

    first = executor.invoke({"input": "How is Köln?"})
    second = await executor.ainvoke({"input": "What shall I wear?"}, {"callbacks": [prompts]})

    assert (first["output"], second["output"]) == ("It rains.", "Take a coat.")
    assert first["intermediate_steps"][0][1] == "Rain in Köln"
    assert "So far:\nHuman: How is Köln?\nAI: It rains.\nQuestion:" in prompts.seen[0]
    assert [text for _, text in _kept(memory)] == ["How is Köln?", "It rains.", "What shall I wear?", "Take a coat."]


def test_a_tool_calling_agent_streams_and_remembers(memory: MemorySystem) -> None:
    prompt = ChatPromptTemplate(
        [
            ("system", "Help."),
            MessagesPlaceholder("chat_history"),
            ("human", "{input}"),
            MessagesPlaceholder("agent_scratchpad"),
        ]
    )
    made = _made(memory, memory_key="chat_history", return_messages=True)
    model = scripted(("weather", {"city": "Köln"}), "It rains.", "A coat.")
    agent = create_tool_calling_agent(model, [weather], prompt)
    executor = AgentExecutor(agent=agent, tools=[weather], memory=made)

    parts = list(executor.stream({"input": "How is Köln?"}))
    answer = executor.invoke({"input": "And to wear?"})

    assert [part["output"] for part in parts if "output" in part] == ["It rains."]
    assert answer["output"] == "A coat."
    assert [(one.type, one.content) for one in answer["chat_history"]] == [
        ("human", "How is Köln?"),
        ("ai", "It rains."),
    ]
    assert [text for _, text in _kept(memory)] == ["How is Köln?", "It rains.", "And to wear?", "A coat."]
