"""One timestep with impulses: fly, look where surfaces would overlap, and find the impulses that forbid it.

The integrator takes the step as if nothing touched. Contacts are detected where that leads, so that nothing is met too
late; impulses then change the velocity there, and move positions by the time for which each would have acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.contact import solve
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.coordinate_rows import CoordinateRows
from recursive_dyn.contact.layout import body_links, layout
from recursive_dyn.contact.momentum import Momenta
from recursive_dyn.contact.settings import Solution
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.registry import INTEGRATORS

if TYPE_CHECKING:
    from recursive_dyn.simulation.simulation import Simulation

_REST = 0.05  # share of the speed that gravity gives in a step up to which surfaces rest on each other
_SLOWEST = 1e-4  # m/s: the same where there is no gravity
_SEPARATIONS = 200  # sweeps of the position projection
_STILL = 1e-12  # shift times velocity below which the way velocity is carried along makes no difference
_WHOLE = np.ones(1)
_NOWHERE = np.zeros((0, 3))
_NOBODY = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 3)), np.zeros((0, 3)), np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class _Memory:
    """Impulses of the last solve, to start the next from."""

    contacts: solve.Earlier
    coordinates: dict[str, float]


def _nothing() -> _Memory:
    return _Memory(solve.Earlier(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 2, 3))), {})


class ImpulseStep:
    """What steps one simulation's state with impulses; keeps the last ones to start from."""

    def __init__(self, simulation: Simulation) -> None:
        dynamics = simulation.dynamics
        model = dynamics.model
        # share: of the step by which positions follow a change of its end's velocity; implicit: of the step with which
        # damping and springs enter the mass matrix
        rule = INTEGRATORS[simulation.integrator]
        self.share, self.implicit = rule.share, rule.implicit
        self.layout = layout(model)
        self.groups = int(self.layout.group.max(initial=-1)) + 1
        self.links = np.append(body_links(model), -1)
        self.coordinates = CoordinateRows(model)
        self.momenta = Momenta(model)
        self.turning = np.array([(v0, f.nv) for _, f, _, v0 in model.owners], dtype=np.int64).reshape(-1, 2)
        self.gravity = float(np.linalg.norm(model.gravity))
        self.forget()

    def forget(self) -> None:
        """Start the next solve from nothing: the state was set anew."""
        self.memory = _nothing()
        self.momenta.forget()

    @property
    def coordinate_impulses(self) -> dict[str, float]:
        """What limits, motors, dry friction and constraints gave in the last step, by the names of their rows."""
        return self.memory.coordinates

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
        before = sim.frames() if sim.surroundings is not None else None
        sim.flight.advance(sim.q, sim.v, tau, h, 1, sim.time, limits=False)
        clock.append(perf_counter())
        if before is not None:
            contacts = sim.interaction.detected()
            clock.append(perf_counter())
            early = np.concatenate([before[1], contacts.free.before]) if len(contacts.free) else before[1]
        else:
            contacts, early = Contacts.none(), np.zeros((0, 6))
        solver = _Solve(self, sim, contacts, early, v0, h)
        solution = solver.run() if solver.needed else Solution()
        self.memory = solver.memory() if solver.needed else _nothing()
        if self.momenta:
            self.momenta.finish(dynamics, sim.q, sim.v, tau, h, *solver.pushes())
        if not (np.isfinite(sim.q).all() and np.isfinite(sim.v).all()):
            raise StateError(
                f"simulation at t = {sim.time:.6g} s: contacts led to a state that is not finite; use a smaller"
                " timestep. The last good state is kept"
            )
        if sim.surroundings is not None:
            sim.surroundings.advance(sim, contacts, h)
        clock.append(perf_counter())
        return _timed(solution, clock)


def _timed(solution: Solution, clock: Sequence[float]) -> Solution:
    names = ("flight", "detection", "solve") if len(clock) == 4 else ("flight", "solve")
    times = {name: b - a for name, a, b in zip(names, clock, clock[1:], strict=False)}
    return replace(solution, times=times)


