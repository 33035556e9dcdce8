"""A step in maximal coordinates that is tried: what a force at a point of a body would do in it.

A step changes momenta by all forces at its start, those of joints among them, and then has bodies fly on freely, at the
energy that they have (``free_turn``), if joints do not ask for it to be cut (``parts_of_flight``). So the work of a
force on a point is that of its mean velocity before and after, with what others do counted by half as to them; of what
hands did before, by all of it, as these know nothing of the next one.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import applied, by_body, flat
from recursive_dyn.model.model import WORLD
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.parts_of_flight import in_parts
from recursive_dyn.simulation.stepping.step_forces import StepForces

Array = np.ndarray


class TriedStep:
    """Of length h from a state under tau (nv,), of which hands ``pulled`` (nv,), with a force at a point of a body.

    place, velocity (3,): of the point, this over the step before, as it flew; axes (3, 3): of the body; mobility
    (6, 6): how the body gives way about the point, 1/kg and so on; turning (nb, 3): of bodies, rad a step, turns
    (6, nb, 3): how a unit torque or force over the step changes that; mean (3,): the point's mean velocity, m/s, if
    there is no force; energy: of the body's own motion, J. All in world axes.
    """

    def __init__(
        self, dynamics: MaximalDynamics, forces: StepForces, flight: Flight, state: State, h: float, tau: Array,
        pulled: Array, body: str, point: Array,
    ) -> None:  # fmt: skip
        self._dynamics, self._forces, self._flight, self._state, self._h = dynamics, forces, flight, state, h
        self._body, self._point = dynamics.bodies.index(body), point
        if forces.timed:
            forces.begin(state, h)
        q, v = state.q, state.v
        X = dynamics.poses(q)[self._body]
        self.axes, self.place = X[:3, :3], X[:3, :3] @ point + X[:3, 3]
        self._twists = dynamics.jacobian(q, body, point)
        rest = dynamics.call("bias", q, np.zeros_like(v))  # what holds up against gravity, and force elements
        if dynamics.model.forces:
            rest = rest - dynamics.call("passive_forces", q, v)
        self._tau, self._base = tau, self._joined(tau)
        self._cut = forces.parts > 1
        self._answers = np.array([self._joined(tau + push) - self._base for push in self._twists])
        changes = np.array([self._changed(answer) for answer in self._answers])
        mobility = self._twists @ changes.T
        self.mobility = 0.5 * (mobility + mobility.T)
        self.turning, *turns = h * dynamics.velocities(q, np.concatenate([v[None], h * changes]))[..., :3]
        self.turns = np.array(turns)
        own = self._joined(tau - pulled) if pulled.any() else self._base
        others, before = self._changed(own - rest), self._changed(self._base - own)
        self.mean = self._twists[3:] @ (v + h * (0.5 * others + before))
        self.velocity = (self.place - self._reached(rest, -h)) / h  # back from where bodies flew freely
        if self._cut:
            self.mean = self._in_parts(tau)[1] / h
        self.energy = self._moving()

    def pushes(self, force: Array) -> Array:
        """Generalized forces (nv,) of a force (3,)."""
        result: Array = self._twists[3:].T @ force
        return result

    def work(self, force: Array, moved: Array) -> float:
        """What a force (3,) gives, J, beyond what it takes from who moves by this (3,) in the step."""
        mean = self.mean - moved / self._h
        return float(self._h * force @ (mean + 0.5 * self._h * self.mobility[3:, 3:] @ force))

    def way(self, force: Array) -> Array | None:
        """Of the point (3,) under a force (3,); None where the step does not end well."""
        total = self._base + self._answers[3:].T @ force
        try:
            if self._cut:
                return self._in_parts(self._tau + self.pushes(force))[0]
            return self._reached(total, self._h, self._forces.lands) - self.place
        except StateError:
            return None

    def _joined(self, tau: Array) -> Array:
        """tau (nv,) with what joints do beside."""
        with self._untouched():
            return self._forces.forces(self._state, tau, self._h)

    def _reached(self, total: Array, h: float, landing: bool = False) -> Array:
        """Where the point is (3,) after a flight of h under forces (nv,) on free bodies."""
        state, (q, v) = self._state, (self._state.q.copy(), self._state.v.copy())
        with self._untouched():
            self._flight.advance(q, v, total, h, 1, state.time, limits=False)
            if landing:
                q, v = self._forces.landed(q, v, state.time)
        return self._place(self._dynamics.poses(q)[self._body])

    def _in_parts(self, tau: Array) -> tuple[Array, Array]:
        """Way of the point (3,) in a step that is cut where joints ask for it, under forces tau (nv,) that turn with
        their bodies; and the same turned back with these: what such a force takes to work."""
        forces, state, path = self._forces, self._state, list[Array]()
        with self._untouched():
            forces.forces(state, tau, self._h)
            q, v = in_parts(self._flight, forces, state.q, state.v, tau, self._h, state.time, path)
            if forces.lands:
                q, v = forces.landed(q, v, state.time)
        poses = [self._dynamics.poses(x)[self._body] for x in (state.q, *path)]
        places, turned = [self._place(X) for X in poses], np.zeros(3)
        for k in range(len(path)):
            turned += self.axes @ poses[k][:3, :3].T @ (places[k + 1] - places[k])
        return self._place(self._dynamics.poses(q)[self._body]) - self.place, turned

    def _place(self, X: Array) -> Array:
        """Of the point (3,), of its body's pose."""
        result: Array = X[:3, :3] @ self._point + X[:3, 3]
        return result

    def _untouched(self) -> _Kept:
        """A context after which joints are looked for, and steps are counted, as before."""
        return _Kept(self._flight.tally, None if self._forces.joints is None else self._forces.joints.coordinates)

    def _changed(self, force: Array) -> Array:
        """M^-1 of forces (nv,) on free bodies."""
        inertias = self._dynamics.inertias
        return flat(np.linalg.solve(inertias, by_body(force, 6)[..., None])[..., 0], len(force))

    def _moving(self) -> float:
        """Kinetic energy of the link that has the body."""
        link = self._dynamics.model.bodies[self._body].link
        if link == WORLD:
            return 0.0
        twist = by_body(self._state.v, 6)
        return 0.5 * float(twist[link] @ applied(self._dynamics.inertias, twist)[link])


class _Kept:
    """A context that keeps arrays as they are."""

    def __init__(self, *arrays: Array | None) -> None:
        self._kept = [(array, array.copy()) for array in arrays if array is not None]

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        for array, before in self._kept:
            array[:] = before
