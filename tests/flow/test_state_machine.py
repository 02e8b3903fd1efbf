"""Any sequence of calls leaves what a dict would hold, on every backend."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from langchain_tiered_memory.core.errors import Conflict, NotFound
from langchain_tiered_memory.core.model import Memory, MemoryType
from tests.flow.mirror import DRAWN, EPISODES, EPOCH, SAID, STATEMENTS, VALUES, Mirror, extractor
from tests.flow.world import EVERYTHING, World, assert_settled
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

IDS = st.sampled_from([None, None, "a", "b", "c%"])
HOURS = st.sampled_from([None, None, -1000, -10, 0])
WHO = st.sampled_from([0, 1])


class Machine(RuleBasedStateMachine):
    """Two users of one store, each beside a mirror; every example has users of its own."""

    world: World
    start: datetime
    numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self.number = next(self.numbers)
        self.clock = self.world.clock
        self.clock.set(self.start)
        self.engine = self.world.engine()
        self.mirrors = [Mirror(f"{name}{self.number}", DRAWN) for name in ("ada", "ada%")]
        self.messages = count()

    def tick(self) -> datetime:
        return self.clock.advance(seconds=1)

    # -- writing ---------------------------------------------------------------------------------------------------

    @rule(who=WHO, text=st.sampled_from(sorted(EPISODES)), memory_id=IDS, hours=HOURS, pinned=st.booleans())
    def remember_episode(self, who: int, text: str, memory_id: str | None, *, hours: int | None, pinned: bool) -> None:
        self._remember(who, text, "episode", EPISODES[text], memory_id=memory_id, hours=hours, pinned=pinned)

    @rule(
        who=WHO,
        text=st.sampled_from(sorted(STATEMENTS)),
        kind=st.sampled_from(["fact", "preference"]),
        memory_id=IDS,
        hours=HOURS,
    )
    def remember_a_statement(self, who: int, text: str, kind: str, memory_id: str | None, hours: int | None) -> None:
        self._remember(who, text, kind, STATEMENTS[text], memory_id=memory_id, hours=hours)

    @rule(
        who=WHO,
        text=st.sampled_from(sorted(VALUES)),
        slot=st.sampled_from(["home", "birthplace"]),
        memory_id=IDS,
        hours=HOURS,
    )
    def remember_a_value(self, who: int, text: str, slot: str, memory_id: str | None, hours: int | None) -> None:
        self._remember(who, text, "fact", 0.4, memory_id=memory_id, hours=hours, slot=slot, metadata=VALUES[text])

    def _remember(
        self,
        who: int,
        text: str,
        kind: str,
        importance: float,
        *,
        memory_id: str | None,
        hours: int | None = None,
        **fields: Any,
    ) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        at = None if hours is None else EPOCH + timedelta(hours=hours)
        seen = at or now
        given = Memory(
            text, MemoryType(kind), importance, now, seen, observed_at=seen, id=memory_id or "", origin="remember"
        )
        expected: type[Exception] | None = None
        try:
            mirror.remember(replace(given, **fields), now, timeless=at is None)
        except Conflict as error:
            expected = type(error)
        options: dict[str, Any] = {"importance": importance, "id": memory_id, "observed_at": at, **fields}
        if expected is None:
            stored = self.engine.remember(mirror.user, text, kind, **options)
            assert stored.id in mirror.held
        else:
            with pytest.raises(expected):
                self.engine.remember(mirror.user, text, kind, **options)

    @rule(who=WHO, data=st.data(), seconds=st.sampled_from([1, 90_000]), named=st.booleans())
    def remember_again(self, who: int, data: st.DataObject, seconds: int, *, named: bool) -> None:
        """Perhaps after its life, when nobody has counted it yet."""
        self.clock.advance(seconds=seconds)
        held = list(self.mirrors[who].held.values())
        if held:
            one = data.draw(st.sampled_from(range(len(held))))
            memory = held[one].memory
            self._remember(
                *(who, memory.content, str(memory.memory_type), memory.importance),
                memory_id=memory.id if named else None,
                slot=memory.slot,
                metadata={key: memory.metadata[key] for key in ("value", "negated") if key in memory.metadata},
            )

    @rule(who=WHO, session=st.sampled_from(["s", "t"]), texts=st.lists(st.sampled_from(SAID), min_size=1, max_size=3))
    def say(self, who: int, session: str, texts: list[str]) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        roles = ("user", "assistant", "system")
        said = [(f"{session}-{next(self.messages)}", roles[n], text) for n, text in enumerate(texts)]
        told = mirror.transcripts.get(session, [])
        said += told[:1]  # told again, it is the same message
        mirror.add(session, said, now)
        chat = self.engine.session(mirror.user, session)
        chat.add(*({"id": i, "role": role, "content": text} for i, role, text in said))

    @rule(who=WHO, data=st.data(), importance=st.sampled_from([0.1, 0.55, 0.95]), text=st.booleans())
    def update(self, who: int, data: st.DataObject, importance: float, *, text: bool) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        chosen = self._some(data, mirror, now)
        if chosen is None:
            return
        changed: dict[str, Any] = {"importance": importance, "metadata": {"n": self.number}}
        if text:
            changed["content"] = f"changed {next(self.messages)}"
        updated = self.engine.update(mirror.user, chosen, **changed)
        assert updated.importance == importance
        mirror.update(chosen, changed, now)

    # -- reading ---------------------------------------------------------------------------------------------------

    @rule(who=WHO, query=st.sampled_from(["where is the lake?", "chess", "", "Porto"]), k=st.integers(1, 4))
    def recall(self, who: int, query: str, k: int) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        before = mirror.current(now)
        hits = self.engine.recall(mirror.user, query, k)
        assert len(hits) == min(k, len(before))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len({hit.id for hit in hits}) == len(hits)
        for hit in hits:
            held = mirror.held[hit.id]
            reads = 1 if query else 0  # who asks for nothing in particular looks through, and reads nothing
            counted = held.memory.access_count + reads
            later = max(held.memory.last_accessed, now) if reads else held.memory.last_accessed
            assert (hit.content, hit.access_count) == (before[hit.id].content, counted)
            assert sum(part.contribution for part in hit.explanation.values()) == pytest.approx(hit.score, abs=1e-5)
            mirror.held[hit.id] = held.stands(access_count=counted, last_accessed=later)

    # -- time and upkeep -------------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([30, 61, 36_000, 90_000]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @rule(who=WHO, everything=st.booleans())
    def consolidate(self, who: int, *, everything: bool) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        self.engine.consolidate(mirror.user, everything=everything)
        mirror.consolidate(now, everything=everything)
        assert self.engine.consolidate(mirror.user).promoted == 0

    @rule(who=WHO)
    def maintain(self, who: int) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        assert self.engine.maintain(mirror.user).failed == ()
        mirror.expire(now)
        assert_settled(self.world, [mirror.user])

    @rule(who=WHO)
    def reindex(self, who: int) -> None:
        self.tick()
        assert self.engine.reindex(self.mirrors[who].user).failed == ()

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self.world.engine()

    # -- forgetting and carrying -----------------------------------------------------------------------------------

    @rule(who=WHO, data=st.data())
    def forget(self, who: int, data: st.DataObject) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        chosen = self._some(data, mirror, now)
        if chosen is None:
            return
        other = self.mirrors[1 - who]
        if chosen not in other.held:
            with pytest.raises(NotFound):
                self.engine.forget(other.user, chosen)
        receipt = self.engine.forget(mirror.user, chosen)
        assert receipt.pending == ()
        mirror.forget(chosen, now)

    @rule(who=WHO)
    def forget_user(self, who: int) -> None:
        self.tick()
        user = self.mirrors[who].user
        receipt = self.engine.forget_user(user)
        assert receipt.messages == sum(map(len, self.mirrors[who].transcripts.values()))
        self.mirrors[who] = Mirror(user, DRAWN)
        assert user not in self.world.items.users() + self.world.records.users() + self.world.transcripts.users()
        assert self.world.index is None or self.world.index.ids(user) == frozenset()

    @rule(who=WHO)
    def carry_to_another(self, who: int) -> None:
        now, mirror = self.tick(), self.mirrors[who]
        other = mirror.moved_to(f"carried from {mirror.user} {next(self.messages)}", now)
        file = io.StringIO()
        self.engine.export_user(mirror.user, file)
        for _ in range(2):  # the second time changes nothing
            file.seek(0)
            self.engine.import_user(other.user, file)
            self._compare(other, now)
        self.engine.forget_user(other.user)

    def _some(self, data: st.DataObject, mirror: Mirror, now: datetime) -> str | None:
        """Return one of the ids shown, if there is one; what is not shown cannot be named."""
        shown = list(mirror.shown(now))
        if not shown:
            for hidden in (*mirror.held, "nothing"):
                with pytest.raises(NotFound):
                    self.engine.update(mirror.user, hidden, importance=0.5)
            return None
        return data.draw(st.sampled_from(shown))

    # -- what always holds -----------------------------------------------------------------------------------------

    @invariant()
    def every_user_has_what_the_mirror_holds(self) -> None:
        for mirror in self.mirrors:
            self._compare(mirror, self.clock())

    def _compare(self, mirror: Mirror, now: datetime) -> None:
        listed = self.engine.list(mirror.user, include_superseded=True, limit=EVERYTHING)
        found = {one.id: replace(one, metadata=dict(one.metadata)) for one in listed}
        assert len(found) == len(listed)
        expected = mirror.shown(now)
        assert {i: _sorted(one) for i, one in found.items()} == {i: _sorted(one) for i, one in expected.items()}
        for session, told in mirror.transcripts.items():
            whole = self.engine.session(mirror.user, session).transcript()
            assert [(one.id, one.role, one.content) for one in whole] == told

    def teardown(self) -> None:
        for mirror in self.mirrors:
            self.engine.forget_user(mirror.user)
        self.engine.close()


def _sorted(memory: Memory) -> Memory:
    return replace(memory, source_ids=tuple(sorted(memory.source_ids)))


def run(world: World, examples: int, *, steps: int = 30, chosen: bool = True) -> None:
    """Run the machine on a world; if the examples are chosen, they are the same every time."""

    class OnWorld(Machine):
        numbers = count()

    OnWorld.world, OnWorld.start = world, world.clock()
    run_state_machine_as_test(
        OnWorld,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=chosen,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


EXAMPLES = {"memory": 100, "sqlite": 40, "servers": 15}
"""As many as take about as long on each."""


def test_any_sequence_leaves_what_a_dict_would_hold(make_world: MakeWorld, request: pytest.FixtureRequest) -> None:
    backend = request.node.callspec.params["make_world"]
    run(make_world(extractor=extractor()), EXAMPLES[backend])
