"""Momentum of what floats freely, carried from step to step, so that no integrator loses any of it.

A floating tree's momentum changes by gravity and contacts only. Reduced coordinates do not conserve it to rounding; the
base's velocity is corrected to the momentum that is owed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion import impulse


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum (k, 3) and spin (k, 3) about the own centre of mass that floating trees have at the state q, v."""

    q: np.ndarray
    v: np.ndarray
    linear: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True, eq=False)
class Pushes:
    """Contacts that push (n of them): links (n, 2), -1 for none; arms (n, 2, 3), see ``Momenta.arms``; impulses (n, 3)
    and moments (n, 3) on the first."""

    links: np.ndarray
    arms: np.ndarray
    impulses: np.ndarray
    moments: np.ndarray

    @classmethod
    def none(cls) -> Pushes:
        """Nothing pushes."""
        return cls(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 3)), np.zeros((0, 3)), np.zeros((0, 3)))


class Momenta:
    """The momenta that the floating trees of a model should have."""

    def __init__(self, model: Model) -> None:
        firsts = impulse.floating(model)
        bodies = {body.link: k for k, body in reversed(list(enumerate(model.bodies))) if body.link != WORLD}
        numbers = {first: k for k, first in enumerate(firsts)}
        # of every link, the number of its floating tree, -1 for none; the world, -1, comes last
        self._trees = np.array([*(numbers.get(i, -1) for i in impulse.roots(model)), -1], dtype=np.int64)
        self._slots = np.array([model.links[i].slots for i in firsts], dtype=np.int64).reshape(-1, 6)
        self._bases = [bodies[i] for i in firsts]
        self._gravity = np.array(model.gravity)

    def __len__(self) -> int:
        return len(self._bases)

    def at(self, dynamics: Dynamics, q: np.ndarray, v: np.ndarray, carried: Momentum | None) -> Momentum:
        """What there is at a step's start: what is carried, or what is measured if someone changed the state."""
        if carried is not None and np.array_equal(carried.q, q) and np.array_equal(carried.v, v):
            return carried
        measured = _measured(dynamics, q, v)
        return Momentum(q.copy(), v.copy(), measured[:, 4:7], measured[:, 7:10])

    def arms(
        self, dynamics: Dynamics, q: np.ndarray, v: np.ndarray, links: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Where the points (n, 2, 3) of contacts of links (n, 2) are from the centres of mass of their trees at q."""
        return points - _measured(dynamics, q, v)[:, 1:4][self._trees[links]]

    def settle(
        self,
        dynamics: Dynamics,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        h: float,
        start: Momentum,
        pushes: Pushes | None,
    ) -> Momentum:
        """Give the bases, in v, the velocities with which momentum is what it was, plus h m g, plus the pushes."""
        by = Pushes.none() if pushes is None else pushes
        measured = _measured(dynamics, q, v)
        poses = np.ascontiguousarray(dynamics.call("poses", q)[self._bases])
        pushed = np.asarray(tau[self._slots] != 0.0).any(axis=1).reshape(-1)
        linear, spin = start.linear.copy(), start.spin.copy()
        fall = h * self._gravity
        _owe(linear, spin, measured, self._trees, fall, by.links, by.arms, by.impulses, by.moments, pushed)
        _correct(linear, spin, measured, poses, self._slots, v)
        return Momentum(q.copy(), v.copy(), linear, spin)


def _measured(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return dynamics.call("floating_momenta", q, v).reshape(-1, impulse.FLOATING)


@compiled
def _owe(
    linear: np.ndarray,
    spin: np.ndarray,
    measured: np.ndarray,
    trees: np.ndarray,
    fall: np.ndarray,
    links: np.ndarray,
    arms: np.ndarray,
    impulses: np.ndarray,
    moments: np.ndarray,
    pushed: np.ndarray,
) -> None:
    for k in range(len(linear)):
        for i in range(3):
            linear[k, i] += measured[k, 0] * fall[i]
    for c in range(len(links)):
        for side in range(2):
            k = trees[links[c, side]]
            if k >= 0:
                sign = 1.0 - 2.0 * side
                for i in range(3):
                    a, b = (i + 1) % 3, (i + 2) % 3
                    moment = arms[c, side, a] * impulses[c, b] - arms[c, side, b] * impulses[c, a]
                    linear[k, i] += sign * impulses[c, i]
                    spin[k, i] += sign * (moment + moments[c, i])
    for k in range(len(linear)):
        if pushed[k]:  # a force of the user's on the base: what the integrator made of it stands
            linear[k], spin[k] = measured[k, 4:7], measured[k, 7:10]


@compiled
def _correct(
    linear: np.ndarray, spin: np.ndarray, measured: np.ndarray, poses: np.ndarray, slots: np.ndarray, v: np.ndarray
) -> None:
    inertia = np.zeros((3, 3))
    for k in range(len(linear)):
        at = 10
        for i in range(3):
            for j in range(i, 3):
                inertia[i, j] = inertia[j, i] = measured[k, at]
                at += 1
        turn = np.linalg.solve(inertia, spin[k] - measured[k, 7:10])
        arm = poses[k, :3, 3] - measured[k, 1:4]
        push = (linear[k] - measured[k, 4:7]) / measured[k, 0]
        for i in range(3):
            push[i] += turn[(i + 1) % 3] * arm[(i + 2) % 3] - turn[(i + 2) % 3] * arm[(i + 1) % 3]
        for i in range(3):
            for j in range(3):
                v[slots[k, i]] += poses[k, j, i] * turn[j]
                v[slots[k, 3 + i]] += poses[k, j, i] * push[j]
