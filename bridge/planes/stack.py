"""Arrays that hold rows of many owners, who come and go: only the rows of new ones are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from recursive_dyn.model.model_parts import expanded

Owner = TypeVar("Owner")


class Stack(Generic[Owner]):
    """``arrays``: the rows of owners one after the other; ``counts`` (k, len(arrays)): how many rows each has of which.

    rows_of: the arrays of one owner, who is known by being the same object; empty: arrays without rows.
    """

    def __init__(self, empty: Sequence[np.ndarray], rows_of: Callable[[Owner], Sequence[np.ndarray]]) -> None:
        self.arrays, self.counts = tuple(empty), np.zeros((0, len(empty)), dtype=np.int64)
        self._rows_of, self._owners = rows_of, list[Any]()

    def arrange(self, owners: Sequence[Owner]) -> None:
        """The owners are these, in this order."""
        number = {id(owner): k for k, owner in enumerate(self._owners)}
        new = [owner for owner in owners if id(owner) not in number]
        if new:
            made = [self._rows_of(owner) for owner in new]
            number |= {id(owner): len(number) + k for k, owner in enumerate(new)}
            self.counts = np.concatenate([self.counts, [[len(rows) for rows in own] for own in made]])
            self.arrays = tuple([np.concatenate([rows, *own]) for rows, *own in zip(self.arrays, *made, strict=True)])
        order, known = [number[id(owner)] for owner in owners], len(number)
        self._owners = list(owners)
        if order != list(range(known)):
            firsts = (self.counts.cumsum(axis=0) - self.counts)[order].T
            self.counts = self.counts[order]
            chosen: dict[bytes, np.ndarray] = {}  # numbers of rows: arrays often have as many of each owner as others
            for first, count in zip(firsts, self.counts.T, strict=True):
                key = count.tobytes()
                chosen[key] = expanded(first, count) if key not in chosen else chosen[key]
            self.arrays = tuple(
                [rows[chosen[count.tobytes()]] for rows, count in zip(self.arrays, self.counts.T, strict=True)]
            )
