"""Into how many parts a step is to be cut, so that joints hold what whirls and win no energy by it.

Over a step bodies coast from where joints have given them velocities. Two things say that this is too far. What joints
would open by while their bodies coast,

    h^2 |C-ddot|^2 / (A M^-1 A^T)  against  omega . I omega + m |v|^2,

with the inertia I of a body about its centre of mass, and the velocity v of this and the mass m against those of the
other body: the root is the angle that they turn by about their joint, 0 of a wheel on its axle. And the work that
joints did, (v + v') . A^T Lambda / 2, which is none by law, and less than none where velocities did not fit joints:
where it is more than a small share of the energies that are about, tensions turn faster than steps follow, as in long
chains.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows
from recursive_dyn.maximal.joint_rows.row_system import RowSystem
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import applied, by_body, poses_of
from recursive_dyn.model.model import WORLD

Array = np.ndarray

FURTHEST = 0.15  # rad, that bodies turn by about their joints in a step, or part of one
FURTHEST_SPRUNG = 0.075  # the same by "penalty": by more, springs drive what whirls
SHARE = 0.01  # of kinetic energy and of that which a step of free fall gives, that joints may add in one
MOST = 256  # parts of a step


def furthest(d: MaximalDynamics) -> float:
    """rad, that its bodies may turn by about their joints in a step."""
    return FURTHEST_SPRUNG if d.method == PENALTY else FURTHEST


def watched(d: MaximalDynamics) -> bool:
    """Whether joints and constraints do no work: time moves none, none is prescribed, and none drives rates; and all
    bodies have inertia by which it is told."""
    model = d.jointed.model
    still = model.clock is None and not model.motions and not len(d.light.links)
    return still and all(c.holonomic for c in model.constraints)


def asked_by_turning(
    d: MaximalDynamics, rows: JointRows, h: float, opening: Array, q: Array, twists: Array
) -> tuple[int, int]:
    """(parts that a step of h is to be cut into, the link that asks for most, -1 for none), by how far bodies turn;
    opening (N, 6): rates that rows get while they coast from q (7 n,), ``twists`` (n, 6)."""
    angles = _angles(d, rows, h, opening, q, twists)
    most = angles.max(initial=0.0) / furthest(d)
    return (2 ** int(np.ceil(np.log2(min(most, 2 * MOST)))), int(np.argmax(angles))) if most > 1.0 else (1, -1)


def asked_by_working(
    d: MaximalDynamics, system: RowSystem, twists: Array, flown: tuple[Array, Array, Array]
) -> tuple[int, int]:
    """The same by what joints did over the step from ``twists`` (n, 6); flown, each (n, 6): twists after it, what
    joints changed of them, and what coasting did."""
    if watched(d):
        work, energy = (np.bincount(d.joints.roots, own, d.joints.links) for own in balance(d, system, twists, flown))
        if len(more := np.flatnonzero(work > SHARE * energy)):
            return 2, int(more[-1])
    return 1, -1


def _angles(d: MaximalDynamics, rows: JointRows, h: float, opening: Array, q: Array, twists: Array) -> Array:
    """By which bodies turn about their joints (links,), of those that turn far."""
    joints, M, result = d.joints, d.inertias, np.zeros(d.joints.links)
    far, masses = h * h * (twists[:, :3] ** 2).sum(axis=1) > furthest(d) ** 2, M[:, 3, 3]
    centers = np.stack([M[:, 2, 4], M[:, 0, 5], M[:, 1, 3]], axis=1) / masses[:, None]
    velocities = applied(poses_of(by_body(q, 7))[:, :3, :3], twists[:, 3:] + np.cross(twists[:, :3], centers))
    for i in range(joints.links):
        a, n = int(joints.parents[i]), joints.counts[i]
        pair = [(x, J[i, :n]) for x, J in ((i, rows.child), (a, rows.parent)) if x != WORLD]
        if not any(far[x] for x, _ in pair):
            continue
        spin = min(_spin(M[x], twists[x]) for x, _ in pair if far[x])
        apart = velocities[i] - (0.0 if a == WORLD else velocities[a])
        energy = spin + apart @ apart / sum(1.0 / masses[x] for x, _ in pair)
        mobility = sum((J * np.linalg.solve(M[x], J.T).T).sum(axis=1) for x, J in pair)
        result[i] = np.sqrt((opening[i, :n] ** 2 / mobility).sum() / energy) if energy > 0.0 else 0.0
    return result


def _spin(M: Array, twist: Array) -> float:
    """omega . I omega of a body, about its centre of mass."""
    c, omega = np.array([M[2, 4], M[0, 5], M[1, 3]]) / M[3, 3], twist[:3]
    way = np.cross(omega, c)
    return float(omega @ M[:3, :3] @ omega - M[3, 3] * way @ way)


def balance(
    d: MaximalDynamics,
    system: RowSystem,
    twists: Array,
    flown: tuple[Array, Array, Array],
) -> tuple[Array, Array]:
    """(work that joints did on each body, less what rotors, dampers and springs took or gave, energies), each (n,)."""
    joints, M = d.joints, d.inertias
    x, change, coasted = flown
    after = x - coasted
    free = after - change - twists
    work = 0.5 * ((twists + after) * applied(M, change)).sum(axis=1)
    energy = 0.5 * (twists * applied(M, twists) + free * applied(M, free)).sum(axis=1)
    soft = np.isfinite(system.softness) & (system.softness > 0.0)
    missed = system.wanted - system.rows.rates(joints, x)
    pushes = np.divide(missed, system.softness, out=np.zeros_like(missed), where=soft)
    given = (pushes * 0.5 * system.rows.rates(joints, twists + after)).sum(axis=1)
    np.subtract.at(work, joints.children, given)
    return work, energy
