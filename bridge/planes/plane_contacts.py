"""Contacts of the scene's bodies with its planes, found exactly; Bullet's planes are for its own bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from bridge.outsiders import WORLD
from bridge.planes.half_spaces import MARGIN, HalfSpaces, Outline
from bridge.planes.lowest_points import Lowest, Planes, Supports, lowest_points
from bridge.planes.row_table import OwnRows, RowKind, RowTable, packed
from recursive_dyn.codegen.compiled import Flags, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.errors import ModelError
from scene import shapes

_PLAIN = Material()
_PLANES, _FEATURES = 2**8, 2**16  # numbers that fit into a key
_RULES = RowKind(bool), RowKind(np.int64), RowKind(float, (5,))


class PlaneTable(NamedTuple):
    """Shapes and the planes that they meet; allowed (shapes,): which of them do; gliding (shapes,): 1 for ellipsoids;
    frictions (shapes * planes, 5)."""

    supports: Supports
    planes: Planes
    found: Lowest
    allowed: Flags
    gliding: Integers
    frictions: Annotated[np.ndarray, float, 5]


class _Lying(NamedTuple):
    """A body's shapes that may lie on planes, of what they are, and 1 for ellipsoids."""

    outline: Outline
    materials: list[Material | None]
    gliding: list[int]


class PlaneContacts:
    """The planes of a scenery; ``on`` holds the bodies, by name, whose contacts with them are found here.

    planes: those that collide.
    """

    def __init__(self, scenery: Sequence[shapes.Shape], pairs: Mapping[frozenset[str], Any]) -> None:
        self._pairs = pairs
        self._table: PlaneTable | None = None
        self.on: dict[str, _Lying] = {}  # in the order they came: Bullet's results depend on that
        self._order: list[str] = []  # as bodies are numbered
        self.stand(scenery)

    def __len__(self) -> int:
        return len(self._spaces)

    @property
    def lying(self) -> tuple[list[str], np.ndarray]:
        """Names of the bodies on planes (n), in order; the first shape of each, and how many there are (n + 1,)."""
        return self._order, self._spaces.firsts

    def stand(self, scenery: Sequence[shapes.Shape]) -> None:
        """The planes are those of this scenery."""
        self.planes = [shape for shape in scenery if isinstance(shape, shapes.Plane) and shape.collision]
        self._spaces = HalfSpaces.of(self.planes)
        for name, own in self.on.items():
            self._spaces.outlines.add(name, own.outline.packed)
        self.forget_pairs()

    def add(self, name: str, body_shapes: Sequence[shapes.Shape]) -> None:
        """Let a body meet the planes, if it is known how all its shapes lie on one; ``arrange`` numbers it."""
        self.remove(name)
        solid = [shape for shape in body_shapes if shape.collision]
        try:
            outline = Outline.of(solid)
        except ModelError:  # a kind of shape that someone registered for Bullet only
            return
        gliding = [int(isinstance(shape, shapes.Ellipsoid)) for shape in solid]
        self.on[name] = _Lying(outline, [shape.material for shape in solid], gliding)
        self._spaces.outlines.add(name, outline.packed)
        self._rules.add(name, self._rule(name))

    def remove(self, name: str) -> None:
        """A body went."""
        if self.on.pop(name, None):
            self._spaces.outlines.remove(name)
            self._rules.remove(name)

    def arrange(self, names: Sequence[str]) -> None:
        """Bodies have these numbers now, and their shapes follow each other as they do."""
        lying = names if len(self.on) == len(names) else [name for name in names if name in self.on]
        self._order = [*lying]
        self._spaces.outlines.arrange(lying)
        self._rules.arrange(lying)
        every = np.arange(len(names))
        self._spaces.number(every if lying is names else every[[name in self.on for name in names]])
        self._table = None

    def forget_pairs(self) -> None:
        """Materials or pairs were changed."""
        self._table, self._rules = None, RowTable(_RULES)
        for name in self._spaces.outlines.owners:
            self._rules.add(name, self._rule(name))

    def table(self) -> PlaneTable:
        """What ``plane_contacts`` reads; another one once something has changed."""
        if self._table is None:
            self._table = PlaneTable(*self._spaces.tables(), *self._rules.arrays)
        return self._table

    def _rule(self, name: str) -> OwnRows:
        """Which shapes of a body meet planes, and frictions, shape after shape, plane after plane."""
        pair, materials = self._pairs.get(frozenset((name, WORLD))), self.on[name].materials
        allowed = np.full(len(materials), pair is None or pair.collide is not False)
        agreed = pair.material if pair else None
        rows = [
            (agreed or combined(material or _PLAIN, other or _PLAIN)).row
            for material in materials
            for other in self._spaces.plane_materials
        ]
        return packed((allowed, np.array(self.on[name].gliding, np.int64), np.array(rows, dtype=float)), _RULES)


def plane_key(shape: Any, feature: Any, plane: Any) -> Any:
    """What says which point of which shape meets which plane; negative. As ``plane_contacts`` has it."""
    return -(((shape * _FEATURES + feature) * _PLANES + plane) + 1)


def plane_numbers(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shapes, features and planes of such keys (n,)."""
    numbers = -keys - 1
    return numbers // _PLANES // _FEATURES, numbers // _PLANES % _FEATURES, numbers % _PLANES


@compiled
def plane_contacts(
    planes: PlaneTable, poses: Annotated[np.ndarray, float, 4, 4], asleep: Integers, table: ContactTable
) -> None:
    """Write contacts of bodies at ``poses`` with planes behind those in a table, which has room for them.

    asleep (nb,): 1 for bodies that are left out.
    """
    found = planes.found
    count, row = lowest_points(planes.supports, planes.planes, poses, asleep, MARGIN, found), table.size[0]
    for k in range(count):
        shape, plane = found.whole[k, 1], found.whole[k, 2]
        if not planes.allowed[shape]:
            continue
        table.a[row], table.b[row] = found.whole[k, 0], STATIC
        table.keys[row] = -(((shape * _FEATURES + found.whole[k, 3]) * _PLANES + plane) + 1)
        height = found.real[k, 3]
        table.gaps[row], table.gliding[row] = height, planes.gliding[shape]
        table.balls[row, 0] = table.balls[row, 1] = 0.0  # which matters where both move
        for i in range(3):
            normal = planes.planes.normals[plane, i]
            table.normals[row, i] = normal
            table.points[row, 0, i] = found.real[k, i]
            table.points[row, 1, i] = found.real[k, i] - height * normal
            table.drift[row, i] = table.impulses[row, i] = table.moments[row, i] = 0.0
        table.frictions[row] = planes.frictions[shape * len(planes.planes.origins) + plane]
        row += 1
    table.size[0] = row
