"""Rows of many owners, who come and go, as arrays: whoever comes or goes moves the others' rows, and no more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.model.splice import Splice

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
        self._joined: list[Packed] = []  # what is in the arrays
        self._stale = False
        self._counts, self._arrays = self._join(())

    def __len__(self) -> int:
        return len(self._own)

    @property
    def owners(self) -> list[Any]:
        """In their order."""
        return [*self._own]

    @property
    def counts(self) -> np.ndarray:
        """How many rows each owner has (owners, kinds)."""
        self._follow()
        return self._counts

    @property
    def arrays(self) -> list[np.ndarray]:
        """All rows (m, ...), one array of each kind; others after a change."""
        self._follow()
        return self._arrays

    def add(self, owner: Hashable, rows: Packed) -> None:
        """One more, behind the others."""
        self._own[owner], self._stale = rows, True

    def remove(self, owner: Hashable) -> None:
        """One went."""
        del self._own[owner]
        self._stale = True

    def arrange(self, owners: Iterable[Hashable]) -> None:
        """They come in this order."""
        order = [*owners]
        if order != self.owners:
            self._own, self._stale = {owner: self._own[owner] for owner in order}, True

    def _follow(self) -> None:
        """Rows of who stayed are not joined anew."""
        if not self._stale:
            return
        rows = [*self._own.values()]
        first, gone, came = splice = Splice.between(self._joined, rows)
        before, behind, ends = self._counts[:first], self._counts[splice.end :], np.array([*map(len, self._arrays)])
        if len(behind):
            ends -= behind.sum(axis=0)
        starts = ends - self._counts[first : splice.end].sum(axis=0) if gone else ends
        every = zip(self._arrays, starts.tolist(), ends.tolist(), strict=True)
        parts = [[own[:start], own[end:]] for own, start, end in every]
        if came:
            counts, arrays = self._join(rows[first : first + came])
            for part, new in zip(parts, arrays, strict=True):
                part.insert(1, new)
            before = np.concatenate((before, counts))
        self._arrays = [*map(np.concatenate, parts)]
        self._counts = np.concatenate((before, behind))
        self._joined, self._stale = rows, False

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
