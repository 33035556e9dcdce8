"""Which colliders make a body of Bullet's together, and by how much they are larger than the shapes they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pybullet

from bridge.bodies.bullet_shapes import COMPOUND
from bridge.bodies.colliders import Collider
from bridge.bodies.true_shapes import is_curved
from recursive_dyn.contact.material import Material
from scene.shapes import Capsule, Cylinder, Ellipsoid, Shape, Sphere, Torus

PLAIN = Material()

# Of two boxes Bullet reports nothing at any gap, and only the corners that overlap. Mirrored boxes wear a skin, so that
# boxes at rest on each other, or tilted a little, are found with all their corners; it is taken off what is reported.
_SKIN = 5e-4  # m
_SKIN_SHARE = 0.01  # of the smallest half extent, at most
# Of what is not in its body's own frame Bullet compares boxes about it without any margin: balls and capsules there
# wear one, so that they are found before they are in what they touch. Cylinders wear one as boxes do: where Bullet
# tells their points itself, as on meshes, those of rims are off by up to 0.4 times as much. Convex meshes need none:
# Bullet compares boxes about them with their own margin, 1 mm, which it takes off what it tells.
_BALL, _BALL_SHARE = 2e-3, 0.04  # m, and of the radius, at most
# Ellipsoids and tori wear one that their polyhedra and capsules reach out of, so that all that touches is found.
_HULL, _RING = 0.0046, 0.0025  # of the largest radius, of the major one


def alike(parts: Sequence[tuple[Collider, Material | None]]) -> Iterator[tuple[list[Collider], Material]]:
    """Groups of one material and sort: boxes, what wears another skin, and what is curved are apart from the rest."""
    groups: dict[tuple[Material, object], list[Collider]] = {}
    for part, material in parts:
        sort: object = part.kind == pybullet.GEOM_BOX
        if is_curved(part.shape):
            sort = type(part.shape) if isinstance(part.shape, (Ellipsoid, Torus)) else "round"
        groups.setdefault((material or PLAIN, sort), []).append(part)
    for (material, _), group in groups.items():
        yield group, material


def chunks(parts: Sequence[Collider], material: Material) -> Iterator[tuple[Sequence[Collider], Material]]:
    """Parts of a group, each as large as Bullet takes."""
    return ((parts[k : k + COMPOUND], material) for k in range(0, len(parts), COMPOUND))


def is_boxy(solid: Sequence[Collider]) -> bool:
    """Whether there is anything, and nothing but boxes."""
    return bool(solid) and all(part.kind == pybullet.GEOM_BOX for part in solid)


def stood_for(parts: Iterable[Collider]) -> tuple[Shape, ...]:
    """The shapes of colliders, each once; none where that is not known of one."""
    own = list(dict.fromkeys(part.shape for part in parts))
    return tuple(shape for shape in own if shape is not None) if None not in own else ()


def skin_of(part: Collider) -> float:
    """How much larger a collider of a material is than what it stands for, m, so that it holds all of that."""
    aside = not np.array_equal(part.at, np.eye(4))
    match part.shape:
        case Ellipsoid() as ellipsoid:
            return _HULL * float(max(ellipsoid.radii))
        case Torus() as torus:
            return _RING * torus.major
        case Sphere() | Capsule() if aside:
            return min(_BALL, _BALL_SHARE * part.radius)
        case Cylinder() if aside:
            return min(_SKIN, _SKIN_SHARE * min(part.radius, 0.5 * part.length))
    return min(_SKIN, _SKIN_SHARE * min(part.half_extents)) if part.kind == pybullet.GEOM_BOX else 0.0


def grown(part: Collider, skin: float) -> Collider:
    """A collider that is larger by a skin, m."""
    if not skin:
        return part
    if part.kind == pybullet.GEOM_BOX:
        return replace(part, half_extents=[h + skin for h in part.half_extents])
    if isinstance(part.shape, Ellipsoid):
        return replace(part, scale=[1.0 + skin / float(r) for r in part.shape.radii])
    if isinstance(part.shape, Cylinder):
        return replace(part, radius=part.radius + skin, length=part.length + 2.0 * skin)
    return replace(part, radius=part.radius + skin) if isinstance(part.shape, Torus | Sphere | Capsule) else part
