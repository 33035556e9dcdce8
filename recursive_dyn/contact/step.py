"""One timestep with impulses: fly, look where surfaces would overlap, and find the impulses that forbid it.

The integrator takes the step as if nothing touched. Contacts are detected where that leads, so that nothing is met too
late; impulses then change the velocity there, and move positions by the time for which each would have acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.contact import islands, laws, rows, sweep
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.coordinate_rows import CoordinateRows
from recursive_dyn.contact.layout import body_links, layout
from recursive_dyn.contact.momentum import Momenta
from recursive_dyn.contact.settings import Solution
from recursive_dyn.errors import StateError

if TYPE_CHECKING:
    from recursive_dyn.simulation.simulation import Simulation

_REST = 0.05  # share of the speed that gravity gives in a step up to which surfaces rest on each other
_SLOWEST = 1e-4  # m/s: the same where there is no gravity
_SEPARATIONS = 30  # sweeps of the position projection
SHARES = {"semi_implicit_euler": (1.0, 1.0), "rk4": (0.5, 0.0), "implicit_midpoint": (0.5, 0.5)}


@dataclass(frozen=True, eq=False)
class _Memory:
    """Impulses of the last solve, to start the next from."""

    keys: np.ndarray
    points: np.ndarray
    impulses: np.ndarray  # (n, 2, 3) impulse and moment on A, world axes
    coordinates: dict[str, float]


class ImpulseStep:
    """What steps one simulation's state with impulses; keeps the last ones to start from."""

    def __init__(self, simulation: Simulation) -> None:
        dynamics = simulation.dynamics
        model = dynamics.model
        # share: of the step by which positions follow a change of its end's velocity; implicit: of the step with which
        # damping and springs enter the mass matrix
        self.share, self.implicit = SHARES[simulation.integrator]
        self.layout = layout(model)
        self.groups = int(self.layout.group.max(initial=-1)) + 1
        self.links = np.append(body_links(model), -1)
        self.coordinates = CoordinateRows(model)
        self.momenta = Momenta(model)
        self.gravity = float(np.linalg.norm(model.gravity))
        self.forget()

    def forget(self) -> None:
        """Start the next solve from nothing: the state was set anew."""
        nothing = np.zeros(0, dtype=np.int64)
        self.memory = _Memory(nothing, np.zeros((0, 3)), np.zeros((0, 2, 3)), {})
        self.momenta.forget()

    def remembered(self) -> Any:
        """What the next step starts from besides the state."""
        return self.memory, self.momenta.carried()

    def recall(self, memory: Any) -> None:
        """Start the next step from what ``remembered`` gave."""
        self.memory = memory[0]
        self.momenta.carry(memory[1])

    def step(self, sim: Simulation, tau: np.ndarray, h: float) -> Solution:
        """Advance sim.q and sim.v by h. On an error the state is as it was."""
        start = sim.q.copy(), sim.v.copy()
        try:
            return self._step(sim, tau, h)
        except Exception:
            sim.q[:], sim.v[:] = start
            raise

    def _step(self, sim: Simulation, tau: np.ndarray, h: float) -> Solution:
        clock = [perf_counter()]
        dynamics = sim.dynamics
        v0 = sim.v.copy()
        if self.momenta:
            self.momenta.begin(dynamics, sim.q, v0)
        before = sim.frames() if sim.detect is not None else None
        sim.interaction.flight.advance(sim.q, sim.v, tau, h, 1, sim.time)
        clock.append(perf_counter())
        if sim.detect is not None and before is not None:
            contacts = sim.interaction.detected()
            clock.append(perf_counter())
            early = np.concatenate([before[1], contacts.free.before]) if len(contacts.free) else before[1]
        else:
            contacts, early = Contacts.none(), np.zeros((0, 6))
        solver = _Solve(self, sim, contacts, early, v0, h)
        solution = solver.run(self.memory) if solver.needed else Solution()
        if solver.needed:
            self.memory = solver.memory()
        if self.momenta:
            self.momenta.finish(dynamics, sim.q, sim.v, tau, h, *solver.pushes())
        if not (np.isfinite(sim.q).all() and np.isfinite(sim.v).all()):
            raise StateError(
                f"simulation at t = {sim.time:.6g} s: contacts led to a state that is not finite; use a smaller"
                " timestep. The last good state is kept"
            )
        if contacts.accept is not None:
            contacts.accept(h)
        clock.append(perf_counter())
        return _timed(solution, clock)


def _timed(solution: Solution, clock: Sequence[float]) -> Solution:
    names = ("flight", "detection", "solve") if len(clock) == 4 else ("flight", "solve")
    times = {name: b - a for name, a, b in zip(names, clock, clock[1:], strict=False)}
    return Solution(**{**solution.__dict__, "times": times})


