"""What floats keeps its centre of mass and its momenta where a gap between its bodies is closed.

Coordinates are moved, and what v says of them then is another motion. Of what hangs together by constraints, and by
nothing with the world, a rigid motion T makes up for that: no constraint feels it, and T^T M v are the momenta.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.model.independent import independent
from recursive_dyn.model.model import WORLD, Link
from recursive_dyn.spatial.spaces import RigidMotion

_Array = np.ndarray
_MOVED = 1e-9  # m or rad by which something was moved
_RIGID = 1e-8  # m or rad a second by which a unit motion may miss one that is rigid, or a row of its size feel it
_SPUN = 2.0  # times the kinetic energy that there was: what is pulled in from far away would spin up like a skater
_SAME = 1e-9  # of the largest inertia, that is none


class _Part(NamedTuple):
    """What moves independently: its slots, its bodies, the slots of its joints with the world, and, if these all are
    free joints, of each the body, the slots by which it turns, and those by which it glides."""

    slots: list[int]
    bodies: list[int]
    roots: list[int]
    free: list[tuple[int, slice, slice]] | None


class _Whole(NamedTuple):
    """A part as one rigid body: its mass, centre (3,), inertia (3, 3) and momenta (6,) about that, and M (n, n)."""

    mass: float
    center: _Array
    inertia: _Array
    momenta: _Array
    M: _Array


class PulledTogether:
    """Of one dynamics, the parts that may float, until one is found to be held by the world."""

    _parts: list[_Part] | None = None

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics

    def with_momenta(self, before: StatePair, after: StatePair, way: _Array) -> StatePair:
        """The state after a gap was closed along a way (nv,), with the centre of mass and the momenta that what floats
        had before; not with its spin where that would give it more than twice its energy."""
        (q, v), moved = after, np.abs(way) > _MOVED
        if self._parts is None:
            self._parts = _parts(self.dynamics)
        for part in list(self._parts):
            own = part.slots
            if not moved[own].any() or (T := self._rigid(q, part)) is None:
                continue
            if not self._unfelt(q, own, T):
                self._parts.remove(part)  # what holds it somewhere holds it everywhere
                continue
            if (there := self._rigid(before[0], part)) is None:
                continue
            was, now = self._whole(own, before, there), self._whole(own, (q, v), T)
            drift, missing = np.zeros(self.dynamics.nv), was.momenta - now.momenta
            drift[own] = T[:, 3:] @ (was.center - now.center)
            q, v = self.dynamics.integrate(q, drift, 1.0), v.copy()
            turn = _turn(now.inertia, missing[:3])
            gliding = v[own] + T[:, 3:] @ (missing[3:] / now.mass)
            turning = gliding + T[:, :3] @ turn - T[:, 3:] @ _cross(turn, now.center)
            most = _SPUN * (before[1][own] @ was.M @ before[1][own])
            v[own] = turning if turning @ now.M @ turning <= most else gliding
        return q, v

    def _whole(self, own: list[int], state: StatePair, T: _Array) -> _Whole:
        """A part of these slots in a state, as one rigid body that turns about the world's origin, and glides, by T."""
        M, v = self.dynamics.mass_matrix(state[0]), state[1]
        if len(own) < len(v):
            M, v = M[np.ix_(own, own)], v[own]
        MT = M @ T
        K, momenta = T.T @ MT, MT.T @ v
        mass = float(K[5, 5])
        center = np.array([-K[1, 5], K[0, 5], -K[0, 4]]) / mass
        inertia = K[:3, :3] + mass * np.outer(center, center)
        inertia.flat[::4] -= mass * (center @ center)
        momenta[:3] -= _cross(center, momenta[3:])
        return _Whole(mass, center, inertia, momenta, M)

    def _rigid(self, q: _Array, part: _Part) -> _Array | None:
        """Velocities (n, 6) of a part's slots by which all of it turns about the world's origin, and glides, along axes
        of the world, as one rigid body: what its joints with the world do. None where they do not."""
        X, nv = self.dynamics.call("poses", q), self.dynamics.nv
        result = np.zeros((nv, 6))
        if part.free is not None:
            for body, turning, gliding in part.free:
                back, (x, y, z) = X[body, :3, :3].T, X[body, :3, 3].tolist()
                result[turning, :3] = result[gliding, 3:] = back
                result[gliding, :3] = back @ np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))
            return result[part.slots]
        bodies = part.bodies
        # one by one: no other code is made for a single gap
        moving = [self.dynamics.velocities(q, unit)[bodies] for unit in np.eye(nv)[part.roots]]
        J = np.array(moving).reshape(len(part.roots), -1).T
        wanted = np.zeros((6, len(bodies), 6))
        wanted[:3, :, :3], wanted[3:, :, 3:] = np.eye(3)[:, None], np.eye(3)[:, None]
        wanted[:3, :, 3:] = np.cross(np.eye(3)[:, None], X[bodies, :3, 3])
        goal = wanted.reshape(6, -1).T
        found = np.linalg.lstsq(J, goal, rcond=None)[0]
        if np.abs(J @ found - goal).max() > _RIGID * (1.0 + np.abs(goal).max()):
            return None
        result[part.roots] = found
        return result[part.slots]

    def _unfelt(self, q: _Array, own: list[int], ways: _Array) -> bool:
        """Whether no constraint feels these velocities (n, k) of slots."""
        C = self.dynamics.constraint_jacobian(q)[:, own]
        sizes = np.abs(C).max(axis=1) * (_RIGID * np.abs(ways).max())
        return bool((np.abs(C @ ways).max(axis=1) <= sizes + _RIGID).all())


def _parts(dynamics: Dynamics) -> list[_Part]:
    """Those whose joints with the world may let them float."""
    model, found = dynamics.model, list[_Part]()
    for links, slots, _ in independent(model):
        roots = [i for i in links if model.links[i].parent == WORLD]
        rooted = sorted({slot for i in roots for slot in model.links[i].slots} - model.prescribed)
        if len(rooted) < 6 or any(len(model.links[i].slots) < 6 for i in roots):
            continue
        bodies, free = [k for k, body in enumerate(model.bodies) if body.link in links], None
        if all(_free(model.links[i]) for i in roots):
            first = {model.bodies[k].link: k for k in reversed(bodies)}
            starts = [(first[i], model.links[i].slots[0]) for i in roots]
            free = [(k, slice(s, s + 3), slice(s + 3, s + 6)) for k, s in starts]
        found.append(_Part(list(slots), bodies, rooted, free))
    return found


def _free(link: Link) -> bool:
    """Whether a link floats by a plain free joint."""
    slots = range(link.slots[0], link.slots[0] + 6)
    plain = link.drive is None and [factor.space for factor in link.joint.factors] == [RigidMotion()]
    return plain and link.slots == tuple(slots)


def _turn(inertia: _Array, spin: _Array) -> _Array:
    """Angular velocity (3,) of a spin; none about an axis about which there is no inertia (3, 3)."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
    a, b, c = spin.tolist()
    least = _SAME * max(xx, yy, zz)
    l, m = (xy / xx, xz / xx) if xx > least else (0.0, 0.0)  # I = L D L^T
    p, r, b = yy - l * xy, yz - l * xz, b - l * a
    n = r / p if p > least else 0.0
    s, c = zz - m * xz - n * r, c - m * a - n * b
    z = c / s if s > least else 0.0
    y = b / p - n * z if p > least else 0.0
    return np.array([a / xx - l * y - m * z if xx > least else 0.0, y, z])


def _cross(a: _Array, b: _Array) -> _Array:
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
