"""A display list drawn by OpenGL, Bullet's other bodies among the scene's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bridge.drawing.camera import Camera
from bridge.drawing.gl_context import offscreen
from bridge.drawing.instances import Instances
from bridge.drawing.painter import Quality, offscreen_painter
from bridge.drawing.pieces import Ground, Piece


class OpenGLDisplay:
    """Pieces on the card, made anew when they are others."""

    def __init__(self) -> None:
        self._things: Instances | None = None
        self._known: object = None

    def picture(
        self, known: object, pieces: Sequence[Piece], grounds: Sequence[Ground], poses: np.ndarray, camera: Camera,
        size: tuple[int, int], samples: int,
    ) -> np.ndarray:  # fmt: skip
        """Red, green, blue (height, width, 3), uint8; ``known`` differs where the pieces do, frames at ``poses``."""
        context = offscreen()
        with context.current():
            if self._things is None or known != self._known:
                self._things, self._known = Instances(context, pieces, len(poses)), known
            self._things.place(poses)
            return offscreen_painter().picture(self._things, grounds, camera, size, Quality(samples))
