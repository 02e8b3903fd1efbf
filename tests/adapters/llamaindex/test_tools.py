"""The memory as tools of an agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.tools import FunctionTool

from langchain_tiered_memory import ConfigError, InvalidInput, MemorySystem
from llamaindex_adapter import create_memory_tools
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, said
from tests.adapters.llamaindex.models import ANSWER, Recorder, calls

# LlamaIndex's agents use what pydantic has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")


@pytest.fixture
def tools(memory: MemorySystem) -> dict[str, FunctionTool]:
    return {str(tool.metadata.name): tool for tool in create_memory_tools(memory, ADA)}


def parameters(tool: FunctionTool) -> dict[str, Any]:
    """Return what a model is told of a tool's arguments."""
    return json.loads(tool.metadata.fn_schema_str)["properties"]  # type: ignore[no-any-return] # JSON


def test_a_model_is_told_what_the_tools_take(tools: dict[str, FunctionTool]) -> None:
    assert list(tools) == ["save_memory", "search_memories", "forget_memory"]
    for tool in tools.values():
        assert len(tool.metadata.description) > 30
        assert all(one.get("description") for one in parameters(tool).values())
    save = parameters(tools["save_memory"])
    assert save["memory_type"]["enum"] == ["fact", "preference", "episode"]
    assert list(save) == ["content", "memory_type", "slot"]


async def test_what_is_saved_is_found_and_can_be_forgotten(tools: dict[str, FunctionTool]) -> None:
    told = await tools["save_memory"].acall(content="Ada's cat is called Mia", memory_type="fact")
    memory_id = json.loads(told.content.removeprefix("Saved as ").removesuffix("."))

    found = await tools["search_memories"].acall(query="the name of the cat")
    assert '"Ada\'s cat is called Mia"' in found.content
    assert memory_id in json.loads(found.content.rsplit(": ", 1)[1])

    assert (await tools["forget_memory"].acall(memory_id=memory_id)).content == "Forgotten."
    assert "Mia" not in (await tools["search_memories"].acall(query="the name of the cat")).content


def test_blocking_they_do_the_same(tools: dict[str, FunctionTool], memory: MemorySystem) -> None:
    told = tools["save_memory"](content="Ada works at Initech", slot="employer").content
    tools["save_memory"](content="Ada works at Initrode", slot="employer")

    current = [one.content for one in memory.sync.list(ADA) if one.slot == "employer"]
    assert current == ["Ada works at Initrode"]
    assert "Initrode" in tools["search_memories"](query="Where does Ada work?").content
    memory_id = json.loads(told.removeprefix("Saved as ").removesuffix("."))
    assert tools["forget_memory"](memory_id=memory_id).content == "Forgotten."
    assert "search_memories" in tools["forget_memory"](memory_id=memory_id).content


def test_nothing_found_is_said(memory: MemorySystem) -> None:
    (_, search, _) = create_memory_tools(memory, "nobody")

    assert search(query="anything").content == "Nothing is remembered about that."


def test_users_agents_and_sessions_may_be_said_at_each_call(memory: MemorySystem) -> None:
    whose = {"user": ADA, "session": "chat"}
    save, search, _ = create_memory_tools(
        memory, lambda: whose["user"], session_id=lambda: whose["session"], agent_id="cook", k=1, max_tokens=50
    )

    save(content="Ada cooks on Sundays")
    whose["user"] = "bob"
    save(content="Bob never cooks")

    assert "Ada" not in search(query="Who cooks?").content
    (ada,) = [one for one in memory.sync.list(ADA) if "Sundays" in one.content]
    assert (ada.session_id, ada.agent_id, ada.tier) == ("chat", "cook", "long_term")


def test_what_cannot_be_used_is_raised(tools: dict[str, FunctionTool]) -> None:
    with pytest.raises(InvalidInput, match="memory_type"):
        tools["save_memory"].call(content="x", memory_type="rumour")


def test_what_answers_nothing_is_not_found_when_asked_for(memory: MemorySystem) -> None:
    search = create_memory_tools(memory, ADA, min_score="auto")[1]

    assert search.call(query="planets with moons").content == "Nothing is remembered about that."
    assert PEANUTS in search.call(query="allergic to peanuts").content


def test_what_cannot_work_is_refused_at_once(memory: MemorySystem) -> None:
    wrong: list[dict[str, Any]] = [{"user_id": ""}, {"user_id": None}, {"session_id": ""}, {"agent_id": ""}]
    for given in wrong:
        with pytest.raises(InvalidInput, match=next(iter(given))):
            create_memory_tools(memory, **{"user_id": ADA, **given})
    with pytest.raises(ConfigError, match="register"):
        create_memory_tools("nobody", ADA)


def test_a_memory_may_be_named(memory: MemorySystem) -> None:
    search = create_memory_tools(memory.reference, ADA)[1]

    assert PEANUTS in search.call(query="peanuts").content


async def test_an_agent_saves_and_searches_and_is_told_of_mistakes(memory: MemorySystem) -> None:
    model = Recorder(
        calls("search_memories", query="allergies"),
        calls("save_memory", content="x", memory_type="rumour"),
        calls("save_memory", content="Ada likes oat bars", memory_type="preference"),
        ANSWER,
    )
    agent = FunctionAgent(llm=model.llm, tools=[*create_memory_tools(memory, ADA)])

    result: Any = await agent.run(user_msg="Which snack?")

    told = [call.tool_output.content for call in result.tool_calls]
    assert PEANUTS in told[0]
    assert "one of fact, episode, preference is needed" in told[1]
    assert told[2].startswith("Saved as")
    assert "Ada likes oat bars" in [one.content for one in memory.sync.list(ADA)]


async def test_forgotten_in_a_turn_is_forgotten_in_that_turn(memory: MemorySystem) -> None:
    from llamaindex_adapter import TieredMemory

    model = Recorder(calls("forget_memory", memory_id="peanuts"), ANSWER)
    agent = FunctionAgent(llm=model.llm, tools=[*create_memory_tools(memory, ADA)])
    chat = TieredMemory(memory, ADA, "chat")

    await agent.run(user_msg="Forget about the peanuts.", memory=chat)

    first, second = ("".join(message.content or "" for message in prompt) for prompt in model.prompts)
    assert PEANUTS in first
    assert PEANUTS not in second
    assert said("Forget about the peanuts.") in model.prompts[1]