class _Solve:
    """One solve: rows at the end of the flight, impulses, the state they lead to."""

    def __init__(
        self, step: ImpulseStep, sim: Simulation, contacts: Contacts, early: np.ndarray, v0: np.ndarray, h: float
    ) -> None:
        self.own, self.sim, self.contacts, self.h = step, sim, contacts, h
        self.early, self.v0 = early, v0
        self.names, self.rows = step.coordinates.active(sim, h, step.memory.coordinates)
        self.needed = len(contacts) > 0 or len(self.names) > len(sim.dynamics.model.constraints)

    def run(self) -> Solution:
        """Solve and write the state."""
        own, sim, contacts, h = self.own, self.sim, self.contacts, self.h
        settings, free = sim.contact, contacts.free
        factors = sim.dynamics.call("impulse_factors", sim.q, np.array([own.implicit * h]))
        self.touching = touching = self._touching()
        self.links = np.where(touching.movers >= len(own.layout.parent), STATIC, touching.movers)
        if own.momenta:
            self.arms = own.momenta.arms(sim.dynamics, sim.q, sim.v, self.links, touching.points)
        spins = np.linalg.cholesky(free.inverse_inertia) if len(free) else free.inverse_inertia
        rest = max(_SLOWEST, _REST * own.gravity * h)
        dv, dq, twists, places, height, count, sweeps, residual, deepest = solve.solved(
            own.layout, own.groups, factors, sim.v, self.v0, touching,
            solve.Free(free.position, free.twist, np.sqrt(free.inverse_mass), spins), self.rows, own.memory.contacts,
            solve.Numbers(
                h, own.share, rest, float(settings.restitution_threshold), float(settings.slop),
                float(settings.tolerance), int(settings.iterations), _SEPARATIONS,
            ),
        )  # fmt: skip
        sim.v[:] += dv
        if dq.any():
            if np.abs(dq).max() * np.abs(sim.v).max() > _STILL:
                sim.v[:] += self._carried(dq)
            sim.q[:] = sim.dynamics.call("integrate", sim.q, dq, _WHOLE)
        free.twist += twists
        free.shift += places
        return Solution(
            len(contacts), height, count, sweeps, residual, residual <= settings.tolerance, max(0.0, -deepest)
        )

    def _carried(self, dq: np.ndarray) -> np.ndarray:
        """What velocity changes by as it is carried along the shift dq: parallel transport in the metric of M.

        Accelerations at v + dq and v - dq differ by -4 M^-1 Gamma(v, dq), the symmetric part of the connection; the
        bracket is the rest, as the axes of bodies that turn freely are no coordinates. Such a body keeps its velocity
        in the world.
        """
        dynamics, q, v = self.sim.dynamics, self.sim.q, self.sim.v
        rest = np.zeros(len(v))
        ahead, behind = (dynamics.call("forward_dynamics", q, v + way, rest) for way in (dq, -dq))
        return 0.25 * (ahead - behind) - 0.5 * solve.bracket(self.own.turning, dq, v)

    def _touching(self) -> solve.Touching:
        own, c = self.own, self.contacts
        bodies = len(own.links) - 1
        owners = np.stack([c.a, c.b], axis=1)
        if len(c.free):
            outside = owners >= bodies
            links = own.links[np.where(outside, STATIC, owners)]
            movers = np.where(outside, len(own.layout.parent) + owners - bodies, links)
        else:
            movers = own.links[owners]
        origins = self.sim.frames()[0][:, :3, 3] if self.sim.surroundings is not None else _NOWHERE
        origins = np.concatenate([origins, c.free.position])
        return solve.Touching(
            movers, owners, np.stack([c.point_a, c.point_b], axis=1), c.distance, c.normal, c.friction, c.drift, c.key,
            origins, self.early, c.impulse, c.moment,
        )  # fmt: skip

    def memory(self) -> _Memory:
        """What the next solve starts from."""
        contacts = self.contacts
        earlier = solve.Earlier(contacts.key, contacts.point_b, np.stack([contacts.impulse, contacts.moment], axis=1))
        return _Memory(earlier, dict(zip(self.names, self.rows.impulses.tolist(), strict=True)))

    def pushes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Links (n, 2), arms (n, 2, 3), impulses (n, 3) and moments (n, 3) of the contacts, for ``Momenta.finish``."""
        if not self.needed:
            return _NOBODY
        return self.links, self.arms, self.touching.impulses, self.touching.moments
