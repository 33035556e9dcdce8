"""What is to be seen at a moment, whoever knows it: a scene alone, or a mirror with Bullet's other bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from bridge.drawing.pieces import Ground, Piece


class Shown(NamedTuple):
    """Pieces in frames at ``poses`` (n, 4, 4), the scene's bodies first, and grounds; known: other when pieces are."""

    known: object
    pieces: Sequence[Piece]
    grounds: Sequence[Ground]
    poses: np.ndarray


class View(Protocol):
    """Whoever knows what is to be seen."""

    def shown(self, poses: np.ndarray) -> Shown:
        """With the scene's bodies at X_WB ``poses`` (nb, 4, 4)."""
        ...
