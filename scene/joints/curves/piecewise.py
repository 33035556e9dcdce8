"""Functions of one coordinate in polynomial pieces, evaluated on the graph by ``floor`` and ``table``.

Every function of a joint shares the joint's cells: the cell of the coordinate is found once, and so is the local
coordinate, whose powers multiply coefficients that are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, floor, table

_NEVER = 1e300  # a border that no coordinate reaches
_NOISE = 1e-14  # of a function's size: what tables are told apart by is more than rounding


class Cells:
    """The cells between increasing borders (n + 1,) of a coordinate.

    ends: "wrap" repeats the cells, "straight" adds one without end on either side, "none" goes on with the last.
    """

    def __init__(self, borders: np.ndarray, ends: str) -> None:
        self.borders, self.ends = np.asarray(borders, dtype=float), ends
        self.count = len(self.borders) - 1

    def locate(self, q: Scalar) -> tuple[Scalar, Scalar]:
        """(number of the cell, an integer that :meth:`lookup` takes; the coordinate from the cell's start on).

        Rounding at a border gives the neighbour's cell, whose function has the same value there.
        """
        first, length = float(self.borders[0]), float(self.borders[-1] - self.borders[0])
        if self.ends == "wrap":
            q = q - floor((q - first) * (1.0 / length)) * length
        elif self.count == 1 and self.ends == "none":
            return 0.0, q - first
        widths = np.diff(self.borders)
        uniform = bool(np.ptp(widths) <= 1e-12 * length)
        bins = self.count if uniform else int(np.ceil(length / widths.min())) + 1
        number = floor((q - first) * (bins / length))
        if self.ends == "straight":
            number = number + 1.0
        if not uniform:
            number = self._cell_in_bin(q, number, bins)
        starts = self.borders[:-1]
        return number, q - self.lookup(number, starts, starts[0], self.borders[-1])

    def _cell_in_bin(self, q: Scalar, number: Scalar, bins: int) -> Scalar:
        """A bin, narrower than every cell, lies in one cell or in two: counts of borders before q."""
        edges = np.linspace(self.borders[0], self.borders[-1], bins + 1)
        inner = self.borders[1:-1]
        cell = np.searchsorted(inner, edges[:-1], side="right")
        following = np.append(inner, _NEVER)[cell]
        border = np.where(following < edges[1:], following, _NEVER)
        if self.ends == "straight":
            cell = np.concatenate([[0], cell + 1, [self.count + 1]])
            border = np.concatenate([[_NEVER], border, [_NEVER]])
        return table(number, cell) + table(floor(q - table(number, border)) + 1.0, (0.0, 1.0))

    def lookup(self, number: Scalar, values: Sequence[float] | np.ndarray, before: float, after: float) -> Scalar:
        """The value (n,) of a cell, before and after for the cells without end."""
        given = [before, *values, after] if self.ends == "straight" else list(values)
        return table(number, given) if self.count > 1 or self.ends == "straight" else float(given[0])

    def polynomial(
        self,
        number: Scalar,
        x: Scalar,
        coefficients: np.ndarray,
        widths: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
    ) -> np.ndarray:
        """Values (k,) at x, which runs from 0 to ``widths`` (n,), of polynomials (n, order, k), lowest power first.

        Beyond straight ends there are lines (2, k), their values at x = 0 and their slopes.
        """
        order, width = coefficients.shape[1], coefficients.shape[2]
        lines = np.zeros((2, max(order, 2), width))
        lines[0, :2], lines[1, :2] = before, after
        reach = widths.max() ** np.arange(order)
        noise = _NOISE * max(float(np.abs(coefficients * reach[:, None]).max()), 1e-300)
        result = array(np.zeros(width))
        for power in reversed(range(order)):
            for i in range(width):
                values = coefficients[:, power, i]
                low, high = float(lines[0, power, i]), float(lines[1, power, i])
                every = np.array([*values, *([low, high] if self.ends == "straight" else [])])
                if np.ptp(every) * reach[power] <= noise:
                    middle = float(every.mean())
                    term: Scalar = middle if abs(middle) * reach[power] > noise else 0.0
                else:
                    term = self.lookup(number, values, low, high)
                result[i] = result[i] * x + term
        return result


def tangents(coefficients: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines beyond the ends along the polynomials' tangents there: value and slope (2, k) at the start and the end."""
    if coefficients.shape[1] < 2:
        coefficients = np.concatenate([coefficients, np.zeros_like(coefficients)], axis=1)
    powers = widths[-1] ** np.arange(coefficients.shape[1])
    value = np.tensordot(powers, coefficients[-1], 1)
    slope = np.tensordot(powers[:-1] * np.arange(1, len(powers)), coefficients[-1][1:], 1)
    return coefficients[0, :2].copy(), np.stack([value, slope])


def refined(borders: np.ndarray, coefficients: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Every cell cut into equal parts: (borders, coefficients) of the same functions."""
    count, order, width = coefficients.shape
    steps = np.arange(parts) / parts
    finer = (borders[:-1, None] + np.diff(borders)[:, None] * steps).ravel()
    shifts = np.diff(borders)[:, None] * steps  # (n, parts)
    result = np.zeros((count, parts, order, width))
    for j in range(order):
        for k in range(j, order):
            result[:, :, j] += comb(k, j) * shifts[:, :, None] ** (k - j) * coefficients[:, None, k]
    return np.append(finer, borders[-1]), result.reshape(count * parts, order, width)
