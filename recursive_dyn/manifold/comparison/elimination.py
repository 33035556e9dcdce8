"""Reduced row echelon forms over the rationals; a row is kept as integers without a common divisor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

Row = tuple[int, ...]


def reduced(rows: Iterable[Sequence[Fraction]]) -> tuple[Row, ...]:
    """The basis of the rows' span: two sets of rows have one span if and only if these are equal.

    A row's first entry that is not zero, its pivot, is positive and stands alone in its column; rows are in the order
    of their pivots.
    """
    basis: list[Row] = []
    for given in rows:
        row = remainder(given, basis)
        if any(row):
            basis = [*(_cleared(other, row, pivot(row)) for other in basis), row]
    return tuple(row if row[pivot(row)] > 0 else tuple(-x for x in row) for row in sorted(basis, key=pivot))


def remainder(row: Sequence[Fraction], basis: Sequence[Row]) -> Row:
    """What is left of a row, up to a factor, when multiples of a reduced basis are taken away: zero if in its span."""
    result = primitive(row)
    for other in basis:
        result = _cleared(result, other, pivot(other))
    return result


def pivot(row: Row) -> int:
    """Index of the first entry that is not zero; the row's length if all are."""
    return next((i for i, x in enumerate(row) if x), len(row))


def primitive(row: Sequence[Fraction]) -> Row:
    """The row times a positive number, in integers without a common divisor."""
    bottom = lcm(*(Fraction(x).denominator for x in row))
    return _shortened([int(x * bottom) for x in row])


def _cleared(row: Row, by: Row, column: int) -> Row:
    if not row[column]:
        return row
    mine, its = by[column], row[column]
    return _shortened([mine * x - its * y for x, y in zip(row, by, strict=True)])


def _shortened(row: Sequence[int]) -> Row:
    divisor = gcd(*row)
    return tuple(x // divisor for x in row) if divisor > 1 else tuple(row)
