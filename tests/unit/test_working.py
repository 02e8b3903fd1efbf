"""The window: never over the budget, always a valid prompt, and as much of the conversation's end as fits."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from langchain_tiered_memory.core.cutting import cut_mark
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import SYSTEM_ROLES, Message
from langchain_tiered_memory.core.working import Counted, WorkingMemory, cut_text, prompt_tokens, window
from langchain_tiered_memory.tokens import TiktokenCounter

COUNTER = TiktokenCounter()
LEAST = 16
MODEST = 60
"""A budget whose half holds the mark of a cut in any message of the dialogues below."""
LONG = "The quick brown fox jumps over the lazy dog. " * 2_000


def call(call_id: str | None, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "search", "arguments": arguments}}


def user(text: str = "hello", **fields: Any) -> Message:
    return Message("user", text, **fields)


def says(text: str = "hi") -> Message:
    return Message("assistant", text)


def calls(*ids: str | None, text: str | None = None, arguments: str = "{}") -> Message:
    return Message("assistant", text, tool_calls=tuple(call(one, arguments) for one in ids))


def result(call_id: str | None, text: str = "done") -> Message:
    return Message("tool", text, tool_call_id=call_id)


def system(text: str = "Be brief.") -> Message:
    return Message("system", text)


def counted(messages: Sequence[Message]) -> list[Counted]:
    return [Counted(message, COUNTER.message(message)) for message in messages]


def shown(
    *messages: Message, max_tokens: int = 4000, system_share: float = 0.5, counter: TiktokenCounter = COUNTER
) -> tuple[Message, ...]:
    """Build the window of a transcript given oldest first."""
    talk = [one for one in counted(messages) if one.message.role not in SYSTEM_ROLES]
    heads = [one for one in counted(messages) if one.message.role in SYSTEM_ROLES]
    return window(reversed(talk), heads, max_tokens=max_tokens, counter=counter, system_share=system_share)


def cost(*messages: Message) -> int:
    return prompt_tokens(messages, COUNTER)


def is_cut(message: Message) -> bool:
    return "tokens cut…]" in message.text


# --- properties ------------------------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.sampled_from(["", "ok", "What is the weather?", "<|endoftext|>", "\ud83d\x00", "漢字仮名交じり文", "👩‍👩‍👧 "]),
    st.builds(lambda text, times: text * times, st.text(max_size=8), st.sampled_from([1, 40, 900])),
)
PARTS = st.lists(
    st.one_of(
        WORDS.map(lambda text: {"type": "text", "text": text}),
        st.just({"type": "image_url", "image_url": {"url": "data:"}}),
        WORDS.map(lambda text: {"type": "thinking", "thinking": text}),
    ),
    max_size=3,
).map(tuple)
CONTENTS: st.SearchStrategy[Any] = st.one_of(st.none(), WORDS, WORDS, PARTS)
IDS = st.sampled_from(["call_1", "call_2", "call_3", None])


@st.composite
def tool_steps(draw: st.DrawFn) -> list[Message]:
    """An assistant's calls with their results: some missing, doubled, out of order or interleaved."""
    ids = (
        [f"call_{n}" for n in range(draw(st.integers(0, 9)))]
        if draw(st.booleans())
        else draw(st.lists(IDS, max_size=3))
    )
    asked = Message("assistant", draw(CONTENTS), tool_calls=tuple(call(one, draw(WORDS)) for one in ids))
    answered = ids if draw(st.integers(0, 2)) else draw(st.lists(IDS, max_size=4))
    results = [Message("tool", draw(CONTENTS), tool_call_id=one) for one in draw(st.permutations(answered))]
    return [asked, *draw(st.one_of(st.just([]), st.just([says("wait")]), st.just([user("wait")]))), *results]


