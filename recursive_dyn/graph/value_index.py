"""Nodes found by their values at sample points, without comparing each with all others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.graph.expression import Scalar

_SHARP = 1e-9  # relative error below which a value is looked up by its magnitude
_CELL = 1e-8  # of log2 of the magnitude: wider than what two sharp values may differ by
_ZERO = -(2**62)  # the cell of an exact zero
_PLACE = 1e-6  # width of a place on the axis of values, wider than any error that is compared


@dataclass(frozen=True, eq=False)
class Entry:
    """A node's values (samples,), some of them finite, bounds of their errors, what stands for it, where it is found.

    cells: (sample, cell of the value's magnitude, None where it is blunt) of every finite value.
    """

    value: np.ndarray
    tolerance: np.ndarray
    scalar: Scalar
    finite: np.ndarray
    first: float
    cells: list[tuple[int, int | None]]

    @classmethod
    def of(cls, value: np.ndarray, tolerance: np.ndarray, scalar: Scalar) -> Entry:
        """Called where floating-point warnings are off."""
        finite = np.isfinite(value)
        magnitude = np.abs(value)
        cells = np.where(magnitude > 0.0, np.rint(np.log2(magnitude) / _CELL), _ZERO).astype(np.int64).tolist()
        sharp = (tolerance <= _SHARP * magnitude).tolist()
        known = [(s, cells[s] if sharp[s] else None) for s, exists in enumerate(finite.tolist()) if exists]
        return cls(value, tolerance, scalar, finite, float(value[known[0][0]]), known)


@dataclass(eq=False)
class ValueIndex:
    """Entries by sample and magnitude, where their relative error is small, and by place on the axis of values.

    What may equal a value is sharp at a sample as well, and then in the same cell or the next, or it is blunt there.
    The sample at which the fewest come into question is used: values that all vanish at one point differ at another.
    """

    entries: list[Entry] = field(default_factory=list)
    sharp: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    blunt: dict[int, list[int]] = field(default_factory=dict)
    places: dict[int, list[int]] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """One more entry."""
        number = len(self.entries)
        self.entries.append(entry)
        self.places.setdefault(_place(entry.first), []).append(number)
        for sample, cell in entry.cells:
            if cell is None:
                self.blunt.setdefault(sample, []).append(number)
            else:
                self.sharp.setdefault((sample, cell), []).append(number)

    def near(self, entry: Entry) -> list[tuple[float, Entry]]:
        """(sign, other) of what may be an entry times the sign, those at the same place first, the oldest first."""
        found = self._candidates(entry)
        if not found:
            return []
        at: dict[int, list[Entry]] = {}
        for number in sorted(found):
            other = self.entries[number]
            at.setdefault(_place(other.first), []).append(other)
        return [(sign, other) for sign, place in _places(entry.first) for other in at.get(place, ())]

    def _candidates(self, entry: Entry) -> list[int]:
        best: list[list[int]] | None = None
        fewest = 0
        for sample, cell in entry.cells:
            if cell is None:
                continue
            own = [self.sharp.get((sample, cell + step), []) for step in (-1, 0, 1)]
            lists = [*own, self.blunt.get(sample, [])]
            count = sum(map(len, lists))
            if not count:
                return []
            if best is None or count < fewest:
                best, fewest = lists, count
        lists = [self.places.get(place, []) for place in {p for _, p in _places(entry.first)}] if best is None else best
        return [number for numbers in lists for number in numbers]


def _places(value: float) -> list[tuple[float, int]]:
    """(sign, place) at which what equals a value, or its negative, may stand."""
    return [(sign, _place(sign * value) + step) for sign in (1.0, -1.0) for step in (0, -1, 1)]


def _place(value: float) -> int:
    scaled = value / _PLACE
    return round(scaled) if math.isfinite(scaled) else 0
