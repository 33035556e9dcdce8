"""Momentum of what floats freely, carried from step to step, so that no integrator loses any of it.

A floating tree's momentum changes by gravity and contacts only. Reduced coordinates do not conserve it to rounding; the
base's velocity is corrected to the momentum that is owed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion import impulse


class Momenta:
    """Momentum (k, 3) and spin (k, 3) about its own centre of mass that every floating tree of a model should have."""

    def __init__(self, model: Model) -> None:
        firsts = impulse.floating(model)
        bodies = {body.link: k for k, body in reversed(list(enumerate(model.bodies))) if body.link != WORLD}
        numbers = {first: k for k, first in enumerate(firsts)}
        # of every link, the number of its floating tree, -1 for none; the world, -1, comes last
        self.trees = np.array([*(numbers.get(i, -1) for i in impulse.roots(model)), -1], dtype=np.int64)
        self.slots = np.array([model.links[i].slots for i in firsts], dtype=np.int64).reshape(-1, 6)
        self.bases = [bodies[i] for i in firsts]
        self.gravity = np.array(model.gravity)
        self.forget()

    def __len__(self) -> int:
        return len(self.bases)

    def forget(self) -> None:
        """Measure anew at the next step."""
        self._state: tuple[np.ndarray, np.ndarray] | None = None

    def carried(self) -> Any:
        """What ``carry`` takes."""
        return None if self._state is None else (self._state, self.linear.copy(), self.spin.copy())

    def carry(self, what: Any) -> None:
        """Go on from what ``carried`` gave."""
        self._state = None
        if what is not None:
            self._state, self.linear, self.spin = what[0], what[1].copy(), what[2].copy()

    def begin(self, dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> None:
        """What there is at a step's start: what is carried, or what is measured if someone changed the state."""
        known = self._state
        if known is None or not (np.array_equal(known[0], q) and np.array_equal(known[1], v)):
            measured = dynamics.call("floating_momenta", q, v).reshape(-1, impulse.FLOATING)
            self.linear, self.spin = measured[:, 4:7].copy(), measured[:, 7:10].copy()

    def arms(
        self, dynamics: Dynamics, q: np.ndarray, v: np.ndarray, links: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Where the points (n, 2, 3) of contacts of links (n, 2) are from the centres of mass of their trees at q."""
        centers = dynamics.call("floating_momenta", q, v).reshape(-1, impulse.FLOATING)[:, 1:4]
        return points - centers[self.trees[links]]

    def finish(
        self,
        dynamics: Dynamics,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        h: float,
        links: np.ndarray,  # (n, 2) that contacts push, -1 for none
        arms: np.ndarray,  # (n, 2, 3), see ``arms``
        impulses: np.ndarray,  # (n, 3) on the first
        moments: np.ndarray,
    ) -> None:
        """Give the bases, in place, the velocities with which momentum is what it was, plus h m g, plus the pushes."""
        measured = dynamics.call("floating_momenta", q, v).reshape(-1, impulse.FLOATING)
        poses = np.ascontiguousarray(dynamics.call("poses", q)[self.bases])
        pushed = np.asarray(tau[self.slots] != 0.0).any(axis=1).reshape(-1)
        _owe(self.linear, self.spin, measured, self.trees, h * self.gravity, links, arms, impulses, moments, pushed)
        _correct(self.linear, self.spin, measured, poses, self.slots, v)
        self._state = q.copy(), v.copy()


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
