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

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.analytic_derivatives.motion_ways import (
    Carrying,
    JointColumns,
    MotionWay,
    MovingTree,
    wrench_slopes,
)
from recursive_dyn.recursion.equations.unsymmetric_handles import Handle, OpenPivot
from recursive_dyn.recursion.kinematics import LinkKinematics, zeros
from recursive_dyn.spatial.algebra import dot


class _Handle(Handle):
    """A (6, 9) of m; columns (6,) and rows (9,)."""

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
            self.open(j, Z + turned, s @ self.A)

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
        self._pivots: list[list[OpenPivot]] = [[] for _ in tree.links]
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

    def _eliminated(self, handle: _Handle, slots: Sequence[int]) -> list[OpenPivot]:
        for slot in slots:
            for other, value in self._ways[slot].acceleration.items():
                if other != slot:
                    handle.add(other, slot, self._diagonal[other] * value)
        result = []
        for slot in slots:
            own = self._diagonal[slot] * self._ways[slot].acceleration[slot]
            result.append(handle.eliminated(slot, own, slot in self._tree.model.prescribed))
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
                pivot.reduce(c)
            k = tree.links[i]
            if k.link.parent != WORLD:
                z[k.link.parent] = z[k.link.parent] + _wrench_inward(k, z[i])
        for pivot in self._root:
            pivot.reduce(c)
        u: list[Scalar] = [0.0] * tree.model.nv
        for pivot in reversed(self._root):
            pivot.expand(c, u, zeros(9))
        gained: list[np.ndarray] = []
        for i, k in enumerate(tree.links):
            m = zeros(9) if k.link.parent == WORLD else self._carrying[i].outward(gained[k.link.parent])
            for pivot in reversed(self._pivots[i]):
                pivot.expand(c, u, m)
            for slot, C in zip(self._columns[i].slots, self._columns[i].carried, strict=True):
                m = m + C * u[slot]
            gained.append(m)
        return u


def _asked_by_none(handle: _Handle) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Columns and rows of a handle that nothing moves."""
    return dict.fromkeys(handle.columns, zeros(6)), dict.fromkeys(handle.rows, zeros(9))
