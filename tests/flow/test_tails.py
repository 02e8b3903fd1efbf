"""What a process keeps in mind of its sessions' ends: read once, never stale, nobody else's to change."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_tiered_memory import Message
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.model import SYSTEM_ROLES
from langchain_tiered_memory.core.working import Counted, window
from langchain_tiered_memory.tokens import TiktokenCounter
from tests.flow.systems import House

COUNTER = TiktokenCounter()


def said(text: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **fields}


def step(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a call of an agent, and its result."""
    asked = {"id": f"c{number}", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    return said("", "assistant", tool_calls=[asked]), said(f"found {number}", "tool", tool_call_id=f"c{number}")


def expected(transcript: Sequence[Message], max_tokens: int) -> tuple[Message, ...]:
    """Return the window of a transcript by the pure function."""
    counted = [Counted(message, COUNTER.message(message)) for message in transcript]
    system = [one for one in counted if one.message.role in SYSTEM_ROLES]
    return window(reversed(counted), system, max_tokens=max_tokens, counter=COUNTER)


def watched(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by how many messages each reading of a transcript gave."""
    transcripts, read = memory._opening.rooms().parts.transcripts, list[int]()
    tail: Callable[..., Any] = transcripts.tail

    def counting(*args: Any, **how: Any) -> Any:
        page = tail(*args, **how)
        read.append(len(page))
        return page

    monkeypatch.setattr(transcripts, "tail", counting)
    return read


def test_a_window_reads_only_what_was_said_since_the_last_one(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a turn of thousands of messages, all of which have to be known to leave out the right ones."""
    memory = house.open()
    chat = memory.session("ada", "s")
    chat.add(said("go"), *(one for number in range(1_000) for one in step(number)))
    first = chat.window()
    read = watched(memory, monkeypatch)

    chat.add(*step(1_000))
    again = chat.window()

    assert sum(read) <= 16
    assert again[0] == first[0]
    assert again[-1].text == "found 1000"
    monkeypatch.undo()
    assert again == expected(chat.transcript(), 4_000)


SAID = st.one_of(
    st.integers(1, 60).map(lambda words: (said("word " * words),)),
    st.integers(1, 60).map(lambda words: (said("word " * words, "assistant"),)),
    st.just((said("Be brief.", "system"),)),
    st.integers(0, 3).map(step),
    st.integers(0, 3).map(lambda number: step(number)[:1]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), SAID),
        st.tuples(st.just("add"), SAID),
        st.tuples(st.just("clear"), st.just(())),
        st.tuples(st.just("forget"), st.just(())),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, budgets=st.lists(st.sampled_from([60, 100, 200, 1_000]), min_size=12, max_size=12))
def test_a_window_is_true_whoever_writes(
    folder_house: House, steps: list[tuple[str, tuple[dict[str, Any], ...]]], budgets: list[int]
) -> None:
    """Two systems on one folder take turns; each window is that of the transcript as it stands."""
    systems = [folder_house.open(vector_db="exact") for _ in range(2)]
    try:
        for place, ((what, messages), budget) in enumerate(zip(steps, budgets, strict=False)):
            writing, looking = systems[place % 2], systems[(place // 2) % 2]
            chat = writing.session("ada", "s")
            if what == "add":
                chat.add(*messages)
            elif what == "clear":
                chat.clear()
            else:
                writing.forget_user("ada")
            for one in (looking, writing):
                session = one.session("ada", "s", max_tokens=budget)
                assert session.window() == expected(session.transcript(), budget)
    finally:
        systems[0].forget_user("ada")
        for one in systems:
            one.close()


def test_a_window_is_the_callers_own(sync: Engine) -> None:
    """What is done to the messages of one window is not seen in the next."""
    chat = sync.session("ada", "s")
    parts = [{"type": "text", "text": "look", "annotations": []}, {"type": "image_url", "image_url": {"url": "data:"}}]
    chat.add({"role": "user", "content": parts, "extra": {"a": {"b": 1}}}, *step(1))
    before = chat.window()
    for message in chat.window():
        if not isinstance(message.content, str):
            message.content[0]["text"] = "changed"  # type: ignore[index] # parts are mappings of the caller's own
        for asked in message.tool_calls:
            asked["function"]["name"] = "changed"
        message.extra.update(a="changed")  # type: ignore[attr-defined] # likewise

    assert chat.window() == before == chat.transcript()


def test_nothing_of_a_forgotten_user_is_kept_in_mind(sync: Engine) -> None:
    chat = sync.session("ada", "s")
    chat.add(said("an unforgettable plum"))
    assert chat.window()

    sync.forget_user("ada")
    gc.collect()

    held = [one for one in gc.get_objects() if isinstance(one, Counted) and "unforgettable" in one.message.text]
    assert held == []


def test_an_end_that_is_too_large_is_not_kept_in_mind(sync: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image counts by its characters here, though it costs few tokens."""
    monkeypatch.setattr("langchain_tiered_memory.core.tails._CHARACTERS", 1_000)
    chat = sync.session("ada", "s")
    image = {"type": "image_url", "image_url": {"url": "data:" + "x" * 2_000}}
    chat.add({"role": "user", "content": [image]})
    assert chat.window() == chat.window() == chat.transcript()
    read = watched(sync, monkeypatch)
    chat.window()
    assert sum(read) == 1
