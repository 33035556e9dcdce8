"""Whether forces can explain how fast a step ends, so that what blows up is told before its numbers overflow."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

_MOST = 1e3  # times the energy that there was or forces gave: rounding and coarse steps are far below it
_NOWHERE, _LITTLE = 1e12, 1e-2  # m or rad a second, beyond which nothing moves by so small a share faster by itself
_State = tuple[np.ndarray, np.ndarray]


def absurd(
    dynamics: Dynamics, before: _State, after: _State, tau: np.ndarray, h: float, pushes: np.ndarray | None = None
) -> str | None:
    """The coordinate with most of the kinetic energy after a step of h, s, that made more of it than could be, or any
    where things move as nothing does; or None.

    before, after: (q, v); tau (nv,): the largest forces in the step; pushes (nb, PUSH): on bodies. What is prescribed
    gives energy that is not known here.
    """
    if dynamics.model.prescribed:
        return None
    try:
        (T0, U0), (T1, U1) = (_energies(dynamics, *state) for state in (before, after))
    except StateError:  # overflowed
        T0, U0, T1, U1 = 0.0, 0.0, np.inf, 0.0
    given = h * float(np.abs(tau) @ (np.abs(before[1]) + np.abs(after[1])))
    if pushes is not None and np.inf > T1:
        given += h * sum(_power(dynamics, state, pushes) for state in (before, after))
    runs_away = np.abs(after[1]).max() > _NOWHERE and (1.0 + _LITTLE) * T0 + abs(U0 - U1) + given < T1
    if not runs_away and _MOST * (T0 + abs(U0 - U1) + given) >= T1:
        return None
    return str(dynamics.label("v", liveliest(dynamics, before[0], after[1])))


def liveliest(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> int:
    """The slot of v with most of the kinetic energy."""
    with np.errstate(over="ignore"):
        return int(np.argmax(np.abs(v * (dynamics.mass_matrix(q) @ v))))


def _power(dynamics: Dynamics, state: _State, pushes: np.ndarray) -> float:
    """What pushes give at most, W, wherever their points are turned to."""
    with np.errstate(over="ignore", invalid="ignore"):
        spin, speed = np.moveaxis(np.linalg.norm(dynamics.velocities(*state).reshape(-1, 2, 3), axis=2), 1, 0)
        torque, force, moment = (np.linalg.norm(x, axis=1) for x in np.split(pushes, (3, 6), axis=1))
        return float((torque + np.sqrt(2.0) * moment) @ spin + force @ speed)


def _energies(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    return float(dynamics.kinetic_energy(q, v)), float(dynamics.potential_energy(q) + dynamics.elastic_energy(q))
