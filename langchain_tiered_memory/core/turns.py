"""The order of turns in sessions: who stands beside whom."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.columns import NONE, Column

Links = NDArray[np.int32]


class Turns:
    """Rows in the order of their sessions, by instant and then by order of writing. Sorted when it is read."""

    def __init__(self) -> None:
        self._session: Column[np.int32] = Column(np.int32)
        self._previous: Column[np.int32] = Column(np.int32)
        self._next: Column[np.int32] = Column(np.int32)
        self._numbers: dict[str, int] = {}
        self._members: list[list[tuple[datetime, int, int]]] = []
        self._unsorted: set[int] = set()

    @property
    def sessions(self) -> Links:
        """The number of every row's session, -1 for none."""
        return self._session.values

    def add(self, session_id: str | None, at: datetime, order: int) -> None:
        """Add the next row; None for one that belongs to no session."""
        row = len(self._session)
        self._previous.append(NONE)
        self._next.append(NONE)
        if session_id is None:
            self._session.append(NONE)
            return
        number = self._numbers.setdefault(session_id, len(self._numbers))
        if number == len(self._members):
            self._members.append([])
        self._session.append(number)
        self._members[number].append((at, order, row))
        self._unsorted.add(number)

    def drop(self, row: int) -> None:
        """Close the gap that a row leaves."""
        number = int(self._session.values[row])
        if number != NONE:
            self._members[number] = [member for member in self._members[number] if member[2] != row]
            self._unsorted.add(number)
        self._previous.values[row] = self._next.values[row] = NONE

    def links(self) -> tuple[Links, Links]:
        """Return for every row the row before and the row after it in its session, -1 where there is none."""
        for number in self._unsorted:
            self._sort(number)
        self._unsorted.clear()
        return self._previous.values, self._next.values

    def beside(self, row: int, reach: int) -> list[int]:
        """Return up to `reach` rows before and after this one in its session, nearest first."""
        previous, following = self.links()
        found: list[int] = []
        back = ahead = row
        for _ in range(reach):
            back = int(previous[back]) if back != NONE else NONE
            ahead = int(following[ahead]) if ahead != NONE else NONE
            found += [one for one in (back, ahead) if one != NONE]
            if back == ahead == NONE:  # the session ends long before some numbers do
                break
        return found

    def best_beside(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for every row the larger value of its two neighbours in the session; 0 where it has none."""
        previous, following = self.links()
        padded = np.append(values, np.float32(0))  # index NONE reads this 0
        beside: NDArray[np.float32] = np.maximum(padded[previous], padded[following])
        return beside

    def best_of_session(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for every row the largest value in its session; 0 where it has none."""
        best = np.zeros(len(self._members) + 1, np.float32)
        np.maximum.at(best, self.sessions, values)
        best[NONE] = 0  # the last, which rows without a session read
        found: NDArray[np.float32] = best[self.sessions]
        return found

    def _sort(self, number: int) -> None:
        members = self._members[number]
        members.sort()
        rows = [row for _, _, row in members]
        for row in rows[:1]:
            self._previous.values[row] = NONE
        for row in rows[-1:]:
            self._next.values[row] = NONE
        for before, after in pairwise(rows):
            self._next.values[before] = after
            self._previous.values[after] = before
