"""Positions of many systems' numbers in one long row, as stretches of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.making import jit

Array = np.ndarray
_KEPT = np.zeros(0, dtype=np.int64)


class Run(NamedTuple):
    """``length`` neighbours of every system, from factor * starts + shift on.

    starts: of every system, and the last one again up to whole vectors of ``jit.vector_width()``; at: their address.
    """

    starts: Array
    at: int
    length: int
    factor: int = 1
    shift: int = 0


class Runs(NamedTuple):
    """Positions of n numbers of each of so many systems: few ``runs``, as a rule, the same in all of them.

    What they are made of stays where it is: the same behind other numbers, or several for each, costs next to nothing.
    """

    systems: int
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, positions: Array) -> Runs:
        """Of positions (T, n): neighbours are those that follow each other in every system."""
        count = positions.shape[1]
        if count > 1 and (positions[:, 1:] - positions[:, :-1] == 1).all():
            return cls.stretches(positions[:, :1], (count,))
        return cls.stretches(positions, (1,) * positions.shape[1])

    @classmethod
    def stretches(cls, starts: Array, lengths: Sequence[int]) -> Runs:
        """Of stretches (T, r) as they come, some of them empty, put together where one begins where the other ends."""
        systems, rows = len(starts), _columns(starts)
        if 0 in lengths:
            full = [k for k, length in enumerate(lengths) if length]
            rows, lengths = rows[full], [lengths[k] for k in full]
        if len(lengths) > 1:
            wanted = 1 if lengths[-1] == 1 == max(lengths) else np.array(lengths[:-1])[:, None]
            apart = (rows[1:] - rows[:-1] != wanted).any(axis=1).tolist()
            firsts = [0, *[k + 1 for k, other in enumerate(apart) if other]]
            if len(firsts) < len(lengths):
                ends = [0, *accumulate(lengths)]
                cuts = [ends[k] for k in (*firsts, len(lengths))]
                rows, lengths = rows[firsts], [b - a for a, b in pairwise(cuts)]
        return cls(systems, tuple([Run(row, address(row), n) for row, n in zip(rows, lengths, strict=True)]))

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """The numbers of one after those of the other."""
        return parts[0] if len(parts) == 1 else cls(parts[0].systems, sum([part.runs for part in parts], ()))

    @classmethod
    def shared(cls, systems: int, first: int, length: int) -> Runs:
        """The same numbers for all."""
        return cls(systems, (Run(*_zeros(systems), length, shift=first),) if length else ())

    @classmethod
    def nothing(cls, systems: int) -> Runs:
        """No numbers."""
        return cls(systems, ())

    @property
    def size(self) -> int:
        """How many numbers a system has, n."""
        return sum([run.length for run in self.runs])

    @classmethod
    def of_starts(cls, systems: int, at: int, length: int) -> Runs:
        """``length`` neighbours from starts on that someone else keeps, whole vectors of them, at this address."""
        return cls(systems, (Run(_KEPT, at, length),) if length else ())

    def after(self, first: int) -> Runs:
        """The same behind ``first`` other numbers."""
        return Runs(self.systems, tuple([Run(s, at, n, f, shift + first) for s, at, n, f, shift in self.runs]))

    def each(self, count: int) -> Runs:
        """``count`` numbers for each."""
        runs = [Run(s, at, n * count, factor * count, shift * count) for s, at, n, factor, shift in self.runs]
        return Runs(self.systems, tuple(runs))

    def positions(self) -> Array:
        """(T, n)."""
        parts = [
            (run.factor * run.starts[: self.systems] + run.shift)[:, None] + np.arange(run.length) for run in self.runs
        ]
        return np.concatenate([np.zeros((self.systems, 0), dtype=np.int64), *parts], axis=1)

    def table(self) -> list[int]:
        """What machine code reads, five numbers a run: how many come before it, length, address, factor, shift."""
        found, before = list[int](), 0
        for _, at, length, factor, shift in self.runs:
            found += before, length, at, factor, shift
            before += length
        return found


def _columns(starts: Array) -> Array:
    """Of starts (T, r) the columns, as rows that are whole vectors."""
    systems, width = len(starts), jit.vector_width()
    return np.ascontiguousarray((starts[filled(systems, width)] if systems % width else starts).T)


@lru_cache(maxsize=16)
def filled(systems: int, width: int) -> Array:
    """Numbers of systems up to a whole number of registers, the last one again and again."""
    return np.minimum(np.arange(-(-systems // width) * width), systems - 1)


@lru_cache(maxsize=16)
def _zeros(systems: int) -> tuple[Array, int]:
    (row,) = _columns(np.zeros((systems, 1), dtype=np.int64))
    return row, address(row)
