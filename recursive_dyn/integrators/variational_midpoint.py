"""The variational midpoint rule: second order, symplectic, keeps what symmetries keep to rounding, on any joint.

Mass points move along chords, see ``chords.chord_momenta``. With p = M(q) v, W gravity's forces and force elements,
each where it is evaluated, and v_m the velocity that leads from q to q', by exp where a joint turns,

    f = tau - K ((q + q') / 2 - rest) - D (v + 2 theta (v_m - v))
    p = p_d(q, q') - h / 2 (W(q, v_m) + f),   p'_d(q, q') + h / 2 (W(q', v_m) + f) = M(q') v'

(Marsden & West 2001, Discrete mechanics and variational integrators, Acta Numerica 10, 1.5 and 3.2). theta is 1 / 2
where a step resolves a damper and 1 where it does not: with z = h D / M_ii, theta = (1 + z) / (2 + z) is second order
and has a damped coordinate end at 2 / (2 + 2 z + z^2) of its speed, which does not ring.

v_m is found by Newton's method, each step of which is one inward and one outward pass: dampers, springs and whatever
joints do are in its matrix, force elements are not. One more is taken by the factors of the first where one is needed,
of large trees two. It ends where the next change would be below 1e-8 of v_m: after the first, whose square the next one
is, where that was below 1.6e-5 (``newton_changes.CURVED``). A step is then an exact one from
momenta that are off by as little, as likely one way as the other; what that is of the momentum of a whole tree is given
back (``kept_momenta``). Energy stays within a band that does not grow, where h resolves the motion. Constraints between
positions hold at q', those between velocities are not taken (``chord_constraints``).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, less, reciprocal, select
from recursive_dyn.integrators.converging_loop import CHANGES, LEFT, MADE, converging
from recursive_dyn.integrators.free_body import MOVING, TURNING
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.integrators.newton_changes import (
    FEW,
    LARGE,
    ONE,
    apart,
    at_most,
    changes_of,
    following,
    relative,
    updated,
)
from recursive_dyn.integrators.variational_definition import definition
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.chords import chord_constraints, chord_momenta
from recursive_dyn.recursion.chords.chord_constraints import BoundChords
from recursive_dyn.recursion.chords.chord_factors import ChordFactors
from recursive_dyn.recursion.chords.chord_momenta import Chords
from recursive_dyn.recursion.chords.kept_momenta import rigid_motions
from recursive_dyn.recursion.chords.made_energy import made_energy
from recursive_dyn.recursion.configuration import integrate, plain_positions
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.equations.articulated import ArticulatedInertias, Reduction
from recursive_dyn.recursion.equations.balanced_masses import balanced_moments
from recursive_dyn.recursion.equations.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.forces.element_forces import element_forces
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product, quaternion_to_matrix

SPARED = LEFT / 4.0  # squared relative change that need not be made by a tree, so that several together are done


class _Step:
    """A step to where its way (nv,), h times the velocity of its middle, leads."""

    def __init__(self, c: Context, way: np.ndarray) -> None:
        self.c, self.start, self.way, self.h = c, c.tree, way, c.input("dt")[0]
        self.middle = way * reciprocal(self.h)
        self.q = _moved(self.start, way)
        early, late = _in_both_axes(self.start, way, self.middle)
        self.early, self.end = self.start.at(self.start.q, early), self.start.at(array(self.q), late)
        points = chord_momenta.points(self.start)
        moments = balanced_moments(self.start)
        here, there = (chord_momenta.placing(tree, points, moments) for tree in (self.start, self.end))
        self.chords = Chords(self.start, list(here), there, moments, self.h)
        self.forces, self.diagonal = self._joint_forces()

    def _joint_forces(self) -> tuple[np.ndarray, list[Scalar]]:
        """(f, what h / 2 f takes from the matrix of Newton's method), both (nv,)."""
        c, h, v, middle = self.c, self.h, self.start.v, self.middle
        forces, diagonal = list(c.input("tau")), [joint.armature for joint in c.model.coordinates]
        inertia = self.chords.own_inertias if any(joint.damping for joint in c.model.coordinates) else []
        places = plain_positions(self.start)
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
    def right(self) -> np.ndarray:
        """h (p_d - h / 2 (W + f) - p) (nv,), but for the momenta of links and gravity."""
        h, force = self.h, self.forces + array(element_forces(self.early))
        return self._rotors * h - (force * (h * h * 0.5) + self._momenta)

    @property
    def _momenta(self) -> np.ndarray:
        """h p (nv,)."""
        return array(inverse_dynamics(self.c.still(), self.start.v * self.h, gravity=False))

    @property
    def _rotors(self) -> np.ndarray:
        """Momenta of rotors (nv,)."""
        return array([c.armature * v for c, v in zip(self.c.model.coordinates, self.middle, strict=True)])

    @property
    def left(self) -> np.ndarray:
        """h (p'_d + h / 2 (W + f)) (nv,)."""
        h, force = self.h, self.forces + array(element_forces(self.end))
        return self._rotors * h + force * (h * h * 0.5) + self.chords.after(h)

    def landed(self) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """(q', v', [energy made, its measure, motion at the start and at the end], see ``made_energy``)."""
        end = Tree(self.c.model, self.c.graph, q=array(self.q), v=array(np.zeros(self.c.model.nv)))
        left, shorter = self.left, reciprocal(self.h)
        if end.pace is not None:
            left = left - array(inverse_dynamics(end, end.pace * self.h, gravity=False))
        reduction = Reduction(end, list(left), None)
        inertias = ArticulatedInertias(end, reduction=reduction)
        ahead = array(inertias.expand(reduction.c))  # h v'
        if self.c.model.constraints:
            v = chord_constraints.onto_tangents(end, inertias, end.paced(ahead * shorter))
            return self.q, list(v), self._made(end, v * self.h * left)
        back = rigid_motions(self.chords, end, self.right + self.chords.before())
        ahead = ahead - back
        return self.q, list(end.paced(ahead * shorter)), self._made(end, (ahead - back) * left)

    def _made(self, end: Tree, kinetic: np.ndarray) -> list[Scalar]:
        """What ``made_energy`` tells; kinetic (nv,): h^2 M v' . v', slot by slot, where the step ends."""
        both = self.start.v * self.h * self._momenta, kinetic
        return list(made_energy(self.chords, end, self.way, both, self.c.input("tau"), self.h))


class _Newton:
    """Newton's method from the factors that are made where its first step leads: of trees that are not large, which one
    direction says much of, and under constraints, which nothing is given back of, by Broyden's updates."""

    def __init__(self, step: _Step) -> None:
        self._factors = ChordFactors(step.chords, step.diagonal, list(step.right))
        self._bound = None
        if step.c.model.constraints:
            self._bound = BoundChords(step.start, step.end, self._factors)
        self._trees = apart(step.c.model)
        self._taken: list[np.ndarray] = []
        self._scale = reciprocal(step.h * step.h)

    def better(self, step: _Step) -> _Step:
        """The step that comes after the last one that this led to."""
        found = array(
            self._factors.solve(list(step.right), step.chords.wrenches) if self._taken else self._factors.first
        )
        if self._bound is not None:
            found = array(self._bound.solve(list(found), step.end))
        excess = _shorter(step.start, step.way, found)
        for slots in self._trees:
            if self._bound is not None or len(slots) <= LARGE:
                excess[slots] = updated(excess[slots], [x[slots] for x in self._taken])
        self._taken.append(excess)
        return _Step(step.c, step.way - excess)

    def changes(self, step: _Step) -> list[Scalar]:
        """Squares of the first, second and last change of the middle's velocity, and of what the next one would be, as
        ``following`` has it; no shorter than the last where constraints, which are to hold where a step ends, have
        nothing given back. Of one change alone the second is none."""
        squares = [[dot(x[slots], x[slots]) for slots in self._trees] for x in self._taken]
        if len(squares) == ONE:
            first = array(squares[0]).sum() * self._scale
            return [first, 0.0, first, at_most(first, dot(step.middle, step.middle) + 1.0)]
        ahead = squares[-1]
        if self._bound is None:
            ahead = [following(*own) for own in zip(*squares, strict=True)]
        return [array(x).sum() * self._scale for x in (squares[0], squares[1], squares[-1], ahead)]

    def enough(self, step: _Step) -> Scalar:
        """1 where the next change of the middle's velocity need not be made, else 0."""
        *_, ahead = self.changes(step)
        return less(ahead, (dot(step.middle, step.middle) + 1.0) * SPARED)


def _graph(c: Context) -> Outputs:
    """A step of Newton's method and more by its factors to a better v_middle, the step that it implies, the changes and
    its size, all squared."""
    step = _Step(c, c.tree.paced(c.input("v_middle")) * c.input("dt")[0])
    newton = _Newton(step)
    few, most = FEW if c.model.constraints else ONE, changes_of(c.model)
    for _ in range(few):
        step = newton.better(step)
    found = [(newton.enough(step), step.way, newton.changes(step))]
    for _ in range(most - few):
        step = newton.better(step)
        found.append((newton.enough(step), step.way, newton.changes(step)))
    _, way, changes = found.pop()
    for enough, shorter, fewer in reversed(found):
        way, changes = array(_either(enough, shorter, way)), _either(enough, fewer, changes)
    step = _Step(c, way) if found else step
    q, v, made = step.landed()
    error = [*made, *changes, dot(step.middle, step.middle)]
    return [("q", q), ("v", v), ("v_middle", list(step.middle)), ("error", error)]


def _either(condition: Scalar, first: Iterable[Scalar], second: Iterable[Scalar]) -> list[Scalar]:
    """The first of two vectors where a condition holds, else the second."""
    return [select(condition, x, y) for x, y in zip(first, second, strict=True)]


def _moved(tree: Tree, way: np.ndarray) -> list[Scalar]:
    """Where a way leads; a free body's place moves straight on."""
    result = integrate(tree, way, 1.0)
    for _, factor, q0, v0 in tree.model.owners:
        if factor.space == MOVING:
            half = quaternion_exp(way[v0 : v0 + 3] * 0.5)
            R = quaternion_to_matrix(quaternion_product(tree.q[q0 + 3 : q0 + 7], half))
            result[q0 : q0 + 3] = list(tree.q[q0 : q0 + 3] + R @ way[v0 + 3 : v0 + 6])
    return result


def _in_both_axes(tree: Tree, way: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle's velocity in the axes of the start and of the end."""
    early, late = middle.copy(), middle.copy()
    for _, factor, _, v0 in tree.model.owners:
        if factor.space == MOVING:
            half = quaternion_to_matrix(quaternion_exp(way[v0 : v0 + 3] * 0.5))
            sliding = slice(v0 + 3, v0 + 6)
            early[sliding], late[sliding] = half @ middle[sliding], half.T @ middle[sliding]
    return early, late


def _shorter(tree: Tree, way: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """The change of a way that moves its end by ``twist`` in the axes there: of turns by the inverse of dexp up to its
    third power, which is off by their fourth."""
    result = twist.copy()
    for _, factor, _, v0 in tree.model.owners:
        if factor.space in (TURNING, MOVING):
            x, y = way[v0 : v0 + 3], twist[v0 : v0 + 3]
            once = cross(x, y)
            result[v0 : v0 + 3] = turn = y + once * 0.5 + cross(x, once) * (1.0 / 12.0)
            if factor.space == MOVING:
                sliding, half = slice(v0 + 3, v0 + 6), quaternion_to_matrix(quaternion_exp(x * 0.5))
                aside = (turn - cross(x, turn) * 0.25) * 0.5
                result[sliding] = half @ twist[sliding] - cross(aside, way[sliding])
    return result


def _totals(error: list[Scalar]) -> list[Scalar]:
    """What ``made_energy`` tells as it is, and ``relative`` changes."""
    return [*error[:MADE], *relative(error[MADE:])]


INTEGRATOR = Integrator(
    name="variational_midpoint",
    function="variational",
    graph=Function(
        "q, v after dt and a better v_middle: by Newton's method, of the variational midpoint rule; then its squared"
        " relative changes.",
        ("q", "v", "tau", "dt", "v_middle"),
        lambda m: (m.nq + 2 * m.nv + MADE + CHANGES,),
        _graph,
        rows=tree_rows.state_and_velocity,
        sums=MADE + CHANGES + 1,
        total=_totals,
        configuration=True,
    ),
    loop=converging(natural=True),
    definition=definition,
    order=2,
    share=0.5,
    implicit=0.5,
    holonomic=True,
    goes_on=True,
    kinks=True,
)
