"""The classical Runge-Kutta method with linearly implicit joint dampers and springs, watched for energy.

    Q_i = q + h sum_j A_ij N(Q_j) u_j,   V_i = v + h sum_j A_ij k_j
    p_i = h sum_j<i G_ij k_j,   s_i = h sum_j<i G_ij u_j
    (M(Q_i) + g h D + g^2 h^2 K) k_i = tau - bias(Q_i, V_i) - D (V_i + p_i) - K (Q_i - rest + s_i + g h (V_i + p_i))
    u_i = V_i + p_i + d h k_i where there is a spring, V_i elsewhere
    q' = q + h sum_i b_i N(Q_i) u_i,   v' = v + h sum_i b_i k_i

with force elements in tau, A, b of the classical method: a Rosenbrock-type method with an inexact Jacobian (Steihaug &
Wolfbrandt 1979, An attempt to avoid exact Jacobian and nonlinear equations in the numerical solution of stiff
differential equations; Hairer & Wanner 1996, Solving Ordinary Differential Equations II, IV.7). Without dampers D and
springs K it is the classical method: fourth order; with them third. G is such that b.G 1 = 0, b.A G 1 = 0, b.G c = 0,
b.G G 1 = 0, b.(c G 1) = 0, and that the stability function is 0 at infinity, where d = g: stiff dampers and springs
neither blow up nor ring. Constraints and numbers of length 1 are treated as by ``runge_kutta``.

``held_rk4`` is the same method with g = 1, G = -A, d = 1/2: V_i + p_i = v and Q_i + s_i = q, so that dampers and
springs pull all the step as backward Euler has them, v' = v + h k, q' = q + h (v + v') / 2 where the rest is linear,
which is how joints answer impulses at a step's end; all the rest, how frames turn above all, is the classical
method's. By it force elements are implicit too, as their slopes say (``recursion.element_slopes``).

A step, or a part of one, of length h' is taken if its energy is explained,

    |E' - E - W| <= ENERGY max(T, T') h' / h,   W = h' sum_i b_i V_i . (tau + e(Q_i, V_i)),

and is halved otherwise, down to 2^-DEPTH of h, HALVINGS times a step; T is kinetic energy, e the force elements that
have no energy. Where there are dampers or springs only a gain is unexplained: what they take is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal, sqrt
from recursive_dyn.integrators.integrator import (
    Integrator,
    ModelEquations,
    StatePair,
    accelerations,
    elements,
    given_accelerations,
    joint_forces,
    plain_positions,
)
from recursive_dyn.integrators.watched_loop import (
    DEPTH,
    ENERGY,
    HALVINGS,
    HELD,
    OWN,
    REACH,
    ROUNDING,
    WEIGHTS,
    Stages,
    loop,
)
from recursive_dyn.recursion import energy, kinematics, tree_rows
from recursive_dyn.recursion.context import METHOD_TWO, Context, Function, Outputs
from recursive_dyn.recursion.drive_forces import drive_forces
from recursive_dyn.recursion.element_forces import element_forces, element_power
from recursive_dyn.recursion.element_slopes import element_slopes, slope_counts
from recursive_dyn.spatial.algebra import dot

_INPUTS = ("q", "v", "tau", "dt", "ahead", "a_before", "v_before")


def _graph(c: Context) -> Outputs:
    """A stage: (q-dot, k, u), and the power of tau and of elements without energy; dt, ahead: g h and d h; a_before,
    v_before: p_i and s_i."""
    tree, h, ahead = c.tree, c.input("dt")[0], c.input("ahead")[0]
    before, way = c.input("a_before"), c.input("v_before")
    forces = [t + e for t, e in zip(c.input("tau"), element_forces(tree), strict=True)]
    diagonal: list[Scalar] = [0.0] * c.model.nv
    if tree.load is not None and tree.lead is not None:
        forces, diagonal = list(array(forces) + tree.load * tree.lead), list(tree.load)
    positions = energy.plain_positions(tree)
    for s, joint in enumerate(c.model.coordinates):
        late = tree.v[s] + before[s]
        if joint.damping:
            forces[s] = forces[s] - joint.damping * late
            diagonal[s] = diagonal[s] + joint.damping * h
        if joint.stiffness:
            forces[s] = forces[s] - joint.stiffness * (positions[s] - joint.rest + way[s] + h * late)
            diagonal[s] = diagonal[s] + joint.stiffness * h * h
    held, slopes = _held(c), element_slopes(tree) if c.method != METHOD_TWO else []
    stiff = slope_counts(c.model)[0]
    soft, late = [], tree.v + before
    for i, row in enumerate(slopes):
        pull = dot(array(row), way + late * h if i < stiff else before) * held
        forces = [f - x * pull for f, x in zip(forces, row, strict=True)]
        share = held * (h if i < stiff else sqrt(h))
        soft.append([x * share for x in row])
    k = c.accelerations(tree, forces, diagonal, soft=soft)
    u, rates, power = list(tree.v), kinematics.rates(tree), dot(tree.v, c.input("tau")) + element_power(tree)
    if tree.load is not None and tree.lead is not None:
        power = power + dot(tree.v, tree.load * tree.lead)
    if c.model.prescribed:
        acting = [t + f for t, f in zip(c.input("tau"), c.motion(tree, forces, diagonal)[1], strict=True)]
        power = power + dot(tree.v, array(drive_forces(tree, k, acting)))
    for place, s in c.model.plain_slots:
        if c.model.coordinates[s].stiffness:
            u[s] = u[s] + before[s] + ahead * k[s]
            rates[place] = u[s]
    return [("q_rate", rates), ("k", k), ("u", u), ("power", [power])]


def _held(c: Context) -> Scalar:
    """1 for ``held_rk4``, by which force elements answer as their slopes say, 0 for the rule that has them explicit."""
    h = c.input("dt")[0]
    return (h - c.input("ahead")[0]) * 2.0 * reciprocal(h)


def _energies(c: Context) -> Outputs:
    """[T, potential and elastic energy, how many coordinates have a damper or spring]."""
    tree = c.tree
    soft: Scalar = float(sum(bool(joint.damping or joint.stiffness) for joint in c.model.coordinates))
    if any(slope_counts(c.model)) and c.method != METHOD_TWO:
        soft = soft + _held(c)
    height = energy.potential_energy(tree) + energy.elastic_energy(tree)
    kinetic = energy.kinetic_energy(tree)
    if tree.load is not None:
        kinetic = kinetic + dot(tree.v, tree.load * tree.v) * 0.5
    return [("energies", [kinetic, height, soft])]


def _defined(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float
) -> StatePair:
    """(q, v) after one step: the equations above, solved densely, halved where energy is not explained."""
    return _part(rule, equations, q, v, tau, h, 0, iter(range(HALVINGS)))


def _part(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, depth: int,
    left: Iterator[int],
) -> StatePair:  # fmt: skip
    """The step h, or one of its parts after so many halvings; left: those that are."""
    q_end, v_end, work = _stages(rule, equations, q, v, tau, h * 0.5**depth)
    idle = tau, [rule.gamma * h], [rule.ahead * h], np.zeros(len(v)), np.zeros(len(v))
    before, after = (equations.call("stage_energies", *x, *idle) for x in ((q, v), (q_end, v_end)))
    if explained(before, after, work, 0.5**depth) or depth == DEPTH or next(left, None) is None:
        return q_end, v_end
    middle = _part(rule, equations, q, v, tau, h, depth + 1, left)
    return _part(rule, equations, *middle, tau, h, depth + 1, left)


def explained(before: np.ndarray, after: np.ndarray, work: np.ndarray | float, share: float = 1.0) -> np.ndarray:
    """Whether a share of a step with this work (...) may have the energies (..., 3) of ``_energies`` at its ends."""
    (T, U, soft), (T_end, U_end, _) = np.moveaxis(before, -1, 0), np.moveaxis(after, -1, 0)
    rise = (T_end - T) + (U_end - U) - work
    allowed = ENERGY * share * np.maximum(T, T_end) + ROUNDING * (T_end + np.abs(U) + np.abs(U_end))
    return np.asarray(np.where(soft > 0.0, rise, np.abs(rise)) <= allowed)


def _stages(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """(q, v) after one step that is not watched, and the work of tau in it."""
    model, own = equations.model, joint_forces(equations.model)
    D, K, gh = own.damping, own.stiffness, rule.gamma * h
    k, u, rates, work = np.zeros((4, model.nv)), np.zeros((4, model.nv)), np.zeros((4, model.nq)), 0.0
    for i, (reach, weight) in enumerate(zip((0.0, *REACH), WEIGHTS, strict=True)):
        Q, V = q + h * reach * rates[i - 1], v + h * reach * k[i - 1]
        before, way = h * rule.before[i] @ k[:3], h * rule.before[i] @ u[:3]
        late = V + before
        stretched = plain_positions(model, Q) - own.rest + way + gh * late
        M = equations.call("mass_matrix", Q) + np.diag(gh * D + gh * gh * K)
        answers, yielding = _answers(rule, equations, Q, V, before, way + gh * late, gh)
        M = M + yielding
        C = equations.call("constraint_jacobian", Q)
        wanted = C @ equations.call("forward_dynamics", Q, V, np.zeros(model.nv))  # - C-dot V
        acting = elements(equations, Q, V)
        force = tau + acting - equations.call("bias", Q, V) - D * late - K * stretched - answers
        k[i] = accelerations(M, force, C, wanted, given_accelerations(equations, Q, V))
        u[i] = np.where(K != 0.0, late + rule.ahead * h * k[i], V)
        rates[i] = equations.call("rates", Q, u[i], tau)[: model.nq]
        work += h / 6 * weight * (V @ tau + equations.call("element_power", Q, V)[()])
        if model.prescribed:
            work += h / 6 * weight * V @ equations.call("drive_forces", Q, V, tau)
    q, v = (x + h / 6 * np.array(WEIGHTS) @ dx for x, dx in ((q, rates), (v, k)))
    for first, end in model.units:
        q[first:end] /= np.linalg.norm(q[first:end])
    return q, v, work


def _answers(
    rule: Stages,
    equations: ModelEquations,
    Q: np.ndarray,
    V: np.ndarray,
    before: np.ndarray,
    way: np.ndarray,
    gh: float,
) -> tuple[np.ndarray, np.ndarray]:
    """What force elements pull less than the stage's state says (nv,), and what they add to M, by ``held_rk4``."""
    stiff, damped = slope_counts(equations.model)
    if rule is not HELD or not stiff + damped:
        return np.zeros(len(V)), np.zeros((len(V), len(V)))
    rows = equations.call("element_slopes", Q, V)
    K, D = (r.T @ r for r in (rows[:stiff], rows[stiff:]))
    return D @ before + K @ way, gh * D + gh * gh * K


PRESSED = Integrator(
    name="held_rk4",
    function="stage",
    graph=Function(
        "q-dot, acceleration, springs' velocity, power of tau: a stage of the linearly implicit Runge-Kutta methods.",
        _INPUTS,
        lambda m: (m.nq + 2 * m.nv + 1,),
        _graph,
        solves=True,
        common=True,
        rows=tree_rows.state_and_velocity,
        sums=1,
    ),
    loop=loop,
    definition=partial(_defined, HELD),
    held=True,
    order=1,
    share=0.5,
    implicit=1.0,
    beside=(
        "energies",
        Function(
            "Kinetic energy, that of gravity and springs, and how many coordinates have a damper or spring.",
            _INPUTS,
            lambda m: (3,),
            _energies,
            rows=tree_rows.nothing,
            sums=3,
        ),
    ),
)
INTEGRATOR = replace(
    PRESSED, name="linearly_implicit_rk4", definition=partial(_defined, OWN), held=False, order=3, pressed=PRESSED.name,
    loads=True, passing="variational_midpoint",
)  # fmt: skip
