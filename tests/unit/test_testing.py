"""What is shipped for those who test: clocks, scripted models, faults and counts; none of it needs pytest."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from langchain_tiered_memory.backends.inmemory import InMemoryItemStore
from langchain_tiered_memory.core.errors import BackendUnavailable, ExtractionError
from langchain_tiered_memory.core.model import MemoryType
from langchain_tiered_memory.core.ports import Clock, ExtractedFact, FactExtractor, ItemStore
from langchain_tiered_memory.testing import (
    Call,
    Counting,
    Crash,
    FakeClock,
    FakeExtractor,
    Fault,
    Faulty,
    Plan,
    counting,
    faulty,
)
from langchain_tiered_memory.testing.samples import NOW, entry_of, memory_of


def two_puts(store: ItemStore, other: ItemStore) -> None:
    """Put one item into each."""
    store.put("ada", [entry_of("a")])
    other.put("ada", [entry_of("b")])


def test_a_fake_clock_stands_still_until_it_is_moved() -> None:
    fake = FakeClock(NOW)
    clock: Clock = fake

    assert clock() == clock() == NOW
    assert fake.advance(hours=3) == clock() == NOW + timedelta(hours=3)
    fake.set(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock() == datetime(2020, 1, 1, tzinfo=UTC)


def test_a_fake_extractor_finds_what_it_was_told_to_find() -> None:
    scripted = ExtractedFact(content="likes tea", memory_type=MemoryType.PREFERENCE, slot="drink", source_ids=())
    fake = FakeExtractor({"hello": ["is polite", scripted]})
    extractor: FactExtractor = fake
    memories = (memory_of("a", "hello"), memory_of("b", "nothing"))

    first, second = extractor.extract(memories)

    assert (first.content, first.memory_type, first.source_ids) == ("is polite", MemoryType.FACT, ("a",))
    assert (second.slot, second.source_ids) == ("drink", ("a",))
    assert fake.asked == [memories]


def test_a_fake_extractor_fails_when_it_is_told_to() -> None:
    extractor = FakeExtractor()
    extractor.fails = True

    with pytest.raises(ExtractionError):
        extractor.extract([memory_of("a")])


def test_counting_lists_the_calls_of_all_stores_in_order() -> None:
    calls: list[Call] = []
    store, other = counting(InMemoryItemStore(), calls), counting(InMemoryItemStore(), calls)

    two_puts(store, other)
    store.version("ada")

    assert [call.method for call in calls] == ["put", "put", "version"]
    assert {call.store for call in calls} == {"InMemoryItemStore"}
    assert (store.name, len(calls)) == ("memory", 3)
    assert isinstance(store, Counting)


@pytest.mark.parametrize(
    ("at", "when", "stored"), [(1, "before", ""), (1, "after", "a"), (2, "before", "a"), (2, "after", "ab")]
)
def test_a_crash_strikes_before_or_after_a_call_and_ends_everything(at: int, when: str, stored: str) -> None:
    inner, other = InMemoryItemStore(), InMemoryItemStore()
    (fault,) = [one for one in Plan.every_crash(2) if (one.at, one.when) == (at, when)]
    plan = Plan(fault)

    with pytest.raises(Crash):
        two_puts(faulty(inner, plan), faulty(other, plan))

    held = [m.id for store in (inner, other) for m in store.get("ada", ["a", "b"])]
    assert "".join(held) == stored
    with pytest.raises(Crash):
        faulty(inner, plan).users()
    assert plan.fired == [fault]


def test_an_error_strikes_the_calls_it_names_and_no_others() -> None:
    error = BackendUnavailable("redis", "put items", "told to fail")
    plan = Plan(Fault(2, error=error, method="put", times=2))
    store = faulty(InMemoryItemStore(), plan)

    store.put("ada", [entry_of("a")])
    store.touch("ada", ["a"], NOW)
    for _ in range(2):
        with pytest.raises(BackendUnavailable):
            store.put("ada", [entry_of("b")])
    store.put("ada", [entry_of("b")])

    assert [m.id for m in store.get("ada", ["a", "b"])] == ["a", "b"]
    assert isinstance(store, Faulty)


def test_a_crash_is_no_exception_that_code_handles() -> None:
    assert not issubclass(Crash, Exception)


def test_the_package_works_without_pytest() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None; import langchain_tiered_memory.testing as t; print(t.Plan.__name__)"
    )

    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "Plan"
