"""What links gain along ways of a tree, by joints: see ``motion_factors``.

Where a joint moves its link by a screw in the link's axes, a vector u that comes from the parent gains u x turn there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar, array, is_constant
from recursive_dyn.model.model import WORLD, MassMoments
from recursive_dyn.recursion.equations.inverse_dynamics import LinkMotion
from recursive_dyn.recursion.forces.joint_torsion import torsions
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.spatial.algebra import cross, dot, skew


@dataclass(frozen=True)
class MotionWay:
    """By slot, what one coordinate's unknown changes: its tangent ``place`` at the configuration, velocities,
    accelerations; slots of one link, and its own."""

    place: dict[int, Scalar]
    velocity: dict[int, Scalar]
    acceleration: dict[int, Scalar]


@dataclass(frozen=True, eq=False)
class MovingTree:
    """A tree at a state with accelerations a (nv,); how its links move, and the wrenches (6,) that each of them and all
    that hangs on it need, of their ``moments``."""

    tree: Tree
    a: np.ndarray
    moments: Sequence[MassMoments]
    motions: Sequence[LinkMotion]
    wrenches: Sequence[np.ndarray]

    def parent(self, k: LinkKinematics) -> LinkMotion:
        """The motion that a link is carried by; gravity is in it."""
        if k.link.parent != WORLD:
            return self.motions[k.link.parent]
        return LinkMotion(zeros(3), zeros(3), -self.tree.gravity, np.outer(zeros(3), zeros(3)))


class Carrying:
    """How what a link's motion gains follows from what its parent's does."""

    def __init__(self, k: LinkKinematics, parent: LinkMotion) -> None:
        self._k, p, omega = k, k.displacement.p, parent.omega
        arm = cross(omega, p)
        self._spin, self._p = skew(arm) + array(np.eye(3)) * dot(p, omega) - np.outer(omega, p), p

    def inward(self, row: np.ndarray) -> np.ndarray:
        """A row (9,) of what the link gains, as one of what its parent does."""
        k, (spin, alpha, a) = self._k, (row[:3], row[3:6], row[6:])
        spin = spin + cross(k.twist[:3], alpha) + cross(k.twist[3:], a) * 2.0
        spin, alpha, a = (k.displacement.inward(x) for x in (spin, alpha, a))
        return np.concatenate([spin + self._spin @ a, alpha + cross(self._p, a), a])

    def outward(self, m: np.ndarray) -> np.ndarray:
        """What the link gains (9,) where its parent gains m (9,)."""
        k, (spin, alpha, a) = self._k, (m[:3], m[3:6], m[6:])
        a = a + cross(alpha, self._p) + self._spin.T @ spin
        spin, alpha, a = (k.displacement.outward(x) for x in (spin, alpha, a))
        return np.concatenate([spin, alpha + cross(spin, k.twist[:3]), a + cross(spin, k.twist[3:]) * 2.0])


class JointColumns:
    """Of one joint, by its slots: its subspace S (6,), what its link's motion gains (9,), how the wrench turns that it
    passes on (6,), and what its forces gain as S and the springs of balls turn, by pairs of slots."""

    def __init__(self, moving: MovingTree, i: int, ways: Sequence[MotionWay]) -> None:
        k = moving.tree.links[i]
        self.slots = list(k.link.slots)
        self.S = [s for _, s in k.columns]
        self.carried: list[np.ndarray] = []
        self.turned: list[np.ndarray] = []
        self.forces: dict[tuple[int, int], Scalar] = {}
        n, wrench, a = len(self.slots), moving.wrenches[i], array([moving.a[s] for s in self.slots])
        springs = _springs(moving.tree, self.slots)
        flat = [*k.twist, *k.bias, *k.S.flat, *springs]
        for slot in self.slots:
            way = ways[slot]
            screw, accelerated = (
                k.S @ array([own.get(s, 0.0) for s in self.slots]) for own in (way.place, way.acceleration)
            )
            rates = array(directional_derivative(flat, _directions(moving.tree, i, way)))
            turned = rates[12 : 12 + 6 * n].reshape(6, n)
            bent = rates[6:12] + turned @ a + accelerated
            self.carried.append(_gained(k, moving.parent(k), screw, rates[:6], bent))
            self.turned.append(_turned(screw, wrench))
            for j, s, spring in zip(self.slots, turned.T, rates[12 + 6 * n :], strict=True):
                self.forces[j, slot] = dot(s, wrench) - spring


def _springs(tree: Tree, slots: Sequence[int]) -> list[Scalar]:
    """Forces of balls' springs on these slots."""
    found: dict[int, Scalar] = dict.fromkeys(slots, 0.0)
    if any(tree.model.coordinates[s].torsion for s in slots):
        for spring in torsions(tree):
            found.update((s, f) for s, f in zip(spring.slots, spring.force, strict=True) if s in found)
    return list(found.values())


