"""Factors of what inverse dynamics gain along ways of a tree: K of K u, u (nv,) how far it goes along each of them.

A way of a coordinate changes its place, its velocity and its acceleration at once, as those of an implicit rule depend
on one unknown. What a link does to the ones outward of it are three vectors in its axes, angular velocity, angular
acceleration and its origin's acceleration (``equations.inverse_dynamics``), so that a subtree asks of who holds it the
wrench A m, A (6, 9), of what these vectors gain, m (9,). Its own joint adds columns to m and to the wrench that it
passes on, its rows are along its subspace. K is no symmetric matrix; it is eliminated coordinate by coordinate from the
tips inward, as M in ``articulated``, in O(n), shared coordinates as ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.analytic_derivatives.motion_ways import (
    Carrying,
    JointColumns,
    MotionWay,
    MovingTree,
    wrench_slopes,
)
from recursive_dyn.recursion.kinematics import LinkKinematics, zeros
from recursive_dyn.spatial.algebra import dot


@dataclass(frozen=True, eq=False)
class _Pivot:
    """One eliminated coordinate: 1 / K, its column and row (9,) of the handle, and both against what is still open."""

    slot: int
    inverse: Scalar
    column: np.ndarray
    row: np.ndarray
    columns: dict[int, Scalar]
    rows: dict[int, Scalar]


@dataclass(eq=False)
class _Handle:
    """What a subtree asks of who holds it: A; columns (6,) and rows (9,) of open coordinates, and between these."""

    A: np.ndarray
    columns: dict[int, np.ndarray] = field(default_factory=dict)
    rows: dict[int, np.ndarray] = field(default_factory=dict)
    D: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    def add(self, a: int, b: int, value: Scalar) -> None:
        self.D[a, b] = self.D[a, b] + value if (a, b) in self.D else value

    def cross(self, own: JointColumns) -> None:
        """Pass a joint, all of its columns at once."""
        asked = [self.A @ C for C in own.carried]
        for j, s in zip(own.slots, own.S, strict=True):
            for slot, Z in [*zip(own.slots, asked, strict=True), *self.columns.items()]:
                self.add(j, slot, dot(s, Z))
        for other, row in self.rows.items():
            for slot, C in zip(own.slots, own.carried, strict=True):
                self.add(other, slot, dot(row, C))
        for key, value in own.forces.items():
            self.add(*key, value)
        for j, s, Z, turned in zip(own.slots, own.S, asked, own.turned, strict=True):
            row, column = s @ self.A, Z + turned
            self.rows[j] = self.rows[j] + row if j in self.rows else row
            self.columns[j] = self.columns[j] + column if j in self.columns else column

    def eliminate(self, slot: int, diagonal: Scalar, prescribed: bool) -> _Pivot:
        column, row = self.columns.pop(slot, zeros(6)), self.rows.pop(slot, zeros(9))
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
        return _Pivot(slot, inverse, w, row, columns, rows)

    def take(self, other: _Handle) -> None:
        """Hold another subtree as well."""
        self.A = self.A + other.A
        for mine, its in ((self.columns, other.columns), (self.rows, other.rows)):
            for slot, Z in its.items():
                mine[slot] = mine[slot] + Z if slot in mine else Z
        for (a, b), value in other.D.items():
            self.add(a, b, value)

    def inward(self, k: LinkKinematics, carrying: Carrying) -> _Handle:
        """The same of the link's parent."""
        rows = [carrying.inward(row) for row in self.A]
        A = np.stack([_wrench_inward(k, column) for column in array(rows).T], axis=1)
        columns = {slot: _wrench_inward(k, Z) for slot, Z in self.columns.items()}
        return _Handle(A, columns, {slot: carrying.inward(row) for slot, row in self.rows.items()}, self.D)


def _wrench_inward(k: LinkKinematics, Z: np.ndarray) -> np.ndarray:
    return np.concatenate(k.displacement.wrench_inward(Z[:3], Z[3:]))


