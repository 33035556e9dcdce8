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

``held_rk4`` is the same method with g = 1, G = -A, d = 1/2: V_i + p_i = v and Q_i + s_i = q, so that dampers pull all
the step as backward Euler has them, v' = v + h k, q' = q + h (v + v') / 2 where the rest is linear, which is how joints
answer impulses at a step's end; springs as ``recursion.spring_answers`` says, between the implicit midpoint and that:

    -K (Q_i - rest + s_i + reach h (V_i + p_i)), and share h^2 K in M

All the rest, how frames turn above all, is the classical method's. By it force elements are implicit too, as their
slopes say (``forces.element_slopes``), r with K = r^T r or D = r^T r; by the other where h sqrt(r M^-1 r^T) > STIFF for
stiffness, or h r M^-1 r^T for damping, h the whole step: halves, which are more exact, would be hundreds. Springs of
balls are as those of hinges where h w > SWINGING, w what ``turn_frequencies`` has, and explicit below. What M_ii in
place of w had as explicit were springs at the root of a chain whose end had implicit ones, however fast it swung.

A step, or a part of one, of length h' is taken if the energy of each tree, or of what is connected, is explained,

    |E' - E - W| <= ENERGY T h' / h,   W = h' sum_i b_i V_i . (tau + e(Q_i, V_i) - D (V_i + p_i + g h' k_i)),

and is halved otherwise, down to 2^-DEPTH of h, HALVINGS times a step; T is the largest kinetic energy at its ends or
where parts of the step before it began, e the force elements that have no energy. Where springs carry energy and
nothing has dampers it is LOSING T h' if that is less. Where dampers take more than LITTLE of T, which W then leaves
out, where h sqrt(K / M_ii) > RESOLVED of a joint's implicit spring, and where elements are implicit, only a gain is
unexplained: what they take is theirs. It is counted where only springs take any (``Report.numerical_damping``). By
``held_rk4`` a spring may give s K (h r . v)^2 / 6 besides, v where the part begins, as positions follow half of v,
however stiff it is: the most that it does before it takes more; where something bounced lately s is 1 for all, and none
is to give any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from recursive_dyn.graph.expression import (
    Scalar,
    array,
    maximum,
)
from recursive_dyn.integrators.energy_watch import BALANCES, WATCHED
from recursive_dyn.integrators.integrator import (
    Integrator,
)
from recursive_dyn.integrators.linearly_implicit_definition import defined
from recursive_dyn.integrators.stiffness import (
    holding,
    is_of,
    lifting,
    lossy_springs,
    taking,
    turning_springs,
    yielding_rows,
)
from recursive_dyn.integrators.watched_loop import (
    HELD,
    OWN,
    loop,
)
from recursive_dyn.model.independent import IndependentPart, independent, independent_count
from recursive_dyn.recursion import kinematics, tree_rows
from recursive_dyn.recursion.configuration import plain_positions
from recursive_dyn.recursion.context import METHOD_TWO, Context, Function, Outputs
from recursive_dyn.recursion.equations.lagrangian import nonzero
from recursive_dyn.recursion.forces.drive_forces import drive_forces
from recursive_dyn.recursion.forces.element_forces import element_forces, element_power, element_sizes
from recursive_dyn.recursion.forces.element_slopes import slope_counts
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.momenta import energy
from recursive_dyn.recursion.multipliers import HeldMotion, YieldingRow
from recursive_dyn.recursion.spring_answers import joint_answers
from recursive_dyn.spatial.algebra import dot

SMALL = 1e-3  # of a force times its place, as ROUNDING is meant for energies
_INPUTS = ("q", "v", "tau", "dt", "ahead", "whole", "a_before", "v_before")


def _graph(c: Context) -> Outputs:
    """A stage: (q-dot, k, u), and of each part of the model the power of tau and of elements without energy, and that
    of joint dampers; dt, ahead: g h and d h; whole: the step that this is of, or of a part of; a_before, v_before: p_i
    and s_i."""
    tree, h = c.tree, c.input("dt")[0]
    before, way = c.input("a_before"), c.input("v_before")
    forces = [t + e for t, e in zip(c.input("tau"), element_forces(tree), strict=True)]
    diagonal: list[Scalar] = [0.0] * c.model.nv
    if tree.load is not None and tree.lead is not None:
        forces, diagonal = list(array(forces) + tree.load * tree.lead), list(tree.load)
    positions, turning = plain_positions(tree), turning_springs(c)
    answers = joint_answers(tree, c.input("whole")[0], holding(c), known=c.method != METHOD_TWO)
    for s, joint in enumerate(c.model.coordinates):
        late = tree.v[s] + before[s]
        if joint.damping:
            forces[s] = forces[s] - joint.damping * late
            diagonal[s] = diagonal[s] + joint.damping * h
        if s not in answers:
            continue
        on_the_way = way[s] + h * late * answers[s].reach
        if joint.stiffness:
            forces[s] = forces[s] - joint.stiffness * (positions[s] - joint.rest + on_the_way)
            diagonal[s] = diagonal[s] + joint.stiffness * answers[s].share * h * h
        if s in turning:
            stiff = turning[s] * joint.torsion
            forces[s] = forces[s] - stiff * on_the_way
            diagonal[s] = diagonal[s] + stiff * answers[s].share * h * h
    yielding = yielding_rows(c)
    motion = c.motion(tree, forces, diagonal, yielding)
    k, stiff = motion.a, slope_counts(c.model)[0]
    tau, driven = c.input("tau"), list[Scalar]()
    if c.model.prescribed:
        driven = drive_forces(tree, k, [t + f for t, f in zip(tau, motion.forces, strict=True)])
    if tree.leads and tree.load is not None and tree.lead is not None:
        tau = tau + tree.load * (tree.lead - array(k))
    dampers = list(zip(yielding[stiff:], motion.answered[stiff:], strict=True))
    power = list[Scalar]()
    for part in independent(c.model):
        power += [
            _power(tree, part, tau, driven, dampers),
            _damping(tree, part, before, h, k),
        ]
    u = _springs_velocities(c, [row.r for row in yielding[:stiff]], motion, turning)
    rates = kinematics.rates(Tree(c.model, c.graph, v=array(u)) if stiff or turning else tree)
    for place, s in c.model.plain_slots:
        rates[place] = u[s]
    return [("q_rate", rates), ("k", k), ("u", u), ("power", power)]


