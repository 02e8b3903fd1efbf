"""A server that does not answer is left alone for a while."""

from __future__ import annotations

import os
import threading

from langchain_tiered_memory.backends.breaker import Breaker


class Watch:
    """A clock in seconds that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        """Return the present."""
        return self.now


def breaker() -> tuple[Breaker, Watch]:
    watch = Watch()
    return Breaker(2.0, watch), watch


def test_calls_pass_until_one_fails_and_again_after_the_pause() -> None:
    made, watch = breaker()
    assert [made.passes() for _ in range(3)] == [True] * 3
    made.failed()
    watch.now = 1.9
    assert (made.passes(), made.closed) == (False, False)
    watch.now = 2.0
    assert made.passes()


def test_after_the_pause_one_call_finds_out_for_all() -> None:
    made, watch = breaker()
    made.failed()
    watch.now = 2.0
    assert [made.passes() for _ in range(3)] == [True, False, False]
    made.answered()
    assert [made.passes() for _ in range(3)] == [True] * 3
    assert (made.failures, made.refused) == (1, 2)


def test_a_call_that_finds_out_in_vain_opens_it_anew() -> None:
    made, watch = breaker()
    made.failed()
    watch.now = 2.0
    assert made.passes()
    watch.now = 2.3
    made.failed()
    watch.now = 4.2
    assert not made.passes()
    watch.now = 4.3
    assert made.passes()


def test_a_call_that_never_came_back_is_followed_by_another() -> None:
    made, watch = breaker()
    made.failed()
    watch.now = 2.0
    assert made.passes()
    watch.now = 4.0
    assert made.passes()


def test_a_failure_that_tells_little_is_counted_and_stops_nobody() -> None:
    made, _ = breaker()
    made.failed_this_once()
    assert (made.passes(), made.failures) == (True, 1)


def test_of_many_threads_one_passes() -> None:
    made, watch = breaker()
    made.failed()
    watch.now = 2.0
    passed = []
    threads = [threading.Thread(target=lambda: passed.append(made.passes())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(passed) == [False] * 15 + [True]


def test_a_child_after_a_fork_begins_anew() -> None:
    made, _ = breaker()
    made.failed()
    with made._lock:
        made._process = os.getpid() - 1  # as it looks in a child, while a thread of the parent has the lock
        assert made.passes()
    assert made.failures == 0
