"""The Runge-Kutta-Munthe-Kaas method: fourth order on manifolds; the rule of motions on R^n, S^2 and SO(3).

A configuration near the step's start q0 is reached from it by a displacement u, a vector: q0 + u of flat variables,
exp(hat(u)) q0 of unit vectors, R0 exp(hat(u)) of rotations. The classical Runge-Kutta method is applied to x = [u, v],
which live in a vector space, from u = 0,

    u' = dexp_u^-1 v,   v' = a(q(u), v)

and the step lands at q(u), so that the configuration never leaves the manifold (Munthe-Kaas 1999, High order
Runge-Kutta methods on manifolds, Applied Numerical Mathematics 29).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.codegen.emitting.ir_text import copy
from recursive_dyn.graph.expression import array
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.integrators.loop_text import classical_stages, opening, stage_helpers
from recursive_dyn.integrators.runge_kutta import classical
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import normalized, quaternion_product, rotated
from recursive_dyn.spatial.spaces import Space, UnitSphere


def turn(u: np.ndarray) -> np.ndarray:
    """Quaternion, of any length but zero, of exp(hat(u)), u (3,).

    tan(|u| / 2) is replaced by its [3/2] Pade approximant: the axis is that of u, the angle in error by |u|^7 / 1e5,
    two orders beyond that of a step; sines and cosines would cost as much as the equations of small systems.
    """
    square = dot(u, u)
    return array([*(u * (60.0 - square)), 120.0 - square * 12.0])


def displaced(space: Space, point: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The point (size,) that the displacement u (tangent size,) leads to; a rotation is made one of length 1."""
    if space.flat:
        return point + u
    return rotated(turn(u), point) if _from_left(space) else quaternion_product(point, normalized(turn(u)))


def displacement_rate(space: Space, u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """u' at the velocity w; of angular ones the inverse of dexp, w -+ u x w / 2 + u x (u x w) / 12, off by O(u^4)."""
    if space.flat:
        return w
    once = cross(u, w)
    return np.asarray(w + once * (-0.5 if _from_left(space) else 0.5) + cross(u, once) * (1.0 / 12.0))


def _from_left(space: Space) -> bool:
    """Whether angular velocities turn from the left, in world axes, as unit vectors' do; rotations have body axes."""
    return isinstance(space, UnitSphere)


def loop(entry: str, inputs: int, state: int, nq: int) -> str:
    """The loop over a kernel that maps [u, v, clock, q, ...] to the rates of the first ``state`` of them, up to q.

    i64 ENTRY_run(..., count, land, place, notes) is given one more kernel of the same input, with its output and
    scratch: ``land`` makes [u = 0, v, clock, q] of the next step.
    """
    return f"""{stage_helpers()}
{opening(entry, inputs, ", ptr %land, ptr %place, ptr %notes")}
{classical_stages(entry, state)}
  call void %land(ptr %in, ptr %place, ptr %notes)
  %end = call i1 @rd.finite(ptr %place, i64 {state + nq})
  br i1 %end, label %accept, label %back
accept:
{copy("%in", "%place", state + nq)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def definition(
    slope: Callable[[np.ndarray, np.ndarray], np.ndarray],
    landing: Callable[[np.ndarray, np.ndarray], StatePair],
    q: np.ndarray,
    v: np.ndarray,
    h: float,
) -> StatePair:
    """(q, v) after one step; slope(x, q): the rates of x = [u, v]; landing(x, q): (q, v) where x leads to."""
    x = classical(lambda x: slope(x, q), np.concatenate([np.zeros(len(v)), v]), h)
    return landing(x, q)
