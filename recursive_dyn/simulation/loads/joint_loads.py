"""What joints transmitted in a step, and which of them bore no more.

Everything from a body outwards changes its momentum by what its joint gives, gravity, contacts and applied forces:

    F = sum (m (v_c - v_c0) / h - m g) - impulses / h - forces,   and the same of moments about the body's origin.

So F is the mean over the step, impulses of contacts, limits and motors included, whatever the integrator did, of its
parts where it is cut; of moments it is that but for terms of the order of h. No program is compiled for it: it takes
poses and twists before and after, and the bodies' masses. Liu & Jain, section 7, over a step.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactBuffer, ContactTable
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.own_masses import own_masses
from recursive_dyn.simulation.kept.events import WORLD
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.loads.constraint_loads import ConstraintLoads
from recursive_dyn.simulation.loads.kicks import Kick, transmitted
from recursive_dyn.simulation.present import Present

Pose = Annotated[np.ndarray, float, 4]
Matrix = Annotated[np.ndarray, float, 3]
Rows3 = Annotated[np.ndarray, float, 3]
Rows6 = Annotated[np.ndarray, float, 6]


_AT_ONCE = 1e-9  # s, in which nothing turns


class LoadArrays(NamedTuple):
    """parents (nb,), -1 the world; masses (nb,), centers (nb, 3), inertias (nb, 3, 3) in body axes; gravity (3,);
    strengths (nb, 2): force and moment, infinite where a joint bears anything; external (nb, 6): [moment; force]
    applied at origins, world axes. loads (nb, 6): [moment; force] by each joint in the last part of a step; means
    (nb, 6): in the step so far; sizes (nb, 2): of its force and moment."""

    parents: Integers
    masses: Floats
    centers: Annotated[np.ndarray, float, 3]
    inertias: Annotated[np.ndarray, float, 3, 3]
    gravity: Floats
    strengths: Annotated[np.ndarray, float, 2]
    external: Rows6
    loads: Rows6
    means: Rows6
    sizes: Annotated[np.ndarray, float, 2]


class MovedFrames(NamedTuple):
    """poses (nb, 4, 4) and twists (nb, 6) at the end of a step, start_twists (nb, 6) at its start; world axes."""

    poses: Annotated[np.ndarray, float, 4, 4]
    twists: Rows6
    start_twists: Rows6


def breakable(dynamics: Dynamics) -> bool:
    """Whether a joint or a constraint may break."""
    return bool(dynamics.hanging.strengths or dynamics.hanging.bearing)


class JointLoads:
    """Loads of the joints of dynamics with strengths; ``constraints``: those of constraints; ``external`` (nb, 6):
    wrenches that are applied from outside. near: as of ``ConstraintLoads``."""

    def __init__(self, dynamics: Dynamics, near: np.ndarray) -> None:
        model = dynamics.model
        nb, known = model.nb, dynamics.hanging.strengths
        self._dynamics = dynamics
        self.names = dynamics.bodies
        strengths = np.full((nb, 2), np.inf)
        for name, strength in known.items():
            strengths[self.names.index(name)] = strength
        own = own_masses(model, dict(dynamics.parameters))
        self._arrays = LoadArrays(
            np.array([body.parent for body in dynamics.tree.bodies], dtype=np.int64), own.masses, own.centers,
            own.inertias, model.gravity_at(dynamics.parameters.values_array), strengths, np.zeros((nb, 6)),
            np.zeros((nb, 6)), np.zeros((nb, 6)), np.zeros((nb, 2)),
        )  # fmt: skip
        self.constraints = ConstraintLoads(dynamics, near)
        self._made_at = dynamics.parameters.values_array.copy()
        find_loads.warm()
        self.external, self.means, self.sizes = self._arrays.external, self._arrays.means, self._arrays.sizes

    def begin(self) -> None:
        """A step begins, in which nothing was transmitted yet."""
        self._arrays.means[:] = 0.0

    def noted(self) -> tuple[np.ndarray, np.ndarray]:
        """What was transmitted since ``begin``, to go ``back`` to where parts of a step are taken anew."""
        return self._arrays.means.copy(), self.constraints.means.copy()

    def back(self, noted: tuple[np.ndarray, np.ndarray]) -> None:
        """What was noted was transmitted, and no more."""
        self._arrays.means[:], self.constraints.means[:] = noted

    def note(self, present: Present, memory: Memory, borne: np.ndarray, h: float, share: float = 1.0) -> None:
        """A step, or a part of one of length h, that share of it, ended where the bodies are at present; borne (nv,):
        forces of motors and dry friction that its flight had."""
        now = self._dynamics.parameters.values_array
        if not np.array_equal(now, self._made_at):
            own = own_masses(self._dynamics.model, dict(self._dynamics.parameters))
            self._arrays.gravity[:] = self._dynamics.model.gravity_at(now)
            for kept, value in zip(self._arrays[1:4], own, strict=True):
                kept[:] = value
            self._made_at[:] = now
        frames, known = MovedFrames(present.poses, present.twists, present.start_twists), self.external.copy()
        self.external += self.constraints.bear(borne)
        find_loads(self._arrays, frames, memory.contacts.table, h, share)
        self.external[:] = known
        self.constraints.note(memory, h, share)

    def kick(self, kick: Kick, h: float) -> None:
        """A step of length h began with an impulse of constraints, which joints transmitted to what hangs on them."""
        q, before, after = kick
        impulses, pushes = transmitted(self._dynamics, kick)
        frames = MovedFrames(
            self._dynamics.poses(q), self._dynamics.velocities(q, after), self._dynamics.velocities(q, before)
        )
        arrays = self._arrays._replace(external=pushes / _AT_ONCE, gravity=np.zeros(3))
        find_loads(arrays, frames, ContactBuffer().table, _AT_ONCE, _AT_ONCE / h)
        self.constraints.add(impulses / h)

    def parent(self, index: int) -> str:
        """The name of what a body hangs on."""
        parent = self._dynamics.tree.bodies[index].parent
        return WORLD if parent < 0 else self.names[parent]

    def broken(self) -> list[int]:
        """Numbers of the bodies whose joints transmitted more than they bear since ``begin``."""
        over = np.any(self.sizes > self._arrays.strengths, axis=1)
        return [int(k) for k in np.flatnonzero(over)] if over.any() else []


@compiled
def find_loads(a: LoadArrays, frames: MovedFrames, contacts: ContactTable, h: float, share: float) -> None:
    """Write loads of a part of a step of length h, and what they make of means."""
    count, x = len(a.parents), np.empty((8, 3))
    for k in range(count):
        _own_need(a, frames, k, h, x)
    for n in range(contacts.size[0]):
        _take_contact(a, frames, contacts, n, contacts.a[n], 0, 1.0 / h)
        _take_contact(a, frames, contacts, n, contacts.b[n], 1, -1.0 / h)
    for j in range(count):
        k = count - 1 - j
        parent = a.parents[k]
        if parent >= 0:
            _hand_on(a, frames, k, parent)
        force, moment = 0.0, 0.0
        for i in range(3):
            a.means[k, i] += share * a.loads[k, i]
            a.means[k, 3 + i] += share * a.loads[k, 3 + i]
            moment += a.means[k, i] * a.means[k, i]
            force += a.means[k, 3 + i] * a.means[k, 3 + i]
        a.sizes[k, 0] = np.sqrt(force)
        a.sizes[k, 1] = np.sqrt(moment)


@compiled
def _own_need(a: LoadArrays, frames: MovedFrames, k: int, h: float, x: Rows3) -> None:
    """What a body's own motion needs, less gravity's part and what is applied. Its start is a turn back by the mean of
    its angular velocities."""
    X, V, V0, center, inertia = frames.poses[k], frames.twists[k], frames.start_twists[k], a.centers[k], a.inertias[k]
    arm, arm0, back, spin, spin0, forth, seen = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
    for i in range(3):
        arm[i] = X[i, 0] * center[0] + X[i, 1] * center[1] + X[i, 2] * center[2]
        forth[i] = 0.5 * h * (V[i] + V0[i])
        back[i] = -forth[i]
    _turn(back, arm, arm0)
    _spin(X, inertia, V[:3], x[7], spin)
    _turn(forth, V0[:3], seen)
    _spin(X, inertia, seen, x[7], forth)
    _turn(back, forth, spin0)
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        now = V[3 + i] + V[j] * arm[m] - V[m] * arm[j]
        before = V0[3 + i] + V0[j] * arm0[m] - V0[m] * arm0[j]
        a.loads[k, 3 + i] = a.masses[k] * ((now - before) / h - a.gravity[i])
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        turning = (spin[i] - spin0[i]) / h + arm[j] * a.loads[k, 3 + m] - arm[m] * a.loads[k, 3 + j]
        a.loads[k, i] = turning - a.external[k, i]
    for i in range(3):
        a.loads[k, 3 + i] -= a.external[k, 3 + i]


@compiled
def _turn(by: Floats, vector: Floats, result: Floats) -> None:
    """A vector turned by a rotation vector (3,), by Rodrigues' formula."""
    square = by[0] * by[0] + by[1] * by[1] + by[2] * by[2]
    angle = np.sqrt(square)
    once, twice = 1.0 - square / 6.0, 0.5 - square / 24.0
    if angle > 1e-3:
        once, twice = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    along = by[0] * vector[0] + by[1] * vector[1] + by[2] * vector[2]
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        across = by[j] * vector[m] - by[m] * vector[j]
        result[i] = vector[i] + once * across + twice * (by[i] * along - vector[i] * square)


