"""A talk that grows shows what one that is read anew shows, and costs little to look at again."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time

from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.talk import Talk
from langchain_tiered_memory.core.working import Counted, WorkingMemory, window_of_talk
from langchain_tiered_memory.tokens import TiktokenCounter
from tests.unit.test_working import BUDGETS, COUNTER, DIALOGUES, calls, counted, result, says, user


def seen(talk: Talk, system: Sequence[Counted], max_tokens: int) -> tuple[Message, ...] | str:
    """Return the window, or what is wrong with the budget."""
    try:
        return window_of_talk(talk, system, max_tokens=max_tokens, counter=COUNTER)
    except InvalidInput as error:
        return str(error)


@given(dialogue=DIALOGUES, budgets=st.lists(BUDGETS, min_size=1, max_size=4), trimmed=st.booleans())
def test_a_talk_that_grows_shows_what_a_new_one_shows(
    *, dialogue: tuple[Message, ...], budgets: list[int], trimmed: bool
) -> None:
    """Also when it was looked at before, and when it let go of what no window reached at the time."""
    said = counted(dialogue)
    system = [one for one in said if one.message.role in SYSTEM_ROLES]
    growing = Talk()
    for place, one in enumerate(said):
        growing.add(one)
        budget = budgets[place % len(budgets)]
        if growing.wants_more(budget):
            growing = Talk.reaching(reversed(said[: place + 1]), budget)
        assert seen(growing, system, budget) == seen(Talk(said[: place + 1]), system, budget)
        if trimmed:
            growing.trim(budget)


def test_a_talk_lets_go_of_what_no_window_reaches() -> None:
    talk = Talk()
    for number in range(500):
        talk.add(*counted([user(f"question {number}?")]))
        talk.add(*counted([says("word " * 90)]))
        talk.trim(4_000)

    assert talk.weight < 40_000
    assert not talk.wants_more(4_000)
    assert talk.wants_more(40_000)


def test_calls_of_a_turn_that_is_gone_take_no_results() -> None:
    late = Talk(counted([user("word " * 50), calls("a"), user("word " * 50), user("word " * 50)]))
    late.trim(50)

    late.add(*counted([result("a")]))

    assert window_of_talk(late, (), max_tokens=60, counter=COUNTER) == (user("word " * 50),)


class CountingCounter(TiktokenCounter):
    """The real counter, which notes how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def text(self, text: str) -> int:
        self.asked += 1
        return super().text(text)


def test_thousands_of_tool_messages_in_one_turn_cost_little_again() -> None:
    """In a session of 5,000 messages, adding one and building the window takes ≤ 5 ms; here with room for a machine
    that is busy."""
    counter = CountingCounter()
    memory = WorkingMemory(counter=counter)
    memory.add(user("go"), *(one for n in range(2_500) for one in (calls(f"c{n}"), result(f"c{n}", "word " * 20))))
    memory.get_context()
    took = []
    for number in range(9):
        counter.asked, began = 0, thread_time()
        memory.add(calls(f"more {number}"), result(f"more {number}", "word " * 20))
        shown = memory.get_context()
        took.append(thread_time() - began)
        assert counter.asked < 50

    assert shown[-1].tool_call_id == "more 8"
    assert min(took) < 0.02


def test_thousands_of_plain_messages_in_one_turn_are_measured_once() -> None:
    """How far a message could be cut is found out when it is first looked at."""
    counter = CountingCounter()
    memory = WorkingMemory(500, counter=counter)
    memory.add(user("go"), *(says(f"step {n}") for n in range(1_000)))
    asked = []
    for _ in range(2):
        counter.asked = 0
        assert memory.get_context()[0] == user("go")
        asked.append(counter.asked)

    assert asked[1] < asked[0] / 2
