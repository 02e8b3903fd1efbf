"""Arrays that grow: one number per row, appended in amortised constant time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

NONE = -1
"""In a column of numbers of rows or labels: there is none."""
_FIRST_CAPACITY = 64


class Column(Generic[Scalar]):
    """A numpy array with room to grow; `values` is the filled part and stays writable."""

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        """Start empty. With a `width`, every row is a vector of that many numbers."""
        shape = (_FIRST_CAPACITY,) if width is None else (_FIRST_CAPACITY, width)
        self._data: NDArray[Any] = np.zeros(shape, dtype)
        self._length = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    @property
    def values(self) -> NDArray[Scalar]:
        """The filled part; a view that an `append` may leave behind."""
        return self._data[: self._length]

    @property
    def nbytes(self) -> int:
        """Bytes held, room to grow included."""
        return int(self._data.nbytes)

    def append(self, value: object) -> None:
        """Add a row."""
        if self._length == len(self._data):
            grown = np.zeros((2 * len(self._data), *self._data.shape[1:]), self._data.dtype)
            grown[: self._length] = self._data
            self._data = grown
        self._data[self._length] = value
        self._length += 1


class Labels:
    """A column of texts of which few are different; None is a label like any other but has no number."""

    def __init__(self) -> None:
        self._numbers: Column[np.int32] = Column(np.int32)
        self._known: dict[str, int] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """Every label there is."""
        return tuple(self._known)

    def append(self, label: str | None) -> None:
        """Add a row."""
        self._numbers.append(NONE if label is None else self._known.setdefault(label, len(self._known)))

    def among(self, labels: Iterable[str]) -> NDArray[np.bool_]:
        """Return which rows have one of these labels."""
        numbers = [self._known[label] for label in labels if label in self._known]
        return np.isin(self._numbers.values, numbers)
