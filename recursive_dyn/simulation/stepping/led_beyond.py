"""Whether a step failed as prescribed motions lead coordinates where constraints cannot be met."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import NotMetError, settled
from recursive_dyn.simulation.state import State

_FELT = 1e-9  # of the largest derivative of a row


def out_of_reach(dynamics: Dynamics, state: State, h: float) -> str | None:
    """Which motions do in a step of h from a state, which constraint, and what to do; None if that is not so."""
    model = dynamics.model
    if not model.motions or not model.constraints or model.clock is None:
        return None
    q = state.q.copy()
    q[model.clock[0]] = state.time + h
    then = np.split(dynamics.call("in_time", q, state.v), [len(q)])
    try:
        settled(dynamics, *then)
    except NotMetError as missed:
        names = " and ".join(f"'{name}'" for name in _felt_by(dynamics, then[0], missed.row))
        return (
            f"simulation at t = {state.time:.6g} s: the motion of {names} leads to where constraint"
            f" '{model.constraints[missed.row].name}' cannot be met (it is off by {missed.off:.3g} at the step's end);"
            " keep it within reach, or let it go before, simulation.prescribe(name, None). The last good state is kept"
        )
    return None


def _felt_by(dynamics: Dynamics, q: np.ndarray, row: int) -> list[str]:
    """Names of the prescribed coordinates that a row of constraints feels at q, of all if it feels none."""
    model, C = dynamics.model, np.abs(dynamics.constraint_jacobian(q)[row])
    slots = [motion.slot for motion in model.motions]
    felt = [s for s in slots if C[s] > _FELT * C.max()]
    return [model.coordinates[s].name for s in felt or slots]
