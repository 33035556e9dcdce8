"""What drives a simulation: a function that is asked for generalized forces before every timestep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.state import State, numbers

Control = Callable[[np.ndarray, np.ndarray, float], Any]  # (q, v, time) -> tau


def commanded(dynamics: Evaluator, control: Control, state: State, timestep: float) -> np.ndarray:
    """tau (nv,) for a state, of which ``control`` gets copies; StateError for anything but nv finite numbers.

    A control that has a method ``held_for`` is told first for how long, s, its forces will stay what they are.
    """
    if not callable(control):
        raise StateError(f"a simulation's control is a function of q, v and time that returns tau, not {control!r}")
    told = getattr(control, "held_for", None)
    if told is not None:
        told(timestep)
    tau = control(state.q.copy(), state.v.copy(), state.time)
    try:
        return numbers(dynamics, "tau", tau, state.v.size)
    except StateError as error:
        raise StateError(f"simulation at t = {state.time:.6g} s: what its control returned: {error}") from None
