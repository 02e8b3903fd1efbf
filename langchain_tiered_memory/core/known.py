"""What is known already of the slots that some memories may speak of, for who draws facts from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from langchain_tiered_memory.core.bodies import bodies_of
from langchain_tiered_memory.core.model import Memory, Tier
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.postings import Scores
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.text import analyze

MOST: Final = 30
_FAMILY: Final = ":"
_MEMBERS: Final = 3
"""Of a family's members, which may be many, those are known that are among so many nearest of a memory."""


def near(parts: Parts, snapshots: Snapshots, user_id: str, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Return the values of slots that hold now and that the memories may speak of, at most `MOST`.

    The nearest of each memory by words and meaning comes first, then the second of each, and so on.

    Raises:
        BackendUnavailable: A store did not answer.
    """
    now = parts.clock()
    snapshot = snapshots.strict(user_id)
    with snapshot.lock:
        placed = [
            (row, entry.memory)
            for entry in sorted(snapshot.entries(Tier.LONG_TERM), key=lambda entry: entry.memory.id)
            if _holds(entry.memory, now) and (row := snapshot.row_of(entry.memory.id)) is not None
        ]
        rows = np.array([row for row, _ in placed], dtype=np.intp)
        scores = [_scores(snapshot, memory)[rows] for memory in memories] if placed else []
    apt: list[tuple[int, float, int]] = []
    for nearness in scores:
        for place, at in enumerate(np.argsort(-nearness, kind="stable")[:MOST]):
            if place < _MEMBERS or _FAMILY not in (placed[at][1].slot or ""):
                apt.append((place, -float(nearness[at]), int(at)))
    chosen = dict.fromkeys(at for _, _, at in sorted(apt))
    return bodies_of(parts, user_id, [placed[at][1] for at in chosen][:MOST])


def _scores(snapshot: Snapshot, memory: Memory) -> Scores:
    """Return how near each row is to a memory: by its words, and by its meaning where it has a vector."""
    scores = snapshot.keywords(set(analyze(memory.content)))
    row = snapshot.row_of(memory.id)
    vector = None if row is None else snapshot.vector(row)
    return scores if vector is None else scores + snapshot.cosines(vector)[0]


def _holds(memory: Memory, now: datetime) -> bool:
    begun = memory.slot is not None and memory.superseded_by is None
    return begun and (memory.valid_to is None or memory.valid_to > now)
