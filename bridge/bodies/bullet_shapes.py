"""Colliders and visuals as shapes of Bullet's, and bodies made of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pybullet

from bridge.bodies.colliders import Collider
from bridge.bodies.visuals import Visual
from bridge.orientations import quaternion_of

COMPOUND = 16  # Bullet drops, without a word, whatever a shape array holds beyond this
# m. With Bullet's own millimetre hulls touch early, and boxes have round edges that miss triangles; with none, rays
# pass through boxes and hulls.
MARGIN = 1e-7


def collision_shape(parts: Sequence[Collider], client: int, concave: bool = False) -> int:
    """One Bullet collision shape of at most COMPOUND colliders; -1 for none.

    ``concave``: of one collider, a piece of scenery, with a mesh's hollows; it stands at its body's pose.
    """
    if not parts:
        return -1
    if concave:
        parts = [replace(part, at=np.eye(4)) for part in parts]
    if parts[0].heights is not None:
        return _height_field(parts[0], client)
    # Without corrected edges a ball that rolls over triangles meets each edge as if it stood up.
    hollow = pybullet.GEOM_FORCE_CONCAVE_TRIMESH | pybullet.GEOM_CONCAVE_INTERNAL_EDGE
    shape: int = pybullet.createCollisionShapeArray(
        shapeTypes=[c.kind for c in parts],
        radii=[c.radius for c in parts],
        halfExtents=[list(c.half_extents) for c in parts],
        lengths=[c.length for c in parts],
        fileNames=[c.file for c in parts],
        meshScales=[list(c.scale) for c in parts],
        planeNormals=[[0.0, 0.0, 1.0]] * len(parts),
        flags=[hollow if concave and not c.solid else 0 for c in parts],
        collisionFramePositions=[c.at[:3, 3].tolist() for c in parts],
        collisionFrameOrientations=[quaternion_of.python(c.at) for c in parts],
        physicsClientId=client,
    )
    return shape


def content(parts: Sequence[Collider], concave: bool = False) -> Hashable | None:
    """What tells the shape that ``collision_shape`` makes of colliders from others; None for one of its own."""
    if not parts or parts[0].heights is not None:
        return None
    own = [
        (c.kind, c.radius, c.length, *c.half_extents, c.file, *c.scale, c.solid, b"" if concave else c.at.tobytes())
        for c in parts
    ]
    return concave, tuple(own)


def _height_field(part: Collider, client: int) -> int:
    """A height field's shape, which Bullet has only by itself and at its body's pose."""
    assert part.heights is not None
    shape: int = pybullet.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[*part.spacing, 1.0],
        heightfieldTextureScaling=1.0,
        heightfieldData=part.heights.ravel(order="F").tolist(),
        numHeightfieldRows=part.heights.shape[0],
        numHeightfieldColumns=part.heights.shape[1],
        flags=pybullet.GEOM_CONCAVE_INTERNAL_EDGE,
        physicsClientId=client,
    )
    return shape


def create_body(collision: int, visual: int, client: int, pose: np.ndarray | None = None) -> int:
    """A Bullet body without mass, hence moved by nothing but us, at ``pose`` (4, 4)."""
    X = np.eye(4) if pose is None else pose
    body: int = pybullet.createMultiBody(
        0,
        collision,
        visual,
        X[:3, 3].tolist(),
        quaternion_of.python(X),
        useMaximalCoordinates=False,
        physicsClientId=client,
    )
    if collision >= 0:
        pybullet.changeDynamics(body, -1, collisionMargin=MARGIN, physicsClientId=client)
    return body


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
        visualFrameOrientations=[quaternion_of.python(v.at) for v in parts],
        physicsClientId=client,
    )
    return shape


def by_color(seen: Sequence[Visual]) -> Iterator[Sequence[Visual]]:
    """Groups of one colour: Bullet's window paints a body in its first one."""
    for color in dict.fromkeys(visual.color for visual in seen):
        group = [visual for visual in seen if visual.color == color]
        yield from (group[k : k + COMPOUND] for k in range(0, len(group), COMPOUND))
