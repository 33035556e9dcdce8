"""What drives a simulation: a function that is asked for generalized forces, at the stages of steps or before each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.model.clock import NUMBER
from recursive_dyn.simulation.state import State, numbers

Control = Callable[[np.ndarray, np.ndarray, float], Any]  # (q, v, time) -> tau


def held(control: Control) -> bool:
    """Whether a control is asked once a step, for forces that are held throughout: as it says by ``held``, or by having
    a method ``held_for``."""
    return bool(getattr(control, "held", hasattr(control, "held_for")))


def commanded(dynamics: Dynamics, control: Control, state: State, timestep: float) -> np.ndarray:
    """tau (nv,) for a state, of which ``control`` gets copies; StateError for anything but nv finite numbers.

    A held control that has a method ``held_for`` is told first for how long, s, its forces will stay what they are.
    """
    of = getattr(control, "dynamics", dynamics)
    if isinstance(of, Dynamics) and of is not dynamics:
        if of.model is not dynamics.model and _names(of) != _names(dynamics):
            raise StateError(
                f"the scene has other coordinates, constraints or prescribed motions than when this"
                f" {type(control).__name__} was made: make it anew, for simulation.dynamics"
            )
        _tell_motions(of, dynamics)
    if not callable(control):
        raise StateError(f"a simulation's control is a function of q, v and time that returns tau, not {control!r}")
    told = getattr(control, "held_for", None)
    if told is not None and held(control):
        told(timestep)
    return _asked(dynamics, control, state.q.copy(), state.v.copy(), state.time)


def _names(dynamics: Dynamics) -> tuple[tuple[str, ...], ...]:
    motions = tuple(motion.key for motion in dynamics.model.motions)
    return dynamics.coordinates, dynamics.velocity_coordinates, dynamics.constraints, motions


def _tell_motions(of: Dynamics, dynamics: Dynamics) -> None:
    """Have a control's dynamics know what Python functions prescribe in this step, as another one may do so now."""
    if not dynamics.model.motions:
        return
    for k, (name, _) in enumerate(dynamics.model.parameters):
        if NUMBER in name:
            of.parameters.values_array[k] = dynamics.parameters.values_array[k]


def _asked(dynamics: Dynamics, control: Control, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    tau = control(q, v, time)
    try:
        return numbers(dynamics, "tau", tau, v.size)
    except StateError as error:
        raise StateError(f"simulation at t = {time:.6g} s: what its control returned: {error}") from None


class StageControl:
    """A control as a flight asks it, at stages of a step that starts at the state, where it gave ``tau`` (nv,).

    beside (nv,), or a number: what else acts on coordinates.
    """

    def __init__(self, dynamics: Dynamics, control: Control, state: State, tau: np.ndarray) -> None:
        self._dynamics, self._control, self._state = dynamics, control, state
        self._start = state.time, state.q.copy(), state.v.copy(), tau
        self.beside: np.ndarray | float = 0.0

    def __call__(self, q: np.ndarray, v: np.ndarray, since: float) -> np.ndarray:
        """tau (nv,) at q, v, so long after the step's start, or that of a part of it; the start is not asked again."""
        time, q_start, v_start, tau = self._start
        now = self._state.time + since
        if now != time or not (np.array_equal(q, q_start) and np.array_equal(v, v_start)):
            tau = _asked(self._dynamics, self._control, q, v, now)
        return tau + self.beside