@compiled
def _spin(X: Pose, inertia: Matrix, omega: Floats, room: Floats, result: Floats) -> None:
    """R I R^T omega: the angular momentum of a body about its centre of mass, world axes."""
    for i in range(3):
        room[i] = X[0, i] * omega[0] + X[1, i] * omega[1] + X[2, i] * omega[2]
    for i in range(3):
        result[i] = 0.0
    for j in range(3):
        own = inertia[j, 0] * room[0] + inertia[j, 1] * room[1] + inertia[j, 2] * room[2]
        for i in range(3):
            result[i] += X[i, j] * own


@compiled
def _take_contact(
    a: LoadArrays, frames: MovedFrames, contacts: ContactTable, n: int, k: int, side: int, scale: float
) -> None:
    """What a contact gives a body it need not have from its joint; scale: of its impulses on A."""
    if k < 0 or k >= len(a.parents):
        return
    X, point, impulse = frames.poses[k], contacts.points[n, side], contacts.impulses[n]
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        turning = (point[j] - X[j, 3]) * impulse[m] - (point[m] - X[m, 3]) * impulse[j]
        a.loads[k, i] -= scale * (turning + contacts.moments[n, i])
        a.loads[k, 3 + i] -= scale * impulse[i]


@compiled
def _hand_on(a: LoadArrays, frames: MovedFrames, k: int, parent: int) -> None:
    """What a body needs of its joint, its parent needs too, about its own origin."""
    X, Y, load = frames.poses[k], frames.poses[parent], a.loads[k]
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        turning = (X[j, 3] - Y[j, 3]) * load[3 + m] - (X[m, 3] - Y[m, 3]) * load[3 + j]
        a.loads[parent, i] += load[i] + turning
        a.loads[parent, 3 + i] += load[3 + i]
