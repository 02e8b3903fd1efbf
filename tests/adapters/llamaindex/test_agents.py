"""Agents with tools from end to end, on LlamaIndex's mock models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.agent import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, JsonSerializer
from workflows.context.serializers import PickleSerializer

from langchain_tiered_memory import MemorySystem
from langchain_tiered_memory.embedding import HashedEmbedder
from llamaindex_adapter import TieredMemory
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said
from tests.adapters.llamaindex.models import ANSWER, Recorder, calls, shelf
from tests.flow.systems import QUIET, House

# LlamaIndex's agents use what LlamaIndex and pydantic have deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]

SNACK = "Which snack can I buy, with peanuts or without?"
THOUGHT = 'Thought: I look it up.\nAction: look_up\nAction Input: {"snack": "oat bar"}'
CONCLUSION = f"Thought: I know it now.\nAnswer: {ANSWER}"
NAME = "a memory of the tests"


def function_agent(*answers: ChatMessage | str, **options: Any) -> tuple[FunctionAgent, Recorder]:
    model = Recorder(*answers)
    return FunctionAgent(name="shopper", description="shops", llm=model.llm, tools=[shelf()], **options), model


def react_agent(*answers: ChatMessage | str, **options: Any) -> tuple[ReActAgent, Recorder]:
    model = Recorder(*answers)
    return ReActAgent(name="shopper", description="shops", llm=model.llm, tools=[shelf()], **options), model


def workflow(*answers: ChatMessage | str) -> tuple[AgentWorkflow, Recorder]:
    agent, model = function_agent(*answers)
    return AgentWorkflow(agents=[agent], root_agent=agent.name), model


ANSWERS: dict[str, tuple[Any, ...]] = {
    "function": (function_agent, calls("look_up", snack="oat bar"), ANSWER),
    "react": (react_agent, THOUGHT, CONCLUSION),
    "workflow": (workflow, calls("look_up", snack="oat bar"), ANSWER),
}


@pytest.fixture(params=ANSWERS)
def agent(request: pytest.FixtureRequest) -> tuple[Any, Recorder]:
    """An agent that uses a tool and then answers, and its model."""
    make, *answers = ANSWERS[request.param]
    made: tuple[Any, Recorder] = make(*answers)
    return made


async def test_what_another_session_was_told_is_in_every_prompt(
    agent: tuple[Any, Recorder], chat: TieredMemory, memory: MemorySystem
) -> None:
    """Also where the agent has no system prompt: then ReActAgent drops the first system message."""
    made, model = agent

    result = await made.run(user_msg=SNACK, memory=chat)

    assert str(result.response.content) == ANSWER
    assert len(model.prompts) == 2
    for prompt in model.prompts:
        assert "".join(contents(prompt)).count(PEANUTS) == 1
        assert contents(prompt).count(SNACK) == 1
    assert "oats and honey" in model.last()
    assert memory.sync.get(ADA, "peanuts").access_count == 1


async def test_the_next_session_recalls_what_was_said_in_this_one(
    agent: tuple[Any, Recorder], chat: TieredMemory, memory: MemorySystem
) -> None:
    made, model = agent
    await made.run(user_msg="My cat is called Mia.", memory=chat)

    await made.run(user_msg="What is my cat called?", memory=TieredMemory(memory, ADA, "next"))

    assert "My cat is called Mia." in model.last()


async def test_the_next_turn_shows_the_last_one(agent: tuple[Any, Recorder], chat: TieredMemory) -> None:
    made, model = agent
    context = Context(made)

    await made.run(user_msg="My cat is called Mia.", memory=chat, ctx=context)
    await made.run(user_msg="Say it again.", ctx=context)

    assert "My cat is called Mia." in contents(model.prompts[-1])
    assert contents(chat.get_all())[-2] == "Say it again."


async def test_a_history_is_taken_over(agent: tuple[Any, Recorder], chat: TieredMemory) -> None:
    made, _ = agent
    history = [said("My cat is called Mia."), said("Nice.", "assistant")]

    await made.run(user_msg="Which snack?", chat_history=history, memory=chat)

    assert contents(chat.get_all())[:3] == ["My cat is called Mia.", "Nice.", "Which snack?"]


async def test_a_history_alone_is_enough(agent: tuple[Any, Recorder], chat: TieredMemory) -> None:
    made, model = agent

    await made.run(chat_history=[said(SNACK)], memory=chat)

    assert PEANUTS in model.last()


async def test_state_is_not_written_into_the_memory(chat: TieredMemory) -> None:
    """Agents write their state into the text of the last message that they are given."""
    made, model = function_agent(initial_state={"mood": "sunny"})

    await made.run(user_msg="hello", memory=chat)

    assert "sunny" in model.last()
    assert contents(chat.get_all())[0] == "hello"


class TestTools:
    async def test_calls_and_results_are_kept_and_stay_together(self, chat: TieredMemory) -> None:
        made, model = function_agent(calls("look_up", snack="oat bar"), ANSWER, ANSWER)

        await made.run(user_msg="Which snack?", memory=chat)
        await made.run(user_msg="Really?", memory=chat)

        roles = [message.role.value for message in chat.get_all()]
        assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
        asks, answers = chat.get_all()[1:3]
        assert asks.blocks == calls("look_up", snack="oat bar").blocks
        assert answers.additional_kwargs == {"tool_call_id": "c1"}
        assert model.prompts[-1][1:3] == [asks, answers]

    async def test_a_tool_that_fails_is_told_of_and_kept(self, chat: TieredMemory) -> None:
        def break_down() -> str:
            """Break down."""
            raise RuntimeError("the shop is closed")

        model = Recorder(calls("break_down"), ANSWER)
        made = FunctionAgent(llm=model.llm, tools=[break_down])

        await made.run(user_msg="Which snack?", memory=chat)

        assert contents(chat.get_all())[2] == "the shop is closed"

    async def test_a_tool_that_returns_directly(self, chat: TieredMemory) -> None:
        model = Recorder(calls("look_up", snack="oat bar"))
        tool = FunctionTool.from_defaults(shelf(), return_direct=True)
        made = FunctionAgent(llm=model.llm, tools=[tool])

        await made.run(user_msg="Which snack?", memory=chat)

        assert contents(chat.get_all())[-1] == "oat bar: oats and honey"

    async def test_many_calls_at_once(self, chat: TieredMemory) -> None:
        asks = ChatMessage(
            role="assistant",
            blocks=[block for n in range(9) for block in calls("look_up", id=f"c{n}", snack=f"bar {n}").blocks],
        )
        made, model = function_agent(asks, ANSWER, ANSWER)

        await made.run(user_msg="Which snack?", memory=chat)
        await made.run(user_msg="Really?", memory=chat)

        results = [message for message in model.prompts[-1] if message.role == "tool"]
        assert {message.additional_kwargs["tool_call_id"] for message in results} == {f"c{n}" for n in range(9)}

    async def test_agents_that_hand_off_share_the_memory(self, chat: TieredMemory, memory: MemorySystem) -> None:
        model = Recorder(calls("handoff", to_agent="cook", reason="cooking"), ANSWER)
        shopper = FunctionAgent(name="shopper", description="shops", llm=model.llm, can_handoff_to=["cook"])
        cook = FunctionAgent(name="cook", description="cooks", llm=model.llm)

        both = AgentWorkflow(agents=[shopper, cook], root_agent="shopper")
        result: Any = await both.run(user_msg=SNACK, memory=chat)

        assert result.current_agent_name == "cook"
        assert all(PEANUTS in "".join(contents(prompt)) for prompt in model.prompts)
        assert memory.sync.get(ADA, "peanuts").access_count == 1


async def test_an_agent_that_replaces_system_messages_shows_the_notes(chat: TieredMemory) -> None:
    def run(code: str) -> str:
        return code

    model = Recorder()
    made = CodeActAgent(llm=model.llm, code_execute_fn=run)

    await made.run(user_msg=SNACK, memory=chat)

    assert PEANUTS in model.last()


async def test_an_empty_memory_is_not_replaced(agent: tuple[Any, Recorder], chat: TieredMemory) -> None:
    """Agents say `if not await ctx.store.get("memory")`."""
    made, _ = agent
    context = Context(made)

    await made.run(user_msg="hello", memory=chat, ctx=context)

    assert await context.store.get("memory") is chat


class TestContext:
    """A workflow's context is stored between two requests, and its memory reconnects."""

    @pytest.fixture
    def house(self, folder_house: House) -> Iterator[House]:
        MemorySystem.register(NAME, folder_house.system)
        yield folder_house
        MemorySystem._registry.unregister(NAME)

    @pytest.mark.parametrize("serializer", [JsonSerializer(), PickleSerializer()], ids=["json", "pickle"])
    async def test_it_brings_back_a_memory_that_goes_on(
        self, agent: tuple[Any, Recorder], serializer: Any, house: House
    ) -> None:
        made, model = agent
        context = Context(made)
        chat = TieredMemory(NAME, ADA, "chat", k=3, max_tokens=900)
        await made.run(user_msg="My cat is called Mia.", memory=chat, ctx=context)
        stored = context.to_dict(serializer=serializer)

        # As another process would: the factory is asked again.
        MemorySystem.registered(NAME).sync.close()
        MemorySystem.register(NAME, house.system)
        restored = Context.from_dict(made, stored, serializer=serializer)
        await made.run(user_msg="What is it called?", ctx=restored)

        found = await restored.store.get("memory")
        assert isinstance(found, TieredMemory)
        assert found is not chat
        assert (found.user_id, found.session_id, found.k, found.max_tokens) == (ADA, "chat", 3, 900)
        assert "My cat is called Mia." in contents(model.prompts[-1])
        assert contents(found.get_all())[-2] == "What is it called?"

    async def test_a_memory_in_ram_goes_on_in_its_own_process(self, agent: tuple[Any, Recorder]) -> None:
        """LlamaIndex serialises the context between two runs, and goes on with a memory of its own if that fails."""
        made, model = agent
        context = Context(made)
        chat = TieredMemory(MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET), ADA)
        session_id = chat.session_id
        await made.run(user_msg="My cat is called Mia.", memory=chat, ctx=context)
        del chat

        await made.run(user_msg="What is it called?", ctx=context)

        found = await context.store.get("memory")
        assert isinstance(found, TieredMemory)
        assert found.session_id == session_id
        assert "My cat is called Mia." in contents(model.prompts[-1])
        found.memory.sync.close()

    async def test_an_unknown_name_is_refused(self, agent: tuple[Any, Recorder], house: House) -> None:
        made, _ = agent
        context = Context(made)
        await made.run(user_msg="hello", memory=TieredMemory(NAME, ADA), ctx=context)
        stored = context.to_dict()
        MemorySystem.registered(NAME).sync.close()
        MemorySystem._registry.unregister(NAME)

        with pytest.raises(ValueError, match=f"no memory is registered as '{NAME}'"):  # LlamaIndex's, around ours
            await Context.from_dict(made, stored).store.get("memory")
