"""Rows of many owners, who come and go, as arrays: whoever comes or goes moves the others' rows, and no more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.model.splice import Splice


class RowKind(NamedTuple):
    """What rows are made of: the type of their numbers, and the shape of one row."""

    dtype: Any
    shape: tuple[int, ...] = ()


class OwnRows:
    """One owner's, of each kind (n, ...), and how many there are; the same as no others."""

    __slots__ = ("arrays", "counts")

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays, self.counts = arrays, [*map(len, arrays)]


def packed(arrays: Sequence[np.ndarray], rows: Sequence[RowKind]) -> OwnRows:
    """One owner's arrays (n, ...), one of each kind of ``rows``, as they are now."""
    return OwnRows(
        [np.array(own, dtype=kind.dtype).reshape(-1, *kind.shape) for own, kind in zip(arrays, rows, strict=True)]
    )


class RowTable:
    """The ``packed`` rows of owners, one owner's after the other's."""

    def __init__(self, kinds: Sequence[RowKind]) -> None:
        self._own: dict[Hashable, OwnRows] = {}
        self._joined: list[OwnRows] = []  # what is in the arrays
        self._stale = False
        self._counts = np.zeros((0, len(kinds)), dtype=np.int64)
        self._arrays = [np.zeros((0, *kind.shape), dtype=kind.dtype) for kind in kinds]

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

    def of(self, owner: Hashable) -> list[np.ndarray]:
        """One owner's rows (n, ...), one array of each kind."""
        return self._own[owner].arrays

    def add(self, owner: Hashable, rows: OwnRows) -> None:
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
        first, _, came = splice = Splice.between(self._joined, rows)
        counts, end, fresh = self._counts, splice.end, rows[first : first + came]
        ends = [*map(len, self._arrays)]
        if end < len(counts):
            ends = (ends - counts[end:].sum(axis=0)).tolist()
        starts = ends if first == end else (ends - counts[first:end].sum(axis=0)).tolist()
        self._arrays = [
            _spliced(own, start, [new.arrays[k] for new in fresh], end)
            for k, (own, start, end) in enumerate(zip(self._arrays, starts, ends, strict=True))
        ]
        self._counts = _spliced(counts, first, [np.array([new.counts for new in fresh])] if came else [], end)
        self._joined, self._stale = rows, False


def _spliced(own: np.ndarray, start: int, fresh: list[np.ndarray], end: int) -> np.ndarray:
    """Other rows in place of those from start to end, in an array of their own."""
    parts = [own[:start], *fresh] if start else fresh
    if end < len(own):
        parts = [*parts, own[end:]]
    return np.concatenate(parts or [own[:0]])
