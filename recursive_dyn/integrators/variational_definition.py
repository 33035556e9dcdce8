"""One step of the variational midpoint rule in plain Python: every body's momenta, all equations at once."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.free_body import MOVING, TURNING
from recursive_dyn.integrators.integrator import (
    ModelEquations,
    StatePair,
    elements,
    in_time,
    joint_forces,
    numbers,
    plain_positions,
)
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.algebra import skew, vee_difference
from recursive_dyn.spatial.rotations import quaternion_to_matrix, rotation_exp, screw_log

_MOST = 50  # steps of Newton's method
Link = tuple[np.ndarray, np.ndarray]  # its pose (4, 4) and moments (4, 4): sum of m r r^T, homogeneous


def definition(equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair:
    """(q, v) after one step: the equations of ``variational_midpoint``, solved densely."""
    model, own = equations.model, joint_forces(equations.model)
    slots, v = sorted(model.prescribed), in_time(equations, q, v)[1]
    M = equations.call("mass_matrix", q)
    armature = numbers(equations, [c.armature for c in model.coordinates])
    z = h * own.damping / np.diag(M)
    twice = 2.0 * (1.0 + z) / (2.0 + z)
    softness = np.diag(armature + h / 2 * own.damping * twice + h * h / 4 * own.stiffness)
    x, J = _placed(equations, q)
    C = _constraints(equations, q)[1]
    p, middle, change = M @ v, v, np.inf
    for _ in range(_MOST):
        q_end, early, late = _way(equations, q, middle, h)
        f = tau - own.damping * (v + twice * (middle - v))
        f = f - own.stiffness * (plain_positions(model, q) + h / 2 * middle - own.rest)
        y, J_end = _placed(equations, q_end)
        N, A = _momenta(x, y, h)
        acting, acting_end = (f + elements(equations, *state) for state in ((q, early), (q_end, late)))
        after = (
            np.einsum("lin,li->n", J_end, N + h / 2 * _gravity(equations, y)) + armature * middle + h / 2 * acting_end
        )
        p_d = np.einsum("lin,li->n", J, N - h / 2 * _gravity(equations, x)) + armature * middle
        residual = p_d - h / 2 * acting - p
        previous, size = change, np.abs(middle).max(initial=0.0)
        phi, C_end = _constraints(equations, q_end)
        K = np.einsum("lin,lij,ljm->nm", J, A, J_end) + softness
        twist = _bound(K, residual, (C, C_end), phi / h, np.zeros(len(v)), slots)
        way = _slower(equations, middle, twist, h)
        change = np.abs(way).max(initial=0.0)
        if change <= 1e-15 * (1.0 + size) or (change >= previous / 4 and change <= 1e-9 * (1.0 + size)):
            break
        middle = middle - way
    q_end, v_end = in_time(equations, q_end, middle)
    C = _constraints(equations, q_end)[1]
    return q_end, _bound(equations.call("mass_matrix", q_end), after, (C, C), np.zeros(len(C)), v_end, slots)


def _placed(equations: ModelEquations, q: np.ndarray) -> tuple[list[Link], np.ndarray]:
    """Of every link its pose and second moments (4, 4), and the screws (nl, 6, nv) about the world's origin by which
    coordinates move it."""
    model = equations.model
    bodies, screws = equations.call("poses", q), iter(equations.call("screws", q))
    poses, J = [np.eye(4)] * model.nl, np.zeros((model.nl, 6, model.nv))
    for body, X in zip(model.bodies, bodies, strict=True):
        if body.link != WORLD:
            poses[body.link] = X @ np.linalg.inv(numbers(equations, body.pose))
    for i, link in enumerate(model.links):
        if link.parent != WORLD:
            J[i] = J[link.parent]
        for slot in link.slots:
            J[i][:, slot] += next(screws)
    second = []
    for link, X in zip(model.links, poses, strict=True):
        mass, c, inertia = (numbers(equations, x) for x in (link.mass, link.center, link.inertia))
        P = np.zeros((4, 4))
        P[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia + mass * np.outer(c, c)
        P[:3, 3] = P[3, :3] = mass * c
        P[3, 3] = mass
        second.append((X, P))
    return second, J


def _momenta(x: list[Link], y: list[Link], h: float) -> tuple[np.ndarray, np.ndarray]:
    """N (nl, 6) of chords from x to y, and h times its rate (nl, 6, 6) by twists of y."""
    momenta, rates = [], []
    for (X, P), (Y, _) in zip(x, y, strict=True):
        B = Y @ P @ X.T  # sum of m x' x^T, homogeneous
        start, end, m = B[3, :3], B[:3, 3], B[3, 3]
        momenta.append(np.concatenate([vee_difference(B[:3, :3]), end - start]) / h)
        turning = np.trace(B[:3, :3]) * np.eye(3) - B[:3, :3]
        rates.append(np.block([[turning, skew(start)], [-skew(end), m * np.eye(3)]]))
    return np.array(momenta, dtype=float).reshape(-1, 6), np.array(rates, dtype=float).reshape(-1, 6, 6)


def _gravity(equations: ModelEquations, x: list[Link]) -> np.ndarray:
    """Gravity's wrenches (nl, 6) on links."""
    g = numbers(equations, equations.model.gravity)
    firsts = [(X @ P)[:, 3] for X, P in x]
    return np.array([[*np.cross(first[:3], g), *first[3] * g] for first in firsts]).reshape(-1, 6)


