"""What hangs together by constraints, or by joints between free bodies, as impulses move it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import body_links
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.acting.joint_action import JointAction
from recursive_dyn.model.independent import independent
from recursive_dyn.model.model import WORLD
from recursive_dyn.simulation.stepping.rigid_parts import RigidPart, RigidParts, RigidWhole, cross

_Array = np.ndarray


class Afloat(NamedTuple):
    """A part that floats: as one rigid body where a flight ended, and where the step does."""

    part: RigidPart
    was: RigidWhole
    now: RigidWhole

    def pushed(self, contacts: ContactTable, these: Iterable[int]) -> _Array:
        """Spin about where its centre flew, and momentum (6,), that these contacts give it."""
        total = np.zeros(6)
        for c in these:
            for side, body in enumerate((contacts.a[c], contacts.b[c])):
                if body in self.part.bodies:
                    push, sign = contacts.impulses[c], 1.0 - 2.0 * side
                    arm = contacts.points[c, side] - self.was.center
                    total[:3] += sign * (cross(arm, push) + contacts.moments[c])
                    total[3:] += sign * push
        return total


class HeldParts:
    """Of one dynamics with constraints; ``slots``: those of each part that knows nothing of the others."""

    slots: list[list[int]]
    _of_body: list[int]

    def __init__(self, dynamics: Dynamics, floating: RigidParts) -> None:
        self.dynamics, self._floating = dynamics, floating
        model, self._floats = dynamics.model, set[int]()
        self._passive = bool(model.forces) or any(c.elasticity for c in model.coordinates)
        self._divide()

    def _divide(self) -> None:
        """Find the parts."""
        model = self.dynamics.model
        parts = independent(model)
        of_link = {link: k for k, part in enumerate(parts) for link in part.links}
        self.slots = [list(part.slots) for part in parts]
        self._of_body = [WORLD if body.link == WORLD else of_link[body.link] for body in model.bodies]

    def part(self, body: int) -> int:
        """The part of a body, -1 for none that moves."""
        return self._of_body[body] if 0 <= body < len(self._of_body) else WORLD

    def momenta(self, q: _Array, ways: Iterable[_Array]) -> _Array:
        """M v (k, nv) of each of these velocities v (nv,)."""
        return self._floating.momenta(q, ways)

    def forces(self, q: _Array) -> _Array:
        """What does work along a way: gravity and springs (nv,)."""
        still = np.zeros(self.dynamics.nv)
        weight = -np.asarray(self.dynamics.call("inverse_dynamics", q, still, still))
        return weight + self.dynamics.passive_forces(q, still) if self._passive else weight

    def struck(self, q0: _Array, q: _Array, v: _Array) -> _Array:
        """Of velocities v (nv,) that bounces made where a flight ended, at q0, the nearest ones that constraints allow
        at q, by the masses."""
        d = self.dynamics
        return np.asarray(d.call("project", q, v)[d.nq : d.nq + d.nv])

    def met(self, q: _Array, v: _Array, ahead: float) -> _Array:
        """The same, of velocities (nv,) of a time ``ahead`` before positions came to q (nq,)."""
        return v

    def afloat(self, q0: _Array, q: _Array, bodies: Iterable[int]) -> list[Afloat]:
        """Parts of these bodies that float, where a flight ended and where the step does."""
        it, touched, found = self._floating, set(bodies), list[Afloat]()
        for part in it.parts:
            if touched.isdisjoint(part.bodies) or (now := it.whole(q, part)) is None:
                continue
            first = part.slots[0]
            if first not in self._floats and not it.floats(q, part, now):
                continue
            self._floats.add(first)
            if (was := it.whole(q0, part)) is not None:
                found.append(Afloat(part, was, now))
        return found


class JointedParts(HeldParts):
    """Of free bodies between joints, which kept their momenta where they were moved; of forces it is not known what
    they do where a flight ended, as joints let them."""

    def __init__(self, joints: JointAction) -> None:
        self._joints = joints
        super().__init__(joints.dynamics, RigidParts(joints.dynamics))

    def _divide(self) -> None:
        d = self._joints.dynamics
        roots = d.joints.roots * (not d.model.forces)
        known = np.unique(roots)
        self.slots = [[s for i in np.flatnonzero(roots == root) for s in range(6 * i, 6 * i + 6)] for root in known]
        self._of_body = [WORLD if i == WORLD else int(np.searchsorted(known, roots[i])) for i in body_links(d.model)]

    def struck(self, q0: _Array, q: _Array, v: _Array) -> _Array:
        found = self._joints.allowed(q, v)
        self._joints.keep_momenta(q0, v, q, found)  # axes of bodies that turn take them along
        return found

    def met(self, q: _Array, v: _Array, ahead: float) -> _Array:
        return self._joints.allowed(q, v, ahead)

    def afloat(self, q0: _Array, q: _Array, bodies: Iterable[int]) -> list[Afloat]:
        return []
