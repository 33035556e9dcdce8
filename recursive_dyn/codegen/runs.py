"""Positions of many systems' numbers in one long row, as stretches of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Runs:
    """Positions (T, n) of n numbers of each of T systems, r stretches of neighbours a system.

    starts (T, r): where each begins; lengths (r,), the same for all systems: few, as a rule, so that they are no array.
    """

    starts: Array
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, positions: Array) -> Runs:
        """Of positions (T, n): neighbours are those that follow each other in every system."""
        return cls.stretches(positions, (1,) * positions.shape[1])

    @classmethod
    def stretches(cls, starts: Array, lengths: Sequence[int]) -> Runs:
        """Of stretches as they come, some of them empty, put together where one begins where the other ends."""
        if 0 in lengths:
            full = [k for k, length in enumerate(lengths) if length]
            starts, lengths = starts[:, full], [lengths[k] for k in full]
        if len(lengths) < 2:
            return cls(starts, tuple(lengths))
        apart = (starts[:, 1:] - starts[:, :-1] != lengths[:-1]).any(axis=0).tolist()
        firsts = [0, *(k + 1 for k, other in enumerate(apart) if other)]
        if len(firsts) == len(lengths):
            return cls(starts, tuple(lengths))
        ends = [0, *accumulate(lengths)]
        cuts = [ends[k] for k in (*firsts, len(lengths))]
        return cls(starts[:, firsts], tuple([b - a for a, b in pairwise(cuts)]))

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """The numbers of one after those of the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([part.starts for part in parts], axis=1), sum([part.lengths for part in parts], ()))

    @classmethod
    def nothing(cls, systems: int) -> Runs:
        """No numbers."""
        return cls(np.zeros((systems, 0), dtype=np.int64), ())

    @property
    def size(self) -> int:
        """How many numbers a system has, n."""
        return sum(self.lengths)

    def after(self, first: int) -> Runs:
        """The same behind ``first`` other numbers."""
        return Runs(self.starts + first, self.lengths) if first else self

    def each(self, count: int) -> Runs:
        """``count`` numbers for each."""
        return Runs(self.starts * count, tuple([length * count for length in self.lengths]))

    def positions(self) -> Array:
        """(T, n)."""
        parts = [start[:, None] + np.arange(n) for start, n in zip(self.starts.T, self.lengths, strict=True)]
        return np.concatenate([np.zeros((len(self.starts), 0), dtype=np.int64), *parts], axis=1)
