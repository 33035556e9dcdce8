"""Closed forms as the surroundings of a simulation: a step among them is one call of machine code."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from bridge.closed_form.closed_bounds import bounds_of
from bridge.closed_form.closed_contacts import (
    NO_PAIRS,
    NO_ROWS,
    POINTS,
    ClosedLook,
    Speeds,
    cuts_closed,
    look_closed,
)
from bridge.closed_form.closed_scene import ClosedScene
from bridge.closed_form.near_pairs import PairRoom, pair_room
from bridge.closed_form.solids import room_of
from bridge.curved.manifold_points import Found
from recursive_dyn.codegen.compiled import Floats
from recursive_dyn.contact.contact_buffer import ContactBuffer, ContactTable
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.simulation.bounds import UNKNOWN, Bounds
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.surroundings import Lookout, Surrounded

_ROOM = 4  # pairs for each shape, at first


class ClosedSurroundings:
    """What a scene's spheres, capsules and boxes touch: each other, scenery and planes.

    It remembers nothing from step to step: contacts depend on where bodies are alone.
    """

    def __init__(self, scene: ClosedScene) -> None:
        self._h = np.zeros(1)
        self.renew(scene)

    def renew(self, scene: ClosedScene) -> None:
        """The scene was edited."""
        self.scene = scene
        self._placed, self._found = room_of(scene.solids), Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
        shapes = len(scene.solids.bodies)
        self._pairs: PairRoom = pair_room(shapes, _ROOM * shapes + 16)
        self._given: tuple[Any, ...] = ()
        self._bounds = UNKNOWN

    @property
    def calm(self) -> bool:
        """Nothing else moves."""
        return True

    @property
    def bounds(self) -> Bounds:
        """Boxes about all there is."""
        if self._bounds is UNKNOWN:
            self._bounds = bounds_of(self.scene)
        return self._bounds

    def lookout(self, present: Present, buffer: ContactBuffer, h: Floats) -> Lookout:
        """What a step asks, bound."""
        known = self._given
        if not known or known[0] is not buffer.table or known[1] is not present or known[2] is not h:
            look = self._look(present, buffer.table)
            speeds = Speeds(present.twists, present.start_twists, self.scene.reach, h)
            calls = Lookout(cuts_closed.bind(look, speeds), look_closed.bind(look), lambda: self.bounds)
            self._given = buffer.table, present, h, calls
        calls = self._given[3]
        return calls

    def detect(self, simulation: Surrounded) -> Contacts:
        """Contacts at the simulation's state."""
        buffer = ContactBuffer()
        self.detect_into(simulation, buffer)
        return buffer.contacts()

    def detect_into(self, simulation: Surrounded, buffer: ContactBuffer) -> None:
        """``detect``, into a buffer."""
        self.look_on(look_closed(self._look(simulation.present, buffer.table)), simulation, buffer)

    def look_on(self, said: int, simulation: Surrounded, buffer: ContactBuffer) -> None:
        """Make the room that was wanting, and look again."""
        while said:
            if said == NO_PAIRS:
                self._pairs = pair_room(len(self._pairs.heads), 2 * len(self._pairs.others))
            elif said == NO_ROWS:
                buffer.grow(2 * buffer.capacity + len(self.scene.planes.table().found.whole))
            self._given = ()
            said = look_closed(self._look(simulation.present, buffer.table))

    def substeps(self, simulation: Surrounded, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        self._h[0] = h
        present = simulation.present
        speeds = Speeds(present.twists, present.start_twists, self.scene.reach, self._h)
        return 1 + cuts_closed(self._look(present, ContactBuffer(1).table), speeds)

    def advance(self, simulation: Surrounded, contacts: Contacts, h: float) -> None:
        """Nothing else moves."""

    def forget(self, simulation: Surrounded) -> None:
        """Nothing was remembered."""

    def atomic(self) -> AbstractContextManager[None]:
        """Nothing was moved, nothing goes back."""
        return nullcontext()

    def _look(self, present: Present, table: ContactTable) -> ClosedLook:
        scene = self.scene
        return ClosedLook(
            scene.solids, self._placed, self._pairs, scene.rules, scene.materials, scene.frictions, self._found,
            scene.planes.table(), present.poses, present.asleep, table,
        )  # fmt: skip
