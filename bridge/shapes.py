"""Scene shapes as Bullet shapes: what collides, by type, and what is drawn."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
import pybullet
from numpy.typing import NDArray

from bridge import quaternion
from bridge.meshes import MeshFile, MeshFiles, Triangles, checker
from recursive_dyn.errors import ModelError
from scene import shapes

Array = NDArray[Any]
Color = tuple[float, float, float, float]

COMPOUND = 16  # Bullet drops, without a word, whatever a shape array holds beyond this
RING = 32  # capsules of a torus: their straight axes leave its circle by 0.24 % of the major radius at most
TURN = 36  # edges around a full turn of what is drawn: few corners are seen at 640 x 480
TILES = 80  # of the ground, a side

PALETTE: tuple[Color, ...] = (
    (0.22, 0.49, 0.78, 1.0),
    (0.95, 0.55, 0.16, 1.0),
    (0.32, 0.66, 0.36, 1.0),
    (0.84, 0.28, 0.28, 1.0),
    (0.55, 0.41, 0.74, 1.0),
    (0.93, 0.76, 0.22, 1.0),
    (0.20, 0.66, 0.68, 1.0),
    (0.88, 0.45, 0.63, 1.0),
)
SCENERY: Color = (0.62, 0.64, 0.67, 1.0)
GROUND: tuple[Color, Color] = ((0.87, 0.89, 0.91, 1.0), (0.70, 0.74, 0.79, 1.0))


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


@dataclass(frozen=True, eq=False)
class Visual:
    """A mesh to be drawn at a pose (4, 4) in one colour."""

    mesh: MeshFile
    color: Color
    at: Array = field(default_factory=lambda: np.eye(4))


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
    return [Collider(pybullet.GEOM_PLANE, normal=shape.normal)]


@colliders.register
def _(shape: shapes.Ellipsoid, files: MeshFiles) -> list[Collider]:
    file = files.get(("hull", shapes.Ellipsoid, tuple(shape.radii)), lambda: _tessellated(shape, 40))
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
        return [Collider(pybullet.GEOM_MESH, file=str(shape.source), scale=_scale(shape))]
    return [Collider(pybullet.GEOM_MESH, file=_drawn(shape, files).path)]


def placed(body_shapes: Iterable[shapes.Shape], files: MeshFiles) -> list[Collider]:
    """The colliders of a body's shapes in its frame. Raises ModelError for a Plane, which cannot move."""
    result = []
    for shape in body_shapes:
        if shape.collision:
            if isinstance(shape, shapes.Plane):
                raise ModelError("a Plane cannot move with a body; put it into scene.world.shapes")
            result += [replace(collider, at=shape.at @ collider.at) for collider in colliders(shape, files)]
    return result


def visuals(shape: shapes.Shape, default: Color, files: MeshFiles) -> list[Visual]:
    """What is drawn of a shape other than a Plane, in its body's frame; ``default`` colours one without a colour."""
    if not shape.visual:
        return []
    return [Visual(_drawn(shape, files), default if shape.color is None else rgba(shape.color), shape.at)]


def checkered(plane: shapes.Plane, around: Array, files: MeshFiles) -> list[Visual]:
    """What is drawn of a plane in the world, in two colours: a board far beyond points (n, 3)."""
    if not plane.visual:
        return []
    light, dark = GROUND
    if plane.color is not None:
        light = rgba(plane.color)
        dark = (0.8 * light[0], 0.8 * light[1], 0.8 * light[2], light[3])
    low, high = around.min(axis=0), around.max(axis=0)
    radius = max(float(np.linalg.norm(high - low)) / 2.0, 1e-3)
    decade = 10.0 ** math.floor(math.log10(radius / 2.0))
    tile = decade * max(step for step in (1.0, 2.0, 5.0) if step * decade <= radius / 2.0)
    at = plane.at @ _facing(np.asarray(plane.normal))
    # Whole pairs of tiles away from the plane's origin, so that the pattern stays where it is in the world.
    middle = at[:3, :3].T @ ((low + high) / 2.0 - at[:3, 3])
    at[:3, 3] += at[:3, :2] @ (np.round(middle[:2] / (2.0 * tile)) * 2.0 * tile)
    boards = [files.get(("checker", tile, odd), lambda odd=odd: checker(tile, TILES, odd)) for odd in (0, 1)]
    return [Visual(board, color, at) for board, color in zip(boards, (light, dark), strict=True)]


