"""What collides of scene shapes, in the kinds that Bullet has, by type of shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from pathlib import Path

import numpy as np
import pybullet

from bridge.bodies.convex_decomposition import hulls, is_grouped
from bridge.meshes.files import MeshFiles
from bridge.meshes.shape_meshes import drawn, scale_of, tessellated
from bridge.planes.half_spaces import facing
from recursive_dyn.errors import ModelError
from recursive_dyn.model.model_parts import altered
from scene import shapes

RING = 32  # capsules of a torus: their straight axes leave its circle by 0.24 % of the major radius at most
REACH, DEPTH = 1000.0, 100.0  # m from a plane's origin to its edge, and below it: Bullet's normals stay good to 1e-8
SAMPLES = 2_000_000  # of a height field: Bullet hands them over in 8 MB and crashes beyond


@dataclass(frozen=True, eq=False)
class Collider:
    """One of Bullet's own collision shapes: its kind and sizes in m, at a pose (4, 4).

    A file's triangles are filled to the hull of each of its ``o`` groups where the shape moves or is ``solid``.
    ``heights`` (nx, ny) in m lie ``spacing`` (2,) m apart, about the collider's origin. ``shape``: what it stands for.
    """

    kind: int
    at: np.ndarray = field(default_factory=lambda: np.eye(4))
    radius: float = 0.0
    length: float = 0.0
    half_extents: Sequence[float] = (0.0, 0.0, 0.0)
    file: str = ""
    scale: Sequence[float] = (1.0, 1.0, 1.0)
    solid: bool = False
    heights: np.ndarray | None = None
    spacing: Sequence[float] = (1.0, 1.0)
    shape: shapes.Shape | None = None


def roundness(parts: Sequence[Collider]) -> list[float]:
    """Of the half extents (3) of a box about them, how much is an ellipsoid's along these axes, m, which reaches less
    far aslant than corners do: of a ball all of it. Zeros where they stand for several shapes, or one that is turned,
    and of capsules and ellipsoids, which spin and whip over their flat sides: that is better gone in short steps."""
    shape = parts[0].shape
    if shape is None or any(part.shape is not shape for part in parts) or shape.at[:3, :3].trace() < 3.0:
        return [0.0, 0.0, 0.0]
    match shape:
        case shapes.Sphere():
            return [shape.radius, shape.radius, shape.radius]
        case shapes.Cylinder():
            return [shape.radius, shape.radius, 0.0]
    return [0.0, 0.0, 0.0]


@singledispatch
def colliders(shape: shapes.Shape, files: MeshFiles) -> list[Collider]:
    """Collision shapes of a scene shape in its own frame; ``colliders.register`` adds a type. Raises ModelError."""
    raise ModelError(
        f"{shape.label}: Bullet has no collision shape for it; give it collision=False, or register one with"
        " bridge.bodies.colliders.colliders.register"
    )


@colliders.register
def _(shape: shapes.Box, files: MeshFiles) -> list[Collider]:
    return [Collider(pybullet.GEOM_BOX, half_extents=[0.5 * s for s in shape.size])]


@colliders.register
def _(shape: shapes.Sphere, files: MeshFiles) -> list[Collider]:
    return [Collider(pybullet.GEOM_SPHERE, radius=shape.radius)]


@colliders.register
def _(shape: shapes.Capsule, files: MeshFiles) -> list[Collider]:
    return [Collider(pybullet.GEOM_CAPSULE, radius=shape.radius, length=shape.length)]


@colliders.register
def _(shape: shapes.Cylinder, files: MeshFiles) -> list[Collider]:
    return [Collider(pybullet.GEOM_CYLINDER, radius=shape.radius, length=shape.length)]


@colliders.register
def _(shape: shapes.Plane, files: MeshFiles) -> list[Collider]:
    """A slab whose top is the plane: on Bullet's own plane everything, a box too, stands on a single point."""
    down = np.eye(4)
    down[2, 3] = -DEPTH
    return [Collider(pybullet.GEOM_BOX, facing(np.asarray(shape.normal)) @ down, half_extents=[REACH, REACH, DEPTH])]


