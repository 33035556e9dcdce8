"""States that constant forces keep: found, or checked, before anything is linearised about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.control.drives import Drives
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.state import numbers

Array = np.ndarray
_STILL = 1e-6  # m/s^2 or rad/s^2, and share of what gravity alone would give: rounding of q, not a wrong state


def uncharted(dynamics: Dynamics) -> None:
    """ModelError for joints that change their charts: no error of coordinates goes on across a change."""
    for link in dynamics.model.charted:
        raise ModelError(
            f"the joint of '{link.name}' changes its charts, so that its coordinates have no linear model that lasts;"
            " use a joint of one chart, or the ball or free joint"
        )


def holding_forces(dynamics: Dynamics, drives: Drives, q: Array, v: Array) -> Array:
    """The least tau (nv,) of the driven coordinates that comes nearest to no acceleration at (q, v).

    Damping and springs of the joints act, and so do the scene's constraints; what is led accelerates as it does.
    """
    needed = dynamics.inverse_dynamics(q, v, drives.led.accelerations(q, v)) - dynamics.passive_forces(q, v)
    tau = np.where(drives.mask, needed, 0.0)
    if dynamics.model.constraints:
        drive, free = np.eye(dynamics.nv)[:, drives.slots], drives.led.free
        both = np.hstack([drive, dynamics.constraint_jacobian(q).T])
        tau = drive @ np.linalg.lstsq(both[free], needed[free], rcond=1e-10)[0][: len(drives.slots)]
    return tau


def equilibrium_forces(dynamics: Dynamics, drives: Drives, q: Array, v: Array, tau: Any = None) -> Array:
    """tau (nv,), as given or found, that keeps v (nv,) at q (nq,).

    StateError names the coordinate that accelerates, is given a force but not driven, or needs more than its limit, and
    the constraint that does not hold.
    """
    names, free_slots = dynamics.velocity_coordinates, drives.led.free
    _on_constraints(dynamics, q, v, free_slots)
    found = holding_forces(dynamics, drives, q, v) if tau is None else numbers(dynamics, "tau", tau, dynamics.nv)
    idle = np.flatnonzero((found != 0.0) & ~drives.mask)
    if len(idle):
        raise StateError(f"tau is {found[idle[0]]:.3g} at '{names[idle[0]]}', which is not driven; see 'actuated'")
    passive = dynamics.passive_forces(q, v)
    a, free = dynamics.forward_dynamics(q, v, passive + np.array([found, np.zeros(dynamics.nv)]))
    worst = int(free_slots[np.argmax(np.abs(a[free_slots]))])
    if np.abs(a[worst]) > _STILL * (1.0 + np.abs(free).max()):
        why = "tau does not hold it there" if tau is not None else "the driven coordinates cannot hold it there"
        raise StateError(
            f"(q, v) is no equilibrium: '{names[worst]}' accelerates at {a[worst]:.3g}, and {why}; choose a q that"
            " balances, or drive more coordinates"
        )
    if drives.given(found)[1]:
        raise StateError(f"the equilibrium needs more of '{drives.given(found)[1][0]}' than 'limits' allow")
    return found


def _on_constraints(dynamics: Dynamics, q: Array, v: Array, free: Array) -> None:
    if not dynamics.model.constraints:
        return
    if v[free].any():
        raise StateError("with constraints an equilibrium is at rest: v must be zero")
    missed = np.abs(np.array(dynamics.constraint_errors(q, v))).max(axis=0)
    worst = int(np.argmax(missed))
    if missed[worst] > _STILL:
        raise StateError(
            f"constraint '{dynamics.constraints[worst]}' is off by {missed[worst]:.3g} at q; take dynamics.project(q)"
        )
