"""Rows on coordinates: limits within reach, motors, dry friction, and the scene's constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.laws import law
from recursive_dyn.contact.sweep import Scalars
from recursive_dyn.model import Model

if TYPE_CHECKING:
    from recursive_dyn.simulation.simulation import Simulation


@dataclass(eq=False)
class ActiveRows:
    """The rows of one solve: names, directions C (m, nv), gaps (m,) and which rows are stops, targets, bounds."""

    names: list[str]
    C: np.ndarray
    gaps: np.ndarray
    stops: np.ndarray
    targets: np.ndarray
    low: np.ndarray
    high: np.ndarray
    offsets: np.ndarray  # of the rows' velocities: C v + offset

    def __len__(self) -> int:
        return len(self.names)

    def scalars(self, first: np.ndarray, index: np.ndarray, values: np.ndarray, v: np.ndarray) -> Scalars:
        """The rows for the sweep, at the velocity v (nv,) without impulses."""
        return Scalars(first, index, values, self.C @ v + self.offsets, self.targets, self.low, self.high)

    def aim(self, scalars: Scalars, levers: np.ndarray, v0: np.ndarray, h: float, share: float, rest: float) -> None:
        """Targets of the stops and lever times (m,) of all rows; v0 (nv,): velocity at the start of the step."""
        before = self.C @ v0 + self.offsets
        for i in range(len(self.names)):
            levers[i] = share * h
            if self.stops[i]:
                scalars.target[i], levers[i] = law(self.gaps[i], scalars.speed[i], before[i], 0.0, h, share, rest)

    def warm(self, memory: dict[str, float]) -> np.ndarray:
        """Impulses (m,) to start from."""
        return np.array([memory.get(name, 0.0) for name in self.names])

    def remembered(self, Q: np.ndarray) -> dict[str, float]:
        """Impulses by the names of their rows."""
        return dict(zip(self.names, Q.tolist(), strict=True))


class CoordinateRows:
    """All that a model's coordinates and constraints may ask of a solve."""

    def __init__(self, model: Model) -> None:
        self._model = model
        places = {slot: place for place, slot in model.plain_slots}
        limited = [s for s, c in enumerate(model.coordinates) if np.isfinite(c.limits).any() and s in places]
        self._slots = np.array(limited, dtype=int)
        self._places = np.array([places[s] for s in limited], dtype=int)
        self._limits = np.array([model.coordinates[s].limits for s in limited]).reshape(-1, 2)
        self._names = [c.name for c in model.coordinates]
        self._rubbing = [s for s, c in enumerate(model.coordinates) if c.friction > 0.0]

    def active(self, sim: Simulation, h: float) -> ActiveRows:
        """The rows of a step of length h at the simulation's state, which is the end of the step without impulses."""
        rows: list[tuple[str, int, float, float, float, float]] = []  # name, slot, sign, target, bounds
        gaps: list[float] = []
        if len(self._slots):
            q, v = sim.q[self._places], sim.v[self._slots]
            for side, sign in ((0, 1.0), (1, -1.0)):
                gap = sign * (q - self._limits[:, side])
                for k in np.flatnonzero(gap <= h * np.abs(v)):
                    slot = int(self._slots[k])
                    rows.append((f"limit {side} {self._names[slot]}", slot, sign, 0.0, 0.0, np.inf))
                    gaps.append(float(gap[k]))
        stops = len(rows)
        for slot in self._rubbing:
            bound = h * self._model.coordinates[slot].friction
            rows.append((f"friction {self._names[slot]}", slot, 1.0, 0.0, -bound, bound))
        for name, motor in sim.motors.items():
            target = motor.velocity
            if motor.position is not None:
                target += motor.gain * (motor.position - sim.q[sim.motors.place(name)]) / h
            bound = h * motor.max_force
            rows.append((f"motor {name}", sim.motors.slot(name), 1.0, target, -bound, bound))
        return self._stacked(sim, rows, gaps, stops)

    def _stacked(
        self, sim: Simulation, rows: list[tuple[str, int, float, float, float, float]], gaps: list[float], stops: int
    ) -> ActiveRows:
        constraints, nv = self._model.constraints, self._model.nv
        n, m = len(rows), len(constraints)
        C, offsets = np.zeros((n + m, nv)), np.zeros(n + m)
        for i, (_, slot, sign, *_) in enumerate(rows):
            C[i, slot] = sign
        if m:
            dynamics = sim.dynamics
            C[n:] = dynamics.call("constraint_jacobian", sim.q)
            offsets[n:] = dynamics.call("constraint_velocities", sim.q, sim.v) - C[n:] @ sim.v
        names = [row[0] for row in rows] + [f"constraint {c.name}" for c in constraints]
        numbers = np.array([row[3:] for row in rows] + [(0.0, -np.inf, np.inf)] * m).reshape(-1, 3)
        target, low, high = np.ascontiguousarray(numbers.T)
        return ActiveRows(
            names, C, np.array(gaps + [0.0] * (n + m - stops)), np.arange(n + m) < stops, target, low, high, offsets
        )