class _Solve:
    """One solve: rows at the end of the flight, impulses, the state they lead to."""

    def __init__(
        self, step: ImpulseStep, sim: Simulation, contacts: Contacts, early: np.ndarray, v0: np.ndarray, h: float
    ) -> None:
        self.own, self.sim, self.contacts, self.h = step, sim, contacts, h
        self.early, self.v0 = early, v0
        limits = step.coordinates.active(sim, h)
        self.limits = limits
        self.needed = len(contacts) > 0 or len(limits) > len(sim.dynamics.model.constraints)

    def run(self, memory: _Memory) -> Solution:
        """Solve and write the state."""
        own, sim, contacts, h = self.own, self.sim, self.contacts, self.h
        settings, layout = sim.contact, own.layout
        dynamics = sim.dynamics
        factors = dynamics.call("impulse_factors", sim.q, np.array([own.implicit * h]))
        root, V = np.zeros(layout.nv), np.zeros((len(layout.parent), 6))
        rows.prepare(layout, factors, sim.v, root, V)
        blocks, scalars = self._rows(factors, root, V)
        n, m = len(contacts), len(scalars.speed)
        gaps = np.concatenate([contacts.distance, self.limits.gaps])
        targets, levers = np.zeros(n), np.zeros(n + m)
        rest = max(_SLOWEST, _REST * own.gravity * h)
        laws.contact_laws(
            contacts.distance, blocks, contacts.friction, h, own.share, rest, settings.restitution_threshold,
            settings.slop, targets, levers[:n],
        )  # fmt: skip
        self.limits.aim(scalars, levers[n:], self.v0, h, own.share, rest)
        G, weights = np.zeros((n, 6, 6)), np.zeros(m)
        sweep.mobilities(blocks, scalars, G, weights)
        self.P, Q = np.zeros((n, 6)), self.limits.warm(memory.coordinates)
        laws.warm(contacts.key, contacts.point_b, blocks.axes, memory.keys, memory.points, memory.impulses, self.P)
        places = islands.partition(layout, own.groups, len(contacts.free), blocks, scalars)
        size = layout.nv + 6 * len(contacts.free)
        y, z = np.zeros(size), np.zeros(size)
        count, sweeps, residual = islands.solve(
            blocks, scalars, G, weights, targets, contacts.friction, places, self.P, Q, y, settings.iterations,
            settings.tolerance,
        )  # fmt: skip
        laws.shifted(blocks, scalars, self.P, Q, levers, z)
        deepest = islands.separate(blocks, scalars, G, weights, gaps, self.limits.stops, z, settings.slop, _SEPARATIONS)
        contacts.distance[:] = gaps[:n]
        laws.world_impulses(blocks, self.P, contacts.impulse, contacts.moment)
        self.Q = Q
        self._write(factors, root, y, z)
        rows_used = int(sum(3 + (k & 1) + (k & 2) for k in blocks.kind)) + m
        return Solution(
            n, rows_used, count, sweeps, residual, residual <= settings.tolerance, max(0.0, -float(deepest))
        )

    def _rows(self, factors: np.ndarray, root: np.ndarray, V: np.ndarray) -> tuple[rows.Rows, sweep.Scalars]:
        own, contacts = self.own, self.contacts
        bodies, free = len(own.links) - 1, contacts.free
        pair = np.stack([contacts.a, contacts.b], axis=1)
        outside = pair >= bodies
        movers = np.where(outside, len(own.layout.parent) + pair - bodies, own.links[np.where(outside, STATIC, pair)])
        points = np.stack([contacts.point_a, contacts.point_b], axis=1)
        origins = self.sim.frames()[0][:, :3, 3] if self.sim.detect is not None else np.zeros((0, 3))
        if len(free):
            origins = np.concatenate([origins, free.position])
            spins = np.linalg.cholesky(free.inverse_inertia)
        else:
            spins = free.inverse_inertia
        self.spins, self.masses = spins, np.sqrt(free.inverse_mass)
        drift = np.zeros((0, 3)) if contacts.drift is None else contacts.drift
        earlier = laws.relative(pair, points, np.ascontiguousarray(origins), self.early, drift)
        blocks = rows.contact_rows(
            own.layout, factors, root, movers, points, contacts.normal, contacts.friction, drift, V, earlier,
            free.position, free.twist, self.masses, spins,
        )  # fmt: skip
        C = rows.generalized_rows(own.layout, factors, root, self.limits.C)
        return blocks, self.limits.scalars(*laws.compressed(C), self.sim.v)

    def _write(self, factors: np.ndarray, root: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        own, sim, free = self.own, self.sim, self.contacts.free
        nv = own.layout.nv
        sim.v[:] += rows.unwhitened(own.layout, factors, root, y)
        if z[:nv].any():
            shift = rows.unwhitened(own.layout, factors, root, z)
            sim.q[:] = sim.dynamics.call("integrate", sim.q, shift, np.ones(1))
        if len(free):
            for source, target in ((y, free.twist), (z, free.shift)):
                own_part = source[nv:].reshape(-1, 6)
                target[:, :3] += np.einsum("mij,mj->mi", self.spins, own_part[:, :3])
                target[:, 3:] += own_part[:, 3:] * self.masses[:, None]

    def memory(self) -> _Memory:
        """What the next solve starts from."""
        contacts = self.contacts
        impulses = np.stack([contacts.impulse, contacts.moment], axis=1)
        return _Memory(contacts.key, contacts.point_b, impulses, self.limits.remembered(self.Q))

    def pushes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Links (n, 2), points (n, 2, 3), impulses (n, 3) and moments (n, 3) of the contacts."""
        c, bodies = self.contacts, len(self.own.links) - 1
        pair = np.stack([c.a, c.b], axis=1)
        links = self.own.links[np.where(pair >= bodies, STATIC, pair)]
        return links, np.stack([c.point_a, c.point_b], axis=1), c.impulse, c.moment
