"""Whether forces can explain how fast steps end, so that what blows up is told before its numbers overflow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

_MOST = 1e3  # times the energy that there was or forces gave: rounding and coarse steps are far below it
_NOWHERE, _LITTLE = 1e12, 1e-2  # m or rad a second, beyond which nothing moves by so small a share faster by itself
SLOW = 1e3  # m or rad a second: what moves by less may be far away, but not absurd
_State = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class _Run:
    """Steps one after the other: where they have come to, kinetic and stored energy, J, there and where they began,
    what forces gave meanwhile, and by how much what is stored had fallen at most."""

    q: np.ndarray
    v: np.ndarray
    parameters: bytes
    energies: tuple[float, float]
    start: tuple[float, float]
    given: float = 0.0
    fallen: float = 0.0


class Weighing:
    """Of steps that end far away, or fast, whether energy comes of nothing: in one of them, or little by little."""

    def __init__(self) -> None:
        self._run: _Run | None = None

    def absurd(
        self, dynamics: Dynamics, before: _State, after: _State, tau: np.ndarray, h: float,
        pushes: np.ndarray | None = None, more: float = 0.0,
    ) -> str | None:  # fmt: skip
        """The coordinate with most of the kinetic energy after a step of h, s, if this or those before it, since they
        are weighed, made more of it than could be, or where things move as nothing does; or None, and it counts.

        before, after: (q, v); tau (nv,): the largest forces in the step; pushes (nb, PUSH): on bodies; more: what
        else gave energy, J. What is prescribed gives energy that is not known here, and what time moves.
        """
        if dynamics.model.prescribed or np.abs(after[1]).max() <= SLOW:
            self._run = None
            return None
        run = self._going_on(dynamics, before)
        try:
            T1, U1 = energies(dynamics, *after)
        except StateError:  # overflowed
            T1, U1 = np.inf, 0.0
        given = more + _given(dynamics, before, after, tau, h, pushes) if np.isfinite(T1) else 0.0
        (T0, U0), (T, U) = run.energies, run.start
        runs_away = np.abs(after[1]).max() > _NOWHERE and (1.0 + _LITTLE) * T0 + abs(U0 - U1) + given < T1
        # what is stored, too, may come from what time moves
        stored = U1 - U if dynamics.model.clock is None else -abs(U1 - U)
        known, fallen = T + run.given + given + max(-stored, 0.0), max(run.fallen, -stored)
        made = T1 + max(stored, 0.0)  # more than what falls and rises for long may drift by, too
        if runs_away or (made > _MOST * known and made > abs(U) + 2.0 * fallen):
            return str(dynamics.label("v", liveliest(dynamics, before[0], after[1])))
        q, v = (x.copy() for x in after)
        self._run = _Run(q, v, run.parameters, (T1, U1), run.start, run.given + given, fallen)
        return None

    def _going_on(self, dynamics: Dynamics, at: _State) -> _Run:
        """The steps that came to a state, or none."""
        run, parameters = self._run, dynamics.parameters.values_array.tobytes()
        same = run is not None and run.parameters == parameters and dynamics.model.clock is None
        if run is not None and same and np.array_equal(run.q, at[0]) and np.array_equal(run.v, at[1]):
            return run
        try:
            there = energies(dynamics, *at)
        except StateError:
            there = 0.0, 0.0
        return _Run(*at, parameters, there, there)


def liveliest(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> int:
    """The slot of v with most of the kinetic energy."""
    with np.errstate(over="ignore"):
        return int(np.argmax(np.abs(v * (dynamics.mass_matrix(q) @ v))))


def _given(
    dynamics: Dynamics, before: _State, after: _State, tau: np.ndarray, h: float, pushes: np.ndarray | None
) -> float:
    """What forces give at most in a step, J, but those whose energy is stored."""
    given = float(np.abs(tau) @ (np.abs(before[1]) + np.abs(after[1])))
    if pushes is not None:
        given += sum(_power(dynamics, state, pushes) for state in (before, after))
    if any(element.terms for element in dynamics.model.forces):
        given += sum(_of_elements(dynamics, state) for state in (before, after))
    return h * given


def _of_elements(dynamics: Dynamics, state: _State) -> float:
    try:
        return max(float(dynamics.element_power(*state)), 0.0)
    except StateError:
        return 0.0


def _power(dynamics: Dynamics, state: _State, pushes: np.ndarray) -> float:
    """What pushes give at most, W, wherever their points are turned to."""
    with np.errstate(over="ignore", invalid="ignore"):
        spin, speed = np.moveaxis(np.linalg.norm(dynamics.velocities(*state).reshape(-1, 2, 3), axis=2), 1, 0)
        torque, force, moment = (np.linalg.norm(x, axis=1) for x in np.split(pushes, (3, 6), axis=1))
        return float((torque + np.sqrt(2.0) * moment) @ spin + force @ speed)


def energies(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Kinetic energy, and that of gravity and of what is elastic, J."""
    return float(dynamics.kinetic_energy(q, v)), float(dynamics.potential_energy(q) + dynamics.elastic_energy(q))
