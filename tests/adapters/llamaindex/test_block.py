"""`TieredMemoryBlock` in LlamaIndex's own `Memory`."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory, StaticMemoryBlock

from langchain_tiered_memory import BackendUnavailable, ConfigError, InvalidInput, MemorySystem, ModelMismatch
from langchain_tiered_memory.core.prompt import is_block
from llamaindex_adapter import TieredMemory, TieredMemoryBlock
from llamaindex_adapter.counting import LlamaIndexCounter
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said
from tests.adapters.llamaindex.models import Recorder, calls, shelf
from tests.flow.systems import FailingEmbedder, House

# LlamaIndex's agents use what pydantic has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")

SNACK = "Which snack can I buy, with peanuts or without?"


@pytest.fixture
def block(memory: MemorySystem) -> TieredMemoryBlock:
    return TieredMemoryBlock(memory, ADA)


def around(*blocks: BaseMemoryBlock[Any], session_id: str = "chat", **options: Any) -> Memory:
    """Return LlamaIndex's memory around blocks."""
    return Memory.from_defaults(session_id=session_id, memory_blocks=list(blocks), **options)


def episodes(memory: MemorySystem, user_id: str = ADA) -> list[str]:
    """Return what was remembered of what was said."""
    return sorted(one.content for one in memory.sync.list(user_id, memory_types=["episode"]))


FULL = BackendUnavailable("sqlite", "answer", "the disk is full")


def break_down(monkeypatch: pytest.MonkeyPatch, memory: MemorySystem, *calls_: str, error: Exception = FULL) -> None:
    """Let calls of the memory fail."""

    def fail(*_: object, **__: object) -> None:
        raise error

    for name in calls_:
        monkeypatch.setattr(memory.sync, name, fail)