def _power(
    tree: Tree, part: IndependentPart, tau: np.ndarray, driven: list[Scalar],
    answers: Sequence[tuple[YieldingRow, Scalar]],
) -> Scalar:  # fmt: skip
    """That of tau, of what is driven (nv,) and of elements without energy, of a part of the model; answers: how far
    dampers do."""
    slots = list(part.slots)
    v = tree.v[slots]
    power = dot(v, tau[slots]) + element_power(tree, part)
    if tree.load is not None and tree.lead is not None and not tree.leads:
        power = power + dot(v, (tree.load * tree.lead)[slots])
    if driven:
        power = power + dot(v, array([driven[s] for s in slots]))
    for row, here in answers:
        if is_of(row, part):
            rate = dot(array(row.r), tree.v)
            power = power + here * rate * rate
    return power


def _damping(
    tree: Tree, part: IndependentPart, before: np.ndarray, h: Scalar, k: Sequence[Scalar]
) -> Scalar:  # fmt: skip
    """The power of joint dampers of a part of the model, which see velocities later by ``before`` + h k (nv,)."""
    power: Scalar = 0.0
    for s in part.slots:
        if damping := tree.model.coordinates[s].damping:
            power = power - damping * tree.v[s] * (tree.v[s] + (before[s] + h * k[s]))
    return power


def _springs_velocities(
    c: Context, stiff: list[Sequence[Scalar]], motion: HeldMotion, turning: dict[int, Scalar]
) -> list[Scalar]:
    """u (nv,): that with which positions go on, later where springs, or stiff elements that answer, act."""
    u, before, ahead = list(c.tree.v), c.input("a_before"), c.input("ahead")[0]
    plain = {slot for _, slot in c.model.plain_slots}
    for s, joint in enumerate(c.model.coordinates):
        late: Scalar = float(bool(joint.stiffness) and s in plain)
        for r, here in zip(stiff, motion.answered, strict=False):
            if nonzero(r[s]) and s not in c.model.prescribed:
                late = maximum(late, here)
        if s in turning:
            late = maximum(late, turning[s])
        if nonzero(late):
            u[s] = u[s] + late * (before[s] + ahead * motion.a[s])
    return u


def _energies(c: Context) -> Outputs:
    """[T, potential and elastic energy U, size of the numbers that U is made of, what takes energy, what springs may
    lift], of each part of the model; the last two as ``taking`` and ``lifting`` have it."""
    tree, yielding = c.tree, yielding_rows(c)
    rows = c.answering(tree, yielding) if yielding else []
    here = [row.here for row in rows]
    springs = lossy_springs(c)
    found: list[Scalar] = []
    for part in independent(c.model):
        slots = list(part.slots)
        soft = taking(c, part, springs, list(zip(yielding, here, strict=True)))
        height = energy.potential_energy(tree, part) + energy.elastic_energy(tree, part)
        kinetic = energy.kinetic_energy(tree, part)
        if tree.load is not None and not tree.leads:
            kinetic = kinetic + dot(tree.v[slots], (tree.load * tree.v)[slots]) * 0.5
        size = energy.energy_size(tree, part) + element_sizes(tree, part) * SMALL
        fall = energy.falling_energy(tree, c.input("whole")[0], part)
        lift = lifting(c, part, list(zip(yielding, rows, strict=True)), kinetic, fall)
        found += [kinetic, height, size + fall, soft, lift]
    return [("energies", found)]


PRESSED = Integrator(
    name="held_rk4",
    function="stage",
    graph=Function(
        "q-dot, acceleration, springs' velocity, powers of tau and dampers: a stage of the linearly implicit methods.",
        _INPUTS,
        lambda m: (m.nq + 2 * m.nv + WATCHED * independent_count(m),),
        _graph,
        solves=True,
        common=True,
        rows=tree_rows.state_velocity_and_two,
    ),
    loop=loop,
    definition=partial(defined, HELD),
    held=True,
    order=1,
    share=0.5,
    implicit=1.0,
    beside=(
        "energies",
        Function(
            "Of each tree: kinetic energy, that of gravity and springs, its size, what takes some, what springs give.",
            _INPUTS,
            lambda m: (BALANCES * independent_count(m),),
            _energies,
            rows=tree_rows.five_a_tree,
        ),
    ),
)
INTEGRATOR = replace(
    PRESSED, name="linearly_implicit_rk4", definition=partial(defined, OWN), held=False, order=3, pressed=PRESSED.name,
    loads=True, passing="variational_midpoint",
)  # fmt: skip
