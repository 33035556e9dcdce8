"""Whether a step failed as prescribed motions lead coordinates where constraints cannot be met, or can hardly be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import NARROW, NotMetError, landing, missed_by, settled
from recursive_dyn.dynamics.taut import brought_near, led, met, stress
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.state import State

_FELT = 1e-9  # of the largest derivative of a row
_SWIFT = 6.0  # times the speeds of a step's start, and 1 more, to which no motion leads that has these for a while
_ASIDE, _TRIES = 0.03, 6  # rad or m from a singular position, at which no row says where to go; and how often
_NEARER = 0.1  # the same of what has less slack than is to be seen from there
_NEARLY = 10.0  # times the sine of an angle between rows that is next to none, where a step has failed
_Array = np.ndarray


def speed(v: _Array) -> float:
    """Of the coordinate that is fastest, or has moved most."""
    return float(np.abs(v).max(initial=0.0))


def too_swift(dynamics: Dynamics, before: StatePair | None, after: StatePair) -> bool:
    """Whether what a motion leads ends a step as nothing does that was at (q, v) before, as rows hardly say how it is
    to move there; None: nothing is led."""
    if before is None:
        return False
    v, way = before[1], after[0] - before[0]
    if after[1] @ after[1] + way @ way <= _SWIFT**2:  # told at once
        return False
    most = _SWIFT * (1.0 + speed(v))
    if speed(after[1]) <= most and speed(way) <= most:
        return False
    return not stress(dynamics, after[0])[1] >= _NEARLY * NARROW


def why_not_led(dynamics: Dynamics, state: State, h: float) -> str | None:
    """Which motions lead where constraints cannot be met in a step of h from a state, or can hardly be, which one,
    and what to do; None if that is not so."""
    model = dynamics.model
    if not model.motions or not model.constraints or model.clock is None:
        return None
    q = state.q.copy()
    q[model.clock[0]] = state.time + h
    q, v = np.split(dynamics.call("in_time", q, state.v), [len(q)])
    missed: NotMetError | None = None
    for beside in _near(dynamics, q):
        try:
            settled(dynamics, beside, v)
        except NotMetError as error:
            missed = missed or error
        except StateError:
            continue
        else:
            return _narrow(dynamics, state, q, v)
    if missed is None:
        return None
    return _told(
        dynamics, state, q, missed.row,
        f"cannot be met (it is off by {missed.off:.3g} at the step's end); keep it within reach",
    )  # fmt: skip


def landed_beside(dynamics: Dynamics, before: StatePair | None, q: _Array, v: _Array) -> StatePair | None:
    """The state q (nq,), v (nv,) that motions led to, brought onto the constraints as near as may be to where the step
    began, from some places around that; None if that leads nowhere, or nothing is led."""
    if before is None:
        return None
    ends = list[StatePair]()
    for beside in _places_led_to(dynamics, before[0], q, v):
        end: StatePair | None
        try:
            end, there = landing(dynamics, beside, v)
        except StateError:
            end, there = brought_near(dynamics, beside, v), True
        if end is not None and there and not too_swift(dynamics, before, end):
            ends.append(end)
    return min(ends, key=lambda end: speed(end[0] - q), default=None)


def _places_led_to(dynamics: Dynamics, before: _Array, q: _Array, v: _Array) -> Iterator[_Array]:
    """Configurations around ``before`` (nq,) with what is prescribed as at the time in q (nq,)."""
    at = dynamics.model.clock
    if at is not None:
        before = before.copy()
        before[at[0]] = q[at[0]]
        yield from _near(dynamics, np.split(dynamics.call("in_time", before, v), [len(q)])[0])


def _near(dynamics: Dynamics, q: _Array) -> Iterator[_Array]:
    """q (nq,), and some places around it that what is prescribed does not feel."""
    yield q
    ways = np.random.default_rng(0).uniform(-_ASIDE, _ASIDE, (_TRIES, dynamics.nv))
    ways[:, sorted(dynamics.model.prescribed)] = 0.0
    for way in (*ways, *(_NEARER * ways)):
        yield dynamics.integrate(q, way, 1.0)


def _narrow(dynamics: Dynamics, state: State, q: _Array, v: _Array) -> str | None:
    """What is told where rows come to depend on each other as motions lead them, from a state to q (nq,), v (nv,)."""
    for where in (met(dynamics, q), state.q):
        row, sine = stress(dynamics, where)
        if sine < _NEARLY * NARROW and (led(dynamics, state.q, state.v) or led(dynamics, q, v)):
            return _told(
                dynamics, state, q, row,
                "depends on others, as where a chain comes to its full length, and can hardly be met (it is off by"
                f" {missed_by(dynamics, q):.3g} at the step's end from where the step began); end the motion a little"
                " short of there",
            )  # fmt: skip
    return None


def _told(dynamics: Dynamics, state: State, q: _Array, row: int, what: str) -> str:
    names = " and ".join(f"'{name}'" for name in _felt_by(dynamics, q, row))
    return (
        f"simulation at t = {state.time:.6g} s: the motion of {names} leads to where constraint"
        f" '{dynamics.model.constraints[row].name}' {what}, or let it go before, simulation.prescribe(name, None). The"
        " last good state is kept"
    )


def _felt_by(dynamics: Dynamics, q: _Array, row: int) -> list[str]:
    """Names of the prescribed coordinates that a row of constraints feels at q, of all if it feels none."""
    model, C = dynamics.model, np.abs(dynamics.constraint_jacobian(q)[row])
    slots = [motion.slot for motion in model.motions]
    felt = [s for s in slots if C[s] > _FELT * C.max()]
    return [model.coordinates[s].name for s in felt or slots]
