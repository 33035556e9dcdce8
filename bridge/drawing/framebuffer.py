"""What is drawn into: colours or numbers, with depth, of any size; and a shadow's depth as a texture."""

from __future__ import annotations

import numpy as np

from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import created, gl
from recursive_dyn.errors import ModelError, StateError


class Framebuffer:
    """Colours (or whole numbers, one a pixel) and depths of width x height pixels, ``samples`` of each.

    Raises ModelError for a size that the card does not draw.
    """

    def __init__(
        self, context: DrawingContext, width: int, height: int, samples: int = 0, numbers: bool = False
    ) -> None:
        self.width, self.height, self.samples = width, height, samples
        most = gl.GLint()
        gl.glGetIntegerv(gl.GL_MAX_RENDERBUFFER_SIZE, most)
        if not (0 < width <= most.value and 0 < height <= most.value):
            raise ModelError(f"a picture is from 1 to {most.value} pixels wide and high, not {width} x {height}")
        self.number = created(gl.glGenFramebuffers)
        context.own(self, "glDeleteFramebuffers", self.number)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.number)
        for attachment, kind in (
            (gl.GL_COLOR_ATTACHMENT0, gl.GL_R32UI if numbers else gl.GL_RGBA8),
            (gl.GL_DEPTH_ATTACHMENT, gl.GL_DEPTH_COMPONENT32F),
        ):
            part = created(gl.glGenRenderbuffers)
            context.own(self, "glDeleteRenderbuffers", part)
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, part)
            gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, samples, kind, width, height)
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, attachment, gl.GL_RENDERBUFFER, part)
        _check()

    def bind(self) -> None:
        """Draw into it from now on."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.number)
        gl.glViewport(0, 0, self.width, self.height)

    def copy_to(self, number: int) -> None:
        """Its colours, samples averaged, into another framebuffer of its size; 0 is the window."""
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self.number)
        gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, number)
        area = (0, 0, self.width, self.height)
        gl.glBlitFramebuffer(*area, *area, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)

    def colors(self) -> np.ndarray:
        """Red, green, blue (height, width, 3), uint8, the top row first; of one without samples."""
        rows = np.empty((self.height, self.width, 3), dtype=np.uint8)
        self._read(rows, gl.GL_RGB, gl.GL_UNSIGNED_BYTE)
        return np.ascontiguousarray(rows[::-1])

    def numbers(self) -> np.ndarray:
        """The whole numbers (height, width), the top row first."""
        rows = np.empty((self.height, self.width), dtype=np.uint32)
        self._read(rows, gl.GL_RED_INTEGER, gl.GL_UNSIGNED_INT)
        return rows[::-1]

    def depths(self) -> np.ndarray:
        """What the depth buffer has (height, width), from 0 to 1, the top row first."""
        rows = np.empty((self.height, self.width), dtype=np.float32)
        self._read(rows, gl.GL_DEPTH_COMPONENT, gl.GL_FLOAT)
        return rows[::-1]

    def _read(self, rows: np.ndarray, what: int, kind: int) -> None:
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self.number)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        gl.glReadPixels(0, 0, self.width, self.height, what, kind, rows.ctypes.data)


class DepthTexture:
    """Depths of width x height pixels that shaders look up; ``compare``: as a shadow map, which answers lit or not."""

    def __init__(self, context: DrawingContext, width: int, height: int, compare: bool) -> None:
        self.width, self.height = width, height
        self.texture = plain_texture(context, gl.GL_DEPTH_COMPONENT32F, width, height, gl.GL_DEPTH_COMPONENT, compare)
        if compare:
            gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_COMPARE_MODE, gl.GL_COMPARE_REF_TO_TEXTURE)
            gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_COMPARE_FUNC, gl.GL_LEQUAL)
        self.number = created(gl.glGenFramebuffers)
        context.own(self, "glDeleteFramebuffers", self.number)
        context.own(self, "glDeleteTextures", self.texture)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.number)
        gl.glFramebufferTexture2D(gl.GL_FRAMEBUFFER, gl.GL_DEPTH_ATTACHMENT, gl.GL_TEXTURE_2D, self.texture, 0)
        gl.glDrawBuffer(gl.GL_NONE)
        gl.glReadBuffer(gl.GL_NONE)
        _check()

    def bind(self) -> None:
        """Draw into it from now on."""
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.number)
        gl.glViewport(0, 0, self.width, self.height)


def plain_texture(context: DrawingContext, kind: int, width: int, height: int, content: int, smooth: bool) -> int:
    """The number of an empty texture without mipmaps, bound; it ends at its edges."""
    texture = created(gl.glGenTextures)
    gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
    number = gl.GL_FLOAT if content == gl.GL_DEPTH_COMPONENT else gl.GL_UNSIGNED_BYTE
    gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, kind, width, height, 0, content, number, None)
    looked_up = gl.GL_LINEAR if smooth else gl.GL_NEAREST
    for setting, value in (
        (gl.GL_TEXTURE_MIN_FILTER, looked_up),
        (gl.GL_TEXTURE_MAG_FILTER, looked_up),
        (gl.GL_TEXTURE_WRAP_S, gl.GL_CLAMP_TO_EDGE),
        (gl.GL_TEXTURE_WRAP_T, gl.GL_CLAMP_TO_EDGE),
    ):
        gl.glTexParameteri(gl.GL_TEXTURE_2D, setting, value)
    return texture


def _check() -> None:
    state = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
    if state != gl.GL_FRAMEBUFFER_COMPLETE:
        raise StateError(f"the graphics driver does not draw into such a picture (status {state:#x})")
