"""Bullet as the surroundings of a simulation: it finds contacts, and moves bodies of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pybullet

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.collision.bullet_contacts import BulletContacts
from bridge.collision.bullet_functions import reached
from bridge.collision.contact_record import Contact, records
from bridge.collision.free_bodies import Crowd
from bridge.collision.placed import Placed
from bridge.collision.placing import hurrying
from bridge.collision.population import Population
from bridge.collision.routes import DirectRoute, OrdinaryRoute, Route
from bridge.collision.shortcuts import UNFINISHED, UNSEEN, Shortcut, follow, hurry, look
from bridge.outsiders import WORLD, of_bullet
from bridge.planes.plane_contacts import plane_contacts
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.surroundings import Surrounded


class BulletSurroundings:
    """What a scene's bodies may touch: each other, scenery, planes, and bodies that Bullet has of its own.

    Raises StateError where a mirrored body was removed from Bullet, or once the connection is gone.
    """

    def __init__(self, scene: MirroredScene) -> None:
        self._scene, self._connection, self._client = scene, scene.connection, scene.connection.id
        self._bullet = reached(self._client)
        ordinary = OrdinaryRoute(scene.connection)
        self._route: Route = ordinary if self._bullet is None else DirectRoute(self._bullet, scene.connection)
        self._population = Population(scene.connection, scene.bodies, scene.names)
        self._contacts = BulletContacts(scene.connection, scene.bodies, scene.pairs)
        self._placed = Placed(scene.bodies)
        self._crowd = Crowd((), self._client)  # the free bodies of the last detection
        self._look, self._follow, self._hurry = Shortcut(look), Shortcut(follow), Shortcut(hurry)
        self._buffer = ContactBuffer(1)  # of the last detection
        self._h = np.zeros(1)

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._contacts.forget()
        self._scene.planes.forget_pairs()

    def place(self, poses: np.ndarray, twists: np.ndarray, bare: bool = True, anew: bool = False) -> None:
        """Put bodies at poses (nb, 4, 4) with twists (nb, 6), those that are not there yet, or all of them ``anew``.

        bare: also those without shapes.
        """
        if anew:
            self._placed.forget()
        self._placed.put(self._route, poses, twists)
        if bare:
            self._placed.put_bare(self._route, poses, twists)

    def follow(self, present: Present, bare: bool) -> None:
        """``place`` at a simulation's present state."""
        if self._bullet is not None:
            placed = self._follow(
                (present, self._scene.bodies.version),
                lambda: (self._bullet, self._client, self._placed.rows, present.poses, present.twists),
            )
            if placed != UNSEEN and not bare:
                return
        self.place(present.poses, present.twists, bare)

    def detect(self, simulation: Surrounded) -> Contacts:
        """Contacts at the simulation's state, Bullet's free bodies where a step would take them."""
        buffer = ContactBuffer()
        self.detect_into(simulation, buffer)
        return buffer.contacts()

    def detect_into(self, simulation: Surrounded, buffer: ContactBuffer) -> None:
        """The same, into a buffer."""
        present, drifting = simulation.present, UNSEEN
        if self._bullet is not None and not self._population.lively and not self._crowd:
            drifting = self._looked_at(present, buffer)
        self._buffer = buffer
        if drifting >= 0:
            if drifting:
                self._contacts.drift(drifting, buffer)
            return
        with self._connection.guard():
            if drifting == UNFINISHED:
                self._write(present.poses, self._crowd, 0)
            else:
                self._census()
                self._detect(simulation, present, buffer)

    def substeps(self, simulation: Surrounded, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        present, population, fast = simulation.present, self._population, UNSEEN
        self._h[0] = h
        if self._bullet is not None:
            versions = present, population.version
            fast = self._hurry(
                versions,
                lambda: (self._bullet, self._client, population.census, present.twists, population.reach, self._h),
            )
        if fast == 0 and not population.free:
            return 1
        with self._connection.guard():
            self._census(thorough=False)
            if not population.free and not hurrying(present.twists, population.reach, self._h):
                return 1
            return population.parts(present.poses, present.twists, h)

    def advance(self, simulation: Surrounded, contacts: Contacts, h: float) -> None:
        """Let Bullet move its own bodies on, then give those that the solve moved its answer."""
        if self._population.lively:
            with self._connection.guard():
                self._step_bullet(h)
                self._placed.forget()
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
            self._placed.forget()
            if pybullet.isConnected(self._client):
                pybullet.restoreState(stateId=saved, physicsClientId=self._client)
            raise
        finally:
            if pybullet.isConnected(self._client):
                pybullet.removeState(saved, self._client)

    def look(self, poses: np.ndarray, twists: np.ndarray) -> tuple[Contact, ...]:
        """Contacts with the bodies at poses (nb, 4, 4) and twists (nb, 6); Bullet's own stay where they are."""
        self._census()
        self._placed.put(self._route, poses, twists)
        self._placed.moved()
        buffer = self._buffer = ContactBuffer()
        self._crowd = Crowd(self._population.free, self._client)
        self._write(poses, self._crowd, 2)
        buffer.free_names = self._crowd.names
        return self.named(buffer.contacts())

    def named(self, contacts: Contacts) -> tuple[Contact, ...]:
        """The contacts of the last detection by name."""
        names, count = self._connection.bodies, len(self._scene.names)
        bodies = self._contacts.others if self._buffer.count == len(contacts) else []
        others = [names.get(k) or of_bullet(k) for k in bodies] + [WORLD] * (len(contacts) - len(bodies))
        found = records(contacts, self._scene.names, others)
        return tuple(c for c, a in zip(found, contacts.a.tolist(), strict=True) if a < count)

    def _looked_at(self, present: Present, buffer: ContactBuffer) -> int:
        scene, population, contacts = self._scene, self._population, self._contacts
        versions = (
            present, buffer, buffer.version, population.version, contacts.version, scene.planes.version,
            scene.bodies.version,
        )  # fmt: skip
        return self._look(
            versions,
            lambda: (
                self._bullet, self._client, population.census, self._placed.rows, present.poses, present.twists,
                contacts.raw, population.known(), contacts.frictions, scene.planes.table(), buffer.table,
                contacts.aside,
            ),
        )  # fmt: skip

    def _detect(self, simulation: Surrounded, present: Present, buffer: ContactBuffer) -> None:
        """Contacts at the simulation's state, one thing after the other."""
        self._placed.put(self._route, present.poses, present.twists)
        times = 2 if self._placed.moved() else 1
        self._crowd = crowd = Crowd(self._population.near(present.twists, simulation.step_size), self._client)
        buffer.clear()
        if not crowd:
            self._write(present.poses, crowd, times)
            return
        try:
            free = crowd.place(simulation.step_size, simulation.position_share)
            self._write(present.poses, crowd, times)
        finally:
            crowd.back()
        buffer.free, buffer.free_names = free, crowd.names

    def _census(self, thorough: bool = True) -> None:
        if self._population.renewed(self._route, thorough):
            self._placed.shared = self._population.shared
            self._contacts.forget()

    def _write(self, poses: np.ndarray, crowd: Crowd, times: int) -> None:
        """What Bullet finds, with ``crowd`` and no other of its own bodies as movable, and what the planes do."""
        buffer, planes = self._buffer, self._scene.planes.table()
        self._contacts.find(self._route, times, self._population.known(crowd.bodies), buffer)
        buffer.grow(buffer.count + len(planes.found.whole))
        plane_contacts(planes, poses, buffer.table)

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
