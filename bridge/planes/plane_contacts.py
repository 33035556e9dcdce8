"""Contacts of the scene's bodies with its planes, found exactly; Bullet's planes are for its own bodies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from bridge.outsiders import WORLD
from bridge.planes.half_spaces import MARGIN, HalfSpaces
from bridge.planes.lowest_points import Lowest, Planes, Supports, lowest_points
from recursive_dyn.codegen.compiled import Flags, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.errors import ModelError
from scene import shapes

_PLAIN = Material()
_PLANES, _FEATURES = 2**8, 2**16  # numbers that fit into a key


class PlaneTable(NamedTuple):
    """Shapes and the planes that they meet; allowed (shapes,): which of them do; frictions (shapes * planes, 5)."""

    supports: Supports
    planes: Planes
    found: Lowest
    allowed: Flags
    frictions: Annotated[np.ndarray, float, 5]


class PlaneContacts:
    """The planes of a scenery; ``on`` holds the bodies, by name, whose contacts with them are found here.

    version counts up when ``table`` will be another one.
    """

    def __init__(self, scenery: Sequence[shapes.Shape], pairs: Mapping[frozenset[str], Any]) -> None:
        self._spaces = HalfSpaces.of(scenery)
        self._pairs = pairs
        self._names: list[str] = []
        self._table: PlaneTable | None = None
        self.version = 0
        self.on: dict[str, None] = {}  # an ordered set: Bullet's results depend on the order it is told things in

    def __len__(self) -> int:
        return len(self._spaces)

    def add(self, rank: int, name: str, body_shapes: Sequence[shapes.Shape]) -> None:
        """Let a body meet the planes, if it is known how all its shapes lie on one."""
        solid = [shape for shape in body_shapes if shape.collision]
        self.forget_pairs()
        try:
            for shape in solid:
                number = self._spaces.add(rank, shape, shape.material)
                self._names[number:] = [name, *self._names[number + 1 :]]
        except ModelError:  # a kind of shape that someone registered for Bullet only
            self.on.pop(name, None)
        else:
            self.on[name] = None

    def renumber(self, bodies: Mapping[int, int], names: Collection[str]) -> None:
        """Bodies have other numbers now; those without one, whose names are no more among ``names``, went."""
        for number in self._spaces.renumber(bodies):
            self._names[number] = ""
        self.on = {name: None for name in self.on if name in names}
        self.forget_pairs()

    def forget_pairs(self) -> None:
        """Materials or pairs were changed."""
        self._table = None
        self.version += 1

    def table(self) -> PlaneTable:
        """What ``plane_contacts`` reads; another one once something has changed."""
        if self._table is None:
            self._table = self._made()
        return self._table

    def _made(self) -> PlaneTable:
        spaces = self._spaces
        frictions = np.zeros((len(spaces.materials), len(spaces), 5))
        allowed = np.ones(len(spaces.materials), dtype=bool)
        known: dict[tuple[Material | None, Material | None], tuple[float, ...]] = {}
        for i, (name, own) in enumerate(zip(self._names, spaces.materials, strict=False)):
            pair = self._pairs.get(frozenset((name, WORLD)))
            allowed[i] = name in self.on and (pair is None or pair.collide is not False)
            for k, other in enumerate(spaces.plane_materials):
                if pair and pair.material:
                    frictions[i, k] = pair.material.row
                    continue
                if (own, other) not in known:
                    known[own, other] = combined(own or _PLAIN, other or _PLAIN).row
                frictions[i, k] = known[own, other]
        return PlaneTable(*spaces.tables(), allowed, frictions.reshape(-1, 5))


@compiled
def plane_contacts(planes: PlaneTable, poses: Annotated[np.ndarray, float, 4, 4], table: ContactTable) -> None:
    """Write contacts of bodies at ``poses`` with planes behind those in a table, which has room for them."""
    found = planes.found
    count, row = lowest_points(planes.supports, planes.planes, poses, MARGIN, found), table.size[0]
    for k in range(count):
        shape, plane = found.whole[k, 1], found.whole[k, 2]
        if not planes.allowed[shape]:
            continue
        table.a[row], table.b[row] = found.whole[k, 0], STATIC
        table.keys[row] = -(((shape * _FEATURES + found.whole[k, 3]) * _PLANES + plane) + 1)
        height = found.real[k, 3]
        table.gaps[row] = height
        for i in range(3):
            normal = planes.planes.normals[plane, i]
            table.normals[row, i] = normal
            table.points[row, 0, i] = found.real[k, i]
            table.points[row, 1, i] = found.real[k, i] - height * normal
            table.drift[row, i] = table.impulses[row, i] = table.moments[row, i] = 0.0
        table.frictions[row] = planes.frictions[shape * len(planes.planes.origins) + plane]
        row += 1
    table.size[0] = row
