"""Rows of many owners, who come and go, as arrays: whoever comes or goes moves the others' rows, and no more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Packed = Sequence[bytes]


class RowKind(NamedTuple):
    """What rows are made of: the type of their numbers, and the shape of one row."""

    dtype: Any
    shape: tuple[int, ...] = ()


def packed(arrays: Sequence[np.ndarray], rows: Sequence[RowKind]) -> tuple[bytes, ...]:
    """One owner's arrays (n, ...), one of each kind of ``rows``, as they lie in memory."""
    return tuple([np.asarray(own, dtype=kind.dtype).tobytes() for own, kind in zip(arrays, rows, strict=True)])


class RowTable:
    """The ``packed`` rows of owners, one owner's after the other's."""

    def __init__(self, kinds: Sequence[RowKind]) -> None:
        self._kinds = kinds
        self._sizes = np.array([np.dtype(kind.dtype).itemsize * int(np.prod(kind.shape)) for kind in kinds])
        self._own: dict[Hashable, Packed] = {}
        self._joined: list[Hashable] = []  # whose rows are in the arrays
        self._removed = 0  # how many of them went
        self._counts, self._arrays = self._join(())

    def __len__(self) -> int:
        return len(self._own)

    @property
    def owners(self) -> list[Any]:
        """In their order."""
        return [*self._own]

    @property
    def arrays(self) -> list[np.ndarray]:
        """All rows (m, ...), one array of each kind; others after a change."""
        order = self.owners
        if self._removed or order != self._joined:
            self._follow(order)
        return self._arrays

    def add(self, owner: Hashable, rows: Packed) -> None:
        """One more, behind the others."""
        self._own[owner] = rows

    def remove(self, owner: Hashable) -> None:
        """One went."""
        del self._own[owner]
        self._removed += 1

    def arrange(self, owners: Iterable[Hashable]) -> None:
        """They come in this order."""
        order = [*owners]
        if order != self.owners:
            self._own = {owner: self._own[owner] for owner in order}

    def _follow(self, order: list[Hashable]) -> None:
        """Rows of who stayed are not joined anew where the others came last, or where one went."""
        known, gone = len(self._joined), self._removed
        if not gone and order[:known] == self._joined:
            counts, arrays = self._join([self._own[owner] for owner in order[known:]])
            self._counts = np.concatenate((self._counts, counts))
            self._arrays = [np.concatenate(both) for both in zip(self._arrays, arrays, strict=True)]
        elif gone == 1 and len(order) == known - 1:
            self._leave_out(next((k for k, owner in enumerate(order) if owner != self._joined[k]), known - 1))
            if order != self._joined:
                self._counts, self._arrays = self._join([*self._own.values()])
        else:
            self._counts, self._arrays = self._join([*self._own.values()])
        self._joined, self._removed = order, 0

    def _leave_out(self, k: int) -> None:
        firsts, ends = self._counts[:k].sum(axis=0), self._counts[: k + 1].sum(axis=0)
        rest = zip(self._arrays, firsts.tolist(), ends.tolist(), strict=True)
        self._arrays = [np.concatenate((own[:first], own[end:])) for own, first, end in rest]
        self._counts = np.concatenate((self._counts[:k], self._counts[k + 1 :]))
        del self._joined[k]

    def _join(self, every: Sequence[Packed]) -> tuple[np.ndarray, list[np.ndarray]]:
        """How many rows each has (owners, kinds), and all of them."""
        counts = np.array([[*map(len, rows)] for rows in every], dtype=np.int64).reshape(-1, len(self._kinds))
        columns = zip(*every, strict=True) if every else [()] * len(self._kinds)
        found = [
            np.frombuffer(bytearray().join(own), kind.dtype) for own, kind in zip(columns, self._kinds, strict=True)
        ]
        return counts // self._sizes, [
            own.reshape(-1, *kind.shape) for own, kind in zip(found, self._kinds, strict=True)
        ]
