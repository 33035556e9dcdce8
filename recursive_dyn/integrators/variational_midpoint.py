"""The variational midpoint rule: second order, symplectic, keeps what symmetries keep to rounding, on any joint.

With the discrete Lagrangian h L(q_m, v_m), q_m = q moved by h v_m / 2 and q' = q moved by h v_m (Marsden & West 2001,
Discrete mechanics and variational integrators, Acta Numerica 10, 2.3), p and lambda as in ``recursion.momenta``:

    p = M(q) v,   f = lambda(q_m, v_m) + tau - D v_m - K (q_m - rest)
    p(q_m, v_m) = p + h f / 2,   p' = p + h f,   v' = M(q')^-1 p'

A ball joint, and the turn of a body that moves freely, are moved along x = h v_m / 2 by exp(x), both halves of it;
momenta are carried along (Bou-Rabee & Marsden 2009, Hamilton-Pontryagin integrators on Lie groups I):

    p_0 = Ad*_exp(x) p,   p_1 = p_0 + h (f - ad*_v p_m),   p' = Ad*_exp(x) p_1
    p_m = (dexp_x^T p_1 + dexp_-x^T p_0) / 2

A free body's place moves straight on, in world axes. v_m is found by sweeps, in which the residual r of these equations
moves it by -(M(q_m) + h D / 2 + h^2 K / 4)^-1 r. Energy stays within a band that does not grow, where h resolves the
motion; constraints are not taken.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.integrators.free_body import MOVING, TURNING
from recursive_dyn.integrators.implicit_midpoint import loop, relative
from recursive_dyn.integrators.integrator import Integrator, ModelEquations, StatePair, joint_forces
from recursive_dyn.recursion import energy, tree_rows
from recursive_dyn.recursion.articulated import ArticulatedInertias
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.element_forces import element_forces
from recursive_dyn.recursion.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.momenta import momenta
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import (
    quaternion_exp,
    quaternion_product,
    quaternion_to_matrix,
    rotation_exp,
    screw_exp,
)


def _graph(c: Context) -> Outputs:
    """One sweep: a better v_middle, the step of the present one, the squared change and size."""
    h, guess, start = c.input("dt")[0], c.input("v_middle"), c.tree
    middle = Tree(c.model, c.graph, q=array(_moved(start, guess, h, 0.5)), v=guess)
    before = array(inverse_dynamics(c.still(), start.v, gravity=False))
    p, force = (array(x) for x in momenta(middle))
    diagonal: list[Scalar] = [0.0] * c.model.nv
    acting = element_forces(middle)
    for s, (joint, q) in enumerate(zip(c.model.coordinates, energy.plain_positions(middle), strict=True)):
        force[s] = force[s] + c.input("tau")[s] + acting[s]
        if joint.damping:
            force[s] = force[s] - joint.damping * guess[s]
            diagonal[s] = diagonal[s] + joint.damping * h * 0.5
        if joint.stiffness:
            force[s] = force[s] - joint.stiffness * (q - joint.rest)
            diagonal[s] = diagonal[s] + joint.stiffness * h * h * 0.25
    residual, after = _balance(c, before, p, force, guess, h)
    better = list(guess - array(_solved(middle, residual, diagonal)))
    q = _moved(start, guess, h, 1.0)
    end = Tree(c.model, c.graph, q=array(q), v=array(np.zeros(c.model.nv)))
    v = _solved(end, after, [0.0] * c.model.nv)
    change: Scalar = 0.0
    size: Scalar = 0.0
    for x, y in zip(better, guess, strict=True):
        change, size = change + (x - y) * (x - y), size + x * x
    return [("q", q), ("v", v), ("v_middle", better), ("error", [change, size])]


def _balance(
    c: Context, before: np.ndarray, p: np.ndarray, force: np.ndarray, guess: np.ndarray, h: Scalar
) -> tuple[np.ndarray, np.ndarray]:
    """(residual (nv,), momenta (nv,) at the step's end) for p and the forces on it at the middle."""
    residual, after = p - before - force * (h * 0.5), before + force * h
    for _, factor, _, v0 in c.model.owners:
        if factor.space in (TURNING, MOVING):
            turning, sliding = slice(v0, v0 + 3), slice(v0 + 3, v0 + factor.nv)
            omega = guess[turning]
            x = omega * (h * 0.5)
            E = quaternion_to_matrix(quaternion_exp(x)).T
            p0 = E @ before[turning]
            p1 = p0 + (force[turning] - cross(p[turning], omega)) * h
            residual[turning] = p[turning] - (screw_exp(-x, p1) + screw_exp(x, p0)) * 0.5
            after[turning] = E @ p1
            if factor.space == MOVING:
                pull = force[sliding] - cross(p[sliding], omega)
                carried = E @ before[sliding]
                residual[sliding] = p[sliding] - carried - pull * (h * 0.5)
                after[sliding] = E @ (carried + pull * h)
    return residual, after


def _solved(tree: Tree, p: np.ndarray, diagonal: list[Scalar]) -> list[Scalar]:
    """(M + diagonal)^-1 p."""
    inertias = ArticulatedInertias(tree, diagonal)
    return inertias.expand(inertias.reduce(list(p)))


def _moved(tree: Tree, middle: np.ndarray, h: Scalar, share: float) -> list[Scalar]:
    """Where the middle's velocity leads in ``share`` (1/2 or 1) of a step; a free body's place moves straight on."""
    result = integrate(tree, middle, h * share)
    for _, factor, q0, v0 in tree.model.owners:
        if factor.space == MOVING:
            half = quaternion_exp(middle[v0 : v0 + 3] * (h * 0.5))
            R = quaternion_to_matrix(quaternion_product(tree.q[q0 + 3 : q0 + 7], half))
            result[q0 : q0 + 3] = list(tree.q[q0 : q0 + 3] + R @ middle[v0 + 3 : v0 + 6] * (h * share))
    return result


def definition(equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair:
    """(q, v) after one step: the equations above, solved densely, lambda from M-dot v - lambda = bias."""
    model, own = equations.model, joint_forces(equations.model)
    before, middle, change = equations.call("mass_matrix", q) @ v, v, np.inf
    while True:
        q_m = _way(equations, q, middle, h, 0.5)
        M = equations.call("mass_matrix", q_m)
        q_rate = equations.call("rates", q_m, middle, tau)[: model.nq]
        M_rate = equations.call("along/mass_matrix", q_m, q_rate)
        p, force = M @ middle, M_rate @ middle - equations.call("bias", q_m, middle)
        force = force + tau + equations.call("passive_forces", q_m, middle)
        r, after = p - before - h / 2 * force, before + h * force
        for _, factor, _, v0 in model.owners:
            turning, omega = slice(v0, v0 + 3), middle[v0 : v0 + 3]
            E = rotation_exp(h / 2 * omega).T
            p0 = E @ before[turning]
            p1 = p0 + h * (force[turning] - np.cross(p[turning], omega))
            r[turning] = p[turning] - (screw_exp(-h / 2 * omega, p1) + screw_exp(h / 2 * omega, p0)) / 2
            after[turning] = E @ p1
            if factor.space == MOVING:
                sliding = slice(v0 + 3, v0 + 6)
                pull, carried = force[sliding] - np.cross(p[sliding], omega), E @ before[sliding]
                r[sliding] = p[sliding] - carried - h / 2 * pull
                after[sliding] = E @ (carried + h * pull)
        way = np.linalg.solve(M + np.diag(h / 2 * own.damping + h * h / 4 * own.stiffness), r)
        previous, change = change, np.abs(way).max(initial=0.0)
        if not change < previous:  # rounding
            q_end = _way(equations, q, middle, h, 1.0)
            return q_end, np.linalg.solve(equations.call("mass_matrix", q_end), after)
        middle = middle - way


def _way(equations: ModelEquations, q: np.ndarray, middle: np.ndarray, h: float, share: float) -> np.ndarray:
    """Where the velocity of the middle leads in a share of the step."""
    result = equations.call("integrate", q, middle, [h * share])
    for _, factor, q0, v0 in equations.model.owners:
        if factor.space == MOVING:
            R = quaternion_to_matrix(q[q0 + 3 : q0 + 7]) @ rotation_exp(h / 2 * middle[v0 : v0 + 3])
            result[q0 : q0 + 3] = q[q0 : q0 + 3] + h * share * R @ middle[v0 + 3 : v0 + 6]
    return result


INTEGRATOR = Integrator(
    name="variational_midpoint",
    function="variational",
    graph=Function(
        "q, v after dt and a better v_middle: a sweep of the variational midpoint rule; then its squared change.",
        ("q", "v", "tau", "dt", "v_middle"),
        lambda m: (m.nq + 2 * m.nv + 1,),
        _graph,
        rows=tree_rows.state_and_velocity,
        sums=2,
        total=relative,
        configuration=True,
    ),
    loop=loop,
    definition=definition,
    order=2,
    share=0.5,
    implicit=0.5,
    constrained=False,
)
