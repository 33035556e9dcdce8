"""Pictures that meshes are covered with, on the graphics card."""

from __future__ import annotations

import numpy as np

from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import created, gl


class Texture:
    """A picture (h, w, 4), uint8, the top row first, that repeats; smaller versions serve what is far away."""

    def __init__(self, context: DrawingContext, picture: np.ndarray) -> None:
        rows = np.ascontiguousarray(picture[::-1])  # places count from the lower left
        self._number = created(gl.glGenTextures)
        context.own(self, "glDeleteTextures", self._number)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._number)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
        height, width, _ = rows.shape
        content, kind = gl.GL_RGBA, gl.GL_UNSIGNED_BYTE
        gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, gl.GL_RGBA8, width, height, 0, content, kind, rows.ctypes.data)
        gl.glGenerateMipmap(gl.GL_TEXTURE_2D)
        gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR_MIPMAP_LINEAR)
        gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_MAG_FILTER, gl.GL_LINEAR)

    def bind(self, unit: int) -> None:
        """Shaders find it at this unit from now on."""
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._number)
        gl.glActiveTexture(gl.GL_TEXTURE0)
