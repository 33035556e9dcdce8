"""A hand on a point of a body: it leads the point to a target, softly, as hard as it may.

The point is to move as a damped spring would have it, x'' = -w^2 (x - target) - 2 z w x', whatever mass it finds there.
Taken at the step's end, so that no stiffness is too much for a step h, with all that the hand has to carry made up for,
which would have the point arrive at a velocity x'_0 (gravity, motion and other forces):

    (1 + 2 z w h + w^2 h^2) x'_1 = x' - w^2 h (x - target),    f = A^-1 (x'_1 - x'_0) / h,    A = J M^-1 J^T.

Directions in which the point gives way much less than in others, or less than other points near it, as on the axis of a
hinge, are held with the mass of those, so that no force grows beyond all bounds that moves nothing; where anything
turns swiftly they are led the more softly the less they give way. Nor does a step have bodies turn so much faster that
what its start tells does not hold.

A target far away pulls as one does towards which the spring would go at the greatest speed s,
w |x - target| / (2 z + w h). Unless ``max_force`` says otherwise a hand is as strong as that takes for all that hangs
together with the body, and as much again, 2 m (s w (2 z + w h) + |g|), so that what is pulled taut towards a target out
of reach is not torn at with more.

The force is constant through a step: as generalized forces, in which a taut chain stays calm; in axes of the world, in
which it does the work that its point's way says and no more, where anything turns swiftly. Then it is turned by half of
what its body turns in the step: what holds a body that whirls about its point turns with that, and would drive it on
with where it was.

In maximal coordinates the step is tried (``TriedStep``): f is what has the point go as far as the spring would have it,
h x'_1, where x' is how far it came in the step before. The work of a force in a step is known there: a hand gives no
more than it was given: by who moves its target, force times way, and by what it slowed down, as much of that as its
spring can hold. It never drives anything where it stands still. What would give more brakes the point instead, as much
as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.momenta import impulse
from recursive_dyn.simulation.flying.applied_forces import AppliedForce
from recursive_dyn.simulation.state import State, numbers, real
from recursive_dyn.simulation.stepping.tried_step import TriedStep
from recursive_dyn.spatial.algebra import skew
from recursive_dyn.spatial.rotations import rotation_exp

FREQUENCY, DAMPING, MAX_SPEED = 4.0, 1.0, 6.0  # Hz of the spring, of critical damping, m/s
_STIFFEST = 1e-3  # of the mobility of the direction that gives way most: less counts as that
_NEAR = 1e-3  # squared, share of the body's extent within which others give way for a point that does not
_FURTHEST = 0.25  # rad a step by which a hand has angular velocities of bodies change within one
_SPARE = 0.05  # of the energy of its body that a hand keeps beside what its spring holds
_TRIES = 2  # of a step: the second one makes up for what turned in the first
_SWIFT = 0.05  # rad a step by which a body turns from where on its hand pushes in axes of the world
_CROSSES = np.array([skew(axis) for axis in np.eye(3)], dtype=float)


class Grab:
    """A hand on ``point`` (3,) of a body's frame, as ``Simulation.grab`` makes one.

    target (3,): where it leads the point, m, world axes; force (3,): that it gave in the last step, N, and swift:
    whether in axes of the world; frequency, Hz, damping, 1 is critical, max_force, N, None for what all that hangs
    together takes, and max_speed, m/s, may be changed while it holds. held: until ``release``, or until the body is no
    more.
    """

    def __init__(self, dynamics: Dynamics, state: State, body: Any, point: Any, **settings: Any) -> None:
        self.body = dynamics.bodies[dynamics.model.body_index(body)]
        self.point = numbers(dynamics, "point", point, 3)
        for name, value in settings.items():
            if not (real(value) > 0.0 or (name == "max_force" and value is None)):
                raise StateError(f"a grab of '{self.body}' has a {name} above 0, not {value!r}")
        self.frequency, self.damping = real(settings["frequency"]), real(settings["damping"])
        self.max_force, self.max_speed = settings["max_force"], real(settings["max_speed"])
        self.held, self.swift = True, False
        self.force = np.zeros(3)
        self._dynamics, self._mass = dynamics, _mass(dynamics, self.body)
        X = self._pose(dynamics, state.q)
        self.target = X[:3, :3] @ self.point + X[:3, 3]
        self._led: np.ndarray = self.target.copy()  # where the target was in the last step
        self._stored: float | None = 0.0  # what was given by then, J; None: what the spring holds there

    def move(self, target: Any) -> None:
        """Lead the point to another place (3,), m, world axes. StateError for anything else."""
        self.target = numbers(self._dynamics, "target", target, 3)

    def forget(self) -> None:
        """Know of the last step no more than a snapshot holds: of energy what the spring has."""
        self._led, self._stored = self.target.copy(), None

    def release(self) -> None:
        """Let go; harmless when repeated."""
        self.held = False
        self.force = np.zeros(3)

    def pull(
        self, dynamics: Dynamics, state: State, tau: np.ndarray, h: float, tried: TriedStep | None = None
    ) -> np.ndarray:
        """Generalized forces (nv,) for the next step, of length h, of the hand alone; tau: of all others; tried: the
        step, in maximal coordinates."""
        if dynamics is not self._dynamics:
            self._dynamics, self._mass = dynamics, _mass(dynamics, self.body)
        moved, led, self._led = self.target - self._led, self._led, self.target.copy()
        if tried is not None:
            return self._by_trial(tried, led, moved, h)
        q, v = state.q, state.v
        twists = dynamics.jacobian(q, self.body, self.point)
        J, pushed = twists[3:], tau + dynamics.passive_forces(q, v)
        a = dynamics.forward_dynamics(q, v, np.concatenate([pushed[None], pushed + twists]))
        mobility = twists @ (a[1:] - a[0]).T  # (6, 6), of the body about the point
        X = self._pose(dynamics, q)
        wanted = self._wanted(X[:3, :3] @ self.point + X[:3, 3], J @ v, h)
        changes = np.concatenate([np.zeros((1, dynamics.nv)), v[None], h * a[:1], h * (a[4:] - a[0])])
        turns = h * dynamics.velocities(q, changes)[..., :3]
        now, free, *own = turns[1:] - turns[0]
        self.swift = bool((np.linalg.norm(now, axis=1) > _SWIFT).any())
        force = self._resistance(mobility, X[:3, :3], self.swift) @ (wanted - J @ (v + h * a[0])) / h
        self.force = self._allowed(force, free, np.tensordot(force, own, 1), h)
        result: np.ndarray = J.T @ self.force
        if self.swift:
            self.force = rotation_exp(0.5 * now[dynamics.bodies.index(self.body)]) @ self.force
        return result

    def _by_trial(self, tried: TriedStep, led: np.ndarray, moved: np.ndarray, h: float) -> np.ndarray:
        """Generalized forces (nv,) for the next step; led (3,): the target before it moved by this."""
        self.force, self.swift = np.zeros(3), False
        way = h * self._wanted(tried.place, tried.velocity, h)
        swift = bool((np.linalg.norm(tried.turning, axis=1) > _SWIFT).any())
        resistance = self._resistance(tried.mobility, tried.axes, swift)
        still, brake = np.zeros_like(tried.turning), -resistance @ (tried.mean - moved / h) / h
        given = self._held_by_spring(tried.place - led)
        if self._stored is not None:
            given = min(self._stored, given + _SPARE * tried.energy)
        for _ in range(_TRIES):
            if (gone := tried.way(self.force)) is None:
                break
            force = _within(tried, self.force + resistance @ (way - gone) / h**2, brake, moved, given)
            self.force = self._allowed(force, still, np.tensordot(force, tried.turns[3:], 1), h)
        self._stored = max(0.0, given - tried.work(self.force, moved))
        return tried.pushes(self.force)

    def _wanted(self, place: np.ndarray, now: np.ndarray, h: float) -> np.ndarray:
        """The velocity (3,) of a point at a place that has another one now, as the spring would have it."""
        w = 2.0 * math.pi * self.frequency
        most, away = self.max_speed * (2.0 * self.damping + w * h) / w, place - self.target
        away *= min(1.0, most / max(float(np.linalg.norm(away)), 1e-300))
        result: np.ndarray = (now - w * w * h * away) / (1.0 + 2.0 * self.damping * w * h + w * w * h * h)
        return result

    def _resistance(self, mobility: np.ndarray, R: np.ndarray, swift: bool) -> np.ndarray:
        """What forces (3, 3) changes of the point's velocity take, by how the body, which has axes R, gives way about
        it (6, 6); 0 where it does not at all."""
        values, axes = np.linalg.eigh(0.5 * (mobility[3:, 3:] + mobility[3:, 3:].T))
        near = np.einsum("ij,ik,kj->j", axes, self._near(R, mobility[:3, :3]), axes)
        least = np.maximum(values, np.maximum(_STIFFEST * values[-1], near))
        share = np.maximum(values, 0.0) if swift else least  # what gives no way then is not pulled at
        gains = np.divide(share, least**2, out=np.zeros(3), where=least > 0.0)
        result: np.ndarray = axes * gains @ axes.T
        return result

    def _allowed(self, force: np.ndarray, free: np.ndarray, pulled: np.ndarray, h: float) -> np.ndarray:
        """As much of a force (3,) as the hand has, and as a step can follow, see ``_followed``."""
        most = self._most(2.0 * math.pi * self.frequency, h) / max(float(np.linalg.norm(force)), 1e-300)
        result: np.ndarray = force * min(1.0, most, _followed(free, pulled))
        return result

    def _held_by_spring(self, away: np.ndarray) -> float:
        """Energy that the spring may hold, J, this (3,) away from its target, with the weight that it holds up."""
        w, far = 2.0 * math.pi * self.frequency, float(np.linalg.norm(away))
        return self._mass.total * (0.5 * w * w * far + self._gravity()) * far

    def _gravity(self) -> float:
        return float(np.linalg.norm(self._dynamics.model.gravity_at(self._dynamics.parameters.values_array)))

    def _most(self, w: float, h: float) -> float:
        """The greatest force, N."""
        if self.max_force is not None:
            return real(self.max_force)
        spring = self.max_speed * w * (2.0 * self.damping + w * h)
        return 2.0 * self._mass.total * (spring + self._gravity())

    def _near(self, R: np.ndarray, turning: np.ndarray) -> np.ndarray:
        """How points about this one give way (3, 3) beyond it, in the mean over what the body, which has axes R, has
        there; turning: how it gives way to torques (3, 3)."""
        result: np.ndarray = _NEAR * np.einsum(
            "ij,iab,bc,jdc->ad", R @ self._mass.extent @ R.T, _CROSSES, turning, _CROSSES
        )
        return result

    def acting(self, dynamics: Dynamics) -> AppliedForce:
        """The force as one that a person applies."""
        return dynamics.bodies.index(self.body), np.zeros(3), self.force, self.point

    def _pose(self, dynamics: Dynamics, q: np.ndarray) -> np.ndarray:
        """X_WB (4, 4) of the body."""
        X: np.ndarray = dynamics.poses(q)[dynamics.bodies.index(self.body)]
        return X


def _followed(free: np.ndarray, pulled: np.ndarray) -> float:
    """The share of a force that a step can follow: by it no body's velocity changes by more than a turn of FURTHEST a
    step; free, pulled (nb, 3), rad a step: how angular velocities change by themselves, and by it."""
    alone, own, both = np.linalg.norm([free, pulled, free + pulled], axis=2)
    share = np.maximum(_FURTHEST - alone, 0.25 * _FURTHEST) / np.maximum(own, 1e-300)
    return float(np.where(both > _FURTHEST, share, 1.0).min(initial=1.0))


def _within(tried: TriedStep, force: np.ndarray, brake: np.ndarray, moved: np.ndarray, given: float) -> np.ndarray:
    """The first on the way from a force (3,) to one that brakes the point that gives no more than this, J; moved (3,):
    by the target."""
    middle = 0.5 * (force + brake)
    c, half, end = (tried.work(each, moved) - given for each in (force, middle, brake))
    if c <= 0.0:
        return force
    a, b = 2.0 * (c - 2.0 * half + end), 4.0 * half - 3.0 * c - end  # a s^2 + b s + c, of a parabola above its end
    s = 2.0 * c / (math.sqrt(max(b * b - 4.0 * a * c, 0.0)) - b)
    return force + min(1.0, s) * (brake - force)


class _Mass(NamedTuple):
    """total: mass of all that hangs together with a body, kg; extent (3, 3), m^2, body axes: mean squares and products
    of how far the mass of its link, or of the first one with mass that hangs on it, lies from its centre."""

    total: float
    extent: np.ndarray


def _mass(dynamics: Dynamics, body: str) -> _Mass:
    model = dynamics.tree
    frame = model.bodies[model.body_index(body)]
    inputs = {("parameter", name): value for name, value in dynamics.parameters.items()}
    roots, extent, carried, total = impulse.roots(model), None, {frame.link}, 0.0
    for k, link in enumerate(model.links) if frame.link != WORLD else ():
        if roots[k] != roots[frame.link]:
            continue
        mass, *inertia = evaluate([link.mass, *link.inertia.flat], inputs)
        total += float(mass)
        if link.parent in carried:
            carried.add(k)
        if k in carried and mass > 0.0 and extent is None:
            I = np.array(inertia, dtype=float).reshape(3, 3)
            R = np.array(evaluate(list(frame.pose[:3, :3].flat), inputs), dtype=float).reshape(3, 3)
            extent = R.T @ (0.5 * np.trace(I) * np.eye(3) - I) @ R / float(mass)
    return _Mass(total, np.zeros((3, 3)) if extent is None else extent)


class Hands(list[Grab]):
    """All that hold something, each after the others: who comes later finds the point as they leave it."""

    def pull(
        self, dynamics: Dynamics, state: State, tau: np.ndarray, h: float,
        tried: Callable[[np.ndarray, np.ndarray, float, str, np.ndarray], TriedStep | None],
    ) -> np.ndarray:  # fmt: skip
        """Generalized forces (nv,) of those that are not swift; who holds nothing that is there lets go.

        tau (nv,): what acts besides; tried: the step as forces before and this tau, of which hands pull a part, have it
        at a body's point.
        """
        for grab in self:
            if grab.body not in dynamics.bodies:
                grab.release()
        self[:] = [grab for grab in self if grab.held]
        result, pulled = np.zeros((2, dynamics.nv))
        for grab in self:
            own = grab.pull(dynamics, state, tau, h, tried(tau, pulled, h, grab.body, grab.point))
            pulled = pulled + own
            tau = tau + own
            if not grab.swift:
                result += own
        return result
