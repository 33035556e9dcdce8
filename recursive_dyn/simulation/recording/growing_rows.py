"""Rows of numbers that are added one after the other, at a constant cost each."""

from __future__ import annotations

from typing import Any

import numpy as np


class GrowingRows:
    """An array whose first index grows. Room is doubled when it is used up: n rows cost n copies of one in all."""

    def __init__(self, shape: tuple[int, ...] = (), kind: Any = float) -> None:
        self._room = np.zeros((64, *shape), dtype=kind)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> np.ndarray:
        """All rows there are: the memory that is written to, valid until more are added."""
        return self._room[: self._count]

    def add(self, count: int = 1) -> np.ndarray:
        """So many more rows, for the caller to fill."""
        start, end = self._count, self._count + count
        if end > len(self._room):
            room = np.zeros((max(end, 2 * len(self._room)), *self._room.shape[1:]), dtype=self._room.dtype)
            room[:start] = self.rows
            self._room = room
        self._count = end
        return self._room[start:end]

    def cut(self, count: int) -> None:
        """Keep the first ``count`` rows."""
        self._count = min(self._count, count)
