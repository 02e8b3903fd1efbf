"""Whatever happens between remembering and now, every memory is there, or was counted when it was let go."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_tiered_memory import MemorySystem, Message, Tier
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.conftest import FakeClock
from tests.flow.systems import QUIET

WORDS = ("gate", "tea", "river", "bees")
remembering = st.tuples(st.just("remember"), st.sampled_from([0.1, 0.5, 0.8, 0.81]), st.booleans())
adding = st.tuples(st.just("add"), st.sampled_from(["ok", "I moved to Oslo", "the gate is green"]), st.booleans())
others = st.tuples(
    st.sampled_from(["recall", "consolidate", "everything", "maintain", "wait", "wait", "forget", "context"]),
    st.sampled_from(WORDS),
    st.booleans(),
)


class Ledger:
    """Counts what went in and what came out."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        system = MemorySystem.open(":memory:", embedder=HashedEmbedder(), settings=QUIET, clock=clock)
        self.memory = system.sync
        self.told = self.let_go = self.forgotten = 0
        self.reads: dict[str, int] = {}

    def take(self, step: tuple[str, Any, bool]) -> None:
        """Do one step."""
        name, value, flag = step
        memory, number = self.memory, self.told
        if name == "remember":
            kind = "fact" if flag else "episode"
            memory.remember("ada", f"{WORDS[number % 4]} number {number}", kind, importance=value, id=f"r{number}")
            self.told += 1
        elif name == "add":
            memory.session("ada", f"s{flag}").add(Message("user", f"{value}, {number}", id=f"a{number}"))
            self.told += 1
        elif name == "recall":
            self.read(memory.recall("ada", value, 3))
        elif name == "context":
            self.read(memory.session("ada", f"s{flag}").context(value, k=3).memories)
        elif name in {"consolidate", "everything"}:
            self.let_go += memory.consolidate("ada", everything=name == "everything").expired
        elif name == "maintain":
            self.let_go += memory.maintain("ada").expired
        elif name == "wait":
            self.clock.advance(hours=13 if flag else 1)
        elif found := [one for one in memory.list("ada") if one.origin != "consolidation"]:
            receipt = memory.forget("ada", found[number % len(found)].id)
            assert receipt.short_term + receipt.long_term - receipt.derived == 1
            self.forgotten += 1

    def read(self, hits: Any) -> None:
        """Count what was read, and see that the hits show it."""
        for hit in hits:
            self.reads[hit.id] = self.reads.get(hit.id, 0) + 1
            assert hit.access_count == self.reads[hit.id]

    def balance(self) -> None:
        """Everything that came in is there or was counted out, once."""
        self.let_go += self.memory.maintain("ada").expired
        found = self.memory.list("ada", include_superseded=True, limit=999)
        assert len({one.id for one in found}) == len(found)
        mine = [one for one in found if one.origin != "consolidation"]
        assert len(mine) + self.let_go + self.forgotten == self.told
        for one in found:
            assert one.access_count == self.reads.get(one.id, 0)
            life = self.clock.now - one.created_at
            assert one.tier is Tier.LONG_TERM or life.total_seconds() < 24 * 3600
            assert self.memory.get("ada", one.id) == one
        derived = [one for one in found if one.origin == "consolidation"]
        there = {one.id for one in found}
        assert all(set(one.source_ids) & there for one in derived)
        before = self.memory.list("ada", include_superseded=True, limit=999)
        assert self.memory.maintain("ada").promoted == self.memory.maintain("ada").expired == 0
        assert self.memory.list("ada", include_superseded=True, limit=999) == before


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(remembering | adding | others, max_size=30))
def test_what_goes_in_is_there_or_was_counted_out(steps: list[tuple[str, Any, bool]], clock: FakeClock) -> None:
    """Count items in = items out over every tier boundary (conservation property test); each read counts once."""
    ledger = Ledger(FakeClock(clock.now))
    for step in steps:
        ledger.take(step)
    ledger.balance()