def unseen(files: MeshFiles) -> Visual:
    """Something that is drawn but not visible."""
    return Visual(files.get("unseen", lambda: checker(1e-3, 1, 0)), (0.0, 0.0, 0.0, 0.0))


def rgba(color: Sequence[float]) -> Color:
    """A colour as four numbers from 0 to 1, opaque if there are three. Raises ModelError for anything else."""
    if len(color) not in (3, 4) or not all(0.0 <= float(c) <= 1.0 for c in color):
        raise ModelError(f"a color is red, green, blue and maybe alpha from 0 to 1, not {color!r}")
    red, green, blue, *alpha = (float(c) for c in color)
    return red, green, blue, alpha[0] if alpha else 1.0


def _drawn(shape: shapes.Shape, files: MeshFiles) -> MeshFile:
    return files.get(_key(shape), lambda: _tessellated(shape, TURN))


def _key(shape: shapes.Shape) -> Hashable:
    """Equal for shapes that look alike but for place and colour; a mesh in memory is known by its shape alone."""
    if isinstance(shape, shapes.Mesh):
        return (shape.source, *_scale(shape)) if isinstance(shape.source, Path) else shape
    sizes = ((name, value) for name, value in vars(shape).items() if name not in _SHARED)
    return (type(shape), *((name, tuple(np.ravel(value).tolist())) for name, value in sizes))


_SHARED = ("at", "color", "collision", "visual")


def _scale(shape: shapes.Mesh) -> tuple[float, float, float]:
    x, y, z = np.ravel(shape.scale).tolist()
    return x, y, z


def _tessellated(shape: shapes.Shape, sections: int) -> Triangles:
    mesh = shapes.to_trimesh(shape, sections)
    return Triangles.shaded(mesh.vertices, mesh.faces)


def _facing(normal: Array) -> Array:
    """A pose at the origin whose z axis is ``normal``; the identity for a level plane."""
    X = np.eye(4)
    side = np.eye(3)[np.abs(normal).argmin()]
    side = side - normal * (normal @ side)
    side /= np.linalg.norm(side)
    X[:3, :3] = np.stack([side, np.cross(normal, side), normal], axis=1)
    return X


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
        collisionFrameOrientations=_frames([c.at for c in parts]),
        physicsClientId=client,
    )
    return shape


def visual_shape(parts: Sequence[Visual], client: int, scale: float = 1.0) -> int:
    """One Bullet visual shape of at most COMPOUND meshes, all enlarged by ``scale``; -1 for none."""
    if not parts:
        return -1
    shape: int = pybullet.createVisualShapeArray(
        shapeTypes=[pybullet.GEOM_MESH] * len(parts),
        fileNames=[v.mesh.path for v in parts],
        meshScales=[[scale] * 3] * len(parts),
        rgbaColors=[list(v.color) for v in parts],
        visualFramePositions=[(scale * v.at[:3, 3]).tolist() for v in parts],
        visualFrameOrientations=_frames([v.at for v in parts]),
        physicsClientId=client,
    )
    return shape


def _frames(poses: list[Array]) -> list[list[float]]:
    frames: list[list[float]] = quaternion.from_rotations(np.array(poses)[:, :3, :3]).tolist()
    return frames


def create_body(collision: int, visual: int, client: int, pose: Array | None = None) -> int:
    """A Bullet body without mass, hence moved by nothing but us, at ``pose`` (4, 4)."""
    X = np.eye(4) if pose is None else pose
    body: int = pybullet.createMultiBody(
        0, collision, visual, X[:3, 3].tolist(), _frames([X])[0], useMaximalCoordinates=False, physicsClientId=client
    )
    return body
