"""Bullet as the surroundings of a simulation: it finds contacts, and moves bodies of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pybullet

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.collision.bullet_contacts import BulletContacts
from bridge.collision.bullet_functions import reached
from bridge.collision.contact_points import NEW_PAIRS, NO_ROOM
from bridge.collision.free_bodies import Crowd, return_to, states_of, step_bullet
from bridge.collision.looking import ALL, UNSEEN, Haste, Look
from bridge.collision.placed import Placed
from bridge.collision.population import Population
from bridge.collision.routes import DirectRoute, OrdinaryRoute, Route
from recursive_dyn.codegen.compiled import Floats
from recursive_dyn.contact.contact_buffer import ContactBuffer, ContactTable
from recursive_dyn.contact.contact_record import Contact
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.bounds import Bounds
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.surroundings import Lookout, Surrounded

_ATTEMPTS = 100  # to find contacts, of which each mends what was in the way of the one before
_SILENCES = 3  # of these, in which Bullet may be found changed, or without an answer
_Where = tuple[np.ndarray, np.ndarray, np.ndarray]  # poses, twists, and who sleeps, of all bodies
_AWAY = 1e5  # m above everything


class BulletSurroundings:
    """What a scene's bodies may touch: each other, scenery, planes, and bodies that Bullet has of its own.

    late: whether bodies still are where a look needed them rather than where they were mirrored since; shared: whether
    Bullet had bodies of its own when they were counted last.
    Raises StateError where a mirrored body was removed from Bullet, or once the connection is gone.
    """

    def __init__(self, scene: MirroredScene) -> None:
        self._scene, self._connection, self._client = scene, scene.connection, scene.connection.id
        bullet = reached(self._client)
        self._route: Route = OrdinaryRoute(scene.connection) if bullet is None else DirectRoute(bullet, self._client)
        self._population = Population(scene, self._route.ids)
        self._contacts = BulletContacts(scene.connection, scene.bodies, scene.pairs)
        self._placed = Placed(scene.bodies)
        self._crowd = Crowd((), self._client)  # the free bodies of the last detection
        self._given: Look | None = None
        self._haste: Haste | None = None
        self._awake = np.zeros(len(scene.names), dtype=np.int64)  # of bodies, where none sleeps
        self._bound: tuple[ContactTable, Present, Lookout | None] | None = None  # a lookout, and what it is of
        self.late = self.shared = False
        self._h, self._stage = np.zeros(1), np.zeros(1, dtype=np.int64)

    def renew(self, gone: Collection[int]) -> None:
        """The scene has other bodies or scenery; gone: Bullet's ids of what went, which others may have now."""
        self._population.renew(self._scene.names)
        self._awake = np.zeros(len(self._scene.names), dtype=np.int64)
        self._placed.drop(gone)
        self._placed.forgive()
        self._contacts.drop(gone)
        self._given = self._haste = self._bound = None

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._contacts.forget()
        self._population.forget_pairs()
        self._scene.planes.forget_pairs()
        self._bound = None

    def place(self, poses: np.ndarray, twists: np.ndarray, bare: bool = True, anew: bool = False) -> None:
        """Put bodies at poses (nb, 4, 4) with twists (nb, 6), those that are not there yet, or all of them ``anew``.

        bare: also those without shapes, of whose poses only Bullet can tell.
        """
        self.late = False
        solid, without = self._placed.at(poses, twists)
        if anew:
            self._placed.forget()
        if self._route.put(solid) == UNSEEN or (bare and self._route.put(without) == UNSEEN):
            self._connection.check()

    def detect(self, simulation: Surrounded) -> Contacts:
        """Contacts at the simulation's state, Bullet's free bodies where a step would take them."""
        buffer = ContactBuffer()
        self.detect_into(simulation, buffer)
        return buffer.contacts()

    @property
    def calm(self) -> bool:
        """Whether there is nothing but the mirror's own bodies."""
        return not self._population.shared

    def lookout(self, present: Present, buffer: ContactBuffer, h: Floats) -> Lookout | None:
        """What a step asks of Bullet, bound, unless Bullet has something to move."""
        bound = self._bound
        if self._population.lively:
            return None
        if bound is None or bound[0] is not buffer.table or bound[1] is not present:
            look = self._asked(present.poses, present.twists, present.asleep, buffer)
            found = self._route.lookout(self._population.sweep(present, h), look, self._population.bounds)
            bound = self._bound = buffer.table, present, found
        self.late = False
        return bound[2]

    @property
    def bounds(self) -> Bounds:
        """Boxes about all there is, unless Bullet has bodies of its own."""
        return self._population.bounds()

    def detect_into(self, simulation: Surrounded, buffer: ContactBuffer) -> None:
        """``detect``, into a buffer."""
        present = simulation.present
        if self._population.lively:
            self._find_among_others(simulation, present, buffer)
        else:
            said = self._route.look(self._asked(present.poses, present.twists, present.asleep, buffer))
            self.look_on(said, simulation, buffer)

    def look_on(self, said: int, simulation: Surrounded, buffer: ContactBuffer) -> None:
        """Mend what was in the way of a look, and tell how contacts drift."""
        present = simulation.present
        self._found(said, (present.poses, present.twists, present.asleep), buffer)
        if self._population.lively:  # since now
            self._find_among_others(simulation, present, buffer)

    def substeps(self, simulation: Surrounded, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        present, population = simulation.present, self._population
        if self._hurrying(present, h) == 0 and not population.free:
            return 1
        with self._connection.guard():
            return population.parts(population.sweep(present, self._h))

    def advance(self, simulation: Surrounded, contacts: Contacts, h: float) -> None:
        """Let Bullet move its own bodies on, then give those that the solve moved its answer."""
        if self._population.lively:
            with self._connection.guard():
                solved = self._population.solved(contacts)
                with self._placed.hidden(self._population.hampering(self._crowd, solved), self._client):
                    step_bullet(self._client, h)
                self._placed.forget()
                self._crowd.answer(contacts.free, solved)

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

    def forget(self, simulation: Surrounded) -> None:
        """Let Bullet know of the scene's bodies what it would had they been made where they are now.

        What it finds depends on what it found before, point by point. So they are taken away from everything, and come
        back. Bullet's own bodies stay, and what it remembers of these among themselves.
        """
        if not pybullet.isConnected(self._client):
            return  # who is gone remembers nothing
        present, extents = simulation.present, self._scene.bodies.reach[:, 2]
        away = np.tile(np.eye(4), (len(extents), 1, 1))
        away[:, 0, 3], away[:, 2, 3] = (2.0 * extents.max(initial=0.0) + 1.0) * np.arange(len(extents)), _AWAY
        with self._connection.guard(), self._connection.paused():
            for poses in (away, present.poses):  # its boxes, too, are those of the last detection
                self.place(poses, present.twists, bare=False)
                pybullet.performCollisionDetection(self._client)
                self._placed.rouse(self._client)
            self._placed.forget_seen()
            self._population.known.gathering[:] = False

    def free_states(self) -> list[tuple[Any, ...]]:
        """Where Bullet's own free bodies are, and how they move."""
        with self._connection.guard():
            return states_of(self._population.free, self._client)

    def return_to(self, states: Sequence[tuple[Any, ...]]) -> None:
        """Put them where they were then."""
        with self._connection.guard():
            return_to(states, self._population.free, self._client)

    def look(self, poses: np.ndarray, twists: np.ndarray) -> tuple[Contact, ...]:
        """Contacts with the bodies at poses (nb, 4, 4) and twists (nb, 6); Bullet's own stay where they are."""
        self._count()
        self._crowd = Crowd(self._population.free, self._client)
        self._population.let_move(self._crowd.bodies)
        buffer = ContactBuffer()
        self._placed.at(poses, twists)
        self._placed.forget_seen()
        self._find(poses, twists, buffer)
        buffer.free_names = self._crowd.names
        return self.named(buffer.contacts())

    def named(self, contacts: Contacts) -> tuple[Contact, ...]:
        """The contacts of the last detection by name."""
        return contacts.records(self._scene.names, self.others(contacts))

    def others(self, contacts: Contacts) -> list[str]:
        """What B is called, of each contact, where nothing moves it."""
        return self._contacts.others(contacts.key, self._population.census.ids, self._population.known.ranks)

    def _find(self, poses: np.ndarray, twists: np.ndarray, buffer: ContactBuffer) -> None:
        """Write what Bullet finds, and what the planes do, of all bodies."""
        where = poses, twists, self._awake
        self._found(self._route.look(self._asked(*where, buffer)), where, buffer)

    def _found(self, drifting: int, where: _Where, buffer: ContactBuffer) -> None:
        """What else there is to do after a look that said this."""
        self.late = False
        if drifting < 0:
            drifting = self._mended(drifting, where, buffer)
        if drifting:
            with self._connection.guard():
                self._contacts.drift(drifting, buffer)

    def _asked(self, poses: np.ndarray, twists: np.ndarray, asleep: np.ndarray, buffer: ContactBuffer) -> Look:
        """What it takes, as long as it is the same."""
        who, found, placement = self._population, self._contacts, self._placed.at(poses, twists)[0]
        given = Look(
            who.census, placement, asleep, found.raw, who.known, found.frictions, who.true_shapes.table, who.parted(),
            self._scene.planes.table(), buffer.table, found.aside, self._stage,
        )  # fmt: skip
        if self._given is None or any(new is not old for new, old in zip(given, self._given, strict=True)):
            self._given, self._bound = given, None
        return self._given

    def _mended(self, said: int, where: _Where, buffer: ContactBuffer) -> int:
        """Look again until nothing is in the way; how many contacts drift."""
        silences = 0
        try:
            for _ in range(_ATTEMPTS):
                if said >= 0:
                    return said
                if said == UNSEEN:
                    silences += 1
                    if silences > _SILENCES:
                        break
                    self._count()
                elif said == NEW_PAIRS:
                    self._contacts.learn()
                elif said == NO_ROOM:
                    self._contacts.make_room(buffer, len(self._scene.planes.table().found.whole))
                said = self._route.look(self._asked(*where, buffer))
        finally:
            self._stage[0] = ALL
        raise StateError("Bullet gives no answer; close this mirror and create a new PyBulletMirror")

    def _find_among_others(self, simulation: Surrounded, present: Present, buffer: ContactBuffer) -> None:
        """Write what is found with those of Bullet's free bodies as movable that a step may bring near the scene's."""
        with self._connection.guard():
            self._hurrying(present, simulation.step_size)
            self._route.put(self._placed.at(present.poses, present.twists)[0])
            near = self._population.near(present.poses, present.twists, simulation.step_size)
            self._crowd = crowd = Crowd(near, self._client)
            self._population.let_move(crowd.bodies, crowd.look())
            buffer.clear()
            if not crowd:
                self._find(present.poses, present.twists, buffer)
                return
            try:
                free = crowd.place(simulation.step_size, simulation.position_share)
                self._find(present.poses, present.twists, buffer)
            finally:
                crowd.back()
            buffer.free, buffer.free_names = free, crowd.names

    def _hurrying(self, present: Present, h: float) -> int:
        """How many bodies may be too fast for a step of h seconds; who came or went is seen by the way."""
        self._h[0] = h
        haste = self._haste
        if haste is None or haste.twists is not present.twists:
            haste = self._haste = self._population.haste(present, self._h)
        fast = self._route.hurry(haste)
        if fast == UNSEEN:
            self._count()
        return fast

    def _count(self) -> None:
        """See who is there now."""
        with self._connection.guard():
            self._population.count()
            self.shared = self._population.shared
            self._contacts.forget()
        if not self._population.lively:
            self._crowd = Crowd((), self._client)
        self._haste = self._bound = None
