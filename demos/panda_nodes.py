"""Shapes as nodes of Panda3D's, light, and shadows on the ground that need no shader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from direct.showbase.ShowBase import ShowBase
from panda3d import core

from scene import shapes


def window(size: tuple[int, int], visible: bool) -> Any:
    """Panda3D's base with a window, or without one."""
    settings = f"win-size {size[0]} {size[1]}\nframebuffer-multisample 1\nmultisamples 4\naudio-library-name null"
    core.loadPrcFileData("", settings)
    base = ShowBase(windowType=None if visible else "offscreen")
    base.disableMouse()
    base.setBackgroundColor(0.80, 0.88, 0.95, 1)
    base.render.setAntialias(core.AntialiasAttrib.MAuto)
    base.camLens.setFov(50)
    base.camLens.setNearFar(0.5, 80)
    return base


def caption(base: Any) -> Any:
    """A line of text at the top, for ``setText``."""
    text = core.TextNode("caption")
    text.setTextColor(0.12, 0.16, 0.24, 1)
    base.aspect2d.attachNewNode(text).setPosHprScale(-1.53, 0, 0.88, 0, 0, 0, 0.07, 1, 0.07)
    return text


def node_of(own: Sequence[shapes.Shape], parent: Any) -> Any:
    """A node below ``parent`` with the triangles of some shapes, in their body's frame."""
    node = parent.attachNewNode("body")
    for shape in own:
        mesh = shapes.to_trimesh(shape, 32)
        corners = np.repeat(np.asarray(mesh.face_normals)[:, None], 3, axis=1)
        if isinstance(shape, (shapes.Sphere, shapes.Capsule)):
            corners = np.asarray(mesh.vertex_normals)[mesh.faces]
        rows = np.concatenate([mesh.triangles, corners], axis=2).astype(np.float32)
        data = core.GeomVertexData("", core.GeomVertexFormat.getV3n3(), core.Geom.UHStatic)
        data.unclean_set_num_rows(3 * len(rows))
        data.modifyArrayHandle(0).copyDataFrom(rows.tobytes())
        triangles = core.GeomTriangles(core.Geom.UHStatic)
        triangles.addNextVertices(3 * len(rows))
        geometry = core.Geom(data)
        geometry.addPrimitive(triangles)
        part = core.GeomNode("shape")
        part.addGeom(geometry)
        placed = node.attachNewNode(part)
        placed.setColor(*shape.color)
        placed.setMat(matrix(shape.at))
    return node


def matrix(X: np.ndarray) -> Any:
    """A pose (4, 4), of columns, as Panda3D has it, of rows."""
    return core.LMatrix4f(*X.T.ravel().tolist())


def lit(node: Any, sun: Sequence[float]) -> None:
    """Light all below a node from a direction, and a little from everywhere."""
    for light, color in (
        (core.DirectionalLight("sun"), (0.75, 0.72, 0.66, 1)),
        (core.AmbientLight("sky"), (0.46, 0.49, 0.54, 1)),
    ):
        light.setColor(color)
        place = node.attachNewNode(light)
        place.setPos(*sun)
        place.lookAt(0, 0, 0)
        node.setLight(place)


def shadow(root: Any, node: Any, sun: Sequence[float]) -> None:
    """Show what is below ``root`` once more below ``node``, dark and flat on the ground z = 0."""
    flat = np.eye(4)
    flat[:3, 2] = -sun[0] / sun[2], -sun[1] / sun[2], 1e-3  # not quite flat: it is inverted
    flat[2, 3] = 0.006
    cast = node.attachNewNode("shadow")
    cast.setMat(matrix(flat))
    cast.setLightOff(1)
    cast.setColor((0.19, 0.42, 0.41, 1), 1)
    cast.setTwoSided(True)
    cast.setDepthOffset(1)
    root.instanceTo(cast)
