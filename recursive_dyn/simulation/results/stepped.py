"""What a simulation and a motion on a manifold have in common: a state, its time, and timesteps by the clock."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.state import State, checked_time, checked_timestep, numbers, real, warn_of_hertz, whole

Equations = TypeVar("Equations", bound=Evaluator)


_MEANT = {
    "dt": "timestep", "h": "timestep", "t": "time", "Q": "q", "V": "v", "qd": "v", "dq": "v", "qdot": "v",
    "velocity": "v", "position": "q", "torque": "tau", "forces": "tau", "params": "parameters", "controller": "control",
}  # fmt: skip


def _annotated(kind: type) -> dict[str, Any]:
    return vars(kind).get("__annotations__", {})


class Stepped(ABC, Generic[Equations]):
    """A state of compiled equations that moves on in timesteps; whatever is assigned to it is checked: StateError."""

    def __init__(self, dynamics: Equations, state: State, timestep: float) -> None:
        self._dynamics, self._state = dynamics, state
        self._timestep = checked_timestep(timestep)
        warn_of_hertz(self._timestep, 3)  # of who calls the class
        self._remainder = 0.0

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name.startswith("_") or any(name in vars(c) or name in _annotated(c) for c in type(self).__mro__)):
            raise StateError(self._unknown(name))
        object.__setattr__(self, name, value)

    def _unknown(self, name: str) -> str:
        """What is said of an attribute that nothing would read: a name that is near, or where names come from."""
        kind = type(self).__name__
        given = f"a {kind} has no '{name}'"
        if name in _MEANT and hasattr(type(self), _MEANT[name]):
            return f"{given}; it is called '{_MEANT[name]}'"
        names = [known for c in type(self).__mro__ for known in (*vars(c), *_annotated(c)) if not known.startswith("_")]
        near = difflib.get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
        return f"{given}; did you mean '{near[0]}'?" if near else f"{given}; a subclass declares attributes of its own"

    @property
    def dynamics(self) -> Equations:
        """The compiled dynamics with this motion's own values of the parameters, charts in force included."""
        return self._dynamics

    @property
    def timestep(self) -> float:
        """Length of a step, s."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = checked_timestep(value)
        warn_of_hertz(self._timestep, 3)  # past __setattr__

    @property
    def time(self) -> float:
        """Time of the present state, s."""
        return self._state.time

    @time.setter
    def time(self, value: float) -> None:
        self._state.time = checked_time(value)

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,), as ``dynamics`` reads it, with the charts in force."""
        return self._state.q

    @q.setter
    def q(self, value: Any) -> None:
        self._write("q", value, self._state.q)

    @property
    def v(self) -> np.ndarray:
        """Velocity (nv,)."""
        return self._state.v

    @v.setter
    def v(self, value: Any) -> None:
        self._write("v", value, self._state.v)

    def _write(self, name: str, value: Any, target: np.ndarray) -> None:
        """Write what was given into an array of numbers of all coordinates; time, the last one, need not be given."""
        count = len(target)
        several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
        if several and self._state.at is not None and len(value) == count - 1:
            count -= 1
        target[:count] = numbers(self._dynamics, name, value, count)

    @abstractmethod
    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps."""

    def advance(self, frame_time: float) -> int:
        """Advance by the whole timesteps in ``frame_time`` (s) and what earlier frames left; returns their number."""
        duration = real(frame_time)
        if not 0.0 <= duration < np.inf:
            raise StateError(f"frame time must be a finite number of seconds that is not negative, not {frame_time!r}")
        available = self._remainder + duration
        count = whole(int(available / self._timestep + 1e-9))
        self._remainder = max(0.0, available - count * self._timestep)
        self.step(count)
        return count
