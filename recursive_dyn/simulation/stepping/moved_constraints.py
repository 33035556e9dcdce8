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

_Array = np.ndarray
_APART = 1e-6  # m or rad between states of which the rows' turning is seen
_MOST = 0.25  # of the motion that is turned; more is not of first order
_LITTLE = 1e-3  # of it, that is not turned again
_TERMS = 6


def turned_along(dynamics: Dynamics, q: _Array, v: _Array, n: _Array, energy: float) -> _Array:
    """v (nv,) at q (nq,), where constraints hold, after a parameter moved what they hold along n (nv,); energy: of v,
    J. v itself where rows turn by so much on that way that this says nothing."""
    try:
        return _turned(dynamics, q, v, n, energy) if n.any() and energy > 0.0 else v
    except StateError:  # where rows depend on each other
        return v


def _turned(dynamics: Dynamics, q: _Array, v: _Array, n: _Array, energy: float) -> _Array:
    """``turned_along``, as it fails."""
    middle, total, turned = dynamics.integrate(q, n, -0.5), v, v
    for k in range(1, _TERMS):  # of the exponential, by which a way back undoes a way there
        turned = _change(dynamics, middle, turned, n) * (1.0 / k)
        share = dynamics.kinetic_energy(q, turned) / energy
        if not share <= _MOST**2:
            return v
        total = total + turned
        if share <= _LITTLE**2:
            break
    return _allowed(dynamics, q, total)


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
