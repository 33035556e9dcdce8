"""Runge-Kutta-Munthe-Kaas steps of order 4 on products of R^n, S^2 and SO(3), over scalars.

A configuration near the step's start is reached from it by a displacement u (nv,): x + u of flat variables,
exp(hat(u)) q of unit vectors, R exp(hat(u)) of rotations, exp by a rational function whose values are rotations. The
classical Runge-Kutta method is applied to (u, v), which live in a vector space (see ``integrators``), so that the
configuration never leaves the manifold (Munthe-Kaas 1999, High order Runge-Kutta methods on manifolds, Applied
Numerical Mathematics 29).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import array, reciprocal, sqrt
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE
from recursive_dyn.manifold.motion.segments import Place
from recursive_dyn.recursion.configuration import normalized
from recursive_dyn.spatial.algebra import cross, dot, quaternion_product


def displaced(places: Sequence[Place], q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The configuration (nq,) that the displacement u (nv,) leads to."""
    result = q.copy()
    for p in places:
        own, turn = q[p.q], u[p.v]
        if p.space == SPHERE:
            result[p.q] = _turned(_exponential(turn), own)
        elif p.space == ROTATION:
            result[p.q] = quaternion_product(own, normalized(_exponential(turn)))
        else:
            result[p.q] = own + turn
    return result


def _exponential(u: np.ndarray) -> np.ndarray:
    """Quaternion, of any length but zero, of exp(hat(u)), u (3,).

    tan(|u| / 2) is replaced by its [3/2] Pade approximant: the axis is that of u, the angle in error by |u|^7 / 1e5,
    two orders beyond that of a step; sines and cosines would cost as much as the equations of small systems.
    """
    square = dot(u, u)
    return array([*(u * (60.0 - square)), 120.0 - square * 12.0])


def _turned(turn: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The vector x (3,) turned by a quaternion of any length."""
    twice = cross(turn[:3], x) * (reciprocal(dot(turn, turn)) * 2.0)
    return x + twice * turn[3] + cross(turn[:3], twice)


def displacement_rate(places: Sequence[Place], u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """u' (nv,) at velocities v: the inverse of dexp, w -+ u x w / 2 + u x (u x w) / 12, in error by O(u^4).

    The sign is minus for unit vectors, whose omega turns from the left, and plus for rotations, R' = R hat(Omega).
    """
    result = v.copy()
    for p in places:
        if p.space in (SPHERE, ROTATION):
            own, w = u[p.v], v[p.v]
            once = cross(own, w)
            half = once * (-0.5 if p.space == SPHERE else 0.5)
            result[p.v] = w + half + cross(own, once) * (1.0 / 12.0)
    return result


def restored(places: Sequence[Place], q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) rid of rounding: unit vectors and quaternions of length 1, omega at right angles to its unit vector."""
    q, v = q.copy(), v.copy()
    for p in places:
        if p.space == ROTATION:
            q[p.q] = normalized(q[p.q])
        elif p.space == SPHERE:
            unit = q[p.q] * reciprocal(sqrt(dot(q[p.q], q[p.q])))
            q[p.q], v[p.v] = unit, v[p.v] - unit * dot(unit, v[p.v])
    return q, v