class MotionFactors:
    """The factors of K; ``diagonal`` (nv,) is inertia of coordinates besides."""

    def __init__(self, moving: MovingTree, ways: Sequence[MotionWay], diagonal: Sequence[Scalar]) -> None:
        self._tree = tree = moving.tree
        self._ways, self._diagonal, order = ways, diagonal, tree.model.elimination
        handles = [_Handle(wrench_slopes(own, m)) for own, m in zip(moving.moments, moving.motions, strict=True)]
        self._pivots: list[list[_Pivot]] = [[] for _ in tree.links]
        self._columns: list[JointColumns] = [JointColumns(moving, i, ways) for i in range(len(tree.links))]
        self._carrying = [Carrying(k, moving.parent(k)) for k in tree.links]
        world = _Handle(array(np.zeros((6, 9))))
        met: dict[int, list[int]] = {}
        for slot, where in enumerate(order.meeting):
            met.setdefault(where, []).append(slot)
        for i in reversed(range(len(tree.links))):
            k = tree.links[i]
            handles[i].cross(self._columns[i])
            self._pivots[i] = self._eliminated(handles[i], met.get(i, []))
            if k.link.parent == WORLD:
                world.take(_Handle(world.A, *_asked_by_none(handles[i]), handles[i].D))
            else:
                handles[k.link.parent].take(handles[i].inward(k, self._carrying[i]))
        self._root = self._eliminated(world, met.get(-1, []))

    def _eliminated(self, handle: _Handle, slots: Sequence[int]) -> list[_Pivot]:
        for slot in slots:
            for other, value in self._ways[slot].acceleration.items():
                if other != slot:
                    handle.add(other, slot, self._diagonal[other] * value)
        result = []
        for slot in slots:
            own = self._diagonal[slot] * self._ways[slot].acceleration[slot]
            result.append(handle.eliminate(slot, own, slot in self._tree.model.prescribed))
        return result

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """u (nv,) of K u = right."""
        c, tree = list(right), self._tree
        z = [zeros(6) for _ in tree.links]
        for i in reversed(range(len(tree.links))):
            own = self._columns[i]
            for slot, s in zip(own.slots, own.S, strict=True):
                c[slot] = c[slot] - dot(s, z[i])
            for pivot in self._pivots[i]:
                z[i] = z[i] + pivot.column * c[pivot.slot]
                _reduce(pivot, c)
            k = tree.links[i]
            if k.link.parent != WORLD:
                z[k.link.parent] = z[k.link.parent] + _wrench_inward(k, z[i])
        for pivot in self._root:
            _reduce(pivot, c)
        u: list[Scalar] = [0.0] * tree.model.nv
        for pivot in reversed(self._root):
            _expand(pivot, c, u, zeros(9))
        gained: list[np.ndarray] = []
        for i, k in enumerate(tree.links):
            m = zeros(9) if k.link.parent == WORLD else self._carrying[i].outward(gained[k.link.parent])
            for pivot in reversed(self._pivots[i]):
                _expand(pivot, c, u, m)
            for slot, C in zip(self._columns[i].slots, self._columns[i].carried, strict=True):
                m = m + C * u[slot]
            gained.append(m)
        return u


def _asked_by_none(handle: _Handle) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Columns and rows of a handle that nothing moves."""
    return dict.fromkeys(handle.columns, zeros(6)), dict.fromkeys(handle.rows, zeros(9))


def _reduce(pivot: _Pivot, c: list[Scalar]) -> None:
    for other, ratio in pivot.columns.items():
        c[other] = c[other] - ratio * c[pivot.slot]


def _expand(pivot: _Pivot, c: Sequence[Scalar], u: list[Scalar], m: np.ndarray) -> None:
    value = c[pivot.slot] - dot(pivot.row, m)
    for other, entry in pivot.rows.items():
        value = value - entry * u[other]
    u[pivot.slot] = value * pivot.inverse
