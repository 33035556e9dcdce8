"""Bodies that have no inertia and can be lent none, as the rings of a gimbal: solved for as if they had a little.

With E the little inertia that ``lent_masses`` gave them, isotropic about their origins, so that a turn of theirs takes
no moment by it, M that of all bodies with it, v their twists before, x after a step of h, g gravity,

    (M - E) (x - v) = h f + A^T Lambda,   M (x - free) - A^T Lambda = E (x - v - h g),

of which the second, solved with the right-hand side at the last x, again and again, leaves E against what joints put
upon such a body, some 1e-3, of an error each time. Where these put nothing upon it, in the singular position of a
gimbal, E is what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.freed.lent_masses import lacking, lent
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows, Joints
from recursive_dyn.maximal.joint_rows.joint_solve import solved
from recursive_dyn.maximal.poses import by_body, poses_of
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations, solve_again
from recursive_dyn.maximal.sparse.tree_ldlt import Sixes
from recursive_dyn.model.model import Model

Array = np.ndarray

ROUNDS = 12  # at most, of which some five are enough away from singular positions
_STILL = 1e-14  # of all twists: a round that changes no more was the last


class LightBodies(NamedTuple):
    """links (m,); inertia (m, 6): the diagonals of E; gravity (3,), world axes; given (N, 6): room for what rows are to
    reach."""

    links: Integers
    inertia: Sixes
    gravity: Floats
    given: Sixes


def light_bodies(reduced: Model, rows: int = 0) -> LightBodies:
    """Those of a reduced model, with room for so many joints and loops."""
    light = lent(reduced).light if lacking(reduced) else {}
    E = np.repeat(np.array(list(light.values())).reshape(-1, 2), 3, axis=1)
    return LightBodies(np.array(list(light), dtype=np.int64), E, np.zeros(3), np.zeros((rows, 6)))


def solved_with_light(
    light: LightBodies, joints: Joints, rows: JointRows, inertias: Array, free: Array, softness: Array, wanted: Array,
    before: Array,
) -> Array:  # fmt: skip
    """x (..., n, 6) of ``solved`` with light bodies as light as they are; before (..., n, 6): v + h g."""
    x, _ = solved(joints, rows, inertias, free, softness, wanted)
    for _ in range(ROUNDS if len(light.links) else 0):
        push, last = np.zeros_like(x), x
        push[..., light.links, :] = light.inertia * (x - before)[..., light.links, :]
        more = np.linalg.solve(inertias, push[..., None])[..., 0]
        x, _ = solved(joints, rows, inertias, free + more, softness, wanted)
        if np.abs(x - last).max() <= _STILL * np.abs(x).max():
            break
    return x


def falling(dynamics: Dynamics, q: Array) -> Array:
    """Gravity as accelerations (..., n, 6) of bodies at q (..., nq), in their own axes."""
    g = dynamics.model.gravity_at(dynamics.parameters.values_array)
    R = poses_of(by_body(q, 7))[..., :3, :3]
    return np.concatenate([np.zeros(R.shape[:-1]), g @ R], axis=-1)


@compiled
def lightened(
    light: LightBodies, h: float, q: Floats, v: Floats, free: Sixes, solving: SparseEquations, change: Sixes, c: Sixes
) -> None:
    """Changes of twists ``free`` by joints, as ``solve_once`` left them for ``light.given``, with light bodies as light
    as they are; q (7 n,), v (6 n,): the step's start; c is used up."""
    last, fall = np.empty((len(light.links), 6)), np.zeros(6)
    for _ in range(ROUNDS):
        for k in range(len(light.links)):
            last[k] = change[light.links[k]]
        change[:] = 0.0
        c[:] = light.given
        for k in range(len(light.links)):
            i = light.links[k]
            _fall(q[7 * i + 3 : 7 * i + 7], light.gravity, fall)
            for m in range(6):
                change[i, m] = light.inertia[k, m] * (free[i, m] + last[k, m] - v[6 * i + m] - h * fall[m])
        solve_again(solving, change, c)
        most, size = 0.0, 0.0
        for k in range(len(light.links)):
            for m in range(6):
                x = change[light.links[k], m]
                most, size = max(most, abs(x - last[k, m])), max(size, abs(free[light.links[k], m] + x))
        if most <= _STILL * size:
            break


@compiled
def _fall(turn: Floats, g: Floats, to: Floats) -> None:
    """to[3:] <- R^T g of a quaternion."""
    x, y, z, w = -turn[0], -turn[1], -turn[2], turn[3]
    a, b, c = 2.0 * (y * g[2] - z * g[1]), 2.0 * (z * g[0] - x * g[2]), 2.0 * (x * g[1] - y * g[0])
    to[3] = g[0] + w * a + y * c - z * b
    to[4] = g[1] + w * b + z * a - x * c
    to[5] = g[2] + w * c + x * b - y * a
