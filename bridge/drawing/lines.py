"""Lines over a picture: so many pixels wide, and faint where something hides them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bridge.drawing import shaders
from bridge.drawing.buffers import Attribute, Buffer, VertexArray
from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import gl
from bridge.drawing.shader_program import ShaderProgram
from recursive_dyn.errors import ModelError

HIDDEN = 0.25  # how strong lines are behind something
ROW = np.dtype([("start", "f4", 3), ("end", "f4", 3), ("color", "f4", 4), ("width", "f4")])
COLUMNS = (Attribute(0, 3, 0), Attribute(1, 3, 12), Attribute(2, 4, 24), Attribute(3, 1, 40))


class Lines:
    """Segments in the world, drawn with every picture until others are shown."""

    def __init__(self, context: DrawingContext) -> None:
        self._context = context
        self._array: VertexArray | None = None
        self._segments = np.zeros((0, 2, 3))
        self._rows = np.zeros(0, dtype=ROW)

    def show(self, segments: Any = (), colors: Any = (), widths: Any = 2.0) -> None:
        """Segments (n, 2, 3) in m from now on, in colours (n, 4) or (4,), widths (n,) or a number in pixels."""
        found = np.asarray(segments, dtype=float).reshape(-1, 2, 3)
        if not np.isfinite(found).all():
            raise ModelError("lines need finite points")
        self._segments, self._rows = found, np.zeros(len(found), dtype=ROW)
        if len(found):
            self._rows["color"], self._rows["width"] = colors, widths

    def draw(self, view: np.ndarray, origin: np.ndarray, size: tuple[int, int]) -> None:
        """Draw them into a picture that has its depths still."""
        if not len(self._rows):
            return
        self._rows["start"], self._rows["end"] = np.moveaxis(self._segments - origin, 1, 0)
        if self._array is None:
            self._array, self._program = VertexArray(self._context), ShaderProgram(shaders.LINE_VERTEX, shaders.LINE)
            self._buffer = Buffer(self._context, self._rows, changing=True)
            self._array.read(self._buffer, ROW.itemsize, COLUMNS, each=1)
        self._buffer.write(self._rows)
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
        gl.glDepthMask(gl.GL_FALSE)
        self._array.bind()
        for depths, strength in ((gl.GL_LEQUAL, 1.0), (gl.GL_GREATER, HIDDEN)):
            gl.glDepthFunc(depths)
            self._program.use(view=view, size=np.array(size, dtype=float), strength=strength)
            gl.glDrawArraysInstanced(gl.GL_TRIANGLE_STRIP, 0, 4, len(self._rows))
        gl.glDepthMask(gl.GL_TRUE)
        gl.glDepthFunc(gl.GL_LEQUAL)
        gl.glDisable(gl.GL_BLEND)