def _directions(tree: Tree, i: int, way: MotionWay) -> dict[Expression, Scalar]:
    """What a way changes of the numbers of a link's coordinates and of their velocities."""
    link, result = tree.links[i].link, dict[Scalar, Scalar]()
    for place, slot in tree.model.plain_slots:
        if place in link.places:
            result[tree.q[place]] = way.place.get(slot, 0.0)
    for owner, factor, q0, v0 in tree.model.owners:
        if owner == i:
            tangent = array([way.place.get(s, 0.0) for s in range(v0, v0 + factor.nv)])
            own = tree.q[q0 : q0 + factor.nq]
            result.update(zip(own, factor.space.rate(own, tangent), strict=True))
    result.update((tree.v[s], way.velocity.get(s, 0.0)) for s in link.slots)
    return {node: rate for node, rate in result.items() if isinstance(node, Expression)}


def _gained(
    k: LinkKinematics, parent: LinkMotion, screw: np.ndarray, twist: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    """What a link's motion gains (9,), its parent's given, where its place moves by a screw (6,) in its axes, and its
    joint's twist and the rate of that gain (6,); see ``inverse_dynamics.next_motion``."""
    out, (turn, way) = k.displacement.outward, (screw[:3], screw[3:])
    omega, alpha = out(parent.omega), out(parent.alpha)
    a = out(parent.a + parent.W @ k.displacement.p)
    spin, speed = k.twist[:3], k.twist[3:]
    turned = cross(omega, turn)
    carried = out(parent.W @ k.displacement.inward(way)) if not all(map(_nothing, way)) else zeros(3)
    gained = cross(alpha, turn) + cross(turned, spin) + cross(omega, twist[:3]) + rate[:3]
    moved = cross(a, turn) + carried + (cross(turned, speed) + cross(omega, twist[3:])) * 2.0
    moved = moved + cross(twist[:3], speed) + cross(spin, twist[3:]) + rate[3:]
    return np.concatenate([turned + twist[:3], gained, moved])


def _turned(screw: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """What a wrench (6,) that moves with a link gains by a screw of it, both in its axes."""
    turn, way, moment, force = screw[:3], screw[3:], wrench[:3], wrench[3:]
    return np.concatenate([cross(turn, moment) + cross(way, force), cross(turn, force)])


def wrench_slopes(own: MassMoments, motion: LinkMotion) -> np.ndarray:
    """A (6, 9) of one link's moments."""
    omega, h, one = motion.omega, own.first, array(np.eye(3))
    inertia = own.inertia
    spun = skew(omega) @ inertia - skew(inertia @ omega)
    thrown = one * dot(omega, h) + np.outer(omega, h) - np.outer(h, omega) * 2.0
    upper = np.hstack([spun, inertia, skew(h)])
    return np.vstack([upper, np.hstack([thrown, -skew(h), one * own.mass])])


def _nothing(x: Scalar) -> bool:
    return is_constant(x) and x == 0.0
