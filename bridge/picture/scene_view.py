"""What OpenGL draws of a scene: its bodies where something moves them, its scenery and its ground. No Bullet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bridge.bodies.visuals import PALETTE, SCENERY, endless, tile_size, visuals
from bridge.drawing.pieces import FIXED, Ground, Piece
from bridge.meshes.files import MeshFiles
from bridge.picture.shown import Shown
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.moving import Posed
from recursive_dyn.simulation.state import real
from recursive_dyn.spatial.algebra import pose
from scene import Scene, shapes


class SceneView:
    """Pieces and grounds of a scene whose bodies are moved by ``moving``, frames numbered as its bodies are.

    ground: a checkered plane at z = 0, or at the height given in m, where the world has no plane of its own; False for
    none. Raises ModelError where the bodies of the two differ.
    """

    def __init__(self, scene: Scene, moving: Posed, ground: bool | float = True) -> None:
        if not isinstance(moving, Posed):
            raise ModelError(
                f"a picture is of a simulation, or of what else knows where bodies are, not of {type(moving).__name__}"
            )
        self.names: Sequence[str] = tuple(moving.dynamics.bodies)
        unknown = [name for name in self.names if name not in scene.named()]
        if unknown:
            raise ModelError(f"body '{unknown[0]}' moves but is not in the scene; compile the scene again")
        files = MeshFiles()
        self.pieces = [
            visual.piece(k)
            for k, name in enumerate(self.names)
            for shape in scene[name].shapes
            for visual in visuals(shape, PALETTE[k % len(PALETTE)], files)
        ]
        world = scene.world.shapes
        planes = [shape for shape in world if isinstance(shape, shapes.Plane)]
        if ground is not False and not (ground is True and planes):
            height = 0.0 if ground is True else real(ground)
            if not np.isfinite(height):
                raise ModelError(f"ground is True, False or a height in m, not {ground!r}")
            planes.append(shapes.Plane(at=pose(xyz=(0.0, 0.0, height))))
        for shape in world:
            if not isinstance(shape, shapes.Plane):
                self.pieces += [visual.piece(FIXED) for visual in visuals(shape, SCENERY, files)]
        tile = tile_size(outline(self.pieces, moving.frames()[0]))
        self.grounds: list[Ground] = [endless(plane, tile) for plane in planes if plane.visual]

    def shown(self, poses: np.ndarray) -> Shown:
        """With the bodies at X_WB ``poses`` (nb, 4, 4)."""
        return Shown(self, self.pieces, self.grounds, poses)


def outline(pieces: Sequence[Piece], poses: np.ndarray) -> np.ndarray:
    """Outermost points (n, 3) of pieces, in the world, their frames at X_WB ``poses``; of a cube of 1 m for none."""
    points = [np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])] if not pieces else []
    for piece in pieces:
        X = piece.at if piece.frame == FIXED else poses[piece.frame] @ piece.at
        points.append(piece.mesh.outline @ X[:3, :3].T + X[:3, 3])
    return np.concatenate(points)
