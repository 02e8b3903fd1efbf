"""Which rows of a snapshot wait for a vector of the model in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_tiered_memory.core.ports import Entry


class Waiting:
    """The rows whose passages are not all embedded."""

    def __init__(self, model_id: str) -> None:
        """Start with none."""
        self._model_id = model_id
        self._rows: set[int] = set()

    def rows(self) -> list[int]:
        """Return the rows, the latest first: they are what is asked about next."""
        return sorted(self._rows, reverse=True)

    def note(self, row: int, entry: Entry, vectors: Sequence[tuple[int, str]]) -> None:
        """Take over which vectors a row has."""
        if len(vectors) + len(self._in_index(entry)) < entry.passages:
            self._rows.add(row)
        else:
            self._rows.discard(row)

    def discard(self, row: int) -> None:
        """Let go of a row."""
        self._rows.discard(row)

    def missing(self, entry: Entry, vectors: Iterable[tuple[int, str]]) -> tuple[int, ...]:
        """Return the passages that lack a vector."""
        have = {passage for passage, _ in vectors} | set(self._in_index(entry))
        return tuple(passage for passage in range(entry.passages) if passage not in have)

    def _in_index(self, entry: Entry) -> list[int]:
        return [passage for passage, model in entry.left_out if model == self._model_id]
