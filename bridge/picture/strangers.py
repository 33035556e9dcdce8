"""Bullet bodies that are not ours, drawn beside ours."""

from __future__ import annotations

import os

import numpy as np
import pybullet

from bridge.bodies.visuals import Visual, rgba, visuals
from bridge.meshes.files import MeshFiles
from bridge.orientations import pose_of
from recursive_dyn.errors import ModelError
from recursive_dyn.spatial.algebra import inverse_pose
from scene import shapes


def appearance(body: int, client: int, files: MeshFiles) -> list[tuple[int, Visual]]:
    """What Bullet draws of a body, each with its link (-1 is the base), at its pose in the link's frame.

    Planes, height fields and meshes that were given to Bullet without a file are left out.
    """
    result = []
    for data in pybullet.getVisualShapeData(body, physicsClientId=client):
        link, kind, size, file, position, orientation, color = data[1:8]
        shape = _shape(kind, size, os.fsdecode(file))
        if shape is not None:
            try:
                at = pose_of(position, orientation)
                for visual in visuals(shape, rgba(color), files):
                    result.append((link, Visual(visual.mesh, visual.color, at)))
            except ModelError:  # a file that only Bullet's own readers understand
                continue
    return result


def _shape(kind: int, size: tuple[float, float, float], file: str) -> shapes.Shape | None:
    if kind == pybullet.GEOM_SPHERE:
        return shapes.Sphere(size[0])
    if kind == pybullet.GEOM_BOX:
        return shapes.Box(size)
    if kind == pybullet.GEOM_CAPSULE:
        return shapes.Capsule(radius=size[1], length=size[0])
    if kind == pybullet.GEOM_CYLINDER:
        return shapes.Cylinder(radius=size[1], length=size[0])
    if kind == pybullet.GEOM_MESH and file not in ("", "unknown_file"):
        try:
            return shapes.Mesh(file, scale=size)
        except ModelError:
            return None
    return None


def pose(body: int, link: int, client: int) -> np.ndarray:
    """X_WL (4, 4) of a body's link as its description has it: Bullet's base pose is that of the centre of mass."""
    if link >= 0:
        state = pybullet.getLinkState(body, link, computeForwardKinematics=1, physicsClientId=client)
        return pose_of(state[4], state[5])
    X_WC = pose_of(*pybullet.getBasePositionAndOrientation(body, physicsClientId=client))
    X_LC = pose_of(*pybullet.getDynamicsInfo(body, -1, physicsClientId=client)[3:5])
    X_WL: np.ndarray = X_WC @ inverse_pose(X_LC)
    return X_WL
