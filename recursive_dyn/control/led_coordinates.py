"""Coordinates that time or a prescription leads: no controller moves them, and their accelerations are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.integrators.integrator import given_accelerations, in_time
from recursive_dyn.model.clock import NUMBER
from recursive_dyn.simulation.stepping.sampled_motion import COUNT

Array = np.ndarray
_CONSTANT = 1e-12  # m or rad, and share of where it stays: what a polynomial that stays has by rounding
_WITHIN = 1e-6  # share of a step by which rounding may have a time beyond it


class LedCoordinates:
    """``mask`` (nv,) and ``slots`` (k,) of those of a model that are led, ``free`` (n,) slots of all others."""

    def __init__(self, dynamics: Dynamics) -> None:
        model = dynamics.model
        self._dynamics = dynamics
        self.mask = np.zeros(dynamics.nv, dtype=bool)
        self.mask[sorted(model.prescribed)] = True
        self.slots, self.free = np.flatnonzero(self.mask), np.flatnonzero(~self.mask)
        self.names = tuple(dynamics.velocity_coordinates[slot] for slot in self.slots)
        at = {slot: place for place, slot in model.plain_slots}
        self._places = np.array([at[slot] for slot in self.slots.tolist()], dtype=int)

    def __bool__(self) -> bool:
        return bool(len(self.slots))

    def refuse(self, mask: Array, what: str) -> None:
        """ModelError for any of them among coordinates (nv,), naming it and what asks for it."""
        for slot in np.flatnonzero(mask & self.mask):
            name = self._dynamics.velocity_coordinates[slot]
            clock = self._dynamics.model.clock
            why = "time goes on by itself" if clock and slot == clock[1] else "it is prescribed"
            raise ModelError(
                f"{what} asks for '{name}', which moves as it does whatever acts on it: {why}; leave it out"
            )

    def overlooked(self, value: Any, of_q: bool) -> Any:
        """Rows (..., nq) or (..., nv) with 0 where led ones are no numbers, as nobody reads them; else what it is."""
        if not self or not isinstance(value, np.ndarray | list | tuple):
            return value
        size, at = (self._dynamics.nq, self._places) if of_q else (self._dynamics.nv, self.slots)
        given = real_array(value)
        if given is None or given.shape[-1:] != (size,):
            return value
        given = given.copy()
        given[..., at] = np.nan_to_num(given[..., at], nan=0.0, posinf=0.0, neginf=0.0)
        return given

    def completed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """A state with what is led as it is at the time in q."""
        return in_time(self._dynamics, q, v)

    def at(self, time: Any, q: Array, v: Array) -> tuple[Array, Array]:
        """States (..., nq), (..., nv) with what is led as it is at times (...)."""
        if not self:
            return q, v
        assert self._dynamics.model.clock is not None
        q = q.copy()
        q[..., self._dynamics.model.clock[0]] = time
        both = self._dynamics.call("in_time", q, v)
        return both[..., : q.shape[-1]], both[..., q.shape[-1] :]

    def time(self, q: Array) -> float:
        """The time in q, s; 0 where it is no coordinate."""
        clock = self._dynamics.model.clock
        return 0.0 if clock is None else float(q[clock[0]])

    def accelerations(self, q: Array, v: Array) -> Array:
        """Theirs at the time in q, (nv,), 0 of all others."""
        a = np.zeros(self._dynamics.nv)
        if self._dynamics.model.motions:  # time alone has none
            slots, given = given_accelerations(self._dynamics, q, v)
            a[slots] = given
        return a


def lasting(dynamics: Dynamics, who: str) -> Dynamics:
    """The dynamics with what is led as it will be at any time, for ``who`` looks ahead of the present step.

    What a Python function says is known within a step. StateError where it moves, naming it.
    """
    sampled = _sampled(dynamics)
    if not sampled:
        return dynamics
    result = dynamics.view()
    for name, k in sampled.items():
        numbers = result.parameters.values_array[k : k + COUNT]
        if not _stays(numbers):
            raise _unknown(who, "looks ahead", name)
        numbers[3:] = 0.0
    return result


def known_at(dynamics: Dynamics, time: float, who: str) -> None:
    """StateError where a Python function leads a coordinate and ``who`` asks where that is at a time, s, which is
    beyond the step of which it is known, naming it."""
    for name, k in _sampled(dynamics).items():
        middle, rate, *_ = numbers = dynamics.parameters.values_array[k : k + COUNT]
        if abs((time - middle) * rate) > 1.0 + _WITHIN and not _stays(numbers):
            raise _unknown(who, f"is asked for {time:.6g} s", name)


def _sampled(dynamics: Dynamics) -> dict[str, int]:
    """Coordinates that Python functions lead, and where their numbers are among the parameters."""
    names, first = dynamics.model.parameters, f"{NUMBER}0"
    return {name.removesuffix(first): k for k, (name, _) in enumerate(names) if name.endswith(first)}


def _stays(numbers: Array) -> bool:
    """Whether what is led by these (COUNT,) numbers does not move."""
    return bool(np.abs(numbers[3:]).max() <= _CONSTANT * (1.0 + abs(numbers[2])))


def _unknown(who: str, does: str, name: str) -> StateError:
    return StateError(
        f"{who} {does}, but '{name}' is led by a Python function, of which no more is known than the present step;"
        " prescribe an expression of scene.time"
    )
