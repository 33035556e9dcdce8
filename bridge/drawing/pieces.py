"""What a picture is of: meshes fixed in frames that move, and planes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bridge.meshes.triangle_mesh import Triangles

Color = tuple[float, float, float, float]
FIXED = -1


@dataclass(frozen=True, eq=False)
class Piece:
    """A mesh in one colour at a pose (4, 4) in the frame of that number, or FIXED in the world."""

    mesh: Triangles
    color: Color
    at: np.ndarray = field(default_factory=lambda: np.eye(4))
    frame: int = FIXED


@dataclass(frozen=True, eq=False)
class Ground:
    """An endless plane z = 0 of ``at`` (4, 4), of square tiles of so many m in two colours."""

    at: np.ndarray
    tile: float
    light: Color
    dark: Color
