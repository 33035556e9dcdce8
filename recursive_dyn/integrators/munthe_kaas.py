"""The Runge-Kutta-Munthe-Kaas method: fourth order on manifolds; the rule of motions on R^n, S^2 and SO(3).

A configuration near the step's start is reached from it by a displacement u, a vector. The classical Runge-Kutta method
is applied to x = [u, v], which live in a vector space, from u = 0; the step then lands where u leads to, so that the
configuration never leaves the manifold (Munthe-Kaas 1999, High order Runge-Kutta methods on manifolds, Applied
Numerical Mathematics 29).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.integrators.integrator import State
from recursive_dyn.integrators.loop_text import classical_stages, copy, opening, stage_helpers
from recursive_dyn.integrators.runge_kutta import classical


def loop(entry: str, inputs: int, state: int, nq: int) -> str:
    """The loop over a kernel that maps [u, v, clock, q, ...] to the rates of the first ``state`` of them, up to q.

    i64 ENTRY_run(..., count, land, place, notes) is given one more kernel of the same input, with its output and
    scratch: ``land`` makes [u = 0, v, clock, q] of the next step.
    """
    return f"""{stage_helpers(state)}
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
    landing: Callable[[np.ndarray, np.ndarray], State],
    q: np.ndarray,
    v: np.ndarray,
    h: float,
) -> State:
    """(q, v) after one step; slope(x, q): the rates of x = [u, v]; landing(x, q): (q, v) where x leads to."""
    x = classical(lambda x: slope(x, q), np.concatenate([np.zeros(len(v)), v]), h)
    return landing(x, q)
