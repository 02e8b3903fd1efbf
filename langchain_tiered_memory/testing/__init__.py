"""For those who write backends, and for tests: contracts of the ports, clocks to move, faults to inject.

`testing.contracts` needs pytest and has to be imported by that name; the rest works without it.
"""

from __future__ import annotations

from langchain_tiered_memory.testing.fakes import FakeClock, FakeExtractor
from langchain_tiered_memory.testing.faults import Call, Counting, Crash, Fault, Faulty, Plan, counting, faulty

__all__ = [
    "Call",
    "Counting",
    "Crash",
    "FakeClock",
    "FakeExtractor",
    "Fault",
    "Faulty",
    "Plan",
    "counting",
    "faulty",
]
