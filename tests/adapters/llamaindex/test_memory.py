"""`TieredMemory` by itself: what its calls do, however a framework mixes them."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.memory import BaseMemory
from pydantic import ValidationError

from langchain_tiered_memory import ConfigError, InvalidInput, MemorySystem
from langchain_tiered_memory.tokens import TiktokenCounter
from llamaindex_adapter import TieredMemory
from llamaindex_adapter.messages import from_llamaindex
from tests.adapters.llamaindex.conftest import ADA, PEANUTS, contents, said

SNACK = "Which snack can I buy, with peanuts or without?"


def notes(messages: list[ChatMessage]) -> str:
    """Return the message of notes; "" when there is none."""
    return next((text for text in contents(messages) if "quoted from memory" in text), "")


def reads(memory: MemorySystem) -> int:
    """Return how many reads of the peanuts were counted."""
    return memory.sync.get(ADA, "peanuts").access_count


def cost(messages: list[ChatMessage]) -> int:
    """Return what messages cost as a prompt."""
    counter = TiktokenCounter()
    return sum(counter.message(message) for message in from_llamaindex(*messages)) + 3


class TestWhatItIs:
    def test_it_is_a_memory_of_llamaindex(self, chat: TieredMemory) -> None:
        assert isinstance(chat, BaseMemory)
        assert TieredMemory.class_name() == "TieredMemory"

    def test_every_method_is_its_own(self) -> None:
        """`BaseMemory` would run the blocking ones in threads that nobody waits for (agent-memory PR #101)."""
        of_base = {name for name, value in vars(BaseMemory).items() if inspect.isfunction(value)}

        assert {name for name in of_base if not name.startswith("_")} <= set(vars(TieredMemory))

    def test_an_empty_memory_is_not_falsy(self, chat: TieredMemory) -> None:
        """Engines say `memory or Memory.from_defaults(…)`."""
        assert chat.get_all() == []
        assert bool(chat) is True
        assert not hasattr(chat, "__len__")

    def test_a_session_without_a_name_is_a_new_one(self, memory: MemorySystem) -> None:
        first, second = TieredMemory(memory, ADA), TieredMemory(memory, ADA)

        assert first.session_id != second.session_id

    def test_what_cannot_be_used_is_refused_at_once(self, memory: MemorySystem) -> None:
        wrong: list[dict[str, Any]] = [{"user_id": ""}, {"user_id": 5}, {"agent_id": ""}, {"max_tokens": 1}]
        for given in wrong:
            with pytest.raises(InvalidInput):
                TieredMemory(memory, **{"user_id": ADA, **given})
        with pytest.raises(ValidationError):
            TieredMemory(memory, ADA, k=0)
        with pytest.raises(TypeError, match="token_limit"):
            TieredMemory.from_defaults(memory=memory, user_id=ADA, token_limit=3000)
        with pytest.raises(ConfigError, match="register"):
            TieredMemory("nobody", ADA)

    def test_only_messages_of_llamaindex_are_taken(self, chat: TieredMemory) -> None:
        wrong: Any
        for wrong in ("hello", said("hello")):  # a message is iterable, too
            for call in (chat.put_messages, chat.set):
                with pytest.raises(InvalidInput, match="ChatMessage"):
                    call(wrong)
        with pytest.raises(InvalidInput, match="ChatMessage"):
            chat.put("hello")  # type: ignore[arg-type] # that is the point

    def test_from_defaults_takes_a_history(self, memory: MemorySystem) -> None:
        history = [said("hello"), said("hi", "assistant")]

        made = TieredMemory.from_defaults(chat_history=history, llm=object(), memory=memory, user_id=ADA)

        assert made.get_all() == history


class TestGet:
    def test_without_input_it_recalls_for_the_latest_user_message(self, chat: TieredMemory) -> None:
        chat.put(said(SNACK))

        shown = chat.get()

        assert PEANUTS in notes(shown)
        assert shown[-1] == said(SNACK)

    def test_with_input_it_recalls_for_a_message_that_is_not_stored_yet(self, chat: TieredMemory) -> None:
        for asked in (SNACK, said(SNACK)):
            shown = chat.get(asked)

            assert len(shown) == 1
            assert PEANUTS in notes(shown)
        assert chat.get_all() == []

    def test_the_notes_stand_right_before_their_message_and_are_no_system_message(self, chat: TieredMemory) -> None:
        """ReActAgent drops a system message that stands first, CodeActAgent replaces the first one it finds."""
        for message in (said("be kind", "system"), said("hello"), said("hi", "assistant"), said(SNACK)):
            chat.put(message)
        chat.put(said("None with nuts.", "assistant"))

        shown = chat.get()

        assert [message.role.value for message in shown] == ["system", "user", "assistant", "user", "user", "assistant"]
        assert contents(shown)[3] == notes(shown)

    def test_nothing_to_recall_for_is_nothing_recalled(self, memory: MemorySystem) -> None:
        chat = TieredMemory(memory, ADA, "chat", filter={"memory_type": {"$ne": "preference"}})

        assert chat.get() == []
        assert chat.get("") == []
        chat.put(said(""))
        assert chat.get() == [said("")]
        assert reads(memory) == 0

    def test_a_preference_stands_before_what_was_said_whatever_that_is(
        self, chat: TieredMemory, memory: MemorySystem
    ) -> None:
        assert PEANUTS in notes(chat.get())
        assert reads(memory) == 0
        chat.put(said("hello"))
        chat.put(said("hi", "assistant"))
        chat.put(said(""))

        shown = chat.get()

        assert [text for text in contents(shown) if text != notes(shown)] == ["hello", "hi", ""]
        assert contents(shown)[2] == notes(shown)
        assert PEANUTS in notes(shown)

    def test_returned_messages_are_copies(self, chat: TieredMemory) -> None:
        """Engines and agents write into what they are given."""
        chat.put(said(SNACK))
        before = chat.get()

        for message in chat.get():
            message.blocks = [TextBlock(text="changed")]
            message.additional_kwargs["changed"] = True
        for message in chat.get_all():
            message.blocks.clear()

        assert chat.get() == before
        assert chat.get_all() == [said(SNACK)]

    def test_unknown_keywords_of_other_memories_are_fine(self, chat: TieredMemory) -> None:
        assert chat.get(input=None, session_id="x", query="y") == chat.get()

    async def test_the_asynchronous_calls_do_the_same(self, chat: TieredMemory) -> None:
        await chat.aput(said(SNACK))
        await chat.aput_messages([said("None.", "assistant"), said("Why?")])

        assert await chat.aget() == chat.get()
        assert await chat.aget_all() == chat.get_all() == [said(SNACK), said("None.", "assistant"), said("Why?")]
        await chat.aset([said("Why?")])
        assert await chat.aget_all() == [said("Why?")]
        await chat.areset()
        assert await chat.aget_all() == []

    async def test_what_answers_nothing_is_left_out_when_asked_for(self, memory: MemorySystem) -> None:
        memory.sync.remember(ADA, "My cat is called Mia", "fact")
        strict = TieredMemory(memory, ADA, "strict", min_score="auto")

        assert "Mia" not in notes(strict.get("Which planets have moons?"))
        assert "Mia" not in notes(await strict.aget("Which planets have moons?"))
        assert "Mia" in notes(strict.get("What is my cat called?"))
        assert TieredMemory.from_dict(strict.to_dict()).min_score == "auto"

    def test_filter_agent_and_k_are_respected(self, memory: MemorySystem) -> None:
        memory.sync.remember(ADA, "Peanuts are on the list", "fact", agent_id="shopper")
        memory.sync.remember(ADA, "Peanuts were on the table", "fact", agent_id="cook")

        facts = TieredMemory(memory, ADA, filter={"memory_type": "fact"}).get("peanuts")
        shopper = TieredMemory(memory, ADA, agent_id="shopper").get("peanuts")
        one = TieredMemory(memory, ADA, k=1).get("peanuts")

        assert PEANUTS not in notes(facts)
        assert "list" in notes(shopper)
        assert "table" not in notes(shopper)
        assert notes(one).count("\n- ") == 1


class TestOneRecallForOneMessage:
    """A framework asks two or three times a turn; one read is counted and the model asked once."""

    def test_an_agents_turn(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said(SNACK))
        first = chat.get()
        embedder: Any = memory._plan.embedder
        asked = embedder.asked

        again = chat.get(input=SNACK)
        chat.put_messages(
            [
                ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id="c", tool_name="f", tool_kwargs={})]),
                said("found", "tool", tool_call_id="c"),
                said("None.", "assistant"),
            ],
        )
        after = chat.get()

        assert again == first
        assert after[:2] == first
        assert reads(memory) == 1
        assert embedder.asked == asked

    def test_a_handoff_between_agents_is_the_same_turn(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said(SNACK))
        chat.get()
        chat.put_messages(
            [
                ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id="c", tool_name="f", tool_kwargs={})]),
                said("handed off", "tool", tool_call_id="c"),
            ],
        )

        chat.get(input=SNACK)

        assert reads(memory) == 1

    def test_an_engines_turn(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.get(input=SNACK)
        chat.put(said(SNACK))
        chat.get()
        chat.put(said("None.", "assistant"))
        chat.get()

        assert reads(memory) == 1

    def test_the_same_words_after_an_answer_are_another_message(self, chat: TieredMemory, memory: MemorySystem) -> None:
        for _ in range(3):
            chat.get(input=SNACK)
            chat.put(said(SNACK))
            chat.put(said("None.", "assistant"))

        assert reads(memory) == 3

    def test_another_message_is_another_recall(self, chat: TieredMemory, memory: MemorySystem) -> None:
        for text in (SNACK, "And what about peanuts in sauce?"):
            chat.put(said(text))
            assert PEANUTS in notes(chat.get())

        assert reads(memory) == 2

    def test_what_others_say_in_the_conversation_is_noticed(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said("Hello, it is raining."))
        chat.get()
        other = TieredMemory(memory, ADA, "chat")
        other.put(said(SNACK))
        before = reads(memory)

        shown = chat.get()

        assert PEANUTS in notes(shown)
        assert shown[-1] == said(SNACK)
        assert reads(memory) == before + 1

    def test_a_message_too_long_for_the_window_is_still_one_message(self, memory: MemorySystem) -> None:
        chat = TieredMemory(memory, ADA, "chat", max_tokens=300)
        long = f"{SNACK} {'word ' * 2_000}"
        chat.put(said(long))

        assert PEANUTS in notes(chat.get())
        assert PEANUTS in notes(chat.get(input=long))
        assert reads(memory) == 1

    def test_what_was_forgotten_meanwhile_is_not_shown_again(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said(SNACK))
        assert PEANUTS in notes(chat.get())

        memory.sync.forget(ADA, "peanuts")

        assert chat.get() == [said(SNACK)]


class TestBudget:
    def test_everything_together_stays_inside_it(self, memory: MemorySystem) -> None:
        chat = TieredMemory(memory, ADA, "chat", max_tokens=200)
        for number in range(50):
            chat.put(said(f"The train number {number} leaves at {number} o'clock."))
            chat.put(said("Noted.", "assistant"))
            assert cost(chat.get(SNACK)) <= 200
        assert len(chat.get_all()) == 100

    @pytest.mark.parametrize("before", [0, 50, 120])
    def test_what_stands_before_is_taken_off(self, memory: MemorySystem, before: int) -> None:
        chat = TieredMemory(memory, ADA, "chat", max_tokens=200)
        for number in range(50):
            chat.put(said(f"The train number {number} leaves at {number} o'clock."))

        shown = chat.get(initial_token_count=before)

        assert 200 - before - 40 < cost(shown) <= 200 - before

    def test_a_prompt_beyond_the_budget_leaves_the_last_message_and_raises_nothing(self, memory: MemorySystem) -> None:
        """llama_index #9371, #11637, #15320: "Initial token count exceeds token limit"."""
        chat = TieredMemory(memory, ADA, "chat", max_tokens=200)
        chat.put(said("hello"))
        chat.put(said("word " * 500))

        (shown,) = chat.get(initial_token_count=5_000)

        assert shown.role == "user"
        assert "tokens cut" in (shown.content or "")

    def test_the_system_message_is_still_there_after_a_long_talk(self, memory: MemorySystem) -> None:
        """llama_index #23144: the system message is evicted at the limit."""
        chat = TieredMemory(memory, ADA, "chat", max_tokens=200)
        chat.put(said("You are a pirate.", "system"))
        for number in range(50):
            chat.put(said(f"The train number {number} leaves at {number} o'clock."))

        assert chat.get()[0] == said("You are a pirate.", "system")

    def test_the_tokenizer_counts_what_engines_put_before(self, chat: TieredMemory) -> None:
        assert len(chat.tokenizer_fn("You are a pirate. <|endoftext|>")) > 4


class TestSet:
    def test_the_same_history_changes_nothing(self, chat: TieredMemory, memory: MemorySystem) -> None:
        history = [said("hello"), said("hi", "assistant"), said("hello")]
        chat.set(history)
        before = memory.sync.session(ADA, "chat").transcript()

        chat.set(history)
        chat.set(chat.get_all())

        assert memory.sync.session(ADA, "chat").transcript() == before

    def test_a_longer_history_adds_what_is_new(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.set([said("hello")])
        first = memory.sync.session(ADA, "chat").transcript()

        chat.set([said("hello"), said("hi", "assistant")])

        assert memory.sync.session(ADA, "chat").transcript()[:1] == first
        assert chat.get_all() == [said("hello"), said("hi", "assistant")]

    def test_another_history_takes_its_place_and_nothing_remembered_goes(
        self, chat: TieredMemory, memory: MemorySystem
    ) -> None:
        chat.set([said("My cat is called Mia"), said("A fine name", "assistant"), said("My dog is called Rex")])
        before = {one.id: one.content for one in memory.sync.list(ADA)}

        chat.set([said("My dog is called Rex"), said("My fish is called Bo")])

        assert chat.get_all() == [said("My dog is called Rex"), said("My fish is called Bo")]
        after = {one.id: one.content for one in memory.sync.list(ADA)}
        assert before.items() <= after.items()
        assert sorted(set(after.values()) - set(before.values())) == ["My fish is called Bo"]
        assert len(after) == len(before) + 1

    def test_an_empty_history_is_a_new_beginning(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.set([said("hello")])

        chat.set([])

        assert chat.get_all() == []
        assert "hello" in {one.content for one in memory.sync.list(ADA)}

    def test_messages_of_another_framework_are_the_same_messages(
        self, chat: TieredMemory, memory: MemorySystem
    ) -> None:
        session = memory.sync.session(ADA, "chat")
        session.add({"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url"}]})
        before = session.transcript()

        chat.set(chat.get_all())

        assert session.transcript() == before

    def test_notes_that_were_shown_are_not_taken_for_messages(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said(SNACK))
        shown = chat.get()
        assert notes(shown)

        chat.set(shown)

        assert chat.get_all() == [said(SNACK)]

    def test_setting_the_same_long_history_again_is_quick(self, chat: TieredMemory) -> None:
        history = [said(f"message {number}") for number in range(400)]
        chat.set(history)

        chat.set(history[:399])

        assert chat.get_all() == history[:399]

    def test_reset_keeps_what_was_remembered(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said("My cat is called Mia"))

        chat.reset()

        assert chat.get_all() == []
        assert "Mia" in notes(chat.get("What is my cat called?"))


class TestThreads:
    def test_an_answer_from_another_thread_is_kept(self, chat: TieredMemory) -> None:
        """Engines that stream write the answer in a thread of their own."""
        chat.put(said("hello"))
        thread = threading.Thread(target=chat.put, args=(said("hi", "assistant"),))

        thread.start()
        thread.join()

        assert chat.get_all() == [said("hello"), said("hi", "assistant")]

    def test_the_last_message_is_there_after_the_loop_has_ended(self, chat: TieredMemory) -> None:
        async def talk() -> None:
            await chat.aput(said("hello"))
            await asyncio.gather(*[chat.aput(said(f"answer {n}", "assistant")) for n in range(20)])

        asyncio.run(talk())
        asyncio.run(chat.aput(said("bye")))

        assert sorted(contents(chat.get_all())) == sorted(["hello", "bye", *(f"answer {n}" for n in range(20))])

    def test_many_at_once(self, chat: TieredMemory) -> None:
        def talk(number: int) -> None:
            for step in range(10):
                chat.put(said(f"{number}: {step}"))
                chat.get()
                chat.put(said(f"{number}: yes {step}", "assistant"))

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(set(contents(chat.get_all()))) == len(chat.get_all()) == 120

    def test_users_never_see_each_other(self, memory: MemorySystem) -> None:
        ada, bob = TieredMemory(memory, ADA, "chat"), TieredMemory(memory, "bob", "chat")
        for number in range(3):
            ada.put(said(f"Ada's secret number is {number}"))
            bob.put(said(f"What is the secret number? {number}"))
            assert "Ada" not in "".join(contents(bob.get()))
