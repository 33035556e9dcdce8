"""Inertias of links by what they collide with, as PyBullet takes them: what many of its files say is a placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from recursive_dyn.errors import ModelError
from scene import triangles
from scene.mass_properties import MassProperties, combine
from scene.number_checks import FloatArray
from scene.shape import Shape
from scene.shapes import Mesh

FILE, SHAPES = INERTIAS = ("file", "shapes")


def inertia_of(colliders: Sequence[Shape], mass: float) -> FloatArray | None:
    """Inertia (3, 3), kg m^2, about their own centre of mass, axes of the link, of uniform shapes of this mass in all,
    kg; None of shapes without volume. Of a mesh that is not closed its convex hull counts, which is what collides."""
    uniform = combine(_solids(colliders))
    if not uniform.mass > 0.0:
        return None
    return np.asarray(uniform.scaled(mass / uniform.mass).inertia, dtype=float)


def _solids(colliders: Sequence[Shape]) -> Iterator[MassProperties]:
    for shape in colliders:
        try:
            yield shape.mass_properties(1.0)
        except ModelError:
            if isinstance(shape, Mesh):
                hull = shape.geometry.convex_hull
                yield triangles.solid(shape.label, hull, np.abs(shape.scale)).moved(shape.at)


def is_possible(inertia: FloatArray) -> bool:
    """Whether what floats alone can turn about every axis with it."""
    return bool(np.linalg.eigvalsh(0.5 * (inertia + inertia.T))[0] > 0.0)
