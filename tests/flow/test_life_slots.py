"""Slots: one value at a time, in whatever order they come to be known; and the two times one may ask about."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise, permutations
from typing import Any

import pytest

from langchain_tiered_memory import InvalidInput, Memory, NewMemory
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock

YEARS = (2018, 2020, 2022, 2024)
EMPLOYERS = dict(zip(YEARS, ("Acme", "Globex", "Initech", "Umbrella"), strict=True))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def employ(memory: Engine, since: int, name: str | None = None, user: str = "ada") -> Memory:
    return memory.remember(user, name or EMPLOYERS[since], "fact", slot="employer", observed_at=year(since))


def asked(memory: Engine, **how: Any) -> list[str]:
    """Return the contents that a recall for the employer finds, without a touch."""
    hits = memory.recall("ada", "employer", k=9, touch=False, **how)
    return [hit.content for hit in hits]


def test_slots_in_every_order_end_in_the_same_chain(sync: Engine) -> None:
    """A newer value supersedes the older; an older `observed_at` is filed behind: slots in every order."""
    for number, order in enumerate(permutations(YEARS)):
        user = f"user {number}"
        for since in order:
            employ(sync, since, user=user)
        chain = sorted(sync.list(user, include_superseded=True), key=lambda one: one.observed_at)
        assert [one.content for one in chain] == list(EMPLOYERS.values())
        for one, successor in pairwise(chain):
            assert (one.superseded_by, one.valid_to) == (successor.id, successor.observed_at)
        assert (chain[-1].superseded_by, chain[-1].valid_to, chain[-1].current) == (None, None, True)
        assert sync.list(user) == (chain[-1],)
        assert [hit.id for hit in sync.recall(user, "employer", k=9, touch=False)] == [chain[-1].id]


def test_a_batch_is_a_chain_too(sync: Engine) -> None:
    """Supersession happens only inside the RecordStore, in one transaction."""
    batch = [NewMemory(EMPLOYERS[y], "fact", slot="employer", observed_at=year(y)) for y in (2022, 2018, 2024, 2020)]
    sync.remember_many("ada", batch)
    assert asked(sync) == ["Umbrella"]
    assert sync.status("ada").superseded == 3


def test_the_current_value_alone_by_default_and_both_on_request(sync: Engine) -> None:
    """`include_superseded`: also what a newer value has superseded; the current fact only by default."""
    for since in YEARS[:2]:
        employ(sync, since)
    assert asked(sync) == ["Globex"]
    assert set(asked(sync, include_superseded=True)) == {"Acme", "Globex"}
    assert {one.content for one in sync.list("ada", include_superseded=True)} == {"Acme", "Globex"}


def test_the_same_value_as_the_current_one_reinforces_it(sync: Engine) -> None:
    """The same value as the current one reinforces it."""
    first = employ(sync, 2018)
    again = employ(sync, 2020, "  ACME. ")
    assert again.id == first.id
    assert again.content == "Acme"
    assert again.source_ids
    assert len(sync.list("ada", include_superseded=True)) == 1


def test_the_same_value_in_another_period_is_a_record_of_its_own(sync: Engine) -> None:
    """The same value in another period is a record of its own."""
    employ(sync, 2018)
    employ(sync, 2020)
    back = employ(sync, 2022, "Acme")
    assert back.current
    chain = sorted(sync.list("ada", include_superseded=True), key=lambda one: one.observed_at)
    assert [one.content for one in chain] == ["Acme", "Globex", "Acme"]
    assert asked(sync) == ["Acme"]


def test_the_slot_of_each_speaker_and_agent_is_its_own(sync: Engine) -> None:
    """A slot names a single-valued attribute of whoever speaks, as one agent knows it."""
    for name, agent in (("Ada", None), ("Bob", None), ("Ada", "x")):
        sync.remember("ada", f"{name} {agent}", "fact", slot="employer", name=name, agent_id=agent)
    assert len(sync.list("ada")) == 3
    sync.remember("ada", "Ada anew", "fact", slot="employer", name="Ada")
    assert {one.content for one in sync.list("ada")} == {"Ada anew", "Bob None", "Ada x"}


def test_slots_of_two_users_do_not_meet(sync: Engine) -> None:
    """`user_id` is the wall."""
    employ(sync, 2018)
    sync.remember("bob", "Globex", "fact", slot="employer")
    assert asked(sync) == ["Acme"]


def test_a_slot_does_not_take_a_short_life(sync: Engine) -> None:
    """Slots and imports: long-term."""
    with pytest.raises(InvalidInput, match="tier"):
        sync.remember("ada", "Acme", "fact", slot="employer", tier="short_term")
    assert sync.list("ada") == ()


def test_history_tells_the_supersession(sync: Engine) -> None:
    """`history(user_id, id)`: `HistoryEvent(at, kind, memory, by)`."""
    first = employ(sync, 2018)
    second = employ(sync, 2020)
    events = sync.history("ada", first.id)
    assert [(event.kind, event.by) for event in events] == [("created", "remember"), ("superseded", second.id)]
    assert events[0].memory == first
    assert events[1].memory == sync.get("ada", first.id)


def test_forgetting_a_link_closes_the_chain(sync: Engine) -> None:
    """Chains of slots close over the gap."""
    ids = [employ(sync, since).id for since in YEARS]
    sync.forget("ada", ids[1])
    chain = sorted(sync.list("ada", include_superseded=True), key=lambda one: one.observed_at)
    assert [(one.content, one.superseded_by) for one in chain] == [
        ("Acme", ids[2]),
        ("Initech", ids[3]),
        ("Umbrella", None),
    ]
    sync.forget("ada", ids[3])
    assert asked(sync) == ["Initech"]


# -- the two times -----------------------------------------------------------------------------------------------------


def test_as_of_finds_what_was_true_then(sync: Engine) -> None:
    """`as_of`: what was true then."""
    for since in (2022, 2018, 2020):
        employ(sync, since)
    for at, expected in ((2017, []), (2018, ["Acme"]), (2019, ["Acme"]), (2020, ["Globex"]), (2023, ["Initech"])):
        assert asked(sync, as_of=year(at)) == expected, at


def test_known_at_finds_what_was_known_then(sync: Engine, clock: FakeClock) -> None:
    """`known_at`: what was known then."""
    clock.now = year(2021)
    employ(sync, 2018)
    clock.now = year(2022)
    employ(sync, 2020)  # news of long ago
    assert asked(sync, known_at=year(2020)) == []
    assert asked(sync, known_at=datetime(2021, 6, 1, tzinfo=UTC)) == ["Acme"]
    assert asked(sync, known_at=year(2023)) == ["Globex"]


def test_both_times_together(sync: Engine, clock: FakeClock) -> None:
    """`as_of` and `known_at`: what one believed at one time of another."""
    clock.now = year(2021)
    employ(sync, 2018)
    clock.now = year(2023)
    employ(sync, 2020)
    believed = {
        (as_of, known): asked(sync, as_of=year(as_of), known_at=year(known))
        for as_of in (2019, 2021)
        for known in (2022, 2024)
    }
    assert believed == {
        (2019, 2022): ["Acme"],
        (2019, 2024): ["Acme"],
        (2021, 2022): ["Acme"],
        (2021, 2024): ["Globex"],
    }


def test_back_filled_history_is_of_its_own_time(sync: Engine, clock: FakeClock) -> None:
    """`observed_at` is when it was said or became true; recency and as-of use it."""
    old = sync.remember("ada", "the fair was loud", observed_at=year(2023))
    new = sync.remember("ada", "the fair was quiet", observed_at=clock.now)
    assert old.last_accessed == year(2023)
    assert asked_of_fair(sync, year(2024)) == [old.id]
    hits = sync.recall("ada", "fair", touch=False)
    assert hits[0].id == new.id
    recency = {hit.id: hit.explanation["recency"].value for hit in hits}
    assert recency[new.id] == 1
    assert recency[old.id] < 0.01


def asked_of_fair(memory: Engine, as_of: datetime) -> list[str]:
    return [hit.id for hit in memory.recall("ada", "fair", as_of=as_of, touch=False)]
