"""Velocities where a parameter moves constraints between two steps, as a winch's length does.

Bodies are moved along n, the way onto the constraints that is least in the metric of M, as by a motion that is over at
once: its own speed w n stops with it, but while it lasts what moves across it turns with the rows. Of rows that move,

    M u' + c(u, u) = C^T lambda,    u = v + w n,    for a time 1 / w,

this is left as w grows, to first order in n, half of it on:

    v' = P (v - M^-1 2 c(v, n)) + (dP/dq v) n,    P = 1 - M^-1 C^T (C M^-1 C^T)^-1 C

Momenta along all ways that rows leave are kept: a load that swings on a rope keeps r^2 theta-dot as it is reeled in,
not r theta-dot. What w n does by its own square, as a boom's tip that moves on an arc, is not of first order, nor here.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.model.independent import independent

_Array = np.ndarray
_APART = 1e-6  # m or rad between states of which the rows' turning is seen
_MOST = 0.25  # of the motion that is turned; more is not of first order
_LITTLE = 1e-3  # of it, that is not turned again
_TERMS = 6


def turned_along(dynamics: Dynamics, q: _Array, v: _Array, n: _Array) -> _Array:
    """v (nv,) at q (nq,), where constraints hold, after a parameter moved what they hold along n (nv,).

    v itself of what rows turn by so much on that way that this says nothing, and of what time or a prescription leads
    anything of, whose rows turn meanwhile; each of what moves independently is judged by itself.
    """
    model, result = dynamics.model, v.copy()
    for part in independent(model):
        own = list(part.slots)
        if n[own].any() and not model.prescribed.intersection(own):
            try:
                result[own] = _turned(dynamics, q, _of(own, v), _of(own, n), own)
            except StateError:  # where rows depend on each other
                continue
    return result


def _of(own: list[int], values: _Array) -> _Array:
    """These slots of values (nv,), zeros beside."""
    result = np.zeros_like(values)
    result[own] = values[own]
    return result


def _turned(dynamics: Dynamics, q: _Array, v: _Array, n: _Array, own: list[int]) -> _Array:
    """``turned_along`` of what has these slots, and moves in v and n alone."""
    middle, total, turned = dynamics.integrate(q, n, -0.5), v, v
    if not (energy := _energy(dynamics, q, v)) > 0.0:
        return v[own]
    for k in range(1, _TERMS):  # of the exponential, by which a way back undoes a way there
        turned = _of(own, _change(dynamics, middle, turned, n) * (1.0 / k))
        share = _energy(dynamics, q, turned) / energy
        if not share <= _MOST**2:
            return v[own]
        total = total + turned
        if share <= _LITTLE**2:
            break
    return _allowed(dynamics, q, total)[own]


def _energy(dynamics: Dynamics, q: _Array, v: _Array) -> float:
    """That of v beyond what is led."""
    return float(dynamics.kinetic_energy(q, v) - dynamics.kinetic_energy(q, np.zeros_like(v)))


def _change(dynamics: Dynamics, q: _Array, v: _Array, n: _Array) -> _Array:
    """What v (nv,) at q changes by as it is moved along n."""
    fastest, far = np.abs(v).max(), np.abs(n).max()
    way, w, still = v * (_APART / fastest), n * (fastest / far), np.zeros_like(v)
    ahead, behind = (_allowed(dynamics, dynamics.integrate(q, way, s), n) for s in (1.0, -1.0))
    twice = (dynamics.bias(q, v + w) - dynamics.bias(q, v - w)) * (0.5 * far / fastest)
    pushed = dynamics.forward_dynamics(q, still, -twice) - dynamics.forward_dynamics(q, still)
    return (ahead - behind) * (0.5 * fastest / _APART) + pushed


def _allowed(dynamics: Dynamics, q: _Array, v: _Array) -> _Array:
    """What rows at q allow of velocities v (nv,)."""
    return dynamics.call("project", q, v)[dynamics.nq : dynamics.nq + dynamics.nv]
