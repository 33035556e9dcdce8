"""Bullet's own rigid bodies that move freely: read before a step, placed where it leads, given their answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pybullet

from bridge.outsiders import of_bullet
from recursive_dyn.contact.contacts import FreeBodies
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product, quaternion_to_matrix


@dataclass(eq=False)
class FreeBody:
    """What Bullet says once of a rigid body of its own: id, mass (kg), principal moments of inertia (3,), size (m).

    given, told: the orientation that it was given last, a quaternion, and what Bullet then told of it, which differs by
    rounding: given what it told, it would tell something else again.
    """

    id: int
    mass: float
    moments: np.ndarray
    radius: float
    given: Sequence[float] = ()
    told: Sequence[float] = ()

    @classmethod
    def of(cls, body: int, client: int) -> FreeBody | None:
        """The body if it is a single one with mass, else None."""
        if pybullet.getNumJoints(body, physicsClientId=client) > 0:
            return None
        facts = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
        mass, moments = facts[0], np.array(facts[2])
        if mass <= 0.0 or not (moments > 0.0).all():
            return None
        low, high = pybullet.getAABB(body, -1, physicsClientId=client)
        return cls(body, mass, moments, float(0.5 * np.min(np.subtract(high, low))))


def states_of(bodies: Sequence[FreeBody], client: int) -> list[tuple[Any, ...]]:
    """Id, position, orientation, velocity and angular velocity of each."""
    return [
        (
            b.id,
            *pybullet.getBasePositionAndOrientation(b.id, physicsClientId=client),
            *pybullet.getBaseVelocity(b.id, physicsClientId=client),
        )
        for b in bodies
    ]


def return_to(states: Sequence[tuple[Any, ...]], bodies: Sequence[FreeBody], client: int) -> None:
    """Put bodies where they were, as fast as they were: to the bit if we had put them there last.

    Those that came or went since are left alone.
    """
    there = {body.id: body for body in bodies}
    for number, position, told, velocity, omega in states:
        if number in there:
            body = there[number]
            orientation = body.given if told == body.told else told
            pybullet.resetBasePositionAndOrientation(number, position, orientation, client)
            pybullet.resetBaseVelocity(number, velocity, omega, client)


class Crowd:
    """The free bodies of a connection during one step. touching: pairs of ids of all that touches as it begins, with
    the scene's bodies where it leads, as Bullet's own step will see it.

    Bullet moves a body by its velocity at the end of the step: v + g h, then x + v h.
    """

    def __init__(self, bodies: Sequence[FreeBody], client: int) -> None:
        self.bodies, self._client = bodies, client
        self.touching: frozenset[tuple[int, int]] = frozenset()
        self._start: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self.bodies)

    @property
    def names(self) -> list[str]:
        """How contacts call them."""
        return [of_bullet(body.id) for body in self.bodies]

    def look(self) -> frozenset[tuple[int, int]]:
        """See what touches as the step begins, if there is anybody."""
        if self.bodies:
            pybullet.performCollisionDetection(self._client)
            points = pybullet.getContactPoints(physicsClientId=self._client)
            self.touching = frozenset((point[1], point[2]) for point in points)
        return self.touching

    def place(self, h: float, share: float) -> FreeBodies:
        """Put every body where a step of length h would take it, and say how it moves.

        share: of the step by which the change of velocity moves it, as for the simulation's own bodies.
        """
        client = self._client
        g = gravity(client)
        states = self._start = states_of(self.bodies, client)
        x = np.array([position for _, position, _, _, _ in states]).reshape(-1, 3)
        turn = np.array([orientation for _, _, orientation, _, _ in states]).reshape(-1, 4)
        before = np.array([(*omega, *velocity) for _, _, _, velocity, omega in states]).reshape(-1, 6)
        twist = before.copy()
        twist[:, 3:] += h * g
        self._x = x + h * before[:, 3:] + (share * h * h) * g
        self._turn = _turned(turn, h * twist[:, :3])
        for body, position, orientation in zip(self.bodies, self._x.tolist(), self._turn.tolist(), strict=True):
            pybullet.resetBasePositionAndOrientation(body.id, position, orientation, client)
        R = quaternion_to_matrix(self._turn)
        inverse = np.array([1.0 / b.moments for b in self.bodies]).reshape(-1, 3)
        masses = np.array([1.0 / b.mass for b in self.bodies])
        return FreeBodies(self._x, masses, np.einsum("nij,nj,nkj->nik", R, inverse, R), before, twist)

    def back(self) -> None:
        """Put every body back where it was before ``place``, if it came to that: to the bit if we had put it there."""
        return_to(self._start, self.bodies, self._client)

    def answer(self, free: FreeBodies, solved: Collection[int]) -> None:
        """After Bullet's own step: the poses and velocities of a solve, of the bodies of these ids."""
        if not solved:
            return
        x = self._x + free.shift[:, 3:]
        turn = _turned(self._turn, free.shift[:, :3])
        for k, body in enumerate(self.bodies):
            if body.id in solved:
                twist, body.given = free.twist[k].tolist(), turn[k].tolist()
                pybullet.resetBasePositionAndOrientation(body.id, x[k].tolist(), body.given, self._client)
                pybullet.resetBaseVelocity(body.id, twist[3:], twist[:3], self._client)
                body.told = pybullet.getBasePositionAndOrientation(body.id, physicsClientId=self._client)[1]


def _turned(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of bodies turned by rotation vectors (n, 3) in world axes."""
    result = quaternion_product(quaternion_exp(turns), q)
    return np.asarray(result / np.sqrt((result * result).sum(axis=1, keepdims=True)))


def step_bullet(client: int, h: float) -> None:
    """Let Bullet take a step of h seconds."""
    before = pybullet.getPhysicsEngineParameters(client)["fixedTimeStep"]
    if before != h:
        pybullet.setTimeStep(h, physicsClientId=client)
    try:
        pybullet.stepSimulation(physicsClientId=client)
    finally:
        if before != h:
            pybullet.setTimeStep(before, physicsClientId=client)


def gravity(client: int) -> np.ndarray:
    """Bullet's gravity (3,), m/s^2."""
    known = pybullet.getPhysicsEngineParameters(client)
    return np.array([known[f"gravityAcceleration{axis}"] for axis in "XYZ"])


def velocity_of(body: int, link: int, point: np.ndarray, client: int) -> np.ndarray:
    """Velocity (3,) of a point of any of Bullet's bodies, world axes; link -1 is the base."""
    if link < 0:
        velocity, omega = pybullet.getBaseVelocity(body, physicsClientId=client)
        center = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)[0]
    else:
        state = pybullet.getLinkState(body, link, computeLinkVelocity=1, physicsClientId=client)
        center, velocity, omega = state[0], state[6], state[7]
    return np.add(velocity, np.cross(omega, np.subtract(point, center)))


def articulated(body: int, client: int) -> bool:
    """True for a body of several links of which some move."""
    joints = pybullet.getNumJoints(body, physicsClientId=client)
    return joints > 0 and any(
        pybullet.getDynamicsInfo(body, link, physicsClientId=client)[0] > 0.0 for link in range(-1, joints)
    )
