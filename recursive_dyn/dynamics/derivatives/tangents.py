"""Directions in which arguments are moved: configurations along the velocities of their spaces, vectors along axes.

Trees of a forest know nothing of each other, so that all of them are moved at once, each along a coordinate of its
own: as many directions as the largest tree has coordinates tell everything (Curtis, Powell & Reid 1974, On the
estimation of sparse Jacobian matrices, IMA Journal of Applied Mathematics 13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from recursive_dyn.model.model import Model
from recursive_dyn.spatial.rotations import quaternion_rate, quaternion_to_matrix
from recursive_dyn.spatial.spaces import RigidMotion, Rotation, Space

Array = np.ndarray
POINTS = ("q", "q_end")  # segments that are configurations


def tangents(model: Model, q: Array) -> Array:
    """The rates (..., nv, nq) of a configuration's numbers (..., nq) along unit velocities, a row each: N(q)^T."""
    result = np.zeros((*q.shape[:-1], model.nv, model.nq))
    for place, slot in model.plain_slots:
        result[..., slot, place] = 1.0
    for _, factor, q0, v0 in model.owners:
        unit = _unit_rates(factor.space, q[..., q0 : q0 + factor.nq])
        result[..., v0 : v0 + factor.nv, q0 : q0 + factor.nq] = unit
    return result


def _unit_rates(space: Space, point: Array) -> Array:
    """The rates (..., dimension, size) of points (..., size) along unit tangents."""
    if isinstance(space, Rotation):
        return np.asarray(np.tensordot(point, _products()[0], (-1, 1)))
    if isinstance(space, RigidMotion):
        turn, (turning, axes) = point[..., 3:], _products()
        squares = turn[..., :, None] * turn[..., None, :]
        result = np.zeros((*point.shape[:-1], 6, 7))
        result[..., :3, 3:] = np.tensordot(turn, turning, (-1, 1))
        result[..., 3:, :3] = np.tensordot(squares, axes, 2) / np.trace(squares, axis1=-2, axis2=-1)[..., None, None]
        return result
    axes = np.eye(space.dimension)
    points = np.broadcast_to(point[..., None, :], (*point.shape[:-1], len(axes), space.size))
    return space.rate(points, np.broadcast_to(axes, (*point.shape[:-1], *axes.shape)))


@lru_cache(maxsize=1)
def _products() -> tuple[Array, Array]:
    """What rates of quaternions are made of in one product: q-dot (3, 4, 4) for unit velocities, linear in q, and the
    turned axes (4, 4, 3, 3), a row each, quadratic in q, for q of length 1."""
    unit = np.eye(4)
    turning = np.array([[quaternion_rate(e, axis) for e in unit] for axis in np.eye(3)])
    turned = np.array([[(a + b) @ (a + b) * quaternion_to_matrix(a + b).T for a in unit] for b in unit])
    alone = turned[range(4), range(4)] / 4.0
    return turning, (turned - alone[:, None] - alone[None, :]) / 2.0


def velocities_of(model: Model, q: Array, rates: Array) -> Array:
    """The velocities (..., k, nv) with which configurations q (..., nq) have rates (..., k, nq): N(q)^+ of each."""
    result = np.zeros((*rates.shape[:-1], model.nv))
    for place, slot in model.plain_slots:
        result[..., slot] = rates[..., place]
    if model.owners:
        every = tangents(model, q)
        for _, factor, q0, v0 in model.owners:
            N = every[..., v0 : v0 + factor.nv, q0 : q0 + factor.nq]
            seen = N @ np.swapaxes(rates[..., q0 : q0 + factor.nq], -1, -2)
            own = np.linalg.solve(N @ np.swapaxes(N, -1, -2), seen)
            result[..., v0 : v0 + factor.nv] = np.swapaxes(own, -1, -2)
    return result


@dataclass(frozen=True, eq=False)
class Directions:
    """Which entries of a Jacobian (outputs, columns) each direction tells.

    of (directions, outputs): the column, -1 for none; None where each direction is one column.
    """

    columns: int
    of: Array | None = None

    @property
    def count(self) -> int:
        """How many directions there are."""
        return self.columns if self.of is None else len(self.of)

    def moved(self, unit: Array) -> Array:
        """Directions (..., count, size), of the rates (..., columns, size) of the columns alone."""
        if self.of is None:
            return unit
        together = np.zeros((self.count, self.columns))
        for row, columns in zip(together, self.of, strict=True):
            row[columns[columns >= 0]] = 1.0
        return np.asarray(together @ unit)

    def jacobian(self, rates: Array) -> Array:
        """The Jacobian (..., outputs, columns) of the outputs' rates (..., count, outputs)."""
        if self.of is None:
            return np.ascontiguousarray(np.swapaxes(rates, -1, -2))
        result = np.zeros((*rates.shape[:-2], rates.shape[-1], self.columns))
        for k, columns in enumerate(self.of):
            known = np.flatnonzero(columns >= 0)
            result[..., known, columns[known]] = rates[..., k, known]
        return result


def of_trees(columns: int, outputs: int, inputs: Sequence[Array], written: Sequence[Array]) -> Directions:
    """All trees at once. inputs: the columns (T, n) of each kind's trees; written: their outputs (T, k)."""
    most = max((own.shape[1] for own in inputs), default=0)
    of = np.full((most, outputs), -1, dtype=np.int64)
    for own, rows in zip(inputs, written, strict=True):
        for k in range(own.shape[1]):
            of[k, rows] = own[:, k, None]
    return Directions(columns, of)


class ArgumentDirections:
    """Directions of all arguments of a function at one state, those of one argument after those of another.

    own: directions of each argument; parts: their rows, of ``count``.
    """

    def __init__(self, model: Model, segments: Sequence[str], own: Sequence[Directions]) -> None:
        ends = np.cumsum([0, *(it.count for it in own)]).tolist()
        self._model, self.own, self.count = model, own, ends[-1]
        self.parts = [slice(a, b) for a, b in pairwise(ends)]
        self._rates, self._points = [], []
        for k, (segment, it, part) in enumerate(zip(segments, own, self.parts, strict=True)):
            point = segment in POINTS
            rates = np.zeros((self.count, model.nq if point else it.columns))
            if point and model.owners:
                self._points.append(k)
            else:
                rates[part] = it.moved(tangents(model, np.zeros(model.nq)) if point else np.eye(it.columns))
            self._rates.append(rates)

    def at(self, arrays: Sequence[Array]) -> list[Array]:
        """The rates (count, size) of all arguments at arguments (size,), zero where another one is moved."""
        rates = list(self._rates)
        for k in self._points:
            rates[k] = rates[k].copy()
            rates[k][self.parts[k]] = self.own[k].moved(tangents(self._model, arrays[k]))
        return rates