class TestTurns:
    async def test_the_prompt_has_the_notes(self, block: TieredMemoryBlock) -> None:
        theirs = around(block)
        await theirs.aput(said(SNACK))

        system, user = await theirs.aget()

        assert user == said(SNACK)
        assert PEANUTS in (system.content or "")
        assert "<tiered_memory>" in (system.content or "")

    async def test_the_notes_are_for_the_message_that_is_asked_for(self, block: TieredMemoryBlock) -> None:
        theirs = around(block)
        await theirs.aput(said("hello"))

        assert PEANUTS in "".join(contents(await theirs.aget(input=SNACK)))

    async def test_another_session_knows_what_this_one_was_told(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        """At the next turn, and not only when a short-term memory of 30,000 tokens overflows."""
        first = around(block)
        for message in (said("My cat is called Mia."), said("Nice.", "assistant"), said("Isn't it?")):
            await first.aput(message)
            await first.aget()

        second = around(TieredMemoryBlock(memory, ADA), session_id="next")
        await second.aput(said("What is my cat called?"))

        assert "My cat is called Mia." in "".join(contents(await second.aget()))
        assert "My cat is called Mia." in "".join(contents(TieredMemory(memory, ADA).get("What is my cat called?")))

    async def test_what_is_shown_anyway_is_not_noted(self, block: TieredMemoryBlock) -> None:
        theirs = around(block)
        for message in (said("My cat is called Mia."), said("Nice.", "assistant"), said("What is my cat called?")):
            await theirs.aput(message)
            shown = await theirs.aget()

        assert "".join(contents(shown)).count("Mia") == 1

    async def test_what_the_short_term_memory_has_let_go_is_noted(self, block: TieredMemoryBlock) -> None:
        theirs = around(block, token_limit=300, token_flush_size=100)
        await theirs.aput(said("My cat is called Mia."))
        for number in range(40):
            await theirs.aput(said(f"The train number {number} leaves at noon."))
            await theirs.aput(said("Noted.", "assistant"))

        notes, *window = contents(await theirs.aget(input="What is my cat called?"))

        assert "My cat is called Mia." not in window
        assert "My cat is called Mia." in notes

    async def test_a_preference_is_noted_whatever_is_asked_and_once(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        """Ten messages resemble the question more, and none of them says what not to cook."""
        for number in range(10):
            memory.sync.remember(ADA, f"We cooked dish number {number} for the guests", "fact")
        picture = ChatMessage(role="user", blocks=[ImageBlock(url="https://example.org/dish.png")])

        for asked in (said("What shall we cook for the guests?"), said("Are peanuts fine?"), picture):
            notes = await block.aget([asked], session_id="chat")

            assert notes.split("\n")[2].endswith(f'"{PEANUTS}"')
            assert notes.count(PEANUTS) == 1
        assert memory.sync.get(ADA, "peanuts").access_count == 1

    async def test_a_preference_that_may_not_be_recalled_is_not_noted_either(self, memory: MemorySystem) -> None:
        memory.sync.remember(ADA, "I prefer tea", "preference", agent_id="cook")
        memory.sync.remember("bob", "I prefer milk", "preference")
        asked = [said("What shall we drink?")]

        assert "tea" in await TieredMemoryBlock(memory, ADA).aget(asked, session_id="1")
        assert "tea" not in await TieredMemoryBlock(memory, ADA, agent_id="shopper").aget(asked, session_id="2")
        assert await TieredMemoryBlock(memory, ADA, filter={"memory_type": "fact"}).aget(asked, session_id="3") == ""
        assert "milk" not in await TieredMemoryBlock(memory, ADA).aget(asked, session_id="4")

    async def test_a_preference_that_is_shown_anyway_is_not_noted(self, memory: MemorySystem) -> None:
        theirs = around(TieredMemoryBlock(memory, "bob"))
        for message in (said("I prefer tea over coffee."), said("Noted.", "assistant"), said("What do I prefer?")):
            await theirs.aput(message)
            shown = await theirs.aget()
        memory.sync.consolidate("bob")

        assert "".join(contents(await theirs.aget())).count("tea") == 1
        assert "".join(contents(shown)).count("tea") == 1
        assert "tea" in await TieredMemoryBlock(memory, "bob").aget([said("Hello!")], session_id="next")

    async def test_in_an_agent(self, block: TieredMemoryBlock, memory: MemorySystem) -> None:
        model = Recorder(calls("look_up", snack="oat bar"))
        agent = FunctionAgent(llm=model.llm, tools=[shelf()])

        await agent.run(user_msg=SNACK, memory=around(block))

        assert all(PEANUTS in "".join(contents(prompt)) for prompt in model.prompts)
        assert episodes(memory) == ["None with nuts.", SNACK]

    async def test_in_a_chat_engine(self, block: TieredMemoryBlock) -> None:
        model = Recorder()
        engine = SimpleChatEngine.from_defaults(llm=model.llm, memory=around(block, insert_method=InsertMethod.USER))

        await engine.achat(SNACK)

        assert PEANUTS in (model.prompts[0][-1].content or "")

    async def test_nothing_is_remembered_where_nothing_shall_be(self, memory: MemorySystem) -> None:
        theirs = around(TieredMemoryBlock(memory, ADA, accept_short_term_memory=False))
        await theirs.aput(said(SNACK))

        assert PEANUTS in "".join(contents(await theirs.aget()))
        assert episodes(memory) == []

    async def test_nothing_asked_is_nothing_noted(self, block: TieredMemoryBlock) -> None:
        assert await block.aget() == ""
        assert await block.aget([]) == ""
        assert await block.aget([said("be kind", "system")]) == ""

    async def test_filter_agent_and_k(self, memory: MemorySystem) -> None:
        memory.sync.remember(ADA, "Peanuts are on the list", "fact", agent_id="shopper")
        memory.sync.remember(ADA, "Peanuts were on the table", "fact", agent_id="cook")
        asked = [said("peanuts?")]

        facts = await TieredMemoryBlock(memory, ADA, filter={"memory_type": "fact"}).aget(asked, session_id="1")
        shopper = await TieredMemoryBlock(memory, ADA, agent_id="shopper").aget(asked, session_id="2")
        one = await TieredMemoryBlock(memory, ADA, k=1, filter={"memory_type": "fact"}).aget(asked, session_id="3")

        assert PEANUTS not in facts
        assert "list" in shopper
        assert "table" not in shopper
        assert one.count("\n- ") == 1


class TestIdempotent:
    async def test_a_message_is_remembered_once_however_often_it_comes(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        messages = [said("My cat is called Mia."), said("Nice.", "assistant")]
        for _ in range(3):
            await block.aget(messages, session_id="chat")
            await block.aput(list(messages), from_short_term_memory=True, session_id="chat")
        await TieredMemoryBlock(memory, ADA).aput(messages, session_id="chat")

        assert episodes(memory) == ["My cat is called Mia.", "Nice."]
        assert len(memory.sync.session(ADA, "chat").transcript()) == 2

    async def test_many_at_once(self, memory: MemorySystem) -> None:
        messages = [said(f"The train number {number} leaves at noon.") for number in range(20)]
        blocks = [TieredMemoryBlock(memory, ADA) for _ in range(4)]

        await asyncio.gather(*[one.aput(list(messages), session_id="chat") for one in blocks for _ in range(3)])

        assert episodes(memory) == sorted(contents(messages))

    async def test_the_same_words_in_another_session_are_said_there_too(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        for session in ("monday", "tuesday"):
            await block.aput([said("My cat is called Mia.")], session_id=session)

        assert len(memory.sync.session(ADA, "monday").transcript()) == 1
        assert len(memory.sync.session(ADA, "tuesday").transcript()) == 1

    async def test_equal_words_with_other_calls_are_other_messages(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        await block.aput([calls("look_up", snack="a"), calls("look_up", snack="b")], session_id="chat")

        assert len(memory.sync.session(ADA, "chat").transcript()) == 2


class TestSessionsAndUsers:
    async def test_one_block_in_two_sessions_filters_neither_by_the_other(self, memory: MemorySystem) -> None:
        """llama_index #22701: the filter of the first session stays for all later ones."""
        block = TieredMemoryBlock(memory, ADA, filter={"memory_type": "preference"})

        for _ in range(2):
            for session in ("monday", "tuesday"):
                theirs = around(block, session_id=session)
                await theirs.aput(said(SNACK))
                assert PEANUTS in "".join(contents(await theirs.aget()))

        assert block.filter == {"memory_type": "preference"}

    async def test_users_never_see_each_other(self, memory: MemorySystem) -> None:
        blocks = {user: TieredMemoryBlock(memory, user) for user in ("alice", "bob", "alice_", "al%")}
        for step in range(2):
            for user, block in blocks.items():
                theirs = around(block, session_id=f"{user} {step}")
                await theirs.aput(said(f"The secret of {user} is number {step}."))
                shown = "".join(contents(await theirs.aget(input="What is the secret?")))
                assert [other for other in blocks if f"secret of {other} is" in shown] == [user]


class TestFailing:
    async def test_a_store_that_fails_costs_the_notes_and_not_the_turn(
        self,
        block: TieredMemoryBlock,
        memory: MemorySystem,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        break_down(monkeypatch, memory, "recall")
        theirs = around(block)

        await theirs.aput(said(SNACK))

        assert await theirs.aget() == [said(SNACK)]
        assert "the memory could not be read" in caplog.text
        assert SNACK not in caplog.text

    async def test_messages_that_could_not_be_stored_are_stored_with_the_next_and_once(
        self, block: TieredMemoryBlock, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """llama_index PR #22867: what was let go while a block failed is lost."""
        theirs = around(block, token_limit=200, token_flush_size=50)
        expected = []
        with monkeypatch.context() as broken:
            break_down(broken, memory, "session")
            for number in range(20):
                expected += [f"The train number {number} leaves at noon.", f"Number {number} is noted."]
                await theirs.aput(said(expected[-2]))
                await theirs.aput(said(expected[-1], "assistant"))
        assert episodes(memory) == []

        await theirs.aget(input="When?")

        assert [text for text in episodes(memory) if text != "When?"] == sorted(expected)

    async def test_what_will_not_pass_by_itself_is_raised_and_loses_nothing(
        self, block: TieredMemoryBlock, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As everywhere here: a memory that is set up wrong would be silent for ever."""
        with monkeypatch.context() as broken:
            break_down(broken, memory, "session", "recall", error=ModelMismatch("one", "two"))
            with pytest.raises(ModelMismatch):
                await block.aput([said("one")], session_id="chat")
            with pytest.raises(ModelMismatch):
                await block.aget([said("two")], session_id="chat")

        await block.aput([said("three")], session_id="chat")

        assert episodes(memory) == ["one", "three"]

    async def test_a_call_that_is_given_up_loses_nothing_that_waits(
        self, block: TieredMemoryBlock, memory: MemorySystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as broken:
            break_down(broken, memory, "session")
            await block.aput([said("one")], session_id="chat")
        with monkeypatch.context() as slow:
            slow.setattr("langchain_tiered_memory.Session.add", lambda *_: asyncio.sleep(5))
            given_up = asyncio.create_task(block.aput([said("two")], session_id="chat"))
            await asyncio.sleep(0.05)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)

        await block.aput([said("three")], session_id="chat")

        assert episodes(memory) == ["one", "three", "two"]

    async def test_another_block_that_fails_loses_nothing_of_ours(
        self, block: TieredMemoryBlock, memory: MemorySystem
    ) -> None:
        class Broken(BaseMemoryBlock[str]):
            async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
                return ""

            async def _aput(self, messages: list[ChatMessage]) -> None:
                raise RuntimeError("broken")

        theirs = around(block, Broken(name="broken"), token_limit=200, token_flush_size=50)
        expected = [f"The train number {number} leaves at noon." for number in range(30)]
        for text in expected:
            try:
                await theirs.aput(said(text))
            except RuntimeError:
                await asyncio.sleep(0)  # the other blocks go on by themselves then
        await theirs.aget(input="When?")

        assert [text for text in episodes(memory) if text != "When?"] == sorted(expected)

    async def test_a_message_that_cannot_be_kept_keeps_no_other_back(
        self, block: TieredMemoryBlock, memory: MemorySystem, caplog: pytest.LogCaptureFixture
    ) -> None:
        deep: Any = "x"
        for _ in range(100):
            deep = [deep]
        bad = said("bad", more=deep)

        await block.aput([said("one"), bad, said("two")], session_id="chat")
        await block.aput([said("three")], session_id="chat")

        assert episodes(memory) == ["one", "three", "two"]
        assert caplog.text.count("a message cannot be remembered") == 1

    async def test_an_embedder_that_fails_leaves_keywords(self, block: TieredMemoryBlock, memory: MemorySystem) -> None:
        embedder: Any = memory._plan.embedder
        assert isinstance(embedder, FailingEmbedder)
        embedder.fails = True

        assert PEANUTS in await block.aget([said("peanuts")], session_id="chat")


class TestTruncating:
    async def test_too_little_room_shortens_the_notes_the_least_relevant_first(self, memory: MemorySystem) -> None:
        for number in range(4):
            memory.sync.remember(ADA, f"Peanuts number {number}. " + "A fine nut. " * 20, "fact")
        counter = LlamaIndexCounter()
        block = TieredMemoryBlock(memory, ADA)
        whole = await block.aget([said("peanuts")], session_id="chat")

        for cut in (1, 50, 120, 250):
            short = await block.atruncate(whole, cut)

            assert short is not None
            assert is_block(short)
            assert counter.text(short) <= counter.text(whole) - cut
            first = whole.split("\n")[2]
            assert short.split("\n")[2][:30] == first[:30]

    async def test_one_long_note_is_cut(self, memory: MemorySystem) -> None:
        memory.sync.remember("bob", "Peanuts. " * 200, "fact")
        block = TieredMemoryBlock(memory, "bob")
        whole = await block.aget([said("peanuts")], session_id="chat")

        short = await block.atruncate(whole, 300)

        assert "tokens cut" in (short or "")

    async def test_without_room_for_a_note_there_is_no_block(self, block: TieredMemoryBlock) -> None:
        whole = await block.aget([said("peanuts")], session_id="chat")

        assert await block.atruncate(whole, 10_000) is None
        nothing: Any = []
        assert await block.atruncate(nothing, 5) is None

    async def test_llamaindex_keeps_its_limit_and_the_best_note(self, memory: MemorySystem) -> None:
        for number in range(5):
            memory.sync.remember(ADA, f"Peanuts number {number}. " + "A fine nut. " * 20, "fact")
        theirs = around(TieredMemoryBlock(memory, ADA), token_limit=250, chat_history_token_ratio=0.9)
        await theirs.aput(said("Which peanuts? " * 20))

        shown = await theirs.aget()

        notes = shown[0].content or ""
        assert "Peanuts number" in notes
        assert sum(len(theirs.tokenizer_fn(text)) for text in contents(shown)) <= 250 + 30  # its own frame

    async def test_the_block_has_a_budget_of_its_own(self, memory: MemorySystem) -> None:
        memory.sync.remember(ADA, "Peanuts! " * 5_000, "fact")

        notes = await TieredMemoryBlock(memory, ADA, max_tokens=100).aget([said("peanuts")], session_id="chat")

        assert notes
        assert LlamaIndexCounter().text(notes) <= 100

    async def test_a_block_of_the_first_priority_is_shortened_and_not_dropped(self, memory: MemorySystem) -> None:
        """LlamaIndex says that 1 is the highest priority, and drops 1 before 2."""
        for number in range(5):
            memory.sync.remember(ADA, f"Peanuts number {number}. " + "A fine nut. " * 20, "fact")
        ours = TieredMemoryBlock(memory, ADA, priority=1)
        other = StaticMemoryBlock(name="other", static_content=[TextBlock(text="word " * 100)], priority=2)
        theirs = around(ours, other, token_limit=400, chat_history_token_ratio=0.9)
        await theirs.aput(said("Which peanuts? " * 20))

        shown = "".join(contents(await theirs.aget()))

        assert "<tiered_memory>" in shown
        assert "<other>" in shown


class TestWhatItIs:
    def test_what_cannot_be_used_is_refused_at_once(self, memory: MemorySystem) -> None:
        with pytest.raises(InvalidInput):
            TieredMemoryBlock(memory, "")
        with pytest.raises(ConfigError, match="register"):
            TieredMemoryBlock("nobody", ADA)
        with pytest.raises(ValueError, match="k"):
            TieredMemoryBlock(memory, ADA, k=0)
        with pytest.raises(ValueError, match="max_token"):
            TieredMemoryBlock(memory, ADA, max_token=10)

    async def test_what_answers_nothing_is_left_out_when_asked_for(self, memory: MemorySystem) -> None:
        memory.sync.remember("bob", "The peanuts are in the cupboard", "fact")
        strict = TieredMemoryBlock(memory, "bob", min_score="auto")

        assert await strict.aget([said("Which planets have moons?")], session_id="a") == ""
        assert "cupboard" in await strict.aget([said("Where are the peanuts?")], session_id="b")

    async def test_a_filter_that_means_nothing_is_an_error_and_not_a_turn_without_notes(
        self, memory: MemorySystem
    ) -> None:
        block = TieredMemoryBlock(memory, ADA, filter={"metadata.n": {"$near": 1}})

        with pytest.raises(InvalidInput, match="near"):
            await block.aget([said("peanuts")], session_id="chat")

    async def test_it_comes_back_from_where_it_was_stored(self, block: TieredMemoryBlock) -> None:
        for found in (
            TieredMemoryBlock(**block.model_dump()),
            TieredMemoryBlock.model_validate_json(block.model_dump_json()),
            pickle.loads(pickle.dumps(block)),  # noqa: S301 - pickled by this test
            block.model_copy(deep=True),
        ):
            assert PEANUTS in await found.aget([said("peanuts")], session_id="chat")
            assert found.memory is block.memory

    async def test_after_a_restart_it_stores_nothing_twice(self, folder_house: House) -> None:
        messages = [said("My cat is called Mia.")]
        await TieredMemoryBlock(folder_house.system(), ADA).aput(messages, session_id="chat")
        folder_house.close()

        memory = folder_house.system()
        await TieredMemoryBlock(memory, ADA).aput(messages, session_id="chat")

        assert episodes(memory) == ["My cat is called Mia."]
