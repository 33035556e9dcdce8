"""Contacts of the scene's bodies with its planes, found exactly; Bullet's planes are for its own bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bridge.outsiders import WORLD
from bridge.planes.half_spaces import HalfSpaces
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.errors import ModelError
from scene import shapes

_PLAIN = Material()
_PLANES, _FEATURES = 2**8, 2**16  # numbers that fit into a key


class PlaneContacts:
    """The planes of a scenery; ``on`` holds the bodies, by name, whose contacts with them are found here."""

    def __init__(self, scenery: Sequence[shapes.Shape], pairs: Mapping[frozenset[str], Any]) -> None:
        self._spaces = HalfSpaces.of(scenery)
        self._pairs = pairs
        self._names: list[str] = []
        self._table: tuple[np.ndarray, np.ndarray] | None = None
        self.on: dict[str, None] = {}  # an ordered set: Bullet's results depend on the order it is told things in

    def __len__(self) -> int:
        return len(self._spaces)

    def add(self, rank: int, name: str, body_shapes: Sequence[shapes.Shape]) -> None:
        """Let a body meet the planes, if it is known how all its shapes lie on one."""
        solid = [shape for shape in body_shapes if shape.collision]
        try:
            for shape in solid:
                self._spaces.add(rank, shape, shape.material)
                self._names.append(name)
        except ModelError:  # a kind of shape that someone registered for Bullet only
            self.on.pop(name, None)
        else:
            self.on[name] = None

    def forget_pairs(self) -> None:
        """Materials or pairs were changed."""
        self._table = None

    def contacts(self, poses: np.ndarray) -> Contacts | None:
        """Contacts of bodies at ``poses`` (nb, 4, 4), or None."""
        if not len(self._spaces) or not self._names:
            return None
        touch = self._spaces.contacts(poses)
        if not len(touch.body):
            return None
        frictions, allowed = self._materials()
        keep = allowed[touch.shape]
        shape, plane, distance, point = (x[keep] for x in (touch.shape, touch.plane, touch.distance, touch.point))
        if not len(shape):
            return None
        normal = self._spaces.normals[plane]
        key = ((shape * _FEATURES + touch.feature[keep]) * _PLANES + plane) + 1
        return Contacts(
            touch.body[keep],
            np.full(len(shape), STATIC),
            point,
            point - distance[:, None] * normal,
            normal,
            distance,
            frictions[shape, plane],
            -key,
            trusted=True,
        )

    def _materials(self) -> tuple[np.ndarray, np.ndarray]:
        """Frictions (shapes, planes, 5), and which shapes (n,) meet planes at all."""
        if self._table is None:
            spaces = self._spaces
            frictions = np.zeros((len(spaces.materials), len(spaces), 5))
            allowed = np.ones(len(spaces.materials), dtype=bool)
            for i, (name, own) in enumerate(zip(self._names, spaces.materials, strict=False)):
                pair = self._pairs.get(frozenset((name, WORLD)))
                allowed[i] = name in self.on and (pair is None or pair.collide)
                for k, other in enumerate(spaces.plane_materials):
                    both = pair.material if pair and pair.material else combined(own or _PLAIN, other or _PLAIN)
                    frictions[i, k] = both.row
            self._table = frictions, allowed
        return self._table
