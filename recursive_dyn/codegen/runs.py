"""Positions of many systems' numbers in one long row, as stretches of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Runs:
    """Positions (T, n) of n numbers of each of T systems, r stretches of neighbours a system.

    starts (T, r): where each begins; lengths (r,), the same for all systems.
    """

    starts: Array
    lengths: Array

    @classmethod
    def of(cls, positions: Array) -> Runs:
        """Of positions (T, n): neighbours are those that follow each other in every system."""
        count = positions.shape[1]
        if count < 2:
            return cls(positions, np.ones(count, dtype=np.int64))
        breaks = np.flatnonzero((positions[:, 1:] - positions[:, :-1] != 1).any(axis=0)) + 1
        firsts = np.array([0, *breaks], dtype=np.int64)
        return cls(positions[:, firsts], np.array([*breaks, count], dtype=np.int64) - firsts)

    @classmethod
    def stretches(cls, starts: Array, lengths: Array) -> Runs:
        """Of stretches as they come, some of them empty, put together where one begins where the other ends."""
        full = lengths > 0
        starts, lengths = starts[:, full], lengths[full]
        if len(lengths) < 2:
            return cls(starts, lengths)
        breaks = np.flatnonzero((starts[:, :-1] + lengths[:-1] != starts[:, 1:]).any(axis=0)) + 1
        firsts = np.array([0, *breaks], dtype=np.int64)
        return cls(starts[:, firsts], np.add.reduceat(lengths, firsts))

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """The numbers of one after those of the other."""
        if len(parts) == 1:
            return parts[0]
        starts = np.concatenate([part.starts for part in parts], axis=1)
        return cls(starts, np.concatenate([part.lengths for part in parts]))

    @classmethod
    def nothing(cls, systems: int) -> Runs:
        """No numbers."""
        return cls(np.zeros((systems, 0), dtype=np.int64), np.zeros(0, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many numbers a system has, n."""
        return int(self.lengths.sum())

    def after(self, first: int) -> Runs:
        """The same behind ``first`` other numbers."""
        return Runs(self.starts + first, self.lengths) if first else self

    def each(self, count: int) -> Runs:
        """``count`` numbers for each."""
        return Runs(self.starts * count, self.lengths * count)

    def positions(self) -> Array:
        """(T, n)."""
        own = np.repeat(np.arange(len(self.lengths)), self.lengths)
        within = np.arange(len(own)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return np.asarray(self.starts[:, own] + within)
