"""Every kind of classic chain, called in every way that there is, with the memory in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor, create_react_agent
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain, LLMChain
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import tool

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.langchain import TieredMemory, TieredMemoryRetriever
from tests.adapters.langchain.agents import Prompts

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")

PEANUTS = "I am allergic to peanuts"
QUOTED = f'user, episode: "{PEANUTS}"'


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}"


def conversation(memory: TieredMemory) -> Any:
    return ConversationChain(llm=FakeListChatModel(responses=["ok"]), memory=memory)


def llm_chain(memory: TieredMemory) -> Any:
    prompt = PromptTemplate.from_template("{history}\n{input}")
    return LLMChain(llm=FakeListLLM(responses=["ok"]), prompt=prompt, memory=memory)


def retrieval(memory: TieredMemory) -> Any:
    return ConversationalRetrievalChain.from_llm(
        llm=FakeListChatModel(responses=["ok"]),
        retriever=TieredMemoryRetriever(memory=memory.memory, user_id="nobody"),
        memory=memory.model_copy(update={"memory_key": "chat_history"}),
        get_chat_history=str,
    )


def executor(memory: TieredMemory) -> Any:
    prompt = PromptTemplate.from_template("{tools}{tool_names}\n{history}\n{input}{agent_scratchpad}")
    agent = create_react_agent(FakeListLLM(responses=["done\nFinal Answer: ok"]), [weather], prompt)
    return AgentExecutor(agent=agent, tools=[weather], memory=memory)


KINDS: dict[str, tuple[Callable[[TieredMemory], Any], str, str]] = {
    "conversation": (conversation, "input", "response"),
    "LLMChain": (llm_chain, "input", "text"),
    "retrieval": (retrieval, "question", "answer"),
    "agent": (executor, "input", "output"),
}
WAYS = ("invoke", "ainvoke", "batch", "abatch", "stream", "astream")


async def ask(chain: Any, way: str, inputs: list[dict[str, str]], config: Any = None) -> list[dict[str, Any]]:
    """Ask a chain in one of the ways, and return its outputs."""
    call = getattr(chain, way)
    if way == "batch":
        return list(call(inputs, config))
    if way == "abatch":
        return list(await call(inputs, config))
    if way == "invoke":
        return [call(one, config) for one in inputs]
    if way == "ainvoke":
        return [await call(one, config) for one in inputs]
    if way == "stream":
        return [list(call(one, config))[-1] for one in inputs]
    return [[part async for part in call(one, config)][-1] for one in inputs]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_turn_is_kept_once_and_known_in_the_next_session(memory: MemorySystem, kind: str, way: str) -> None:
    make, asked, answered = KINDS[kind]
    first = make(TieredMemory(memory=memory, user_id="ada", session_id="monday"))
    inputs = [{asked: PEANUTS}, {asked: "I have a sister"}]
    prompts = Prompts()

    outputs = await ask(first, way, inputs)
    await ask(
        make(TieredMemory(memory=memory, user_id="ada", session_id="friday")),
        way,
        [{asked: "Am I allergic to peanuts?"}],
        {"callbacks": [prompts]},
    )

    kept = [(message.role, message.text) for message in await memory.session("ada", "monday").transcript()]
    assert [one[answered] for one in outputs] == ["ok", "ok"]
    assert sorted(kept) == sorted([("user", PEANUTS), ("user", "I have a sister"), *[("assistant", "ok")] * 2])
    assert [role for role, _ in kept] == ["user", "assistant"] * 2
    assert QUOTED in prompts.seen[0]
