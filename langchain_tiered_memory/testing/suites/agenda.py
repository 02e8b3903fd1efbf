"""What an `Agenda` must do: nobody is lost, nobody is done twice at once, and who fails blocks nobody."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from langchain_tiered_memory.core.agenda import Agenda, Backlog, Claim, StuckUser
from langchain_tiered_memory.testing.samples import HOSTILE, NOW
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once

MINUTE = timedelta(minutes=1)
LATER = NOW + MINUTE


class AgendaContract:
    """The cases; a test class for a backend gives the fixture `agenda`."""

    @pytest.fixture
    def agenda(self) -> Any:
        """Return an empty agenda; a test class for a backend overrides this."""
        pytest.fail("a contract's subclass has to give a fixture `agenda`")

    def reopened(self, agenda: Agenda) -> Agenda:
        """Return another object on the same data; an agenda that lives in its object returns itself."""
        return agenda

    def taken(self, agenda: Agenda, now: datetime = NOW) -> list[str]:
        """Claim until nobody is due, and return who was, in order."""
        found = list[str]()
        while (claim := agenda.claim(now, now + MINUTE)) is not None:
            found.append(claim.user_id)
        return found

    def one(self, agenda: Agenda, now: datetime = NOW) -> Claim:
        """Claim somebody."""
        claim = agenda.claim(now, now + MINUTE)
        assert claim is not None
        return claim

    def test_who_is_due_for_the_longest_time_is_claimed_first(self, agenda: Agenda) -> None:
        agenda.note(["second"], NOW - MINUTE)
        agenda.note(["third"], NOW)
        agenda.note(["first"], NOW - 2 * MINUTE)
        agenda.note(["not yet"], LATER)

        assert self.taken(self.reopened(agenda)) == ["first", "second", "third"]

    def test_only_an_earlier_instant_changes_when_somebody_is_due(self, agenda: Agenda) -> None:
        agenda.note(["ada", "bob"], NOW)
        agenda.note(["ada"], LATER)
        agenda.note(["bob"], NOW - MINUTE)
        agenda.enrol(["bob", "new"], NOW)

        assert self.taken(agenda, NOW - MINUTE) == ["bob"]
        assert sorted(self.taken(agenda, NOW - timedelta(microseconds=1))) == []
        assert sorted(self.taken(agenda)) == ["ada", "bob", "new"], "bob's lease is over"

    def test_users_are_matched_to_the_last_byte(self, agenda: Agenda) -> None:
        names = [*HOSTILE.values(), "A", "a", "%", "a%"]
        agenda.note(names, NOW)

        assert sorted(self.taken(self.reopened(agenda))) == sorted(set(names))

    def test_a_user_is_claimed_by_one_of_many(self, agenda: Agenda) -> None:
        users = [f"user {number}" for number in range(40)]
        agenda.note(users, NOW)
        found, lock = list[str](), threading.Lock()

        def work(_: int) -> None:
            mine = self.reopened(agenda)
            while (claim := mine.claim(NOW, LATER)) is not None:
                with lock:
                    found.append(claim.user_id)
                mine.done(claim, None)

        at_once(work, THREADS)
        found += self.taken(agenda)

        assert sorted(found) == sorted(users)
        assert agenda.backlog(LATER + MINUTE) == Backlog()

    def test_a_claim_that_ran_out_goes_to_somebody_else_and_counts_no_more(self, agenda: Agenda) -> None:
        agenda.note(["ada"], NOW)
        dead = self.one(agenda)

        assert agenda.claim(dead.lease - timedelta(microseconds=1), LATER + MINUTE) is None
        alive = self.one(agenda, dead.lease)
        agenda.done(dead, None)
        agenda.failed(dead, "late", None)
        agenda.give_back(dead, NOW)

        assert agenda.backlog(dead.lease) == Backlog(), "alive has it"
        agenda.done(alive, None)
        assert agenda.backlog(alive.lease + MINUTE) == Backlog()

    def test_what_is_noted_of_a_claimed_user_counts_after_the_claim(self, agenda: Agenda) -> None:
        agenda.note(["ada"], NOW)
        claim = self.one(agenda)
        agenda.note(["ada"], NOW + 3 * MINUTE)
        agenda.note(["ada"], NOW + 2 * MINUTE)

        assert agenda.claim(NOW, LATER) is None
        agenda.done(claim, NOW + 9 * MINUTE)

        assert self.taken(agenda, NOW + 2 * MINUTE - timedelta(microseconds=1)) == []
        assert self.taken(agenda, NOW + 2 * MINUTE) == ["ada"]

    def test_done_says_when_the_user_is_due_again_or_that_nothing_is_left(self, agenda: Agenda) -> None:
        agenda.note(["again", "rests"], NOW)
        for claim in (self.one(agenda), self.one(agenda)):
            agenda.done(claim, LATER if claim.user_id == "again" else None)

        assert agenda.backlog(NOW) == Backlog()
        assert agenda.backlog(LATER + MINUTE) == Backlog(1, LATER)
        assert self.taken(agenda, LATER) == ["again"]

    def test_given_back_it_is_due_and_what_failed_stays_counted(self, agenda: Agenda) -> None:
        agenda.note(["ada"], NOW)
        agenda.failed(self.one(agenda), "no luck", NOW)
        agenda.give_back(self.one(agenda), LATER)

        assert agenda.claim(NOW, LATER) is None
        assert self.one(agenda, LATER).attempts == 1

    def test_who_failed_is_left_alone_for_a_while_and_done_forgets_it(self, agenda: Agenda) -> None:
        agenda.note(["ada"], NOW)
        agenda.failed(self.one(agenda), "no luck", LATER)
        agenda.note(["ada"], NOW)

        assert agenda.claim(NOW, LATER) is None
        claim = self.one(agenda, LATER)
        assert claim.attempts == 1
        agenda.done(claim, LATER)
        assert self.one(agenda, LATER).attempts == 0

    def test_who_is_stuck_blocks_nobody_until_a_retry(self, agenda: Agenda) -> None:
        agenda.note(["b\0ad", "bad too"], NOW)
        for _ in range(2):
            agenda.failed(self.one(agenda), "it's \ud800", None)
        agenda.note(["b\0ad", "good"], NOW)
        far = NOW + timedelta(days=3650)

        assert self.taken(agenda, far) == ["good"]
        assert agenda.backlog(NOW) == Backlog(0, None, 2)
        stuck = (StuckUser("b\0ad", 1, "it's \ud800"), StuckUser("bad too", 1, "it's \ud800"))
        assert sorted(self.reopened(agenda).stuck(10), key=lambda one: one.user_id) == list(stuck)
        assert len(agenda.stuck(1)) == 1
        assert agenda.retry("good", NOW) == 0
        assert agenda.retry("b\0ad", NOW) == 1
        assert self.one(agenda) == Claim("b\0ad", LATER, 0)
        assert agenda.retry(None, NOW) == 1
        assert agenda.backlog(NOW) == Backlog(1, NOW, 0)

    def test_who_is_dropped_is_gone_also_while_claimed(self, agenda: Agenda) -> None:
        agenda.note(["ada", "bob"], NOW)
        claim = self.one(agenda)
        agenda.drop(claim.user_id)
        agenda.drop("unknown")
        agenda.done(claim, NOW)

        assert self.taken(agenda) == sorted({"ada", "bob"} - {claim.user_id})
