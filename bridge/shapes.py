"""Scene shapes as Bullet's collision shapes, by type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from pathlib import Path

import numpy as np
import pybullet

from bridge import quaternion
from bridge.meshes import MeshFiles
from bridge.quaternion import Array
from bridge.visuals import drawn, scale_of, tessellated
from recursive_dyn.errors import ModelError
from scene import shapes

COMPOUND = 16  # Bullet drops, without a word, whatever a shape array holds beyond this
RING = 32  # capsules of a torus: their straight axes leave its circle by 0.24 % of the major radius at most


@dataclass(frozen=True, eq=False)
class Collider:
    """One of Bullet's own collision shapes: its kind and sizes in m, at a pose (4, 4)."""

    kind: int
    at: Array = field(default_factory=lambda: np.eye(4))
    radius: float = 0.0
    length: float = 0.0
    half_extents: Sequence[float] = (0.0, 0.0, 0.0)
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    file: str = ""
    scale: Sequence[float] = (1.0, 1.0, 1.0)


@singledispatch
def colliders(shape: shapes.Shape, files: MeshFiles) -> list[Collider]:
    """Collision shapes of a scene shape in its own frame; ``colliders.register`` adds a type. Raises ModelError."""
    raise ModelError(
        f"{shape.label}: Bullet has no collision shape for it; give it collision=False, or register one with"
        " bridge.shapes.colliders.register"
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
    return [Collider(pybullet.GEOM_PLANE, normal=list(shape.normal))]


@colliders.register
def _(shape: shapes.Ellipsoid, files: MeshFiles) -> list[Collider]:
    file = files.get(("hull", shapes.Ellipsoid, tuple(shape.radii)), lambda: tessellated(shape, 40))
    return [Collider(pybullet.GEOM_MESH, file=file.path)]


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
    """A moving mesh collides as the convex hull of each of its OBJ file's ``o`` groups, else of all its vertices."""
    if isinstance(shape.source, Path) and shape.source.suffix.lower() == ".obj":
        return [Collider(pybullet.GEOM_MESH, file=str(shape.source), scale=scale_of(shape))]
    return [Collider(pybullet.GEOM_MESH, file=drawn(shape, files).path)]


def placed(body_shapes: Iterable[shapes.Shape], files: MeshFiles) -> list[Collider]:
    """The colliders of a body's shapes in its frame. Raises ModelError for a Plane, which cannot move."""
    result = []
    for shape in body_shapes:
        if shape.collision:
            if isinstance(shape, shapes.Plane):
                raise ModelError("a Plane cannot move with a body; put it into scene.world.shapes")
            result += [replace(collider, at=shape.at @ collider.at) for collider in colliders(shape, files)]
    return result


def collision_shape(parts: Sequence[Collider], client: int, concave: bool = False) -> int:
    """One Bullet collision shape of at most COMPOUND colliders; -1 for none. ``concave`` keeps a mesh's hollows."""
    if not parts:
        return -1
    if len(parts) == 1 and parts[0].kind == pybullet.GEOM_PLANE:
        shape: int = pybullet.createCollisionShape(
            pybullet.GEOM_PLANE, planeNormal=list(parts[0].normal), physicsClientId=client
        )
        return shape
    flag = pybullet.GEOM_FORCE_CONCAVE_TRIMESH if concave else 0
    shape = pybullet.createCollisionShapeArray(
        shapeTypes=[c.kind for c in parts],
        radii=[c.radius for c in parts],
        halfExtents=[list(c.half_extents) for c in parts],
        lengths=[c.length for c in parts],
        fileNames=[c.file for c in parts],
        meshScales=[list(c.scale) for c in parts],
        planeNormals=[list(c.normal) for c in parts],
        flags=[flag] * len(parts),
        collisionFramePositions=[c.at[:3, 3].tolist() for c in parts],
        collisionFrameOrientations=quaternion.of_poses([c.at for c in parts]),
        physicsClientId=client,
    )
    return shape


def create_body(collision: int, visual: int, client: int, pose: Array | None = None) -> int:
    """A Bullet body without mass, hence moved by nothing but us, at ``pose`` (4, 4)."""
    X = np.eye(4) if pose is None else pose
    body: int = pybullet.createMultiBody(
        0,
        collision,
        visual,
        X[:3, 3].tolist(),
        quaternion.of_poses([X])[0],
        useMaximalCoordinates=False,
        physicsClientId=client,
    )
    return body
