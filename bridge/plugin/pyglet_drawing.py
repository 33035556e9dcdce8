"""A plugin's shapes and contacts as lines in a window of pyglet's, as a game is debugged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyglet

from bridge.drawing.camera import Camera
from bridge.plugin.outlines import Outlines
from bridge.plugin.plugin import Plugin


class PygletDrawing:
    """``draw()`` once a frame, with the window's own projection, in pixels; camera: with target and distance."""

    def __init__(self, window: Any, plugin: Plugin, camera: Camera) -> None:
        self.window, self.camera = window, camera
        self._outlines = Outlines(plugin)
        self._program: Any = pyglet.graphics.get_default_shader()

    def draw(self, contacts: bool = True) -> None:
        """Draw all bodies where they are now, and crosses at contacts."""
        width, height = self.window.get_size()
        lines, colors = self._outlines.lines(self.camera, (width, height), contacts)
        count = 2 * len(lines)
        if not count:
            return
        places = np.zeros((count, 3), dtype=np.float32)
        places[:, :2] = lines.reshape(-1, 2)
        places[:, 1] = height - places[:, 1]
        paint = np.full((count, 4), 255)
        paint[:, :3] = np.repeat(colors, 2, axis=0)
        batch = pyglet.graphics.Batch()
        self._program.vertex_list(
            count, pyglet.gl.GL_LINES, batch=batch, position=("f", places.ravel()),
            colors=("Bn", paint.ravel().tolist()),
        )  # fmt: skip
        batch.draw()
