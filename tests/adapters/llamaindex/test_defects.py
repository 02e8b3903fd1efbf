"""What is wrong in the memories that LlamaIndex has of its own or by others: here it is right."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.workflow import Context

from langchain_tiered_memory import BackendUnavailable, MemorySystem
from langchain_tiered_memory.tokens import TiktokenCounter
from llamaindex_adapter import TieredMemory, TieredMemoryBlock
from llamaindex_adapter.messages import from_llamaindex
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said
from tests.adapters.llamaindex.models import Recorder, calls
from tests.conftest import FakeClock
from tests.flow.systems import House

# LlamaIndex's agents use what pydantic has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")


async def test_vector_memory_block_pins_the_filter_of_its_first_session(memory: MemorySystem) -> None:
    """llama_index #22701: a `VectorMemoryBlock` in two sessions serves the second one what the first one said."""
    memory.sync.remember("alice", "ALICE's secret is a cake", "fact")
    memory.sync.remember("bob", "BOB's secret is a pie", "fact")
    blocks = {user: TieredMemoryBlock(memory, user, filter={"memory_type": "fact"}) for user in ("alice", "bob")}

    for _ in range(2):
        for user, block in blocks.items():
            theirs = Memory.from_defaults(session_id=f"chat of {user}", memory_blocks=[block])
            shown = "".join(contents(await theirs.aget(input="What is the secret?")))
            assert f"{user.upper()}'s secret" in shown
            assert shown.count("'s secret is") == 1
            assert block.filter == {"memory_type": "fact"}


def test_tool_calls_cost_nothing(memory: MemorySystem) -> None:
    """`ToolCallBlock` counts as 0 tokens in LlamaIndex 0.14: a prompt of calls overflows the model."""
    chat = TieredMemory(memory, "bob", "chat", max_tokens=500)
    for number in range(20):
        chat.put(said(f"question {number}"))
        chat.put(calls("look_up", id=f"c{number}", snack="oat bar " * 20))
        chat.put(said("found", "tool", tool_call_id=f"c{number}"))
        chat.put(said("an answer", "assistant"))

    shown = chat.get()

    counter = TiktokenCounter()
    assert counter.message(from_llamaindex(calls("look_up", snack="oat bar " * 20))[0]) > 40
    assert sum(counter.message(message) for message in from_llamaindex(*shown)) + 3 <= 500
    assert Memory.from_defaults()._estimate_token_count(calls("look_up", snack="oat bar " * 20)) == 0


async def test_the_highest_priority_is_dropped_first(memory: MemorySystem) -> None:
    """LlamaIndex says 1 is the highest priority and drops 1 before 2: ours is shortened and stays."""
    for number in range(5):
        memory.sync.remember("bob", f"Peanuts number {number}. " + "A fine nut. " * 20, "fact")
    block = TieredMemoryBlock(memory, "bob", priority=1)
    theirs = Memory.from_defaults(memory_blocks=[block], token_limit=300, chat_history_token_ratio=0.9)
    await theirs.aput(said("Which peanuts? " * 20))

    assert "Peanuts number" in "".join(contents(await theirs.aget()))


