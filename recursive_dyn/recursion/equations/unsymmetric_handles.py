"""What subtrees ask of who holds them, where that is no symmetric matrix: eliminated coordinate by coordinate.

A subtree asks for A of a twist, or of more that is carried outward; a coordinate that it is moved by and that is not
eliminated yet adds a column to what it asks for and a row to what moves the coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.graph.expression import Scalar, reciprocal
from recursive_dyn.recursion.kinematics import zeros
from recursive_dyn.spatial.algebra import dot


@dataclass(frozen=True, eq=False)
class OpenPivot:
    """One eliminated coordinate: 1 / D, its column / D and its row of the handle, and both against what is still open,
    columns / D too."""

    slot: int
    inverse: Scalar
    column: np.ndarray
    row: np.ndarray
    columns: dict[int, Scalar]
    rows: dict[int, Scalar]

    def reduce(self, c: list[Scalar]) -> None:
        """Take what it leaves from a right side (nv,) of open coordinates."""
        for other, ratio in self.columns.items():
            c[other] = c[other] - ratio * c[self.slot]

    def expand(self, c: Sequence[Scalar], x: list[Scalar], moved: np.ndarray) -> None:
        """Write x of its coordinate, where who holds the handle is moved so, and x of open ones is known."""
        value = c[self.slot] - dot(self.row, moved)
        for other, entry in self.rows.items():
            value = value - entry * x[other]
        x[self.slot] = value * self.inverse


@dataclass(eq=False)
class Handle:
    """What a subtree asks of who holds it: A; columns and rows of open coordinates, and between these."""

    A: np.ndarray
    columns: dict[int, np.ndarray] = field(default_factory=dict)
    rows: dict[int, np.ndarray] = field(default_factory=dict)
    D: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    def add(self, a: int, b: int, value: Scalar) -> None:
        """To D."""
        self.D[a, b] = self.D[a, b] + value if (a, b) in self.D else value

    def open(self, slot: int, column: np.ndarray, row: np.ndarray) -> None:
        """Add to a coordinate's column and row."""
        self.columns[slot] = self.columns[slot] + column if slot in self.columns else column
        self.rows[slot] = self.rows[slot] + row if slot in self.rows else row

    def take(self, other: Handle) -> None:
        """Hold another subtree as well."""
        self.A = self.A + other.A
        for mine, its in ((self.columns, other.columns), (self.rows, other.rows)):
            for slot, Z in its.items():
                mine[slot] = mine[slot] + Z if slot in mine else Z
        for (a, b), value in other.D.items():
            self.add(a, b, value)

    def eliminated(self, slot: int, diagonal: Scalar, prescribed: bool) -> OpenPivot:
        """Eliminate a coordinate, of whose D there is ``diagonal`` besides; what is prescribed gives way to nothing."""
        m, n = self.A.shape
        column, row = self.columns.pop(slot, zeros(m)), self.rows.pop(slot, zeros(n))
        inverse = 0.0 if prescribed else reciprocal(self.D.get((slot, slot), 0.0) + diagonal)
        columns = {a: self.D[a, slot] * inverse for a in self.rows if (a, slot) in self.D}
        rows = {b: self.D[slot, b] for b in self.columns if (slot, b) in self.D}
        self.D = {key: value for key, value in self.D.items() if slot not in key}
        w = column * inverse
        self.A = self.A - np.outer(w, row)
        for b, entry in rows.items():
            self.columns[b] = self.columns[b] - w * entry
        for a, ratio in columns.items():
            self.rows[a] = self.rows[a] - row * ratio
            for b, entry in rows.items():
                self.add(a, b, -(ratio * entry))
        return OpenPivot(slot, inverse, w, row, columns, rows)
