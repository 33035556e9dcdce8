"""The variational midpoint rule: second order, symplectic, keeps what symmetries keep to rounding, on any joint.

Mass points move along chords, see ``recursion.chord_momenta``. With p = M(q) v, W gravity's forces and force elements,
each where it is evaluated, and v_m the velocity that leads from q to q', by exp where a joint turns,

    f = tau - K ((q + q') / 2 - rest) - D (v + 2 theta (v_m - v))
    p = p_d(q, q') - h / 2 (W(q, v_m) + f),   p'_d(q, q') + h / 2 (W(q', v_m) + f) = M(q') v'

(Marsden & West 2001, Discrete mechanics and variational integrators, Acta Numerica 10, 1.5 and 3.2). theta is 1 / 2
where a step resolves a damper and 1 where it does not: with z = h D / M_ii, theta = (1 + z) / (2 + z) is second order
and has a damped coordinate end at 2 / (2 + 2 z + z^2) of its speed, which does not ring.

v_m is found by Newton's method, each step of which is one inward and one outward pass: dampers, springs and whatever
joints do are in its matrix, force elements are not. Energy stays within a band that does not grow, where h resolves the
motion. Constraints between positions hold at q', those between velocities are not taken (``chord_constraints``).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal
from recursive_dyn.integrators.converging_loop import loop
from recursive_dyn.integrators.free_body import MOVING, TURNING
from recursive_dyn.integrators.implicit_midpoint import relative
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.integrators.variational_definition import definition
from recursive_dyn.recursion import chord_constraints, chord_momenta, energy, tree_rows
from recursive_dyn.recursion.articulated import ArticulatedInertias
from recursive_dyn.recursion.chord_momenta import ChordFactors, Chords
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.element_forces import element_forces
from recursive_dyn.recursion.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product, quaternion_to_matrix

_INPUTS = ("q", "v", "tau", "dt", "v_middle")


class _Step:
    """A step to where the velocity of its middle leads."""

    def __init__(self, c: Context) -> None:
        self.c, self.start, self.h = c, c.tree, c.input("dt")[0]
        self.middle = self.start.paced(c.input("v_middle"))
        self.q = _moved(self.start, self.middle, self.h)
        early, late = _in_both_axes(self.start, self.middle, self.h)
        self.early, self.end = self.start.at(self.start.q, early), self.start.at(array(self.q), late)
        points = chord_momenta.points(self.start)
        here, there = chord_momenta.placed(self.start, points), chord_momenta.placed(self.end, points)
        self.chords = Chords(self.start, here, there)
        self.forces, self.diagonal = self._joint_forces()

    def _joint_forces(self) -> tuple[np.ndarray, list[Scalar]]:
        """(f, what h / 2 f takes from the matrix of Newton's method), both (nv,)."""
        c, h, v, middle = self.c, self.h, self.start.v, self.middle
        forces, diagonal = list(c.input("tau")), [joint.armature for joint in c.model.coordinates]
        inertia = self.chords.own_inertias if any(joint.damping for joint in c.model.coordinates) else []
        places = energy.plain_positions(self.start)
        for s, joint in enumerate(c.model.coordinates):
            if joint.damping:
                z = joint.damping * h * reciprocal(inertia[s] + joint.armature)
                twice = (z + 1.0) * reciprocal(z + 2.0) * 2.0
                forces[s] = forces[s] - joint.damping * (v[s] + twice * (middle[s] - v[s]))
                diagonal[s] = diagonal[s] + joint.damping * h * 0.5 * twice
            if joint.stiffness:
                forces[s] = forces[s] - joint.stiffness * (places[s] + middle[s] * (h * 0.5) - joint.rest)
                diagonal[s] = diagonal[s] + joint.stiffness * h * h * 0.25
        return array(forces), diagonal

    @property
    def residual(self) -> np.ndarray:
        """p_d(q, q') - h / 2 (W + f) - p (nv,)."""
        momenta = self.chords.before(self.h, self.middle)
        force = self.forces + array(element_forces(self.early))
        return momenta - force * (self.h * 0.5) - array(inverse_dynamics(self.c.still(), self.start.v, gravity=False))

    @property
    def momenta(self) -> np.ndarray:
        """p'_d + h / 2 (W + f) (nv,)."""
        return self.chords.after(self.h, self.middle) + (self.forces + array(element_forces(self.end))) * (self.h * 0.5)


def _graph(c: Context) -> Outputs:
    """A Newton step: a better v_middle, its squared change and size."""
    step = _Step(c)
    factors = ChordFactors(step.chords, step.diagonal)
    change = factors.solve(list(step.residual))
    if c.model.constraints:
        change = chord_constraints.bound(step.start, step.end, factors, change, step.h)
    better = step.middle - _slower(step.start, step.middle, array(change), step.h)
    changed: Scalar = 0.0
    size: Scalar = 0.0
    for x, y in zip(better, step.middle, strict=True):
        changed, size = changed + (x - y) * (x - y), size + x * x
    return [("v_middle", list(better)), ("error", [changed, size])]


def _end(c: Context) -> Outputs:
    """(q', v') that v_middle leads to."""
    step = _Step(c)
    end = Tree(c.model, c.graph, q=array(step.q), v=array(np.zeros(c.model.nv)))
    momenta = step.momenta
    if end.pace is not None:
        momenta = momenta - array(inverse_dynamics(end, end.pace, gravity=False))
    inertias = ArticulatedInertias(end)
    v = end.paced(array(inertias.expand(inertias.reduce(list(momenta)))))
    if c.model.constraints:
        v = chord_constraints.onto_tangents(end, inertias, v)
    return [("q", step.q), ("v", list(v))]


def _moved(tree: Tree, middle: np.ndarray, h: Scalar) -> list[Scalar]:
    """Where the middle's velocity leads in a step; a free body's place moves straight on."""
    result = integrate(tree, middle, h)
    for _, factor, q0, v0 in tree.model.owners:
        if factor.space == MOVING:
            half = quaternion_exp(middle[v0 : v0 + 3] * (h * 0.5))
            R = quaternion_to_matrix(quaternion_product(tree.q[q0 + 3 : q0 + 7], half))
            result[q0 : q0 + 3] = list(tree.q[q0 : q0 + 3] + R @ middle[v0 + 3 : v0 + 6] * h)
    return result


def _in_both_axes(tree: Tree, middle: np.ndarray, h: Scalar) -> tuple[np.ndarray, np.ndarray]:
    """The middle's velocity in the axes of the start and of the end."""
    early, late = middle.copy(), middle.copy()
    for _, factor, _, v0 in tree.model.owners:
        if factor.space == MOVING:
            half = quaternion_to_matrix(quaternion_exp(middle[v0 : v0 + 3] * (h * 0.5)))
            sliding = slice(v0 + 3, v0 + 6)
            early[sliding], late[sliding] = half @ middle[sliding], half.T @ middle[sliding]
    return early, late


def _slower(tree: Tree, middle: np.ndarray, twist: np.ndarray, h: Scalar) -> np.ndarray:
    """The change of the middle's velocity that moves the end by h ``twist`` in the axes there: of turns by the inverse
    of dexp up to its third power, which is off by their fourth."""
    result = twist.copy()
    for _, factor, _, v0 in tree.model.owners:
        if factor.space in (TURNING, MOVING):
            x, y = middle[v0 : v0 + 3] * h, twist[v0 : v0 + 3]
            once = cross(x, y)
            result[v0 : v0 + 3] = turn = y + once * 0.5 + cross(x, once) * (1.0 / 12.0)
            if factor.space == MOVING:
                sliding, half = slice(v0 + 3, v0 + 6), quaternion_to_matrix(quaternion_exp(x * 0.5))
                aside = (turn - cross(x, turn) * 0.25) * (h * 0.5)
                result[sliding] = half @ twist[sliding] - cross(aside, middle[sliding])
    return result


INTEGRATOR = Integrator(
    name="variational_midpoint",
    function="variational",
    graph=Function(
        "A better v_middle: a Newton step of the variational midpoint rule; then its squared relative change.",
        _INPUTS,
        lambda m: (m.nv + 1,),
        _graph,
        rows=tree_rows.slots,
        sums=2,
        total=relative,
    ),
    beside=(
        "end",
        Function(
            "q, v after dt: where the v_middle of the variational midpoint rule leads.",
            _INPUTS,
            lambda m: (m.nq + m.nv,),
            _end,
            rows=tree_rows.state,
            configuration=True,
        ),
    ),
    loop=loop,
    definition=definition,
    order=2,
    share=0.5,
    implicit=0.5,
    holonomic=True,
)
