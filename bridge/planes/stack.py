"""Arrays that hold rows of many owners, who come and go: only the rows of new ones are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
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
        self._rows_of, self._owners = rows_of, list[Any]()  # held, as another would get the id of one that went
        self._known: dict[int, int] = {}  # each owner's number, by id

    def arrange(self, owners: Sequence[Owner]) -> None:
        """The owners are these, in this order."""
        known, ids = self._known, [*map(id, owners)]
        if not known.keys() >= {*ids}:
            new = [owner for owner, own in zip(owners, ids, strict=True) if own not in known]
            made = [self._rows_of(owner) for owner in new]
            known |= zip(map(id, new), count(len(known)))
            self.counts = np.concatenate([self.counts, [[len(rows) for rows in own] for own in made]])
            self.arrays = tuple([np.concatenate([rows, *own]) for rows, *own in zip(self.arrays, *made, strict=True)])
        self._owners, order = list(owners), [*map(known.__getitem__, ids)]
        if order != [*range(len(known))]:
            firsts, self.counts = (self.counts.cumsum(axis=0) - self.counts)[order], self.counts[order]
            chosen: dict[bytes, np.ndarray] = {}  # numbers of rows: arrays often have as many of each owner as others
            taken = []
            for rows, first, each in zip(self.arrays, firsts.T, self.counts.T, strict=True):
                key = first.tobytes() + each.tobytes()
                if key not in chosen:
                    chosen[key] = expanded(first, each)
                taken.append(rows[chosen[key]])
            self.arrays, self._known = tuple(taken), dict(zip(ids, count()))
