"""Arrays that grow: one number per row, appended in amortised constant time."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

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