async def test_a_failing_block_fails_the_whole_turn(memory: MemorySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """In LlamaIndex whatever a block raises ends the turn; ours says less and logs why."""

    def fail(*_: object, **__: object) -> None:
        raise BackendUnavailable("sqlite", "answer", "the disk is full")

    monkeypatch.setattr(memory.sync, "recall", fail)
    monkeypatch.setattr(memory.sync, "session", fail)
    block = TieredMemoryBlock.model_construct(name="ours", memory=memory, user_id=ADA, agent_id=None, k=5, filter=None)
    model = Recorder()

    theirs = Memory.from_defaults(memory_blocks=[block])
    await FunctionAgent(llm=model.llm, tools=[]).run(user_msg="hello", memory=theirs)

    assert contents(model.prompts[0]) == ["hello"]


async def test_concurrent_puts_archive_too_much(chat: TieredMemory, memory: MemorySystem) -> None:
    """LlamaIndex archives by position, so that concurrent puts archive what they did not flush."""
    texts = [f"The train number {number} leaves at noon." for number in range(60)]

    await asyncio.gather(*[chat.aput(said(text)) for text in texts])

    assert sorted(contents(chat.get_all())) == sorted(texts)
    assert {one.content for one in memory.sync.list(ADA)} >= set(texts)


async def test_a_new_object_for_the_same_session_sees_no_messages(folder_house: House) -> None:
    """`Memory` keeps its messages in an SQLite of its own instance, without ids and times."""
    first = Memory.from_defaults(session_id="chat")
    await first.aput(said("hello"))
    assert await Memory.from_defaults(session_id="chat").aget() == []

    TieredMemory(folder_house.system(), ADA, "chat").put(said("hello"))
    folder_house.close()

    memory = folder_house.system()
    assert TieredMemory(memory, ADA, "chat").get_all() == [said("hello")]
    (message,) = memory.sync.session(ADA, "chat").transcript()
    assert message.id
    assert message.created_at is not None


class TestMem0:
    """What `llama-index-memory-mem0` does."""

    def test_from_defaults_raises(self, memory: MemorySystem) -> None:
        made = TieredMemory.from_defaults(memory=memory, user_id=ADA, chat_history=[said("hello")])

        assert made.get_all() == [said("hello")]

    def test_put_waits_for_a_model(self, clock: FakeClock) -> None:
        """Neither the embedder nor an extractor is asked when a message is put."""

        class Slow:
            def extract(self, memories: Any) -> tuple[Any, ...]:
                time.sleep(60)
                return ()

        house = House(clock, ":memory:")
        chat = TieredMemory(house.system(extractor=Slow()), ADA, "chat")
        started = time.perf_counter()

        for number in range(10):
            chat.put(said(f"My lucky number is {number}."))

        assert time.perf_counter() - started < 5
        house.close()

    def test_reset_takes_what_was_remembered_along(self, chat: TieredMemory) -> None:
        """There is no way there to keep the one and drop the other; here `forget_user` drops both."""
        chat.put(said("My cat is called Mia."))

        chat.reset()

        assert "Mia" in "".join(contents(chat.get("What is my cat called?")))
        chat.memory.sync.forget_user(ADA)
        assert chat.get("What is my cat called?") == []


class TestLoops:
    """What LlamaIndex's `asyncio_run` does to a memory that is asynchronous inside."""

    async def test_blocking_calls_inside_a_loop_need_no_second_loop(self, chat: TieredMemory) -> None:
        chat.put(said("hello"))

        assert chat.get()[-1] == said("hello")

    def test_calls_from_many_loops_one_after_the_other(self, chat: TieredMemory) -> None:
        for number in range(5):
            asyncio.run(chat.aput(said(f"message {number}")))

        assert len(asyncio.run(chat.aget_all())) == 5

    def test_a_runtime_error_is_itself(self, chat: TieredMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        """`asyncio_run` says "Detected nested async" of any RuntimeError."""

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("the real reason")

        monkeypatch.setattr(chat.memory.sync, "session", fail)

        with pytest.raises(RuntimeError, match="the real reason"):
            chat.get()

    async def test_the_loop_is_not_blocked(self, chat: TieredMemory) -> None:
        chat.put_messages([said(f"The train number {number} leaves at noon.") for number in range(300)])
        lags = []

        async def watch() -> None:
            while True:
                started = time.perf_counter()
                await asyncio.sleep(0.001)
                lags.append(time.perf_counter() - started)

        watching = asyncio.create_task(watch())
        for number in range(10):
            await chat.aput(said(f"When does number {number} leave?"))
            await chat.aget()
        watching.cancel()

        assert sorted(lags)[len(lags) // 2] < 0.02

    def test_threads_without_a_loop(self, chat: TieredMemory) -> None:
        threads = [threading.Thread(target=chat.put, args=(said(f"message {n}"),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(chat.get_all()) == 8


async def test_memory_that_a_base_class_runs_in_threads_loses_the_last_message(memory: MemorySystem) -> None:
    """agent-memory PR #101: `BaseMemory.aput_messages` was inherited, and the answer dropped when the run ended."""
    chat = TieredMemory(memory, ADA, "chat")

    await FunctionAgent(llm=Recorder().llm, tools=[]).run(user_msg="hello", memory=chat)

    assert contents(chat.get_all()) == ["hello", "None with nuts."]
    assert "to_thread" not in inspect.getsource(TieredMemory)


async def test_a_block_that_others_share_an_instance_of_holds_nothing_of_anybody(memory: MemorySystem) -> None:
    """The facts of a `FactExtractionMemoryBlock` are those of all sessions of one instance."""
    block = TieredMemoryBlock(memory, ADA)
    await block.aput([said("My cat is called Mia.")], session_id="one")

    held = "".join(str(value) for value in vars(block).values())

    assert "Mia" not in held
    assert PEANUTS not in held


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
async def test_a_context_does_not_keep_the_memory_of_the_run_before(memory: MemorySystem) -> None:
    """The next run goes on with a `ChatMemoryBuffer`, blocks and all that was said gone; passing it again helps."""
    kinds, prompts = [], []
    own = Memory.from_defaults(session_id="own", memory_blocks=[TieredMemoryBlock(memory, ADA)])
    for kept, again in ((own, None), (own, own), (TieredMemory(memory, ADA, "ours"), None)):
        model = Recorder()
        agent = FunctionAgent(llm=model.llm, tools=[])
        context = Context(agent)
        await agent.run(user_msg="hello", memory=kept, ctx=context)
        await agent.run(user_msg="Are peanuts fine?", memory=again, ctx=context)
        kinds.append(type(await context.store.get("memory")))
        prompts.append(PEANUTS in model.last())

    assert kinds == [ChatMemoryBuffer, Memory, TieredMemory]
    assert prompts == [False, True, True]
