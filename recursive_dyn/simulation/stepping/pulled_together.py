"""What floats keeps its centre of mass and its momenta where a gap between its bodies is closed.

Coordinates are moved, and what v says of them then is another motion. Of what hangs together by constraints, and by
nothing with the world, a rigid motion T makes up for that: no constraint feels it, and T^T M v are the momenta.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.model.independent import IndependentPart, independent
from recursive_dyn.model.model import WORLD

_Array = np.ndarray
_MOVED = 1e-9  # m or rad by which something was moved
_RIGID = 1e-8  # m or rad a second by which a unit motion may miss one that is rigid, or a row of its size feel it
_SPUN = 2.0  # times the kinetic energy that there was: what is pulled in from far away would spin up like a skater
_SAME = 1e-9  # of the largest inertia, that is none


class _Whole(NamedTuple):
    """A part as one rigid body: its velocities ``ways`` (nv, 6) about its centre of mass (3,), its inertia (6, 6) and
    momenta (6,) by these, and M (k, k) of its own slots."""

    ways: _Array
    center: _Array
    inertia: _Array
    momenta: _Array
    M: _Array


def with_momenta(dynamics: Dynamics, before: StatePair, after: StatePair) -> StatePair:
    """The state after a gap was closed, with the centre of mass and the momenta that what floats had before; not with
    its spin where that would give it more than twice its energy."""
    way, (q, v) = np.abs(dynamics.difference(before[0], after[0])), after
    for part in independent(dynamics.model):
        own = list(part.slots)
        if not (way[own] > _MOVED).any() or (was := _whole(dynamics, part, before)) is None:
            continue
        now = _whole(dynamics, part, (q, v))
        if now is None or not _unfelt(dynamics, q, now.ways):
            continue
        q, v = dynamics.integrate(q, now.ways[:, 3:] @ (was.center - now.center), 1.0), v.copy()
        missing, T = was.momenta - now.momenta, now.ways[own]
        gliding = v[own] + T[:, 3:] @ np.linalg.solve(now.inertia[3:, 3:], missing[3:])
        turning = gliding + T[:, :3] @ np.linalg.lstsq(now.inertia[:3, :3], missing[:3], rcond=_SAME)[0]
        most = _SPUN * (before[1][own] @ was.M @ before[1][own])
        v[own] = turning if turning @ now.M @ turning <= most else gliding
    return q, v


def _whole(dynamics: Dynamics, part: IndependentPart, state: StatePair) -> _Whole | None:
    """A part as it floats in a state; None where its joints do not let it."""
    own, ways = list(part.slots), _rigid(dynamics, state[0], part)
    if ways is None:
        return None
    M = dynamics.mass_matrix(state[0])[np.ix_(own, own)]
    K = ways[own].T @ M @ ways[own]
    center = np.array([-K[1, 5], K[0, 5], -K[0, 4]]) / K[5, 5]
    ways[:, :3] += ways[:, 3:] @ np.cross(center, np.eye(3)).T  # not about the world's origin
    T = ways[own]
    return _Whole(ways, center, T.T @ M @ T, T.T @ M @ state[1][own], M)


def _rigid(dynamics: Dynamics, q: _Array, part: IndependentPart) -> _Array | None:
    """Velocities (nv, 6) by which all of a part turns about the world's origin, and glides, along axes of the world, as
    one rigid body: what its joints with the world do. None where they do not."""
    model, links = dynamics.model, set(part.links)
    roots = {slot for i in links if model.links[i].parent == WORLD for slot in model.links[i].slots}
    slots, bodies = sorted(roots - model.prescribed), [k for k, b in enumerate(model.bodies) if b.link in links]
    if len(slots) < 6:
        return None
    # one by one: no other code is made for a single gap
    J = np.array([dynamics.velocities(q, unit)[bodies] for unit in np.eye(model.nv)[slots]]).reshape(len(slots), -1).T
    wanted = np.zeros((6, len(bodies), 6))
    wanted[:3, :, :3], wanted[3:, :, 3:] = np.eye(3)[:, None], np.eye(3)[:, None]
    wanted[:3, :, 3:] = np.cross(np.eye(3)[:, None], dynamics.call("poses", q)[bodies, :3, 3])
    goal = wanted.reshape(6, -1).T
    found = np.linalg.lstsq(J, goal, rcond=None)[0]
    if np.abs(J @ found - goal).max() > _RIGID * (1.0 + np.abs(goal).max()):
        return None
    result = np.zeros((model.nv, 6))
    result[slots] = found
    return result


def _unfelt(dynamics: Dynamics, q: _Array, ways: _Array) -> bool:
    """Whether no constraint feels these velocities (nv, k)."""
    C = dynamics.constraint_jacobian(q)
    sizes = 1.0 + np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(ways, axis=0)
    return bool((np.abs(C @ ways) <= _RIGID * sizes).all())
