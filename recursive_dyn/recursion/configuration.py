"""Steps on the configuration manifold: exponential and logarithm of every joint's coordinates, exact to rounding.

Squared angles carry 1e-300 so that sin(a)/a and its kin are right at zero without a branch.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, combine, cos, is_constant, reciprocal, select, sin, sqrt
from recursive_dyn.joint.joint_program import BALL, FREE, Factor
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.recursion.lagrangian import solve
from recursive_dyn.spatial.algebra import cross, dot, quaternion_product, quaternion_rotation

_TINY = 1e-300
_SWEEPS = 4  # a body that turns by a third of a radian a step gains less than 1 % of energy in 10 s


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
    result = _plain_moved(tree, v, dt)
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


def _plain_moved(tree: Tree, v: np.ndarray, dt: Scalar) -> list[Scalar]:
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


def semi_implicit_step(tree: Tree, acceleration: np.ndarray, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(q, v) after v += h a, q moved with the new v.

    A body that turns freely is stepped in its momenta, carried in world axes. Its frame turns during the step: adding
    -omega x v and the gyroscopic moment in body axes would make a tumbling body gain energy at every step.
    """
    v_next: list[Scalar] = list(tree.v + acceleration * h)
    q_next = _plain_moved(tree, array(v_next), h)
    for i, factor, q0, v0 in tree.model.owners:
        k = tree.links[i]
        q = tree.q[q0 : q0 + factor.nq]
        if factor.kind == BALL:
            center, inertia = _about(k, factor, at_center=False)
            turn, omega = _turned(tree.v[v0 : v0 + 3], acceleration[v0 : v0 + 3], h, inertia)
            v_next[v0 : v0 + 3] = list(omega)
            moved = list(normalized(quaternion_product(q, turn)))
        else:
            center, inertia = _about(k, factor, at_center=True)
            omega, alpha = tree.v[v0 : v0 + 3], acceleration[v0 : v0 + 3]
            velocity = tree.v[v0 + 3 : v0 + 6] + cross(omega, center)
            rate = acceleration[v0 + 3 : v0 + 6] + cross(alpha, center) + cross(omega, velocity)
            carried = velocity + rate * h  # of the centre of mass, in the old axes
            turn, omega_next = _turned(omega, alpha, h, inertia)
            back = quaternion_rotation(turn).T
            v_next[v0 : v0 + 6] = [*omega_next, *(back @ carried - cross(omega_next, center))]
            orientation = normalized(quaternion_product(q[3:], turn))
            place = q[:3] + quaternion_rotation(q[3:]) @ (center + carried * h)
            moved = [*(place - quaternion_rotation(orientation) @ center), *orientation]
        q_next[q0 : q0 + factor.nq] = moved
    return q_next, v_next


def _about(k: LinkKinematics, factor: Factor, at_center: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """(point, inertia about it) in whose momenta a freely turning link is stepped; (origin, None) where it has none."""
    massless = any(is_constant(x) and x == 0.0 for x in (k.mass, *np.diag(k.inertia)))
    if massless or len(k.link.joint.factors) > 1:
        return zeros(3), None
    if at_center:
        return k.center, k.inertia
    c = k.center
    return zeros(3), k.inertia + k.mass * (array(np.eye(3)) * dot(c, c) - np.outer(c, c))


def _turned(
    omega: np.ndarray, alpha: np.ndarray, h: Scalar, inertia: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(quaternion of the step's turn, angular velocity after it): angular momentum is carried over in world axes."""
    if inertia is None:
        after = omega + alpha * h
        return exponential(after * h), after
    momentum = inertia @ omega
    carried = momentum + (inertia @ alpha + cross(omega, momentum)) * h
    # the turn is taken at the angular velocity of the middle of the step, found by fixed-point sweeps
    middle = array(solve(inertia, list(carried)))
    for _ in range(_SWEEPS):
        half = quaternion_rotation(exponential(middle * (h * 0.5))).T
        middle = array(solve(inertia, list(half @ carried)))
    turn = exponential(middle * h)
    return turn, array(solve(inertia, list(quaternion_rotation(turn).T @ carried)))


def midpoint(tree: Tree, guess: np.ndarray, h: Scalar) -> list[Scalar]:
    """The configuration (nq,) half a step on, at the velocity ``guess`` of the middle."""
    return _midpoint(tree, guess, h, 0.5)


def midpoint_step(
    tree: Tree, guess: np.ndarray, acceleration: np.ndarray, h: Scalar
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """(q, v, better v of the middle) of the implicit midpoint rule for the middle's acceleration at ``guess``.

    A free body's centre of mass is stepped in world axes; everything is written in the axes of the middle.
    """
    half = h * 0.5
    better = list(tree.v + acceleration * half)
    after = list(array(better) * 2.0 - tree.v)
    for i, factor, _, v0 in tree.model.owners:
        if factor.kind == FREE:
            center, _ = _about(tree.links[i], factor, at_center=True)
            spin, alpha = guess[v0 : v0 + 3], acceleration[v0 : v0 + 3]
            velocity = guess[v0 + 3 : v0 + 6] + cross(spin, center)
            back = quaternion_rotation(exponential(spin * half)).T
            start = back @ (tree.v[v0 + 3 : v0 + 6] + cross(tree.v[v0 : v0 + 3], center))
            rate = acceleration[v0 + 3 : v0 + 6] + cross(alpha, center) + cross(spin, velocity)
            middle = start + rate * half
            better[v0 + 3 : v0 + 6] = list(middle - cross(array(better[v0 : v0 + 3]), center))
            end = back @ (middle * 2.0 - start)
            after[v0 + 3 : v0 + 6] = list(end - cross(array(after[v0 : v0 + 3]), center))
    return _midpoint(tree, array(better), h, 1.0), after, better


def _midpoint(tree: Tree, middle: np.ndarray, h: Scalar, share: float) -> list[Scalar]:
    """Where the middle's velocity leads in ``share`` (1/2 or 1) of a step; a free body's centre moves straight on."""
    result = integrate(tree, middle, h * share)
    for i, factor, q0, v0 in tree.model.owners:
        if factor.kind == FREE:
            center, _ = _about(tree.links[i], factor, at_center=True)
            q, omega = tree.q[q0 : q0 + 7], middle[v0 : v0 + 3]
            R = quaternion_rotation(quaternion_product(q[3:], exponential(omega * (h * 0.5))))
            way = R @ (middle[v0 + 3 : v0 + 6] + cross(omega, center)) * (h * share)
            place = q[:3] + quaternion_rotation(q[3:]) @ center + way
            result[q0 : q0 + 3] = list(place - quaternion_rotation(array(result[q0 + 3 : q0 + 7])) @ center)
    return result