@colliders.register
def _(shape: shapes.HeightField, files: MeshFiles) -> list[Collider]:
    if shape.heights.size > SAMPLES:
        raise ModelError(
            f"{shape.label}: Bullet takes at most {SAMPLES} samples, not {shape.heights.size}; use a coarser grid"
        )
    # Bullet puts the middle of the lowest and the highest at its origin, and keeps heights in single precision.
    middle = np.eye(4)
    middle[2, 3] = 0.5 * (shape.heights.min() + shape.heights.max())
    return [
        Collider(pybullet.GEOM_HEIGHTFIELD, middle, heights=shape.heights - middle[2, 3], spacing=list(shape.spacing))
    ]


@colliders.register
def _(shape: shapes.Ellipsoid, files: MeshFiles) -> list[Collider]:
    file = files.get(("hull", shapes.Ellipsoid, tuple(shape.radii)), lambda: tessellated(shape, 40))
    return [Collider(pybullet.GEOM_MESH, file=file.path, solid=True)]


@colliders.register
def _(shape: shapes.Torus, files: MeshFiles) -> list[Collider]:
    half = math.pi / RING
    # The chord's ends lie as far outside the circle as its middle lies inside.
    distance = shape.major * 2.0 * math.cos(half) / (1.0 + math.cos(half))
    ring = []
    for k in range(RING):
        angle = 2.0 * half * k
        out = np.array([math.cos(angle), math.sin(angle), 0.0])
        along = np.array([-math.sin(angle), math.cos(angle), 0.0])
        at = np.eye(4)
        at[:3, :3] = np.stack([out, np.cross(along, out), along], axis=1)
        at[:3, 3] = distance * out
        length = 2.0 * distance * math.tan(half)
        ring.append(Collider(pybullet.GEOM_CAPSULE, at, radius=shape.minor, length=length))
    return ring


@colliders.register
def _(shape: shapes.Mesh, files: MeshFiles) -> list[Collider]:
    """All triangles, for scenery: an OBJ file's own, as Bullet reads its ``o`` groups."""
    if isinstance(shape.source, Path) and shape.source.suffix.lower() == ".obj":
        return [Collider(pybullet.GEOM_MESH, file=files.readable(shape.source), scale=scale_of(shape))]
    return [Collider(pybullet.GEOM_MESH, file=drawn(shape, files).path)]


def moving(shape: shapes.Shape, files: MeshFiles) -> list[Collider]:
    """Colliders of a shape that moves, in its own frame: Bullet's meshes are then convex, so hollow ones are cut up.

    Raises ModelError for ground, which cannot move, and for a mesh that cannot be cut.
    """
    if isinstance(shape, (shapes.Plane, shapes.HeightField)):
        raise ModelError(f"a {shape.label} cannot move with a body; put it into scene.world.shapes")
    if isinstance(shape, shapes.Mesh) and not is_grouped(shape):
        parts = hulls(shape)
        if parts is not None:
            return [Collider(pybullet.GEOM_MESH, file=files.get(("hulls", shape), lambda: parts).path)]
    solid = colliders(shape, files)
    if isinstance(shape, shapes.Capsule):  # Bullet finds one point a shape and time: the ends hold up one that lies
        solid += [Collider(pybullet.GEOM_SPHERE, at, radius=shape.radius) for at in _ends(shape.length)]
    return solid


def _ends(length: float) -> list[np.ndarray]:
    ends = np.tile(np.eye(4), (2, 1, 1))
    ends[:, 2, 3] = -0.5 * length, 0.5 * length
    return list(ends)


def placed(body_shapes: Iterable[shapes.Shape], files: MeshFiles) -> list[Collider]:
    """The colliders of a moving body's shapes in its frame. Raises ModelError."""
    return [
        altered(collider, at=shape.at @ collider.at, shape=shape)
        for shape in body_shapes
        if shape.collision
        for collider in moving(shape, files)
    ]
