"""Bullet as the surroundings of a simulation: it finds contacts, and moves bodies of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pybullet

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.collision.bullet_contacts import BulletContacts
from bridge.collision.contact_record import Contact, records
from bridge.collision.free_bodies import Crowd
from bridge.collision.population import Population
from bridge.outsiders import WORLD, of_bullet
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.simulation.surroundings import Surrounded


class BulletSurroundings:
    """What a scene's bodies may touch: each other, scenery, planes, and bodies that Bullet has of its own.

    Raises StateError where a mirrored body was removed from Bullet, or once the connection is gone.
    """

    def __init__(self, scene: MirroredScene) -> None:
        self._scene, self._connection, self._client = scene, scene.connection, scene.connection.id
        self._population = Population(scene.connection, scene.bodies, scene.names)
        self._contacts = BulletContacts(scene.connection, scene.bodies, scene.pairs, len(scene.names))
        self._crowd = Crowd((), self._client)  # the free bodies of the last detection
        self._others: list[str] = []  # what each contact's B of the last detection is called, if it is not ours

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._contacts.forget()
        self._scene.planes.forget_pairs()

    def detect(self, simulation: Surrounded) -> Contacts:
        """Contacts at the simulation's state, Bullet's free bodies where a step would take them."""
        with self._connection.guard():
            self._census()
            poses, twists = simulation.frames()
            self._scene.place(poses, twists if self._population.lively else None)
            self._crowd = crowd = Crowd(self._population.near(twists, simulation.step_size), self._client)
            if not crowd:
                return self._found(poses, crowd)
            try:
                free = crowd.place(simulation.step_size, simulation.position_share)
                found = self._found(poses, crowd)
            finally:
                crowd.back()
            found.free = free
            return found

    def substeps(self, simulation: Surrounded, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        with self._connection.guard():
            self._census(thorough=False)
            return self._population.parts(*simulation.frames(), h)

    def advance(self, simulation: Surrounded, contacts: Contacts, h: float) -> None:
        """Let Bullet move its own bodies on, then give those that the solve moved its answer."""
        if self._population.lively:
            with self._connection.guard():
                self._step_bullet(h)
                if self._crowd:
                    self._answer(contacts)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Left by an exception, Bullet's bodies go back to where they were."""
        if not self._population.lively:
            yield
            return
        saved = pybullet.saveState(self._client)
        try:
            yield
        except BaseException:
            if pybullet.isConnected(self._client):
                pybullet.restoreState(stateId=saved, physicsClientId=self._client)
            raise
        finally:
            if pybullet.isConnected(self._client):
                pybullet.removeState(saved, self._client)

    def look(self, poses: np.ndarray, twists: np.ndarray) -> tuple[Contact, ...]:
        """Contacts with the bodies at poses (nb, 4, 4) and twists (nb, 6); Bullet's own stay where they are."""
        self._census()
        self._scene.place(poses, twists)
        return self.named(self._found(poses, Crowd(self._population.free, self._client)))

    def named(self, contacts: Contacts) -> tuple[Contact, ...]:
        """The contacts of the last detection by name."""
        others = self._others if len(self._others) == len(contacts) else [WORLD] * len(contacts)
        count = len(self._scene.names)
        found = records(contacts, self._scene.names, others)
        return tuple(c for c, a in zip(found, contacts.a.tolist(), strict=True) if a < count)

    def _census(self, thorough: bool = True) -> None:
        if self._population.renewed(thorough):
            self._contacts.forget()

    def _found(self, poses: np.ndarray, crowd: Crowd) -> Contacts:
        """What Bullet finds, with ``crowd`` and no other of its own bodies as movable, and what the planes do."""
        names = self._connection.bodies
        found, ids = self._contacts.found(self._population.numbers(crowd.bodies), crowd.names)
        self._others = [names.get(k) or of_bullet(k) for k in ids]
        touch = self._scene.planes.contacts(poses)
        if touch is None:
            return found
        self._others += [WORLD] * len(touch)
        return found.joined(touch) if len(found) else touch

    def _step_bullet(self, h: float) -> None:
        client = self._client
        before = pybullet.getPhysicsEngineParameters(client)["fixedTimeStep"]
        if before != h:
            pybullet.setTimeStep(h, physicsClientId=client)
        try:
            pybullet.stepSimulation(physicsClientId=client)
        finally:
            if before != h:
                pybullet.setTimeStep(before, physicsClientId=client)

    def _answer(self, contacts: Contacts) -> None:
        """Put the crowd where the solve has it, and those that Bullet pushed away from a mirror as if alone."""
        crowd, count, names = self._crowd, len(self._scene.names), self._connection.bodies
        solved, pushed = np.zeros(len(crowd), dtype=bool), np.zeros(len(crowd), dtype=bool)
        for side in (contacts.a, contacts.b):
            solved[side[side >= count] - count] = True
        numbers = {body.id: k for k, body in enumerate(crowd.bodies)}
        for point in pybullet.getContactPoints(physicsClientId=self._client):
            for free, other in ((point[1], point[2]), (point[2], point[1])):
                if free in numbers and names.get(other, WORLD) != WORLD:
                    pushed[numbers[free]] = True
        crowd.finish(contacts.free, solved, pushed & ~solved)
