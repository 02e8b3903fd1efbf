"""More sequences of calls, other ones every time."""

from __future__ import annotations

import pytest

from tests.flow.mirror import extractor
from tests.flow.test_state_machine import run
from tests.flow.worlds import MakeWorld, make_world

__all__ = ["make_world"]

EXAMPLES = {"memory": 2_000, "sqlite": 500, "servers": 100}


def test_many_sequences(make_world: MakeWorld, request: pytest.FixtureRequest) -> None:
    backend = request.node.callspec.params["make_world"]
    run(make_world(extractor=extractor()), EXAMPLES[backend], steps=50, chosen=False)
