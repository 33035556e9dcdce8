"""Ways on the configuration manifold: exponential and logarithm of every joint's coordinates, exact to rounding.

Squared angles carry 1e-300 so that sin(a)/a and its kin are right at zero without a branch.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, combine, cos, reciprocal, select, sin, sqrt
from recursive_dyn.joint.joint_program import BALL
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross, dot, quaternion_product, quaternion_rotation

_TINY = 1e-300


def exponential(omega: np.ndarray) -> np.ndarray:
    """Unit quaternion of the rotation vector omega (3,)."""
    angle = sqrt(dot(omega, omega) + _TINY)
    half = angle * 0.5
    scale = sin(half) * reciprocal(angle)
    return array([*(omega * scale), cos(half)])


def logarithm(q: np.ndarray) -> np.ndarray:
    """Rotation vector (3,), at most pi long, of a unit quaternion."""
    sign = select(combine("less", [q[3], 0.0]), -1.0, 1.0)
    axis, w = q[:3] * sign, q[3] * sign
    length = sqrt(dot(axis, axis) + _TINY)
    return axis * (combine("atan2", [length, w]) * 2.0 * reciprocal(length))


def normalized(q: np.ndarray) -> np.ndarray:
    """q / |q|."""
    return q * reciprocal(sqrt(dot(q, q)))


def _carried(omega: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Displacement in the start's axes of a body whose twist [omega; v] is constant for a unit of time."""
    square = dot(omega, omega) + _TINY
    angle = sqrt(square)
    inverse = reciprocal(angle)
    half_sinc = sin(angle * 0.5) * inverse * 2.0
    a = half_sinc * half_sinc * 0.5
    b = (1.0 - sin(angle) * inverse) * (inverse * inverse)
    turned = cross(omega, v)
    return v + turned * a + cross(omega, turned) * b


def integrate(tree: Tree, v: np.ndarray, dt: Scalar) -> list[Scalar]:
    """The configuration (nq,) after moving with constant velocity v (nv,) for dt."""
    result = plain_moved(tree, v, dt)
    for _, factor, q0, v0 in tree.model.owners:
        q = tree.q[q0 : q0 + factor.nq]
        step = v[v0 : v0 + factor.nv] * dt
        if factor.kind == BALL:
            moved = list(normalized(quaternion_product(q, exponential(step))))
        else:
            position = q[:3] + quaternion_rotation(q[3:]) @ _carried(step[:3], step[3:])
            moved = [*position, *normalized(quaternion_product(q[3:], exponential(step[:3])))]
        result[q0 : q0 + factor.nq] = moved
    return result


def plain_moved(tree: Tree, v: np.ndarray, dt: Scalar) -> list[Scalar]:
    """The configuration (nq,) after dt of what has no quaternion; the others are left where they are."""
    result: list[Scalar] = list(tree.q)
    for place, slot in tree.model.plain_slots:
        result[place] = tree.q[place] + v[slot] * dt
    return result


def difference(tree: Tree, other: np.ndarray) -> list[Scalar]:
    """The velocity (nv,) that leads from q to ``other`` (nq,) in a unit of time."""
    result: list[Scalar] = [0.0] * tree.model.nv
    for place, slot in tree.model.plain_slots:
        result[slot] = other[place] - tree.q[place]
    for _, factor, q0, v0 in tree.model.owners:
        start, end = tree.q[q0 : q0 + factor.nq], other[q0 : q0 + factor.nq]
        if factor.kind == BALL:
            between = list(logarithm(_relative(start, end)))
        else:
            omega = logarithm(_relative(start[3:], end[3:]))
            way = quaternion_rotation(start[3:]).T @ (end[:3] - start[:3])
            between = [*omega, *_uncarried(omega, way)]
        result[v0 : v0 + factor.nv] = between
    return result


def _relative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return quaternion_product(array([-a[0], -a[1], -a[2], a[3]]), b)


def _uncarried(omega: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Inverse of _carried: v = way - omega x way / 2 + c omega x (omega x way)."""
    square = dot(omega, omega) + _TINY
    half = sqrt(square) * 0.5
    c = (1.0 - half * cos(half) * reciprocal(sin(half))) * reciprocal(square)
    turned = cross(omega, way)
    return way - turned * 0.5 + cross(omega, turned) * c
