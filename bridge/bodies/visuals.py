"""What is drawn of scene shapes: meshes, their colours and places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bridge.drawing.pieces import Color, Ground, Piece
from bridge.meshes.files import MeshFile, MeshFiles
from bridge.meshes.shape_meshes import drawn
from bridge.meshes.triangle_mesh import Triangles, checker
from bridge.planes.half_spaces import facing
from recursive_dyn.errors import ModelError
from scene import shapes

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
class Visual:
    """A mesh to be drawn at a pose (4, 4) in one colour; plain: which nobody chose, where the mesh's own go before."""

    mesh: MeshFile
    color: Color
    at: np.ndarray = field(default_factory=lambda: np.eye(4))
    plain: bool = False

    def piece(self, frame: int) -> Piece:
        """What OpenGL draws of it, in the frame of that number."""
        mesh = self.mesh.mesh
        assert isinstance(mesh, Triangles)
        return Piece(mesh, (1.0, 1.0, 1.0, 1.0) if self.plain and mesh.paint else self.color, self.at, frame)


def visuals(shape: shapes.Shape, default: Color, files: MeshFiles) -> list[Visual]:
    """What is drawn of a shape other than a Plane, in its body's frame; ``default`` colours one without a colour."""
    if not shape.visual:
        return []
    plain = shape.color is None
    return [Visual(drawn(shape, files), default if shape.color is None else rgba(shape.color), shape.at, plain)]


def tile_size(around: np.ndarray) -> float:
    """A round size in m of ground tiles that suits points (n, 3)."""
    radius = max(float(np.linalg.norm(around.max(axis=0) - around.min(axis=0))) / 2.0, 1e-3)
    decade = 10.0 ** math.floor(math.log10(radius / 2.0))
    return decade * max(step for step in (1.0, 2.0, 5.0) if step * decade <= radius / 2.0)


def checkered(plane: shapes.Plane, tile: float, files: MeshFiles) -> list[Visual]:
    """What is drawn of a plane in the world, in two colours: a board of tiles of ``tile`` m about its origin."""
    if not plane.visual:
        return []
    ground = endless(plane, tile)
    boards = [files.get(("checker", tile, odd), partial(checker, tile, TILES, odd)) for odd in (0, 1)]
    return [Visual(board, color, ground.at) for board, color in zip(boards, (ground.light, ground.dark), strict=True)]


def endless(plane: shapes.Plane, tile: float) -> Ground:
    """A plane in the world as OpenGL draws it, with tiles of ``tile`` m about its origin."""
    light, dark = GROUND
    if plane.color is not None:
        light = rgba(plane.color)
        dark = (0.8 * light[0], 0.8 * light[1], 0.8 * light[2], light[3])
    return Ground(plane.at @ facing(np.asarray(plane.normal)), tile, light, dark)


def unseen(files: MeshFiles) -> Visual:
    """Something that is drawn but not visible."""
    return Visual(files.get("unseen", lambda: checker(1e-3, 1, 0)), (0.0, 0.0, 0.0, 0.0))


def rgba(color: Sequence[float]) -> Color:
    """A colour as four numbers from 0 to 1, opaque if there are three. Raises ModelError for anything else."""
    if len(color) not in (3, 4) or not all(0.0 <= float(c) <= 1.0 for c in color):
        raise ModelError(f"a color is red, green, blue and maybe alpha from 0 to 1, not {color!r}")
    red, green, blue, *alpha = (float(c) for c in color)
    return red, green, blue, alpha[0] if alpha else 1.0
