"""What floats, and is held together by constraints, as one rigid body: how it may move as such, and its momenta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.independent import independent
from recursive_dyn.model.model import WORLD, Link
from recursive_dyn.spatial.spaces import RigidMotion

_Array = np.ndarray
_RIGID = 1e-8  # m or rad a second by which a unit motion may miss one that is rigid, or a row of its size feel it
_SAME = 1e-9  # of the largest inertia, that is none


class RigidPart(NamedTuple):
    """What moves independently: its slots, its bodies, the slots of its joints with the world, and, if these all are
    free joints, of each the body, the slots by which it turns, and those by which it glides."""

    slots: list[int]
    bodies: list[int]
    roots: list[int]
    free: list[tuple[int, slice, slice]] | None


class RigidWhole(NamedTuple):
    """A part as one rigid body: its mass, centre (3,), inertia (3, 3) about that; ways T (n, 6) of its slots by which
    it turns about the world's origin, and glides, and MT (n, 6)."""

    mass: float
    center: _Array
    inertia: _Array
    T: _Array
    MT: _Array

    def momenta(self, v: _Array) -> _Array:
        """Spin about the centre, and momentum (6,), at velocities v (n,)."""
        found = self.MT.T @ v
        found[:3] -= cross(self.center, found[3:])
        return found

    def gliding(self, momentum: _Array) -> _Array:
        """Velocities (n,) by which all of it has a momentum (3,), and no spin."""
        return self.T[:, 3:] @ (momentum / self.mass)

    def turning(self, spin: _Array) -> _Array:
        """Velocities (n,) by which all of it has a spin (3,) about its centre, and no momentum."""
        turn = _turn(self.inertia, spin)
        return self.T[:, :3] @ turn - self.T[:, 3:] @ cross(turn, self.center)


class RigidParts:
    """Of one dynamics, the parts that may float, until one is found to be held by the world."""

    _parts: list[RigidPart] | None = None

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics

    @property
    def parts(self) -> list[RigidPart]:
        """Those that are left, in a list of their own."""
        if self._parts is None:
            self._parts = _parts(self.dynamics)
        return list(self._parts)

    def floats(self, q: _Array, part: RigidPart, whole: RigidWhole) -> bool:
        """Whether no constraint feels that a part moves as a whole; one that does is none from now on: what holds it
        somewhere holds it everywhere."""
        C = self.dynamics.constraint_jacobian(q)[:, part.slots]
        sizes = np.abs(C).max(axis=1) * (_RIGID * np.abs(whole.T).max())
        unfelt = bool((np.abs(C @ whole.T).max(axis=1) <= sizes + _RIGID).all())
        if not unfelt and self._parts is not None:
            self._parts.remove(part)
        return unfelt

    def momenta(self, q: _Array, ways: Iterable[_Array]) -> _Array:
        """M v (k, nv) of each of these velocities v (nv,), one by one: no other code is made for a single one."""
        still = np.zeros(self.dynamics.nv)
        weight = self.dynamics.call("inverse_dynamics", q, still, still)
        return np.array([self.dynamics.call("inverse_dynamics", q, still, v) - weight for v in ways])

    def whole(self, q: _Array, part: RigidPart) -> RigidWhole | None:
        """A part at q (nq,) as one rigid body; None where its joints with the world do not let it be one."""
        if (T := self._rigid(q, part)) is None:
            return None
        ways = np.zeros((6, self.dynamics.nv))
        ways[:, part.slots] = T.T
        MT = self.momenta(q, ways)[:, part.slots].T
        K = T.T @ MT
        mass = float(K[5, 5])
        center = np.array([-K[1, 5], K[0, 5], -K[0, 4]]) / mass
        inertia = K[:3, :3] + mass * np.outer(center, center)
        inertia.flat[::4] -= mass * (center @ center)
        return RigidWhole(mass, center, inertia, T, MT)

    def _rigid(self, q: _Array, part: RigidPart) -> _Array | None:
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


def _parts(dynamics: Dynamics) -> list[RigidPart]:
    """Those whose joints with the world may let them float."""
    model, found = dynamics.model, list[RigidPart]()
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
        found.append(RigidPart(list(slots), bodies, rooted, free))
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


def cross(a: _Array, b: _Array) -> _Array:
    """Of two vectors (3,), in a third of the time that arrays take."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
