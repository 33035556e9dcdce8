"""What floats keeps its centre of mass and its momenta where a gap between its bodies is closed.

Coordinates are moved, and what v says of them then is another motion. Of what hangs together by constraints, and by
nothing with the world, a rigid motion T makes up for that: no constraint feels it, and T^T M v are the momenta.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.model.independent import IndependentPart, independent
from recursive_dyn.model.own_masses import own_masses
from recursive_dyn.spatial.algebra import applied

_Array = np.ndarray
_MOVED = 1e-9  # m or rad by which something was moved
_RIGID = 1e-8  # m or rad a second by which a unit motion may miss one that is rigid, or a row of its size feel it
_SPUN = 2.0  # times the kinetic energy that there was: what is pulled in from far away would spin up like a skater
_SAME = 1e-9  # of the largest inertia, that is none


def with_momenta(dynamics: Dynamics, before: StatePair, after: StatePair) -> StatePair:
    """The state after a gap was closed, with the centre of mass and the momenta that what floats had before; not with
    its spin where that would give it more than twice its energy."""
    way, (q, v) = np.abs(dynamics.difference(before[0], after[0])), after
    for part in independent(dynamics.model):
        slots = [s for s in part.slots if s not in dynamics.model.prescribed]
        if not (way[slots] > _MOVED).any():
            continue
        c = _center(dynamics, part, before[0])
        were, ways = (_rigid(dynamics, state, part, slots, c) for state in (before[0], q))
        if were is None or ways is None or not _unfelt(dynamics, q, ways):
            continue
        q = dynamics.integrate(q, ways[:, 3:] @ (c - _center(dynamics, part, q)), 1.0)
        ways = _rigid(dynamics, q, part, slots, c)
        if ways is not None:
            v = _moving(dynamics, part, before, (q, v), (were, ways))
    return q, v


def _moving(
    dynamics: Dynamics, part: IndependentPart, before: StatePair, after: StatePair, rigid: tuple[_Array, _Array]
) -> _Array:
    """v (nv,) after a gap was closed with the momenta of a part before; rigid: its motions (nv, 6) then and now."""
    own, result = list(part.slots), after[1].copy()
    M, M_now = (dynamics.mass_matrix(q)[np.ix_(own, own)] for q, _ in (before, after))
    (T, T_now), (v, now) = (ways[own] for ways in rigid), (x[own] for _, x in (before, after))
    missing, inertia = T.T @ M @ v - T_now.T @ M_now @ now, T_now.T @ M_now @ T_now
    gliding = now + T_now[:, 3:] @ np.linalg.solve(inertia[3:, 3:], missing[3:])
    turning = gliding + T_now[:, :3] @ np.linalg.lstsq(inertia[:3, :3], missing[:3], rcond=_SAME)[0]
    result[own] = turning if turning @ M_now @ turning <= _SPUN * (v @ M @ v) else gliding
    return result


def _center(dynamics: Dynamics, part: IndependentPart, q: _Array) -> _Array:
    """The centre of mass (3,) of a part at q."""
    known, bodies = own_masses(dynamics.model, dict(dynamics.parameters)), _bodies(dynamics, part)
    X, m = dynamics.call("poses", q)[bodies], known.masses[bodies]
    centers: _Array = m @ (X[:, :3, 3] + applied(X[:, :3, :3], known.centers[bodies])) / m.sum()
    return centers


def _bodies(dynamics: Dynamics, part: IndependentPart) -> list[int]:
    links = set(part.links)
    return [k for k, body in enumerate(dynamics.model.bodies) if body.link in links]


def _rigid(dynamics: Dynamics, q: _Array, part: IndependentPart, slots: list[int], c: _Array) -> _Array | None:
    """Velocities (nv, 6) by which all of a part turns about c, and glides, along axes of the world, as one rigid body;
    None where its joints do not let it."""
    nv, bodies = dynamics.model.nv, _bodies(dynamics, part)
    # one by one: no other code is made for a single gap
    J = np.array([dynamics.velocities(q, unit)[bodies] for unit in np.eye(nv)[slots]]).reshape(len(slots), -1).T
    wanted = np.zeros((6, len(bodies), 6))
    wanted[:3, :, :3], wanted[3:, :, 3:] = np.eye(3)[:, None], np.eye(3)[:, None]
    wanted[:3, :, 3:] = np.cross(np.eye(3)[:, None], dynamics.call("poses", q)[bodies, :3, 3] - c)
    goal = wanted.reshape(6, -1).T
    found = np.linalg.lstsq(J, goal, rcond=None)[0]
    if np.abs(J @ found - goal).max() > _RIGID * (1.0 + np.abs(goal).max()):
        return None
    result = np.zeros((nv, 6))
    result[slots] = found
    return result


def _unfelt(dynamics: Dynamics, q: _Array, ways: _Array) -> bool:
    """Whether no constraint feels these velocities (nv, k)."""
    C = dynamics.constraint_jacobian(q)
    sizes = 1.0 + np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(ways, axis=0)
    return bool((np.abs(C @ ways) <= _RIGID * sizes).all())
