"""Nodes found by their values at sample points, without comparing each with all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.graph.expression import Scalar

_SHARP = 1e-9  # relative error below which a value is looked up by its magnitude
_CELL = 1e-8  # of log2 of the magnitude: wider than what two sharp values may differ by
_ZERO = -(2**62)  # the cell of an exact zero
_PLACE = 1e-6  # width of a place on the axis of values, wider than any error that is compared


@dataclass(frozen=True, eq=False)
class Entry:
    """A node's values (samples,), bounds of their errors, and what stands for it."""

    value: np.ndarray
    tolerance: np.ndarray
    scalar: Scalar
    place: int


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

    def add(self, value: np.ndarray, tolerance: np.ndarray, scalar: Scalar) -> None:
        """One more entry; some of its values are finite."""
        number = len(self.entries)
        place = _place(float(value[np.isfinite(value)][0]))
        self.entries.append(Entry(value, tolerance, scalar, place))
        self.places.setdefault(place, []).append(number)
        for sample, cell in _cells(value, tolerance):
            if cell is None:
                self.blunt.setdefault(sample, []).append(number)
            else:
                self.sharp.setdefault((sample, cell), []).append(number)

    def near(self, value: np.ndarray, tolerance: np.ndarray) -> list[tuple[float, Entry]]:
        """(sign, entry) of what may be a value times the sign, those at the same place first, the oldest first."""
        first = float(value[np.isfinite(value)][0])
        places = [
            (sign, place + step) for sign in (1.0, -1.0) for place in (_place(sign * first),) for step in (0, -1, 1)
        ]
        found = self._candidates(_cells(value, tolerance), {place for _, place in places})
        at: dict[int, list[int]] = {}
        for number in sorted(found):
            at.setdefault(self.entries[number].place, []).append(number)
        return [(sign, self.entries[number]) for sign, place in places for number in at.get(place, ())]

    def _candidates(self, cells: list[tuple[int, int | None]], places: Iterable[int]) -> list[int]:
        best: list[list[int]] | None = None
        fewest = 0
        for sample, cell in cells:
            if cell is None:
                continue
            own = [self.sharp.get((sample, cell + step), []) for step in (-1, 0, 1)]
            lists = [*own, self.blunt.get(sample, [])]
            count = sum(map(len, lists))
            if not count:
                return []
            if best is None or count < fewest:
                best, fewest = lists, count
        lists = [self.places.get(place, []) for place in places] if best is None else best
        return [number for numbers in lists for number in numbers]


def _cells(value: np.ndarray, tolerance: np.ndarray) -> list[tuple[int, int | None]]:
    """(sample, cell of the value's magnitude, None where it is blunt) of every finite value."""
    magnitude = np.abs(value)
    with np.errstate(all="ignore"):
        cells = np.where(magnitude > 0.0, np.rint(np.log2(magnitude) / _CELL), _ZERO)
    sharp = (tolerance <= _SHARP * magnitude).tolist()
    known = enumerate(np.isfinite(value).tolist())
    return [(s, int(cells[s]) if sharp[s] else None) for s, finite in known if finite]


def _place(value: float) -> int:
    scaled = value / _PLACE
    return round(scaled) if np.isfinite(scaled) else 0
