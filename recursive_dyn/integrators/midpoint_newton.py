"""Newton's method for the implicit midpoint rule, on trees: the velocity of the middle, from factors of its equations.

Of a velocity v_m of the middle the rule's equations say which acceleration a leads there, and what they miss is

    r = tau - ID(q_m, v_m, a) - (M's diagonal of dampers and springs) a

with inverse dynamics ID. What r loses along v_m, with q_m and a as they follow it, is factored in O(n), see
``analytic_derivatives.motion_factors``: unknowns are of the size of accelerations, by which v_m moves h / 2 and q_m
h^2 / 4. Balls and free joints turn by what leads to the middle as ``log_rate`` has it. Springs of balls are in these
factors, force elements by their rows (``element_slopes``), beside them (Woodbury 1950, Inverting modified matrices).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal
from recursive_dyn.integrators.free_body import MOVING, TURNING, stepped_point
from recursive_dyn.joint.joint_program import Factor
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.analytic_derivatives.motion_factors import MotionFactors
from recursive_dyn.recursion.analytic_derivatives.motion_ways import MotionWay, MovingTree
from recursive_dyn.recursion.equations.balanced_masses import balanced_moments
from recursive_dyn.recursion.equations.inverse_dynamics import motions, wrench_of
from recursive_dyn.recursion.forces.element_slopes import element_slopes, slope_counts
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.log_rates import rotation_log_rate
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_to_matrix

_ROWS = 24  # of force elements, of which more are not answered: a solve goes through all of them


class Middle:
    """The middle of a step, for a velocity of it: ``tree`` there, of ``start``; h: the whole step."""

    def __init__(self, start: Tree, tree: Tree, h: Scalar) -> None:
        self.start, self.tree, self.h, self.guess = start, tree, h, tree.v

    @cached_property
    def acceleration(self) -> np.ndarray:
        """a (nv,) that leads from the start to this velocity of the middle."""
        twice = reciprocal(self.h * 0.5)
        a = (self.guess - self.start.v) * twice
        for i, factor, _, v0 in self.tree.model.owners:
            if factor.space == MOVING:
                center, velocity, started = self._center(i, factor, v0)
                rate = (velocity - started) * twice
                a[v0 + 3 : v0 + 6] = rate - cross(a[v0 : v0 + 3], center) - cross(self.guess[v0 : v0 + 3], velocity)
        if self.tree.given is not None:
            slots = sorted(self.tree.model.prescribed)
            a[slots] = self.tree.given[slots]
        return a

    def _center(self, i: int, factor: Factor, v0: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a free body, in the axes of the middle: place of the point that it is stepped in, (3,), that one's
        velocity, and its velocity where the step starts."""
        center, _ = stepped_point(self.tree.links[i], factor, at_center=True)
        turning, sliding = slice(v0, v0 + 3), slice(v0 + 3, v0 + 6)
        back = quaternion_to_matrix(quaternion_exp(self.guess[turning] * (self.h * 0.5))).T
        started = back @ (self.start.v[sliding] + cross(self.start.v[turning], center))
        return center, self.guess[sliding] + cross(self.guess[turning], center), started

    @cached_property
    def moving(self) -> MovingTree:
        """The tree with these accelerations."""
        tree, moments = self.tree, balanced_moments(self.tree)
        moving = motions(tree, self.acceleration)
        wrenches = [np.concatenate(wrench_of(own, m)) for own, m in zip(moments, moving, strict=True)]
        for i in reversed(range(len(tree.links))):
            k = tree.links[i]
            if k.link.parent != WORLD:
                moved = np.concatenate(k.displacement.wrench_inward(wrenches[i][:3], wrenches[i][3:]))
                wrenches[k.link.parent] = wrenches[k.link.parent] + moved
        return MovingTree(tree, self.acceleration, moments, moving, wrenches)

    def missed(self, tau: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """r (nv,)."""
        result = tau - diagonal * self.acceleration
        for k, wrench in zip(self.tree.links, self.moving.wrenches, strict=True):
            for slot, s in k.columns:
                result[slot] = result[slot] - dot(s, wrench)
        return result

    @cached_property
    def ways(self) -> list[MotionWay]:
        """What unknowns of all slots change."""
        half = self.h * 0.5
        quarter = half * half
        result = [MotionWay({s: quarter}, {s: half}, {s: 1.0}) for s in range(self.tree.model.nv)]
        for i, factor, q0, v0 in self.tree.model.owners:
            slots = range(v0, v0 + factor.nv)
            start, end = (tree.q[q0 : q0 + factor.nq] for tree in (self.start, self.tree))
            for n, slot in enumerate(slots):
                unit = zeros(factor.nv)
                unit[n] = 1.0
                if factor.space == MOVING:
                    result[slot] = self._of_body(i, factor, v0, unit)
                    continue
                if factor.space == TURNING:
                    rate = rotation_log_rate(self.guess[v0 : v0 + 3] * half, zeros(3), unit)
                else:
                    rate = factor.space.log_rate(start, end, zeros(factor.nv), unit)
                result[slot] = MotionWay(
                    {slot: quarter}, dict(zip(slots, rate * half, strict=True)), dict(zip(slots, rate, strict=True))
                )
        return result

    def _of_body(self, i: int, factor: Factor, v0: int, unit: np.ndarray) -> MotionWay:
        """Of a free body: its turn, and what its stepped point moves on by, by a unit (6,)."""
        half, slots = self.h * 0.5, range(v0, v0 + 6)
        center, velocity, started = self._center(i, factor, v0)
        omega, turn, on = self.guess[v0 : v0 + 3], unit[:3], unit[3:]
        spun = rotation_log_rate(omega * half, zeros(3), turn)
        sped = cross(spun, center)
        rate = on - cross(started, turn) * half
        gained = rate - sped - (cross(spun, velocity) + cross(omega, on)) * half
        moved = cross(turn, velocity) * half + on - cross(turn, center)
        place = np.concatenate([turn, moved]) * (half * half)
        return MotionWay(
            dict(zip(slots, place, strict=True)),
            dict(zip(slots, np.concatenate([spun, on - sped]) * half, strict=True)),
            dict(zip(slots, np.concatenate([spun, gained]), strict=True)),
        )


class Newton:
    """Newton's method from the factors at one velocity of the middle; they serve near there, too.

    diagonal (nv,): what the joints' dampers and springs add to M.
    """

    def __init__(self, middle: Middle, diagonal: np.ndarray) -> None:
        armature = array([c.armature for c in middle.tree.model.coordinates])
        self._ways, self._diagonal = middle.ways, diagonal + armature
        self._factors = MotionFactors(middle.moving, self._ways, list(self._diagonal))
        self._answers: list[tuple[np.ndarray, np.ndarray, Scalar]] = []
        for row in springs(middle.tree):
            stretched = array([dot(row[list(w.place)], array(list(w.place.values()))) for w in self._ways])
            moved = self._solved(row)
            self._answers.append((moved, stretched, reciprocal(dot(stretched, moved) + 1.0)))

    def _solved(self, missed: np.ndarray) -> np.ndarray:
        """Unknowns (nv,) that make up for forces (nv,); springs between bodies answer one after the other."""
        u = array(self._factors.solve(list(missed)))
        for moved, stretched, share in self._answers:
            u = u - moved * (dot(stretched, u) * share)
        return u

    def change(self, middle: Middle, tau: np.ndarray) -> np.ndarray:
        """By how much the velocity of the middle (nv,) is to change, under forces tau (nv,)."""
        u = self._solved(middle.missed(tau, self._diagonal))
        result = zeros(len(tau))
        for way, own in zip(self._ways, u, strict=True):
            for slot, rate in way.velocity.items():
                result[slot] = result[slot] + rate * own
        return result


def springs(tree: Tree) -> list[np.ndarray]:
    """Rows (nv,) whose squares are the stiffness of force elements; none where they are many. What elements damp has
    none: no rule that is symmetric in time damps what it does not resolve without ringing."""
    count = slope_counts(tree.model)[0]
    return [array(row) for row in element_slopes(tree)[:count]] if 0 < count <= _ROWS else []