STEPS = st.one_of(
    CONTENTS.map(lambda content: [Message("user", content)]),
    CONTENTS.map(lambda content: [Message("user", content)]),
    CONTENTS.map(lambda content: [Message("assistant", content, name="Robo")]),
    WORDS.map(lambda text: [Message("system", text)]),
    st.builds(lambda one, content: [Message("tool", content, tool_call_id=one)], IDS, CONTENTS),
    tool_steps(),
    tool_steps(),
)
DIALOGUES = st.lists(STEPS, max_size=8).map(
    lambda steps: tuple(replace(one, id=str(n)) for n, one in enumerate(m for step in steps for m in step))
)
BUDGETS = st.one_of(st.integers(LEAST, 200), st.integers(LEAST, 4_000))


def built(dialogue: Sequence[Message], max_tokens: int) -> tuple[Message, ...]:
    """Build the window; dialogues whose system messages have no room even for a mark are another test's matter."""
    try:
        return shown(*dialogue, max_tokens=max_tokens)
    except InvalidInput:
        if max_tokens > MODEST or not any(one.role in SYSTEM_ROLES for one in dialogue):
            raise
        reject()


@given(dialogue=DIALOGUES, max_tokens=BUDGETS)
def test_the_window_never_costs_more_than_the_budget(dialogue: tuple[Message, ...], max_tokens: int) -> None:
    found = built(dialogue, max_tokens)

    assert prompt_tokens(found, COUNTER) <= max_tokens
    assert sum(COUNTER.message(one) for one in found if one.role in SYSTEM_ROLES) <= max_tokens // 2


@given(dialogue=DIALOGUES, max_tokens=BUDGETS)
def test_the_window_starts_at_a_user_message_behind_the_system_messages(
    dialogue: tuple[Message, ...], max_tokens: int
) -> None:
    found = built(dialogue, max_tokens)
    talk = [one for one in found if one.role not in SYSTEM_ROLES]

    assert all(one.role in SYSTEM_ROLES for one in found[: len(found) - len(talk)])
    assert not talk or talk[0].role == "user"


@given(dialogue=DIALOGUES, max_tokens=BUDGETS)
def test_every_call_has_its_result_and_every_result_its_call(dialogue: tuple[Message, ...], max_tokens: int) -> None:
    """Only the calls that the conversation ends with may wait for results."""
    talk = [one for one in built(dialogue, max_tokens) if one.role not in SYSTEM_ROLES]
    waiting: list[str | None] = []
    for one in talk:
        if one.role == "tool":
            assert one.tool_call_id in waiting
            waiting.remove(one.tool_call_id)
        waiting += [asked["id"] for asked in one.tool_calls]

    if waiting:
        last = max(n for n, one in enumerate(talk) if one.tool_calls)
        assert all(one.role == "tool" for one in talk[last + 1 :])
        assert len(waiting) <= len(talk[last].tool_calls)


@given(dialogue=DIALOGUES, max_tokens=BUDGETS)
def test_order_is_kept_and_nothing_given_is_changed(dialogue: tuple[Message, ...], max_tokens: int) -> None:
    """What was not cut is the very message given; what was cut differs in its content only and shows a mark."""
    before = copy.deepcopy(dialogue)

    found = built(dialogue, max_tokens)

    assert dialogue == before
    places = [int(one.id or "") for one in found]
    heads = [place for place, one in zip(places, found, strict=True) if one.role in SYSTEM_ROLES]
    assert places == sorted(heads) + sorted(set(places) - set(heads))
    for place, one in zip(places, found, strict=True):
        if one is not dialogue[place]:
            assert is_cut(one)
            assert replace(one, content=None) == replace(dialogue[place], content=None)


@given(dialogue=DIALOGUES, max_tokens=BUDGETS, more=st.integers(1, 300))
def test_a_larger_budget_never_shows_less(dialogue: tuple[Message, ...], max_tokens: int, more: int) -> None:
    small = {one.id for one in built(dialogue, max_tokens)}
    large = {one.id for one in built(dialogue, max_tokens + more)}

    assert small <= large


