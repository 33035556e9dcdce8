"""The impulses of one step: from where the flight ended, what contacts, limits, motors and dry friction make of it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.forest_layout import tree_arrays
from recursive_dyn.contact.problem import Changes, changes
from recursive_dyn.contact.tuning import STILL
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.forest import blocks_of
from recursive_dyn.model.model import Model
from recursive_dyn.simulation.program_calls import ProgramCall, evaluated, program_call


class ImpulseArrays(NamedTuple):
    """What impulses are solved for and move a state with.

    factors, integrate, accelerations: programs; turning (k, 2): first slot and number of slots of what turns freely;
    changes: what a solve finds, of as many rows as there can be, and no free bodies; varied, rest (nv,), whole (1,):
    room, zeros and 1.
    """

    factors: ProgramCall
    integrate: ProgramCall
    accelerations: ProgramCall
    turning: Annotated[np.ndarray, int, 2]
    changes: Changes
    varied: Floats
    rest: Floats
    whole: Floats


def impulse_arrays(dynamics: Dynamics, rows: int) -> ImpulseArrays:
    """Those of a model with at most so many rows on coordinates."""
    factors, integrate, accelerations = (
        program_call(dynamics, name) for name in ("impulse_factors", "integrate", "forward_dynamics")
    )
    return ImpulseArrays(
        factors, integrate, accelerations, _turning(dynamics.model), changes(dynamics.nv, 0, rows),
        np.zeros(dynamics.nv), np.zeros(dynamics.nv), np.ones(1),
    )  # fmt: skip


def _turning(model: Model) -> np.ndarray:
    known = tree_arrays(model)
    if known is not None:
        return known.turning
    turning = [np.zeros((0, 2), dtype=np.int64)]
    for kind in blocks_of(model):
        for _, factor, _, slot in kind.model.owners:
            own = kind.slots[:, slot]
            turning.append(np.stack([own, np.full_like(own, factor.nv)], axis=1))
    return np.concatenate(turning)


@compiled
def moved(it: ImpulseArrays, q: Floats, v: Floats, parameters: Floats) -> bool:
    """Change velocities and positions, in place, by what a solve found; whether the way led to finite numbers."""
    way, fast, far = it.changes.q, 0.0, 0.0
    for k in range(len(v)):
        v[k] += it.changes.v[k]
        fast, far = max(fast, abs(v[k])), max(far, abs(way[k]))
    if far == 0.0:
        return True
    finite = _carry(it, q, v, parameters) if far * fast > STILL else True
    finite = evaluated(it.integrate, q, way, it.whole, parameters) and finite
    q[:] = it.integrate.outputs
    return finite


@compiled
def _carry(it: ImpulseArrays, q: Floats, v: Floats, parameters: Floats) -> bool:
    """Change velocity as it is carried along the way: parallel transport in the metric of M.

    Accelerations at v + way and v - way differ by -4 M^-1 Gamma(v, way), the symmetric part of the connection; the
    bracket is the rest, as the axes of bodies that turn freely are no coordinates. Such a body keeps its velocity
    in the world.
    """
    way, w, change, finite = it.changes.q, it.varied, np.zeros(len(v)), True
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for k in range(len(v)):
            w[k] = v[k] + sign * way[k]
        finite = evaluated(it.accelerations, q, w, it.rest, parameters) and finite
        for k in range(len(v)):
            change[k] += 0.25 * sign * it.accelerations.outputs[k]
    for k in range(len(it.turning)):
        _bracket(it.turning[k, 0], it.turning[k, 1], way, v, change)
    for k in range(len(v)):
        v[k] += change[k]
    return finite


@compiled
def _bracket(at: int, size: int, d: Floats, v: Floats, change: Floats) -> None:
    """Take half of ad_d v from change, for a ball or free factor whose ``size`` slots start at ``at``."""
    for i in range(3):
        a, b = at + (i + 1) % 3, at + (i + 2) % 3
        change[at + i] -= 0.5 * (d[a] * v[b] - d[b] * v[a])
        if size == 6:
            turned = d[a] * v[3 + b] - d[b] * v[3 + a] + d[3 + a] * v[b] - d[3 + b] * v[a]
            change[at + 3 + i] -= 0.5 * turned