def _constraints(equations: ModelEquations, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """phi (m,) and C (m, nv)."""
    if not equations.model.constraints:
        return np.zeros(0), np.zeros((0, equations.model.nv))
    return equations.call("constraint_positions", q), equations.call("constraint_jacobian", q)


def _bound(
    M: np.ndarray,
    p: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray],
    wanted: np.ndarray,
    given: np.ndarray,
    slots: list[int],
) -> np.ndarray:
    """v (nv,) with M v = p - C^T mu and C' v = wanted (m,), for ``rows`` C, C'; in these slots it is as given."""
    free = np.setdiff1d(np.arange(len(p)), slots)
    v = given.copy()
    v[free] = 0.0
    (C, D), m = rows, len(wanted)
    system = np.block([[M[np.ix_(free, free)], C[:, free].T], [D[:, free], np.zeros((m, m))]])
    right = np.concatenate([(p - M @ v)[free], wanted - D @ v])
    v[free] = np.linalg.lstsq(system, right, rcond=None)[0][: len(free)]
    return v


def _way(
    equations: ModelEquations, q: np.ndarray, middle: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the velocity of the middle leads in a step, and that velocity in the axes of the start and of the end."""
    result, early, late = equations.call("integrate", q, middle, [h]), middle.copy(), middle.copy()
    for _, factor, q0, v0 in equations.model.owners:
        if factor.space == MOVING:
            half, sliding = rotation_exp(h / 2 * middle[v0 : v0 + 3]), slice(v0 + 3, v0 + 6)
            R = quaternion_to_matrix(q[q0 + 3 : q0 + 7]) @ half
            result[q0 : q0 + 3] = q[q0 : q0 + 3] + h * R @ middle[sliding]
            early[sliding], late[sliding] = half @ middle[sliding], half.T @ middle[sliding]
    return in_time(equations, result, middle)[0], early, late


def _slower(equations: ModelEquations, middle: np.ndarray, twist: np.ndarray, h: float) -> np.ndarray:
    """The change of the middle's velocity that moves the end by h ``twist``, as far as it is of first order."""
    way = twist.copy()
    for _, factor, _, v0 in equations.model.owners:
        if factor.space in (TURNING, MOVING):
            omega, turning, sliding = middle[v0 : v0 + 3], slice(v0, v0 + 3), slice(v0 + 3, v0 + 6)
            way[turning] = screw_log(-h * omega, twist[turning])
            if factor.space == MOVING:
                aside = h / 2 * (way[turning] - h / 4 * np.cross(omega, way[turning]))
                way[sliding] = rotation_exp(h / 2 * omega) @ twist[sliding] - np.cross(aside, middle[sliding])
    return way