@given(dialogue=DIALOGUES, max_tokens=BUDGETS)
def test_only_the_last_turn_is_ever_cut_and_no_turn_is_left_out_that_fits(
    dialogue: tuple[Message, ...], max_tokens: int
) -> None:
    """Where a conversation is cut, nothing older than its last turn is shown."""
    found = built(dialogue, max_tokens)
    talk = [one for one in found if one.role not in SYSTEM_ROLES]
    everything = built(dialogue, 10_000_000)

    if any(one is not dialogue[int(one.id or "")] for one in talk):
        assert [one.role for one in talk].count("user") == 1
    if cost(*everything) <= max_tokens and not any(one.role in SYSTEM_ROLES for one in everything):
        assert found == everything


class LumpyCounter:
    """A counter whose costs do not add up: every message is rounded up to a multiple of seven characters."""

    name = "lumpy"

    def text(self, text: str) -> int:
        return -(-len(text) // 7) * 2

    def message(self, message: Message) -> int:
        parts = message.content if not isinstance(message.content, (str, type(None))) else ()
        told = f"{message.text}{message.tool_calls or ''}{[part for part in parts if 'text' not in part] or ''}"
        return 2 + self.text(told) + 3 * (len(told) % 5)

    def head(self, text: str, tokens: int) -> str:
        return text[: max(0, tokens // 2 * 7)]

    def tail(self, text: str, tokens: int) -> str:
        return text[max(0, len(text) - max(0, tokens // 2 * 7)) :]


@given(dialogue=DIALOGUES, max_tokens=st.integers(60, 2_000))
def test_the_budget_holds_with_a_counter_that_does_not_add_up(dialogue: tuple[Message, ...], max_tokens: int) -> None:
    counter = LumpyCounter()
    talk = [Counted(one, counter.message(one)) for one in dialogue if one.role not in SYSTEM_ROLES]

    found = window(reversed(talk), (), max_tokens=max_tokens, counter=counter)

    assert prompt_tokens(found, counter) <= max_tokens


class GrudgingCounter(TiktokenCounter):
    """A counter that finds a text with a mark dearer than its parts."""

    def __init__(self, grudge: int) -> None:
        super().__init__()
        self.grudge = grudge

    def text(self, text: str) -> int:
        return super().text(text) + (self.grudge if "tokens cut" in text and len(text) > 30 else 0)

    def message(self, message: Message) -> int:
        return super().message(message) + (self.grudge if "0 tokens cut" in message.text else 0)


def test_cuts_that_cost_more_than_foretold_are_made_deeper() -> None:
    counter = GrudgingCounter(5)

    assert counter.text(cut_text(LONG, 50, counter)) <= 50
    assert prompt_tokens(shown(user(LONG), max_tokens=100, counter=counter), counter) <= 100


def test_cuts_that_save_nothing_in_the_end_are_not_made() -> None:
    counter = GrudgingCounter(1_000)

    assert shown(user("word " * 9_999), says("yes"), max_tokens=900, counter=counter) == ()
    assert cut_text(LONG, 50, counter).strip() == f"[…{COUNTER.text(LONG)} tokens cut…]"


# --- system messages -------------------------------------------------------------------------------------------------


def test_system_messages_stay_and_stand_first() -> None:
    first, later = system("Be brief."), Message("developer", "Answer in French.")

    assert shown(first, user(), says(), later, user("bye")) == (first, later, user(), says(), user("bye"))


def test_system_messages_in_the_conversation_are_passed_over() -> None:
    """They stand in front already; a pending call behind them is still at the end."""
    talk = counted([user(), calls("a"), system()])

    assert window(reversed(talk), counted([system()]), max_tokens=100, counter=COUNTER) == (
        system(),
        user(),
        calls("a"),
    )


def test_system_messages_alone_are_a_window() -> None:
    assert shown(system()) == (system(),)
    assert shown() == ()


def test_a_system_prompt_longer_than_the_budget_is_cut_to_half_of_it() -> None:
    """No exception in the middle of a chat: the prompt is cut in the middle, the conversation has the other half."""
    found = shown(system(LONG), user("hello"), says("hi"), user("bye"), max_tokens=200)

    assert [one.role for one in found] == ["system", "user", "assistant", "user"]
    assert is_cut(found[0])
    assert found[0].text.startswith("The quick brown fox")
    assert found[0].text.endswith("the lazy dog. ")
    assert 85 <= COUNTER.message(found[0]) <= 100


def test_of_several_system_messages_the_longest_is_cut_first() -> None:
    found = shown(system("Be brief."), system(LONG), system("Be kind."), user(), max_tokens=200)

    assert [is_cut(one) for one in found] == [False, True, False, False]


def test_of_too_many_system_messages_the_first_and_the_newest_stay() -> None:
    many = [system(f"Rule {n}.") for n in range(100)]

    found = shown(*many, user(), max_tokens=60)

    assert found == (many[0], *many[-2:], user())


def test_the_share_of_system_messages_can_be_set() -> None:
    assert shown(system(LONG), user(), max_tokens=200, system_share=0.0) == (user(),)
    assert shown(system("Be brief."), user(), max_tokens=LEAST, system_share=1.0)[0] == system("Be brief.")
    assert COUNTER.message(shown(system(LONG), user(), max_tokens=200, system_share=0.75)[0]) > 130


# --- budgets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [LEAST - 1, 1, 0, -1])
def test_a_budget_too_small_for_the_mark_of_a_cut_is_refused(max_tokens: int) -> None:
    with pytest.raises(InvalidInput, match="at least 16") as caught:
        shown(user(), max_tokens=max_tokens)

    assert (caught.value.field, caught.value.value) == ("max_tokens", max_tokens)


def test_a_share_too_small_for_the_mark_of_a_cut_is_refused() -> None:
    """Better than to drop the system prompt in silence."""
    with pytest.raises(InvalidInput, match="system messages have no room for the mark"):
        shown(system(LONG), user(), max_tokens=20)


def test_a_counter_with_dear_marks_needs_a_larger_budget() -> None:
    with pytest.raises(InvalidInput, match="room for a message and the mark of a cut"):
        window((), (), max_tokens=LEAST, counter=LumpyCounter())


def test_the_least_budget_holds_one_cut_message() -> None:
    (only,) = shown(user(LONG), max_tokens=LEAST)

    assert is_cut(only)
    assert cost(only) <= LEAST


# --- turns -----------------------------------------------------------------------------------------------------------


def test_the_oldest_whole_turns_go_first() -> None:
    """A turn that is left out goes whole, even where one of its messages would have fitted."""
    old, older = [user("old " * 50), says("yes")], [user("older"), says("no")]
    new = [user("new"), says("right")]

    assert shown(*older, *old, *new, max_tokens=cost(*older, *old, *new)) == (*older, *old, *new)
    assert shown(*older, *old, *new, max_tokens=cost(*older, *old, *new) - 1) == (*old, *new)
    assert shown(*older, *old, *new, max_tokens=cost(*old, *new) - 1) == tuple(new)


def test_what_precedes_the_first_user_message_is_left_out() -> None:
    assert shown(says("Welcome!"), user(), says()) == (user(), says())
    assert shown(says("Welcome!"), calls("a"), result("a")) == ()
    assert shown(system(), says("Welcome!")) == (system(),)


def test_user_messages_in_a_row_are_turns_of_their_own() -> None:
    one, two = user("one " * 30), user("two " * 20)

    assert shown(one, two, says()) == (one, two, says())
    assert shown(one, two, says(), max_tokens=cost(two, says())) == (two, says())


def test_empty_contents_are_ordinary_messages() -> None:
    """None, "", no parts and image parts are counted and shown as they are."""
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    dialogue = (user(""), Message("assistant", None), Message("user", ()), Message("user", (image,)))

    assert shown(*dialogue) == dialogue
    assert cost(*shown(*dialogue)) == 3 + 4 * 4 + 765


# --- calls and results -----------------------------------------------------------------------------------------------


def test_nine_parallel_calls_are_one_unit_at_every_budget() -> None:
    """Cut at every position: every kept result has its call and the reverse."""
    ids = [f"call_{n}" for n in range(9)]
    agent = [user("go"), calls(*ids), *(result(one) for one in ids), says("all done")]
    dialogue = [user("first"), says("yes"), *agent]

    for max_tokens in range(LEAST, cost(*dialogue) + 1):
        found = shown(*dialogue, max_tokens=max_tokens)
        kept = [one.tool_call_id for one in found if one.role == "tool"]
        assert kept in ([], ids)
        assert (calls(*ids) in found) == bool(kept)
    assert found == tuple(dialogue)


@pytest.mark.parametrize("position", range(12))
def test_a_conversation_that_begins_or_ends_anywhere_is_valid(position: int) -> None:
    """A transcript cut before any message shows no orphan; cut after any, it may end with calls still pending."""
    ids = [f"call_{n}" for n in range(9)]
    dialogue = [user("go"), calls(*ids), *(result(one) for one in ids), says("all done")]

    assert shown(*dialogue[position:]) == (tuple(dialogue) if position == 0 else ())
    assert shown(*dialogue[:position]) == tuple(dialogue[:position])


def test_a_result_without_its_call_is_left_out() -> None:
    assert shown(user(), result("b"), says()) == (user(), says())


def test_of_a_result_told_twice_the_first_counts() -> None:
    found = shown(user(), calls("a"), result("a", "one"), result("a", "two"), says())

    assert found == (user(), calls("a"), result("a", "one"), says())


def test_calls_that_lack_a_result_are_left_out_with_the_results_they_have() -> None:
    found = shown(user(), calls("a", "b"), result("a"), says(), user("again"), says())

    assert found == (user(), says(), user("again"), says())


def test_calls_still_pending_at_the_end_stay_with_the_results_they_have() -> None:
    assert shown(user(), calls("a", "b")) == (user(), calls("a", "b"))
    assert shown(user(), calls("a", "b"), result("b")) == (user(), calls("a", "b"), result("b"))
    assert shown(user(), calls("a"), user("stop")) == (user(), user("stop"))


def test_interleaved_calls_find_their_results() -> None:
    """Results may come in any order, behind other calls and even behind another user message."""
    dialogue = (user(), calls("a"), calls("b"), result("b"), user("hurry"), result("a"), says())

    assert shown(*dialogue) == dialogue
    assert shown(*dialogue, max_tokens=cost(*dialogue) - 1) == (user("hurry"), says())


def test_ids_used_again_in_later_turns_belong_to_the_last_call() -> None:
    first = (user("one"), calls("call_0"), result("call_0", "first"), says("1"))
    second = (user("two"), calls("call_0"), result("call_0", "second"), says("2"))

    assert shown(*first, *second) == (*first, *second)
    assert shown(user("one"), calls("call_0"), *second) == (user("one"), *second)


def test_calls_without_ids_take_results_without_ids() -> None:
    dialogue = (user(), calls(None, None), result(None, "one"), result(None, "two"), says())

    assert shown(*dialogue) == dialogue


# --- within the last turn --------------------------------------------------------------------------------------------


def test_within_the_last_turn_the_oldest_units_with_tools_go_first() -> None:
    """The user message and what the assistant said stay; of the units with tools the newest stay."""
    units = [(calls(f"c{n}"), result(f"c{n}", "some result of a tool")) for n in range(5)]
    head, answer = (user("old"), says()), says("the answer")
    turn = (user("go"), *(one for unit in units for one in unit), answer)

    assert shown(*head, *turn, max_tokens=cost(*turn)) == turn
    assert shown(*head, *turn, max_tokens=cost(*turn) - 1) == (user("go"), *turn[3:])
    assert shown(*head, *turn, max_tokens=cost(user("go"), *units[4], answer)) == (user("go"), *units[4], answer)


def test_then_tool_results_are_cut_before_anything_else() -> None:
    turn = (user("word " * 60), calls("a", "b"), result("a", LONG), result("b", "short"), says("fine"))

    found = shown(*turn, max_tokens=400)

    assert [is_cut(one) for one in found] == [False, False, True, False, False]
    assert 380 <= cost(*found) <= 400


def test_then_everything_else_is_cut_the_longest_first() -> None:
    """A result larger than the whole budget, and a question that is, too."""
    turn = (user(LONG), calls("a"), result("a", LONG), says("fine"))

    found = shown(*turn, max_tokens=200)

    assert [is_cut(one) for one in found] == [True, False, True, False]
    assert found[2].text.strip().startswith("[…")
    assert found[0].text.startswith("The quick brown fox")
    assert 180 <= cost(*found) <= 200


def test_a_unit_that_still_does_not_fit_is_left_out() -> None:
    """Arguments of calls are never cut: half a JSON is none."""
    turn = (user("go"), calls("a", arguments=LONG), result("a"), says("the answer"))

    assert shown(*turn, max_tokens=200) == (user("go"), says("the answer"))


def test_a_single_message_larger_than_the_budget_is_cut_in_the_middle() -> None:
    (only,) = shown(user(LONG), max_tokens=100)
    head, mark, tail = only.text.split("\n")

    assert LONG.startswith(head)
    assert LONG.endswith(tail)
    assert mark == f"[…{COUNTER.text(LONG) - COUNTER.text(head) - COUNTER.text(tail)} tokens cut…]"
    assert 95 <= cost(only) <= 100


def test_a_user_message_that_cannot_be_cut_enough_leaves_nothing() -> None:
    assert shown(user("hello", name="x1y2z3" * 50), max_tokens=50) == ()


def test_text_parts_are_cut_and_images_give_way_to_a_mark() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    message = Message("user", ({"type": "text", "text": LONG, "annotations": []}, image))

    roomy, tight = shown(message, max_tokens=1_000)[0], shown(message, max_tokens=300)[0]

    assert not isinstance(roomy.content, str)
    assert not isinstance(tight.content, str)
    assert roomy.content is not None
    assert tight.content is not None
    assert roomy.content[1] == image
    assert roomy.content[0]["annotations"] == []
    assert tight.content[1] == {"type": "text", "text": cut_mark(765)}
    assert all(part["text"].count("tokens cut") == 1 for part in tight.content)
    assert cost(roomy) <= 1_000
    assert 280 <= cost(tight) <= 300


def test_reasoning_stays_whole_with_its_turn_or_goes_with_it() -> None:
    """A reasoning part is signed, so it is neither cut nor dropped from a message that stays."""
    thought = {"type": "thinking", "thinking": "hmm " * 100, "signature": "c2ln"}
    asked = Message("assistant", (thought, {"type": "text", "text": LONG}), tool_calls=(call("a"),))
    turn = (user("go"), asked, result("a"))

    found = shown(*turn, max_tokens=300)

    assert isinstance(found[1].content, tuple)
    assert found[1].content[0] is thought
    assert is_cut(found[1])
    assert shown(*turn, max_tokens=100) == (user("go"),)


def test_special_tokens_in_text_are_text() -> None:
    assert shown(user("<|endoftext|>")) == (user("<|endoftext|>"),)
    assert "<|endoftext|>" in shown(user("<|endoftext|>" * 1_000), max_tokens=100)[0].text


# --- cutting a text --------------------------------------------------------------------------------------------------


@given(text=WORDS, max_tokens=st.integers(12, 200))
def test_a_cut_text_fits_and_shows_its_mark(text: str, max_tokens: int) -> None:
    found = cut_text(text, max_tokens, COUNTER)

    assert COUNTER.text(found) <= max_tokens
    if COUNTER.text(text) <= max_tokens:
        assert found == text
    else:
        assert "tokens cut…]" in found


def test_a_text_cannot_be_cut_to_less_than_its_mark() -> None:
    with pytest.raises(InvalidInput, match="at least 8, the mark of a cut"):
        cut_text(LONG, 3, COUNTER)


# --- work ------------------------------------------------------------------------------------------------------------


class WatchedCounter(TiktokenCounter):
    """The real counter, adding up how many characters it was asked to count."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def text(self, text: str) -> int:
        self.characters += len(text)
        return super().text(text)


def test_a_session_is_read_only_as_far_back_as_the_budget_reaches() -> None:
    """Of 5,000 messages, those of the window are read and two more; with counts known, hardly anything is counted."""
    talk = [one for n in range(2_500) for one in counted((user(f"question {n}?"), says("word " * 90)))]
    read = 0

    def backwards() -> Iterator[Counted]:
        nonlocal read
        for one in reversed(talk):
            read += 1
            yield one

    counter = WatchedCounter()
    found = window(backwards(), (), max_tokens=4_000, counter=counter)

    assert 70 <= len(found) <= 80
    assert read <= len(found) + 2
    assert counter.characters < 100


def test_a_long_last_turn_is_squeezed_in_one_pass() -> None:
    """5,000 steps of an agent that do not fit cost no more counting than those that are looked at for cuts."""
    steps = [one for n in range(2_500) for one in (calls(f"c{n}"), result(f"c{n}", "word " * 20))]
    counter = WatchedCounter()

    found = shown(user("go"), *steps, max_tokens=4_000, counter=counter)

    assert found[0] == user("go")
    assert found[-1] == steps[-1]
    assert cost(*found) <= 4_000
    assert counter.characters < 50_000


def test_cutting_reads_no_more_of_a_huge_content_than_it_shows() -> None:
    message = result("a", "word " * 1_000_000)
    one = Counted(message, COUNTER.message(message))
    counter = WatchedCounter()

    found = window([one, *counted((calls("a"), user()))], (), max_tokens=1_000, counter=counter)

    assert 980 <= cost(*found) <= 1_000
    assert counter.characters < 100_000


# --- the class -------------------------------------------------------------------------------------------------------


def test_working_memory_shows_what_was_added_inside_its_budget() -> None:
    memory = WorkingMemory(100, counter=COUNTER)
    memory.add(system(), user("first " * 90))
    memory.add({"role": "user", "content": "second"}, {"role": "assistant", "content": "yes"})

    assert [one.text for one in memory.get_context()] == ["Be brief.", "second", "yes"]
    assert memory.tokens() == cost(*memory.get_context()) <= 100


def test_working_memory_keeps_equal_messages_but_not_the_same_id_twice() -> None:
    memory = WorkingMemory(counter=COUNTER)
    memory.add(user("yes"), user("yes"), user("no", id="m1"))
    memory.add(user("no", id="m1"))

    assert memory.get_context() == (user("yes"), user("yes"), user("no", id="m1"))


def test_working_memory_is_empty_at_first() -> None:
    memory = WorkingMemory(counter=COUNTER)

    assert (memory.get_context(), memory.tokens()) == ((), 0)


def test_working_memory_adds_all_messages_or_none() -> None:
    memory = WorkingMemory(counter=COUNTER)

    with pytest.raises(InvalidInput):
        memory.add(user(), 42)

    assert memory.get_context() == ()


@pytest.mark.parametrize(
    ("options", "field"),
    [({"max_tokens": 15}, "max_tokens"), ({"max_tokens": 99.5}, "max_tokens"), ({"system_share": 1.5}, "system_share")],
)
def test_working_memory_refuses_settings_that_cannot_work(options: Mapping[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        WorkingMemory(**options, counter=COUNTER)

    assert caught.value.field == field


def test_working_memory_takes_messages_from_many_threads() -> None:
    memory = WorkingMemory(counter=COUNTER)
    shares = [[user(f"{n}-{i}") for i in range(25)] for n in range(4)]
    threads = [threading.Thread(target=memory.add, args=share) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(memory.get_context())) == 100
